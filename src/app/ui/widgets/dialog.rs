//! Frame, title, text field and buttons of modal dialogs.

use crate::app::ui::theme::{palette, space, strong};
use crate::app::ui::widgets::{primary_button, secondary_button};
use egui::text::{CCursor, CCursorRange};
use egui::{Frame, Id, Key, Label, Margin, Modal, ModalResponse, RichText, Stroke, TextEdit, Ui};

/// Returns a dialog with margins.
pub(crate) fn dialog(ui: &Ui, name: &str) -> Modal {
    Modal::new(Id::unique(name)).frame(Frame::popup(ui.style()).inner_margin(Margin::same(20)))
}

/// Shows the title of a dialog.
pub(crate) fn dialog_title(ui: &mut Ui, title: &str) {
    ui.label(RichText::new(title).text_style(strong()).size(15.0));
    ui.add_space(space::S);
}

/// Shows an error in a box: its effect as the title, and its reason.
pub(crate) fn error_box(ui: &mut Ui, title: &str, reason: &str) {
    let color = palette(ui).bad;
    ui.add_space(space::S);
    Frame::new()
        .fill(palette(ui).tint(color))
        .stroke(Stroke::new(1.0, color))
        .corner_radius(f32::from(space::RADIUS))
        .inner_margin(Margin::symmetric(12, 8))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.label(RichText::new(title).text_style(strong()).color(color));
            let reason = crate::safe_text::visible(reason);
            ui.add(Label::new(reason.as_ref()).wrap().selectable(true));
        });
}

/// The text field of a dialog, which has the focus when the dialog opens.
pub(crate) struct DialogField<'a> {
    /// Its label.
    pub(crate) label: &'a str,
    /// Its text.
    pub(crate) text: &'a str,
    /// The text of an empty field.
    pub(crate) hint: &'a str,
    /// Whether the text is a suggestion that typing replaces.
    pub(crate) is_suggestion: bool,
}

/// Input of a text field in a frame.
pub(crate) struct DialogInput {
    /// The text, if it has changed.
    pub(crate) changed: Option<String>,
    /// Whether Enter was pressed.
    pub(crate) is_entered: bool,
}

impl DialogField<'_> {
    /// Shows the field.
    pub(crate) fn show(self, ui: &mut Ui) -> DialogInput {
        let label = ui.label(self.label);
        let id = Id::unique(format!("dialog field {}", self.label));
        let is_enter = ui.input(|i| i.key_pressed(Key::Enter));
        let is_new = ui.memory(|m| m.focused().is_none()) && !is_enter;
        let mut text = self.text.to_owned();
        let edit = TextEdit::singleline(&mut text)
            .id(id)
            .hint_text(self.hint)
            .desired_width(f32::INFINITY)
            .margin(Margin::symmetric(12, 5));
        let mut output = edit.show(ui);
        let response = output.response.response.clone().labelled_by(label.id);
        if is_new {
            response.request_focus();
        }
        if is_new && self.is_suggestion {
            let all = CCursorRange::two(CCursor::default(), CCursor::new(text.chars().count()));
            output.state.cursor.set_char_range(Some(all));
            output.state.store(ui.ctx(), id);
        }
        DialogInput {
            changed: response.changed().then_some(text),
            is_entered: response.lost_focus() && is_enter,
        }
    }
}

/// The end of a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialogEnd {
    /// The dialog's action is executed.
    Confirmed,
    /// The dialog is closed.
    Cancelled,
}

/// The action of a dialog.
#[derive(Clone, Copy)]
pub(crate) struct DialogAction<'a> {
    /// Text of its button.
    pub(crate) verb: &'a str,
    /// Whether the input is complete.
    pub(crate) is_possible: bool,
    /// Whether Enter was pressed, which has the effect of the button.
    pub(crate) is_entered: bool,
}

/// Shows the button of the dialog's action, and the one that cancels it.
pub(crate) fn dialog_buttons(ui: &mut Ui, action: DialogAction<'_>) -> Option<DialogEnd> {
    let DialogAction { verb, is_possible, is_entered } = action;
    let buttons = ui.horizontal(|ui| {
        let action = ui.add_enabled_ui(is_possible, |ui| primary_button(ui, verb));
        let is_cancelled = secondary_button(ui, "Cancel", "Esc").clicked();
        (action.inner.clicked(), is_cancelled)
    });
    let (is_clicked, is_cancelled) = buttons.inner;
    if is_possible && (is_clicked || is_entered) {
        Some(DialogEnd::Confirmed)
    } else {
        is_cancelled.then_some(DialogEnd::Cancelled)
    }
}

/// Returns how a dialog ends in this frame: by its buttons, Esc or a click outside.
pub(crate) fn dialog_end(modal: &ModalResponse<Option<DialogEnd>>) -> Option<DialogEnd> {
    let is_closed = modal.should_close().then_some(DialogEnd::Cancelled);
    modal.inner.or(is_closed)
}
