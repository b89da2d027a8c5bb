//! Executes commands of the dialog that restores a source.

use super::restoring::{RestoreCommand, RestorePath, Restoring};
use crate::app::App;
use crate::app::shell::file_dialog::DialogPurpose;

impl App {
    /// Executes a command of the dialog that restores a source.
    pub(in crate::app) fn execute_restore(&mut self, ctx: &egui::Context, command: RestoreCommand) {
        match (command, &mut self.session.restoring) {
            (RestoreCommand::Start, restoring) => {
                *restoring = Some(Restoring::new(self.session.document.as_deref()));
            }
            (RestoreCommand::Edit(draft), Some(restoring)) => restoring.edit(draft),
            (RestoreCommand::Browse(path), Some(_)) => {
                self.ask_for_file(ctx, DialogPurpose::Restore(path));
            }
            (RestoreCommand::Write, Some(restoring)) => restoring.write(ctx, self.work),
            (RestoreCommand::Close, restoring) => *restoring = None,
            (_, None) => {}
        }
    }

    /// Receives a path chosen in the system's dialog.
    pub(in crate::app) fn restore_path_chosen(&mut self, path: RestorePath, text: String) {
        if let Some(restoring) = &mut self.session.restoring {
            let mut draft = restoring.draft.clone();
            *path.of_mut(&mut draft) = text;
            restoring.edit(draft);
        }
    }
}
