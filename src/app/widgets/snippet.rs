//! A snippet of a text on one line, with its matches highlighted.

use super::bidi;
use crate::analysis::query::SnippetPiece;
use crate::app::theme::palette;
use crate::safe_text;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Label, Response, RichText, TextStyle, Ui};

/// Shows a snippet on one line. Text with letters that run from right to left has no highlights.
pub fn snippet(ui: &mut Ui, pieces: &[SnippetPiece], color: Color32) -> Response {
    let text: String = pieces.iter().map(|piece| &*piece.text).collect();
    if bidi::is_any(&text) {
        let text = safe_text::visible(&text).into_owned();
        return bidi::one_line(ui, RichText::new(text).color(color));
    }
    let tone = palette(ui);
    let plain = TextFormat::simple(TextStyle::Body.resolve(ui.style()), color);
    let mut job = LayoutJob::default();
    for piece in pieces {
        let format = if piece.is_match {
            TextFormat {
                color: tone.text,
                background: tone.selection,
                ..plain.clone()
            }
        } else {
            plain.clone()
        };
        job.append(&safe_text::visible(&piece.text), 0.0, format);
    }
    ui.add(Label::new(job).truncate())
}
