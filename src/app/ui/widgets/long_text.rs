//! A selectable text of any length, laid out in parts over several frames.

use crate::app::ui::theme::palette;
use crate::app::ui::widgets::bidi;
use egui::cache::FramePublisher;
use egui::style::ScrollAnimation;
use egui::text::{CCursor, LayoutJob, TextFormat, TextWrapping};
use egui::{Align, Id, Label, RichText, TextStyle, Ui, WidgetText};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Bytes laid out in each frame. The first frame lays out more. egui caches the layout line by line.
const STRETCH: usize = 4 * 1024;
const FIRST: usize = 2 * STRETCH;
/// Maximum length of a line, in bytes. Longer lines are broken because one line is laid out in a single frame.
const MAX_LINE_BYTES: usize = FIRST;

/// Number of bytes laid out so far, by text.
type Reached = FramePublisher<Id, usize>;
/// Layouts in visual order from the previous frame, by text.
type InOrder = FramePublisher<Id, Arc<LayoutJob>>;

/// Places to highlight in a text. Text with letters that run from right to left has no highlights.
#[derive(Clone, Copy)]
pub struct Highlights<'a> {
    /// Returns the places in a text, in order and without overlaps.
    pub find: &'a dyn Fn(&str) -> Vec<Range<usize>>,
    /// Index of the current place, which is emphasized.
    pub current: Option<usize>,
    /// Whether to scroll to the current place.
    pub is_revealed: bool,
}

impl Highlights<'_> {
    /// No highlights.
    pub const NONE: Self = Highlights { find: &|_| Vec::new(), current: None, is_revealed: false };
}

/// Shows a wrapped text. `id` must be unique for the text and its position.
pub fn long_text(ui: &mut Ui, id: Id, text: &str, style: &TextStyle, highlights: Highlights<'_>) {
    let text = with_shorter_lines(text);
    let places = (highlights.find)(&text);
    // Breaks in long lines may divide places.
    let end = places.len().checked_sub(1);
    let current = end.and_then(|end| Some(highlights.current?.min(end)));
    let revealed = current.filter(|_| highlights.is_revealed);
    let width = ui.available_width();
    let id = id.with((text.len(), width.to_bits()));
    let before = ui.memory_mut(|memory| memory.caches.cache::<Reached>().get(&id).copied());
    let least = before.map_or(FIRST, |before| before + STRETCH);
    let least = least.max(revealed.map_or(0, |current| places[current].end));
    let reached = line_end(&text, least);
    ui.memory_mut(|memory| memory.caches.cache::<Reached>().set(id, reached));
    let (shown, rest) = text.split_at(reached);
    let is_whole = rest.is_empty();
    // The next part begins at the end of the last line.
    let shown = if is_whole { shown } else { shown.strip_suffix('\n').unwrap_or(shown) };
    let text = if bidi::is_any(shown) {
        let text = RichText::new(shown).text_style(style.clone());
        in_order(ui, id.with(reached), text, width).into()
    } else if places.is_empty() {
        WidgetText::from(RichText::new(shown).text_style(style.clone()))
    } else {
        let job = highlighted(ui, shown, style, (&places, current));
        let wrap = TextWrapping::wrap_at_width(width);
        WidgetText::Galley(ui.painter().layout_job(LayoutJob { wrap, ..job }))
    };
    let galley = match &text {
        WidgetText::Galley(galley) => Some(Arc::clone(galley)),
        _ => None,
    };
    let label = ui.add(Label::new(text).wrap().selectable(true));
    if let (Some(current), Some(galley)) = (revealed, galley) {
        let letters = shown[..places[current].start].chars().count();
        let place = galley.pos_from_cursor(CCursor::new(letters));
        let place = place.translate(label.rect.min.to_vec2());
        ui.scroll_to_rect_animation(place, Some(Align::Center), ScrollAnimation::none());
    }
    if !is_whole {
        ui.add_space(height(ui, rest, width, style));
        ui.ctx().request_repaint();
    }
}

/// Returns a text with highlighted places.
fn highlighted(
    ui: &Ui,
    text: &str,
    style: &TextStyle,
    (places, current): (&[Range<usize>], Option<usize>),
) -> LayoutJob {
    let palette = palette(ui);
    let plain = TextFormat::simple(style.resolve(ui.style()), ui.visuals().text_color());
    let (mut job, mut end) = (LayoutJob::default(), 0);
    let shown = places.iter().filter(|place| place.end <= text.len());
    for (nth, place) in shown.enumerate() {
        let (color, background) = if current == Some(nth) {
            (palette.on_fill, palette.accent)
        } else {
            (palette.text, palette.selection)
        };
        let marked = TextFormat { color, background, ..plain.clone() };
        job.append(&text[end..place.start], 0.0, plain.clone());
        job.append(&text[place.clone()], 0.0, marked);
        end = place.end;
    }
    job.append(&text[end..], 0.0, plain);
    job
}

/// Returns the cached layout of the text in visual order.
fn in_order(ui: &Ui, id: Id, text: RichText, width: f32) -> Arc<LayoutJob> {
    let id = id.with(ui.visuals().text_color());
    let known = ui.memory_mut(|memory| memory.caches.cache::<InOrder>().get(&id).cloned());
    let job = known.unwrap_or_else(|| Arc::new(bidi::wrapped(ui, text, width)));
    ui.memory_mut(|memory| {
        let cache = memory.caches.cache::<InOrder>();
        cache.set(id, Arc::clone(&job));
    });
    job
}

/// Returns the end of the line that contains a byte offset, or the end of the text.
fn line_end(text: &str, at: usize) -> usize {
    let from = text.floor_char_boundary(at);
    text[from..].find('\n').map_or(text.len(), |end| from + end + 1)
}

/// Estimates the height of a text, in points.
fn height(ui: &Ui, text: &str, width: f32, style: &TextStyle) -> f32 {
    // The width of a monospace letter. Prose is slightly narrower.
    let columns = (width / (style.resolve(ui.style()).size * 0.6)).max(1.0);
    let rows = |line: &str| (line.len() as f32 / columns).ceil().max(1.0);
    ui.text_style_height(style) * text.lines().map(rows).sum::<f32>()
}

/// Breaks lines that are too long, at a space where possible.
fn with_shorter_lines(text: &str) -> Cow<'_, str> {
    if text.split('\n').all(|line| line.len() <= MAX_LINE_BYTES) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / MAX_LINE_BYTES + 1);
    for (nth, mut line) in text.split('\n').enumerate() {
        if nth > 0 {
            out.push('\n');
        }
        while line.len() > MAX_LINE_BYTES {
            let most = line.floor_char_boundary(MAX_LINE_BYTES);
            let space = line[..most].rfind(' ').filter(|at| *at >= most / 2);
            let (first, rest) = line.split_at(space.map_or(most, |at| at + 1));
            out.push_str(first);
            out.push('\n');
            line = rest;
        }
        out.push_str(line);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_only_lines_that_are_too_long() {
        let text = "a line of some words\n".repeat(2_000);
        assert_eq!(with_shorter_lines(&text), text);
        for long in ["word ".repeat(9_000), "漢".repeat(9_000)] {
            let text = format!("before\n{long}\nafter\n");
            let broken = with_shorter_lines(&text);
            assert!(broken.lines().all(|line| line.len() <= MAX_LINE_BYTES));
            assert!(broken.starts_with("before\n") && broken.ends_with("\nafter\n"));
            assert_eq!(broken.replace('\n', ""), text.replace('\n', ""));
        }
    }

    #[test]
    fn parts_end_at_line_ends() {
        let text = "eins\nzwei – drei\nvier";
        assert_eq!(line_end(text, 0), 5);
        assert_eq!(line_end(text, 11), 19);
        assert_eq!(line_end(text, 20), text.len());
        assert_eq!(line_end(text, 900), text.len());
        assert_eq!(line_end("", 1), 0);
    }
}
