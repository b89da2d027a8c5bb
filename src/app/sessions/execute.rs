//! Executes commands of the session list.

use super::list::{Sessions, SessionsCommand, is_list};
use crate::app::App;
use crate::app::open::document::Origin;
use crate::app::shell::file_dialog::DialogPurpose;
use std::path::PathBuf;

impl App {
    /// Opens a file, or lists the sessions of a folder or database.
    pub(in crate::app) fn open_path(&mut self, ctx: &egui::Context, path: PathBuf) {
        if is_list(&path, 0) {
            self.execute_sessions(ctx, SessionsCommand::Show(Some(path)));
        } else {
            self.open(ctx, Origin::Path(path), 0);
        }
    }

    /// Executes a command of the session list.
    pub(in crate::app) fn execute_sessions(
        &mut self,
        ctx: &egui::Context,
        command: SessionsCommand,
    ) {
        match command {
            SessionsCommand::Show(folder) => {
                let with_state = self.memory.is_kept();
                if let Some(listed) = &folder {
                    let warning = self.memory.listed(listed);
                    self.warn(warning);
                }
                self.sessions = Some(Sessions::start(ctx, self.work, folder, with_state));
            }
            SessionsCommand::Choose => self.ask_for_file(ctx, DialogPurpose::Folder),
            SessionsCommand::Close if self.document.is_none() => self.sessions = None,
            command => {
                if let Some(sessions) = &mut self.sessions {
                    sessions.execute(command);
                }
            }
        }
    }
}
