//! Executes commands that mark messages.

use crate::app::shell::App;
use crate::app::state::model::document::Document;
use crate::app::state::model::marks::{
    Mark, MarkCommand, RequestedMarks, one_mark_each, set, toggle,
};
use crate::app::state::wording;
use crate::engine::ManualEdits;
use std::sync::Arc;

impl App {
    /// Executes a command that marks messages.
    pub(crate) fn execute_mark(&mut self, command: MarkCommand) {
        match command {
            MarkCommand::Set(messages, mark) => self.set_mark(&messages, mark),
            MarkCommand::Toggle(messages, mark) => self.toggle_mark(&messages, mark),
            MarkCommand::RemoveAll => self.remove_marks(),
        }
    }

    /// Marks messages, or removes their marks.
    fn set_mark(&mut self, messages: &[usize], mark: Option<Mark>) {
        let messages = self.known(messages);
        set(Arc::make_mut(&mut self.session.config.manual_edits), &messages, mark);
        self.report_mark(&messages);
    }

    /// Marks messages, or removes the mark if all of them have it.
    fn toggle_mark(&mut self, messages: &[usize], mark: Mark) {
        let messages = self.known(messages);
        toggle(Arc::make_mut(&mut self.session.config.manual_edits), &messages, mark);
        self.report_mark(&messages);
    }

    /// Removes every mark.
    fn remove_marks(&mut self) {
        self.session.config.manual_edits = Arc::default();
        self.session.view.messages_mut().filter.is_marked = false;
        let text = "All manual edits are removed.".to_owned();
        self.toasts.changed(text, &self.session.config);
    }

    /// Returns the initial marks of a session. Marks given at startup apply to the first session only.
    pub(crate) fn first_marks(&mut self, document: &Document) -> Arc<ManualEdits> {
        let Some(RequestedMarks(resolve)) = self.requested_marks.take() else {
            return Arc::default();
        };
        let n_messages = document.n_messages();
        match resolve(n_messages) {
            Ok(manual_edits) => Arc::new(one_mark_each(manual_edits, n_messages)),
            Err(why) => {
                self.rejected_edit = Some(why.clone());
                self.warn(Some(format!("No messages are marked: {why}.")));
                Arc::default()
            }
        }
    }

    fn known(&self, messages: &[usize]) -> Vec<usize> {
        let n_messages = self.session.document.as_ref().map_or(0, |d| d.n_messages());
        let known = messages.iter().copied().filter(|m| *m < n_messages);
        known.collect()
    }

    /// Reports a changed mark.
    fn report_mark(&mut self, messages: &[usize]) {
        let [first, ..] = messages else {
            return;
        };
        let which = match messages {
            [_] => format!("Message {} is", wording::number(*first)),
            many => format!("{} are", wording::count(many.len(), "message")),
        };
        let now = Mark::of(&self.session.config.manual_edits, *first);
        let now = now.map_or("no longer marked", Mark::word);
        let text = format!("{which} {now}.");
        self.toasts.changed(text, &self.session.config);
    }
}
