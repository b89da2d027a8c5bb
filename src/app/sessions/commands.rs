//! Commands of the session list.

use super::list::{Sessions, SessionsWish};
use crate::app::App;
use crate::app::open::document::Origin;
use crate::app::shell::file_dialog::Wanted;
use crate::exec;
use std::path::{Path, PathBuf};

/// Returns whether the path holds several sessions and none was chosen by its number.
pub(in crate::app) fn is_list(path: &Path, conversation: usize) -> bool {
    exec::is_folder_of_sessions(path) || conversation == 0 && exec::is_database(path)
}

impl App {
    /// Opens a file, or lists the sessions of a folder or database.
    pub(in crate::app) fn open_path(&mut self, ctx: &egui::Context, path: PathBuf) {
        if is_list(&path, 0) {
            self.sessions_wish(ctx, SessionsWish::Show(Some(path)));
        } else {
            self.open(ctx, Origin::Path(path), 0);
        }
    }

    /// Executes a command of the session list.
    pub(in crate::app) fn sessions_wish(&mut self, ctx: &egui::Context, wish: SessionsWish) {
        match wish {
            SessionsWish::Show(folder) => {
                let with_state = self.memory.is_kept();
                if let Some(listed) = &folder {
                    let complaint = self.memory.listed(listed);
                    self.complain(complaint);
                }
                self.sessions = Some(Sessions::start(ctx, self.work, folder, with_state));
            }
            SessionsWish::Choose => self.ask_for_file(ctx, Wanted::Folder),
            SessionsWish::Close if self.document.is_none() => self.sessions = None,
            wish => {
                if let Some(sessions) = &mut self.sessions {
                    sessions.obey(wish);
                }
            }
        }
    }
}
