//! The list of sessions: opened, looked at, put away.

use crate::app::App;
use crate::app::document::Origin;
use crate::app::sessions::{Sessions, SessionsWish};
use crate::exec;
use std::path::PathBuf;

impl App {
    /// Opens a file, or lists what a folder holds.
    pub(super) fn open_path(&mut self, ctx: &egui::Context, path: PathBuf) {
        if exec::is_folder(&path) {
            self.sessions_wish(ctx, SessionsWish::Show(Some(path)));
        } else {
            self.open(ctx, Origin::Path(path), 0);
        }
    }

    /// Does what was asked about the list.
    pub(in crate::app) fn sessions_wish(&mut self, ctx: &egui::Context, wish: SessionsWish) {
        match wish {
            SessionsWish::Show(folder) => {
                let with_state = self.memory.is_kept();
                self.sessions = Some(Sessions::start(ctx, self.work, folder, with_state));
            }
            SessionsWish::Close => self.sessions = None,
            wish => {
                if let Some(sessions) = &mut self.sessions {
                    sessions.obey(wish);
                }
            }
        }
    }
}
