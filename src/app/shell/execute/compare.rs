//! Executes commands of the comparison.

use crate::app::shell::App;
use crate::app::shell::file_dialog::DialogPurpose;
use crate::app::state::compare::command::CompareCommand;
use crate::app::state::compare::comparison::{IS_LIST, OpenComparison};
use crate::app::state::compare::state::{CompareView, Listed};
use crate::app::state::model::document::Origin;
use crate::app::state::model::session_list::is_list;
use crate::app::state::model::tab::Tab;
use crate::app::state::workspace::reopened::Reopened;
use crate::app::ui::repaint::repaint_of;
use std::path::PathBuf;
use std::sync::Arc;

impl App {
    /// Executes a command of the comparison. Nothing is compared without an open session.
    pub(crate) fn execute_compare(&mut self, ctx: &egui::Context, command: CompareCommand) {
        if self.session.document.is_none() {
            return;
        }
        match command {
            CompareCommand::ShowDialog => self.ask_for_file(ctx, DialogPurpose::Comparison),
            CompareCommand::Path(path) => self.compare_file(ctx, path, 0),
            CompareCommand::ConversationOf(path, conversation) => {
                self.compare_file(ctx, path, conversation);
            }
            CompareCommand::Example(name) => self.compare_session(ctx, Origin::Example(name), 0),
            CompareCommand::Swap => self.swap_compared(ctx),
            CompareCommand::Close => self.close_comparison(),
        }
    }

    /// Compares with a file, and shows the tab Compare.
    fn compare_file(&mut self, ctx: &egui::Context, path: PathBuf, conversation: usize) {
        self.session.view.asks_path = false;
        if is_list(&path, conversation) {
            self.warn(Some(IS_LIST.to_owned()));
            return;
        }
        self.session.hide_list();
        self.compare_session(ctx, Origin::Path(path), conversation);
    }

    fn compare_session(&mut self, ctx: &egui::Context, origin: Origin, conversation: usize) {
        self.load_comparison(ctx, origin, conversation);
        self.show_tab(Tab::COMPARE);
    }

    /// Starts to load the second session.
    pub(crate) fn load_comparison(
        &mut self,
        ctx: &egui::Context,
        origin: Origin,
        conversation: usize,
    ) {
        let options = self.session.config.load_options(conversation);
        self.session.view.compare_mut().shown = None;
        self.session.comparison =
            Some(OpenComparison::start(&repaint_of(ctx), self.work, origin, options));
    }

    /// Receives the second session, and updates the comparison.
    pub(crate) fn update_comparison(&mut self, ctx: &egui::Context) {
        let Some(comparison) = &mut self.session.comparison else {
            return;
        };
        if comparison.receive(&repaint_of(ctx)) {
            self.toasts.warning(
                "The session to compare cannot be opened. The tab Compare shows the reason.",
            );
        }
        let runs = self.session.derived.shared_runs();
        if let (Some(document), Some(runs)) = (&self.session.document, runs)
            && runs.document == document.id
        {
            comparison.update(
                &repaint_of(ctx),
                self.work,
                (document, runs),
                self.session.view.compare(),
            );
        }
    }

    /// Ends the comparison.
    fn close_comparison(&mut self) {
        self.session.comparison = None;
        self.session.view.compare_mut().shown = None;
    }

    /// Opens the second session, and compares it with the one that was open.
    fn swap_compared(&mut self, ctx: &egui::Context) {
        let comparison = self.session.comparison.as_ref();
        let second = comparison.and_then(OpenComparison::document).map(Arc::clone);
        let (Some(first), Some(second)) = (self.session.document.clone(), second) else {
            return;
        };
        if self.tabs.with(&second.origin, second.conversation).is_some() {
            let text =
                "Cannot swap: the compared session is open in another tab. Close that tab first.";
            self.toasts.info(text);
            return;
        }
        let view = CompareView {
            shown: None,
            listed: self.session.view.compare().listed.map(Listed::swapped),
            ..self.session.view.compare()
        };
        self.watch(ctx, &second);
        let reopened = Reopened { continues_visit: true, ..Reopened::default() };
        self.show_document(ctx, second, reopened);
        self.session.comparison = Some(OpenComparison::with(first));
        *self.session.view.compare_mut() = view;
        self.session.view.tab = Tab::COMPARE;
    }
}
