//! A snippet of a text on one line, with its matches highlighted.

use crate::analysis::query::SnippetPiece;
use crate::app::ui::theme::palette;
use crate::app::ui::widgets::bidi;
use crate::safe_text;
use egui::text::{CCursor, LayoutJob, TextFormat};
use egui::{Color32, Galley, Label, Response, RichText, TextStyle, Ui, vec2};

/// Shows a snippet on one line. If it is wider than the space, its first match is centered. Text with letters that run from
/// right to left has no highlights.
pub fn snippet(ui: &mut Ui, pieces: &[SnippetPiece], color: Color32) -> Response {
    let text: String = pieces.iter().map(|piece| &*piece.text).collect();
    if bidi::is_any(&text) {
        let text = safe_text::visible(&text).into_owned();
        return bidi::one_line(ui, RichText::new(text).color(color));
    }
    let pieces: Vec<_> =
        pieces.iter().map(|piece| (safe_text::visible(&piece.text), piece.is_match)).collect();
    let pieces: Vec<_> = pieces.iter().map(|(text, is_match)| (&**text, *is_match)).collect();
    let whole = job(ui, &pieces, color);
    let galley = ui.painter().layout_job(whole.clone());
    let n_left_out = left_out(&galley, &pieces, ui.available_width());
    let job = if n_left_out == 0 { whole } else { job(ui, &without(&pieces, n_left_out), color) };
    ui.add(Label::new(job).truncate())
}

fn job(ui: &Ui, pieces: &[(&str, bool)], color: Color32) -> LayoutJob {
    let tone = palette(ui);
    let plain = TextFormat::simple(TextStyle::Body.resolve(ui.style()), color);
    let mut job = LayoutJob::default();
    for (text, is_match) in pieces {
        let format = if *is_match {
            TextFormat { color: tone.text, background: tone.selection, ..plain.clone() }
        } else {
            plain.clone()
        };
        job.append(text, 0.0, format);
    }
    job
}

/// Returns the number of characters to leave out at the beginning so that the first match is in view.
fn left_out(galley: &Galley, pieces: &[(&str, bool)], width: f32) -> usize {
    let n_before: usize = pieces
        .iter()
        .take_while(|(_, is_match)| !is_match)
        .map(|(text, _)| text.chars().count())
        .sum();
    let found = pieces.iter().find(|(_, is_match)| *is_match);
    let hidden = galley.size().x - width;
    let Some((found, _)) = found.filter(|_| hidden > 0.0) else {
        return 0;
    };
    let x = |at: usize| galley.pos_from_cursor(CCursor::new(at)).left();
    let (left, right) = (x(n_before), x(n_before + found.chars().count()));
    let start = f32::midpoint(left, right) - width / 2.0;
    let start = start.min(hidden).min(left).max(0.0);
    if start == 0.0 {
        return 0;
    }
    // The ellipsis needs the space of one more character.
    let at = galley.cursor_from_pos(vec2(start, 0.0)).index.0;
    (at + 1).min(n_before)
}

/// Returns pieces without the first characters.
fn without<'a>(pieces: &[(&'a str, bool)], mut n: usize) -> Vec<(&'a str, bool)> {
    let mut rest = vec![("…", false)];
    for (text, is_match) in pieces {
        let len = text.chars().count();
        let skipped = n.min(len);
        n -= skipped;
        let at = text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at);
        rest.push((&text[at..], *is_match));
    }
    rest
}
