//! Text styles of panels, and the margin around their content.

use crate::app::ui::theme::{palette, space};
use egui::{Frame, Margin, RichText, TextStyle, Ui};

/// Returns a text's first sentence.
pub(crate) fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// Returns small weak text.
pub(crate) fn small(ui: &Ui, text: impl Into<String>) -> RichText {
    RichText::new(text).text_style(TextStyle::Small).color(palette(ui).weak)
}

/// Returns weak text of ordinary size.
pub(crate) fn weak(ui: &Ui, text: impl Into<String>) -> RichText {
    RichText::new(text).color(palette(ui).weak)
}

/// Adds the panel's horizontal margin around content.
pub(crate) fn padded<R>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> R {
    Frame::new()
        .inner_margin(Margin::symmetric(space::L as i8, space::S as i8))
        .show(ui, content)
        .inner
}
