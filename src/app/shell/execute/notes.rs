//! Executes commands of the dialog for notes on messages.

use crate::app::shell::App;
use crate::app::state::notes::note::{NoteCommand, NoteDraft};
use std::sync::Arc;

impl App {
    /// Executes a command of the dialog for notes.
    pub(crate) fn execute_note(&mut self, command: NoteCommand) {
        match (command, &mut self.session.note) {
            (NoteCommand::Start(message), note) => {
                let text = self.session.config.notes.get(&message).cloned();
                *note = Some(NoteDraft { message, text: text.unwrap_or_default() });
            }
            (NoteCommand::Edit(text), Some(note)) => note.text = text,
            (NoteCommand::Save, note) => {
                let Some(NoteDraft { message, text }) = note.take() else {
                    return;
                };
                let notes = Arc::make_mut(&mut self.session.config.notes);
                match text.trim() {
                    "" => drop(notes.remove(&message)),
                    text => drop(notes.insert(message, text.to_owned())),
                }
            }
            (NoteCommand::Close, note) => *note = None,
            (NoteCommand::Edit(_), None) => {}
        }
    }
}
