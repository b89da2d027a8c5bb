//! Rows of a form.

use crate::app::ui::theme::space;
use crate::app::ui::widgets;
use egui::{TextEdit, Ui};

/// Shows a labelled line with a text field.
pub(crate) fn field(ui: &mut Ui, label: &str, text: &mut String, hint: &str) {
    row(ui, label, |ui, id| {
        let edit = TextEdit::singleline(text).hint_text(hint).desired_width(f32::INFINITY);
        ui.add(edit).labelled_by(id);
    });
}

/// Shows a labelled line of the form.
pub(crate) fn row(ui: &mut Ui, label: &str, content: impl FnOnce(&mut Ui, egui::Id)) {
    widgets::labelled(ui, label, LABEL, space::S, content);
}

/// Width of the labels, in points.
pub(crate) const LABEL: f32 = 82.0;
