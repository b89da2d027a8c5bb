//! Commands that mark messages.

use super::marks::{Mark, Wish, one_each, set, toggle};
use crate::app::open::document::Document;
use crate::app::state::Tab;
use crate::app::{App, wording};
use crate::engine::ManualEdits;
use std::sync::Arc;

impl App {
    /// Marks messages, or removes their marks.
    pub(in crate::app) fn set_mark(&mut self, messages: &[usize], mark: Option<Mark>) {
        let messages = self.known(messages);
        set(Arc::make_mut(&mut self.config.by_hand), &messages, mark);
        self.tell_mark(&messages);
    }

    /// Marks messages, or removes the mark if all of them have it.
    pub(in crate::app) fn toggle_mark(&mut self, messages: &[usize], mark: Mark) {
        let messages = self.known(messages);
        toggle(Arc::make_mut(&mut self.config.by_hand), &messages, mark);
        self.tell_mark(&messages);
    }

    /// Removes every mark.
    pub(in crate::app) fn reset_marks(&mut self) {
        self.config.by_hand = Arc::default();
        self.view.filter.is_marked = false;
    }

    /// Returns the initial marks of a session. Marks given at startup apply to the first session only.
    pub(in crate::app) fn first_marks(&mut self, document: &Document) -> Arc<ManualEdits> {
        let Some(Wish(fulfil)) = self.wish.take() else {
            return Arc::default();
        };
        let n_messages = document.facts.len();
        match fulfil(n_messages) {
            Ok(by_hand) => Arc::new(one_each(by_hand, n_messages)),
            Err(why) => {
                self.refused = Some(why.clone());
                self.complain(Some(format!("No messages are marked: {why}.")));
                Arc::default()
            }
        }
    }

    fn known(&self, messages: &[usize]) -> Vec<usize> {
        let n_messages = self.document.as_ref().map_or(0, |d| d.facts.len());
        let known = messages.iter().copied().filter(|m| *m < n_messages);
        known.collect()
    }

    /// Reports the effect of a key that the table does not show.
    fn tell_mark(&mut self, messages: &[usize]) {
        let ([first, ..], false) = (messages, self.view.tab == Tab::Messages) else {
            return;
        };
        let which = match messages {
            [_] => format!("Message {} is", wording::number(*first)),
            many => format!("{} are", wording::count(many.len(), "message")),
        };
        let now = Mark::of(&self.config.by_hand, *first);
        let now = now.map_or("no longer marked", Mark::word);
        self.toasts
            .info(format!("{which} {now}. Ctrl+Z undoes it."));
    }
}
