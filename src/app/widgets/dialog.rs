//! Frame and title of modal dialogs.

use crate::app::theme::{space, strong};
use egui::{Frame, Id, Margin, Modal, RichText, Ui};

/// Returns a dialog with margins.
pub(in crate::app) fn dialog(ui: &Ui, name: &str) -> Modal {
    Modal::new(Id::unique(name)).frame(Frame::popup(ui.style()).inner_margin(Margin::same(20)))
}

/// Shows the title of a dialog.
pub(in crate::app) fn dialog_title(ui: &mut Ui, title: &str) {
    ui.label(RichText::new(title).text_style(strong()).size(15.0));
    ui.add_space(space::S);
}
