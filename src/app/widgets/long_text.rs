//! A text of any length that can be selected, laid out a stretch in each frame until all of it is there.

use super::bidi;
use egui::cache::FramePublisher;
use egui::text::LayoutJob;
use egui::{Id, Label, RichText, TextStyle, Ui, WidgetText};
use std::borrow::Cow;
use std::sync::Arc;

/// Bytes that are laid out in a frame; in the first, what may be in view. egui keeps what was laid out line by line.
const STRETCH: usize = 4 * 1024;
const FIRST: usize = 2 * STRETCH;
/// A line longer than this is broken: one line is laid out at once.
const LONGEST: usize = FIRST;

/// How far texts that were shown in the frame before are laid out: bytes, by what they are.
type Reached = FramePublisher<Id, usize>;
/// Texts that were put in order in the frame before, by what they are.
type InOrder = FramePublisher<Id, Arc<LayoutJob>>;

/// Shows a text, wrapped. `id` tells it from others, and from itself at another time.
pub fn long_text(ui: &mut Ui, id: Id, text: &str, style: &TextStyle) {
    let text = with_shorter_lines(text);
    let width = ui.available_width();
    let id = id.with((text.len(), width.to_bits()));
    let before = ui.memory_mut(|memory| memory.caches.cache::<Reached>().get(&id).copied());
    let least = before.map_or(FIRST, |before| before + STRETCH);
    let reached = line_end(&text, least);
    ui.memory_mut(|memory| memory.caches.cache::<Reached>().set(id, reached));
    let (shown, rest) = text.split_at(reached);
    let is_whole = rest.is_empty();
    // The end of its last line is where the rest begins.
    let shown = if is_whole {
        shown
    } else {
        shown.strip_suffix('\n').unwrap_or(shown)
    };
    let text = RichText::new(shown).text_style(style.clone());
    let text = if bidi::is_any(shown) {
        in_order(ui, id.with(reached), text, width).into()
    } else {
        WidgetText::from(text)
    };
    ui.add(Label::new(text).wrap().selectable(true));
    if !is_whole {
        ui.add_space(height(ui, rest, width, style));
        ui.ctx().request_repaint();
    }
}

/// The text with its words in the order in which they are read, worked out once.
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

/// Where the line ends that holds a place, or the text does.
fn line_end(text: &str, at: usize) -> usize {
    let from = text.floor_char_boundary(at);
    text[from..]
        .find('\n')
        .map_or(text.len(), |end| from + end + 1)
}

/// About the height that a text will have.
fn height(ui: &Ui, text: &str, width: f32, style: &TextStyle) -> f32 {
    // As wide as the letters of code are; lines of prose come out a little shorter.
    let columns = (width / (style.resolve(ui.style()).size * 0.6)).max(1.0);
    let rows = |line: &str| (line.len() as f32 / columns).ceil().max(1.0);
    ui.text_style_height(style) * text.lines().map(rows).sum::<f32>()
}

/// The text, lines that are too long broken at a space if they have one.
fn with_shorter_lines(text: &str) -> Cow<'_, str> {
    if text.split('\n').all(|line| line.len() <= LONGEST) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / LONGEST + 1);
    for (nth, mut line) in text.split('\n').enumerate() {
        if nth > 0 {
            out.push('\n');
        }
        while line.len() > LONGEST {
            let most = line.floor_char_boundary(LONGEST);
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
    fn only_lines_that_are_too_long_are_broken() {
        let text = "a line of some words\n".repeat(2_000);
        assert_eq!(with_shorter_lines(&text), text);
        for long in ["word ".repeat(9_000), "漢".repeat(9_000)] {
            let text = format!("before\n{long}\nafter\n");
            let broken = with_shorter_lines(&text);
            assert!(broken.lines().all(|line| line.len() <= LONGEST));
            assert!(broken.starts_with("before\n") && broken.ends_with("\nafter\n"));
            assert_eq!(broken.replace('\n', ""), text.replace('\n', ""));
        }
    }

    #[test]
    fn a_stretch_ends_where_a_line_does() {
        let text = "eins\nzwei – drei\nvier";
        assert_eq!(line_end(text, 0), 5);
        assert_eq!(line_end(text, 11), 19);
        assert_eq!(line_end(text, 20), text.len());
        assert_eq!(line_end(text, 900), text.len());
        assert_eq!(line_end("", 1), 0);
    }
}
