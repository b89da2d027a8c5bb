//! Follows a file that is still being written.

use crate::app::shell::{App, drawer_tabs};
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::task;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::history::History;
use crate::app::state::open::followed_file::FollowedFile;
use crate::app::state::results::Inputs;
use crate::app::ui::repaint::repaint_of;

impl App {
    /// Watches the open file if it was opened by its path, else stops watching.
    pub(crate) fn watch(&mut self, ctx: &egui::Context, document: &Document) {
        let shown = document.loaded.path.as_deref();
        self.session.live = match &document.origin {
            Origin::Path(path) if self.work == WorkMode::AsNeeded => {
                Some(FollowedFile::new(&repaint_of(ctx), path, shown))
            }
            _ => None,
        };
    }

    /// Shows the new state of the open file, except while a session is loaded or an export is prepared.
    pub(crate) fn follow(&mut self, ctx: &egui::Context) {
        let session = &mut self.session;
        let (Some(live), Some(document)) = (&mut session.live, &session.document) else {
            return;
        };
        if session.export.is_some() || session.loading.is_some() {
            return;
        }
        let options = session.config.load_options(document.conversation);
        let repaint = repaint_of(ctx);
        live.read_again(&repaint, options);
        live.receive(&repaint, options, document, &session.selection);
        let inputs = Inputs {
            repaint: &repaint,
            is_dragging: ctx.input(|i| i.pointer.any_down()),
            policies: &self.policies,
            config: &session.config,
            view: &session.view,
            tabs: &drawer_tabs::update,
        };
        let Some(next) = live.take_ready(inputs, &session.derived) else {
            return;
        };
        let has_grown = next.document.source_id == document.source_id;
        let before = session.document.replace(next.document);
        let results = std::mem::replace(&mut session.derived, next.derived);
        task::drop_in_background((before, results));
        session.selection = next.selection;
        if !has_grown {
            self.remove_marks_of_previous_file();
        }
    }

    /// Removes marks and notes at calls and messages and the undo history, and says so, since the file is a different one.
    fn remove_marks_of_previous_file(&mut self) {
        let had_any = self.session.config.remove_marks();
        self.session.history = History::new(self.session.config.clone());
        self.toasts.info(if had_any {
            "The file was replaced: marks and notes at its calls and messages were removed."
        } else {
            "The file was replaced."
        });
    }
}
