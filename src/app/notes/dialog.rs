//! The dialog for a note on a message, and its display in the tab Messages.

use super::note::{NoteCommand, NoteDraft};
use crate::app::command::Commands;
use crate::app::config::Config;
use crate::app::theme::{palette, space};
use crate::app::widgets::dialog::{dialog, dialog_title};
use crate::app::widgets::text::{small, weak};
use crate::app::{widgets, wording};
use crate::safe_text;
use egui::{Id, Key, Label, Margin, TextEdit, Ui};

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
        let is_entered = field(ui, note, commands);
        ui.add_space(space::M);
        let is_empty = note.text.trim().is_empty();
        let verb = if is_empty && has_note {
            "Remove note"
        } else {
            "Save"
        };
        ui.horizontal(|ui| {
            let is_possible = has_note || !is_empty;
            let save = ui.add_enabled_ui(is_possible, |ui| widgets::primary_button(ui, verb));
            if save.inner.clicked() || is_entered && is_possible {
                commands.push(NoteCommand::Save);
            }
            if widgets::secondary_button(ui, "Cancel", "Esc").clicked() {
                commands.push(NoteCommand::Close);
            }
        });
    });
    if modal.should_close() {
        commands.push(NoteCommand::Close);
    }
}

/// Shows the field. Returns whether Enter was pressed.
fn field(ui: &mut Ui, note: &NoteDraft, commands: &mut Commands) -> bool {
    let label = ui.label("Note");
    let is_new = ui.memory(|m| m.focused().is_none()) && !ui.input(|i| i.key_pressed(Key::Enter));
    let mut text = note.text.clone();
    let edit = TextEdit::singleline(&mut text)
        .id(Id::unique("note on a message"))
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(12, 5));
    let response = ui.add(edit).labelled_by(label.id);
    if is_new {
        response.request_focus();
    }
    if response.changed() {
        commands.push(NoteCommand::Edit(text));
    }
    response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter))
}

/// Shows the menu item that writes or changes the note of a message.
pub(in crate::app) fn item(ui: &mut Ui, config: &Config, message: usize, commands: &mut Commands) {
    let name = if config.notes.contains_key(&message) {
        "Edit note…"
    } else {
        "Add note…"
    };
    if ui.button(name).clicked() {
        commands.push(NoteCommand::Start(message));
        ui.close();
    }
}

/// Marks a message that has a note. The note is the hover text.
pub(in crate::app) fn mark(ui: &mut Ui, config: &Config, message: usize) {
    if let Some(note) = config.notes.get(&message) {
        let mark = ui.label(small(ui, "note").color(palette(ui).accent));
        mark.on_hover_text(safe_text::visible(note));
    }
}

/// Shows the note of a message, if it has one.
pub(in crate::app) fn full(ui: &mut Ui, config: &Config, message: usize) {
    if let Some(note) = config.notes.get(&message) {
        let text = format!("Note: {}", safe_text::visible(note));
        let text = small(ui, text).color(palette(ui).accent);
        ui.add(Label::new(text).wrap());
    }
}
