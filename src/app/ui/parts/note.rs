//! The dialog for a note on a message, and its display in the tab Messages.

use crate::app::state::command::Commands;
use crate::app::state::model::config::Config;
use crate::app::state::notes::note::{NoteCommand, NoteDraft};
use crate::app::state::wording;
use crate::app::ui::theme::{palette, space};
use crate::app::ui::widgets::dialog::{
    DialogAction, DialogEnd, DialogField, dialog, dialog_buttons, dialog_end, dialog_title,
};
use crate::app::ui::widgets::text::{small, weak};
use crate::safe_text;
use egui::{Label, Ui};

/// Width of the dialog's content, in points.
const WIDTH: f32 = 480.0;

/// Shows the dialog.
pub fn show(ui: &Ui, note: &NoteDraft, config: &Config, commands: &mut Commands) {
    let has_note = config.notes.contains_key(&note.message);
    let modal = dialog(ui, "note").show(ui.ctx(), |ui| {
        ui.set_width(WIDTH);
        let number = wording::number(note.message);
        dialog_title(ui, &format!("Note on message {number}"));
        let text = "Listed in a report. A redacted report contains only the number of notes.";
        ui.label(weak(ui, text));
        ui.add_space(space::M);
        let field = DialogField { label: "Note", text: &note.text, hint: "", is_suggestion: false };
        let input = field.show(ui);
        commands.extend(input.changed.map(NoteCommand::Edit));
        ui.add_space(space::M);
        let is_empty = note.text.trim().is_empty();
        let verb = if is_empty && has_note { "Remove note" } else { "Save" };
        let action =
            DialogAction { verb, is_possible: has_note || !is_empty, is_entered: input.is_entered };
        dialog_buttons(ui, action)
    });
    commands.extend(dialog_end(&modal).map(|end| match end {
        DialogEnd::Confirmed => NoteCommand::Save,
        DialogEnd::Cancelled => NoteCommand::Close,
    }));
}

/// Shows the menu item that writes or changes the note of a message.
pub(crate) fn item(ui: &mut Ui, config: &Config, message: usize, commands: &mut Commands) {
    let name = if config.notes.contains_key(&message) { "Edit note…" } else { "Add note…" };
    if ui.button(name).clicked() {
        commands.push(NoteCommand::Start(message));
        ui.close();
    }
}

/// Marks a message that has a note. The note is the hover text.
pub(crate) fn mark(ui: &mut Ui, config: &Config, message: usize) {
    if let Some(note) = config.notes.get(&message) {
        let mark = ui.label(small(ui, "note").color(palette(ui).accent));
        mark.on_hover_text(safe_text::visible(note));
    }
}

/// Shows the note of a message, if it has one.
pub(crate) fn full(ui: &mut Ui, config: &Config, message: usize) {
    if let Some(note) = config.notes.get(&message) {
        let text = format!("Note: {}", safe_text::visible(note));
        let text = small(ui, text).color(palette(ui).accent);
        ui.add(Label::new(text).wrap());
    }
}
