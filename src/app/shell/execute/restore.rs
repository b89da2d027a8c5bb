//! Executes commands of the dialog that restores a source.

use crate::app::shell::App;
use crate::app::shell::file_dialog::DialogPurpose;
use crate::app::state::restore::restoring::{RestoreCommand, RestorePath, Restoring};
use crate::app::ui::repaint::repaint_of;

impl App {
    /// Executes a command of the dialog that restores a source.
    pub(crate) fn execute_restore(&mut self, ctx: &egui::Context, command: RestoreCommand) {
        match (command, &mut self.session.restoring) {
            (RestoreCommand::Start, restoring) => {
                *restoring = Some(Restoring::new(self.session.document.as_deref()));
            }
            (RestoreCommand::Edit(draft), Some(restoring)) => restoring.edit(draft),
            (RestoreCommand::Browse(path), Some(_)) => {
                self.ask_for_file(ctx, DialogPurpose::Restore(path));
            }
            (RestoreCommand::Write, Some(restoring)) => {
                restoring.write(&repaint_of(ctx), self.work);
            }
            (RestoreCommand::Close, restoring) => *restoring = None,
            (_, None) => {}
        }
    }

    /// Receives a path chosen in the system's dialog.
    pub(crate) fn restore_path_chosen(&mut self, path: RestorePath, text: String) {
        if let Some(restoring) = &mut self.session.restoring {
            let mut draft = restoring.draft.clone();
            *path.of_mut(&mut draft) = text;
            restoring.edit(draft);
        }
    }
}
