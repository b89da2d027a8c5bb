//! Follows a file that is still being written.

use super::document::{Document, Origin};
use super::followed_file::FollowedFile;
use crate::app::App;
use crate::app::background::latest_result::WorkMode;
use crate::app::background::task;
use crate::app::shell::history::History;
use crate::exec::LoadOptions;
use crate::tokens;
use std::sync::Arc;

impl App {
    /// Starts watching the open file.
    pub(in crate::app) fn watch(&mut self, ctx: &egui::Context, document: &Document) {
        let shown = document.loaded.path.as_deref();
        self.live = match &document.origin {
            Origin::Path(path) if self.work == WorkMode::AsNeeded => {
                Some(FollowedFile::new(ctx, path, shown))
            }
            _ => None,
        };
    }

    /// Shows the new state of the open file, except while an export of it is being prepared.
    pub(in crate::app) fn follow(&mut self, ctx: &egui::Context) {
        let (Some(live), Some(document)) = (&mut self.live, &self.document) else {
            return;
        };
        if self.export.is_some() || self.loading.is_some() {
            return;
        }
        let counter = tokens::by_name(self.config.counter).unwrap_or_else(tokens::default_counter);
        let options = LoadOptions {
            counter,
            window: None,
            conversation: document.conversation,
        };
        live.read_again(ctx, options);
        live.receive(ctx, options, document, &self.selection);
        let ready = live.take_ready(
            ctx,
            &self.policies,
            &self.config,
            (&self.view, &self.derived),
        );
        let Some((next, derived, selection)) = ready else {
            return;
        };
        let has_grown = next.place == document.place;
        let before = self.document.replace(next);
        task::drop_in_background((before, std::mem::replace(&mut self.derived, derived)));
        self.selection = selection;
        if !has_grown {
            self.remove_marks_of_previous_file();
        }
    }

    /// Forgets marks at calls and messages, since the file is a different one.
    fn remove_marks_of_previous_file(&mut self) {
        let config = &mut self.config;
        let had_any = !config.restarts.is_empty()
            || !config.errors.is_empty()
            || !config.manual_edits.is_empty()
            || !config.notes.is_empty();
        config.restarts.clear();
        config.errors.clear();
        config.manual_edits = Arc::default();
        config.notes = Arc::default();
        self.history = History::new(self.config.clone());
        self.toasts.info(if had_any {
            "The file was replaced: marks and notes at its calls and messages were removed."
        } else {
            "The file was replaced."
        });
    }
}
