//! Text styles of panels, and the margin around their content.

use crate::app::theme::{palette, space};
use egui::{Frame, Margin, RichText, TextStyle, Ui};

/// Returns a text's first sentence.
pub(in crate::app) fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// Returns small weak text.
pub(in crate::app) fn small(ui: &Ui, text: impl Into<String>) -> RichText {
    RichText::new(text).text_style(TextStyle::Small).color(palette(ui).weak)
}

/// Returns weak text of ordinary size.
pub(in crate::app) fn weak(ui: &Ui, text: impl Into<String>) -> RichText {
    RichText::new(text).color(palette(ui).weak)
}

/// Adds the panel's horizontal margin around content.
pub(in crate::app) fn padded<R>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> R {
    Frame::new()
        .inner_margin(Margin::symmetric(space::L as i8, space::S as i8))
        .show(ui, content)
        .inner
}
