//! Executes commands that open and close sessions.

use crate::app::shell::file_dialog::DialogPurpose;
use crate::app::shell::paste::ClipboardRequest;
use crate::app::shell::{App, paste};
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::model::background::task;
use crate::app::state::model::config::Config;
use crate::app::state::model::derived::Derived;
use crate::app::state::model::document::{Document, Origin};
use crate::app::state::model::history::History;
use crate::app::state::model::selection::Selection;
use crate::app::state::open::command::OpenCommand;
use crate::app::state::open::loading::{KeptStates, Loading};
use crate::app::state::workspace::reopened::Reopened;
use crate::app::ui::repaint::repaint_of;
use crate::app::ui::theme::fonts;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

impl App {
    /// Executes a command that opens or closes a session.
    pub(crate) fn execute_open(&mut self, ctx: &egui::Context, command: OpenCommand) {
        match command {
            OpenCommand::ShowDialog => self.ask_for_file(ctx, DialogPurpose::Session),
            OpenCommand::Path(path) => self.open_path(ctx, path),
            OpenCommand::ConversationOf(path, conversation) => {
                self.open(ctx, Origin::Path(path), conversation);
            }
            OpenCommand::Example(name) => self.open(ctx, Origin::Example(name), 0),
            OpenCommand::Paste => self.pasting = Some(ClipboardRequest::new(ctx)),
            OpenCommand::Conversation(conversation) => self.open_conversation(ctx, conversation),
            OpenCommand::Cancel => {
                self.cancel_load();
                self.toasts.info("Opening was cancelled.");
            }
            OpenCommand::DismissError => self.session.problem = None,
            OpenCommand::ClosePathDialog => self.session.view.asks_path = false,
            OpenCommand::EditPath(path) => {
                self.session.view.path = path;
                self.session.problem = None;
            }
        }
    }

    /// Starts to open a session and cancels the one being opened.
    pub(crate) fn open(&mut self, ctx: &egui::Context, origin: Origin, conversation: usize) {
        self.cancel_load();
        self.session.problem = None;
        if self.show_tab_of(ctx, &origin, conversation) {
            return;
        }
        self.session.hide_list();
        let options = self.first_config(&origin).load_options(conversation);
        // An open session that is opened again starts anew, or from its workspace.
        self.keep_workspace_now(ctx);
        let visited = self.visits.bytes(&origin, conversation);
        let kept = KeptStates { workspaces: self.saver.store().clone(), visited };
        self.session.loading =
            Some(Loading::start(&repaint_of(ctx), self.work, origin, options, kept));
    }

    /// Opens a file dropped on the window.
    pub(crate) fn receive_dropped_file(&mut self, ctx: &egui::Context) {
        if let Some(path) = dropped(ctx) {
            self.open_path(ctx, path);
        }
    }

    /// Opens pasted text, unless a modal dialog is open.
    pub(crate) fn receive_paste(&mut self, ctx: &egui::Context) {
        let is_covered = self.is_covered() && self.list().is_none();
        let is_without_text = self.paste_keys.were_without_text(ctx);
        if let Some(pasted) = paste::pasted(ctx).filter(|_| !is_covered) {
            self.pasting = None;
            self.open(ctx, Origin::Pasted(pasted), 0);
        } else if let Some(request) = self.pasting.take() {
            self.pasting = request.after_frame(ctx);
            if self.pasting.is_none() {
                self.toasts.info(paste::NOTHING);
            }
        } else if is_without_text && !is_covered && !ctx.text_edit_focused() {
            self.toasts.info(paste::NOTHING);
        }
    }

    /// Shows the session that was being opened, once it is loaded.
    pub(crate) fn receive_session(&mut self, ctx: &egui::Context) {
        let Some(loading) = self.session.loading.take() else {
            return;
        };
        match loading.take() {
            Ok(Ok((document, reopened))) => {
                let document = Arc::new(document);
                self.watch(ctx, &document);
                let texts = document.facts.iter().map(|facts| &*facts.preview);
                let missing = texts.take(1_000).find_map(|text| fonts::missing(ctx, text));
                self.warn(missing);
                self.show_document(ctx, document, reopened);
                if let Some(path) = self.requested_comparison.take() {
                    self.execute_compare(ctx, CompareCommand::Path(path));
                }
            }
            Ok(Err(problem)) => self.session.problem = Some(problem),
            Err(loading) => {
                // The progress bar advances while bytes are counted.
                ctx.request_repaint_after(Duration::from_millis(50));
                self.session.loading = Some(*loading);
            }
        }
    }

    fn open_conversation(&mut self, ctx: &egui::Context, conversation: usize) {
        if let Some(document) = &self.session.document {
            self.open(ctx, document.origin.clone(), conversation);
        }
    }

    /// Shows a loaded session, with the state in which it was left.
    pub(crate) fn show_document(
        &mut self,
        ctx: &egui::Context,
        document: Arc<Document>,
        reopened: Reopened,
    ) {
        self.leave_session(ctx);
        if let Origin::Path(path) = &document.origin {
            let warning = self.saved.add_recent(path);
            self.warn(warning);
        }
        let manual_edits = self.first_marks(&document);
        let config = self.first_config(&document.origin);
        let session = &mut self.session;
        session.derived.clear(&document);
        session.selection = Selection {
            call: document.last_call(),
            lane: session.selection.lane.or(Some(0)),
            ..Selection::default()
        };
        session.config = config;
        let config = &mut session.config;
        config.manual_edits = manual_edits;
        config.notes = Arc::default();
        let n_calls = document.session().calls.len();
        config.restarts.retain(|call| *call < n_calls);
        config.errors.retain(|error| error.call < n_calls);
        session.history = History::new(config.clone());
        session.view = session.view.of_another_session();
        session.sweep = None;
        session.comparison = None;
        session.close_dialogs();
        self.restore_workspace(ctx, &document, reopened);
        task::drop_in_background(self.session.document.replace(document));
        self.show_found_message();
    }

    /// Returns the configuration with which a session starts. Settings of one file do not affect another, but those of a
    /// conversation apply to the others of its file.
    fn first_config(&self, origin: &Origin) -> Config {
        let mut config = match &self.session.document {
            None => return self.session.config.clone(),
            Some(open) if open.origin == *origin => self.session.config.clone(),
            Some(_) => self.initial.clone(),
        };
        config.reset_session();
        config
    }

    /// Closes the session of the shown tab.
    pub(crate) fn close(&mut self, ctx: &egui::Context) {
        self.cancel_load();
        self.leave_session(ctx);
        let session = &mut self.session;
        let derived = std::mem::replace(&mut session.derived, Derived::new(self.work));
        task::drop_in_background((session.document.take(), derived));
        session.config.clone_from(&self.initial);
        session.history = History::new(self.initial.clone());
        session.live = None;
        session.sweep = None;
        session.comparison = None;
        session.sessions = None;
        session.found_message = None;
        session.problem = None;
        session.close_dialogs();
    }

    pub(crate) fn cancel_load(&mut self) {
        if let Some(loading) = self.session.loading.take() {
            loading.cancel();
        }
    }
}

/// Returns the path of a file dropped on the window.
fn dropped(ctx: &egui::Context) -> Option<PathBuf> {
    ctx.input(|i| i.raw.dropped_files.first().map(|file| file.path().to_owned()))
        .filter(|p| !p.as_os_str().is_empty())
}
