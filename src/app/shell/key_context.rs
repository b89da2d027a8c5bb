//! The state that shortcuts read.

use crate::app::state::command::Command;
use crate::app::state::messages::order::selected_messages;
use crate::app::state::model::marks::{Mark, MarkCommand};
use crate::app::state::model::selection::{SelectCommand, Selection};
use std::collections::BTreeSet;

/// The state that shortcuts read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyContext<'a> {
    /// The selection.
    pub(crate) selection: &'a Selection,
    /// Messages that were selected one by one.
    pub(crate) added: &'a BTreeSet<u32>,
    /// Messages in the table, in display order.
    pub(crate) order: &'a [u32],
    /// Number of lanes.
    pub(crate) lanes: usize,
}

impl Default for KeyContext<'_> {
    /// Returns the state without a session.
    fn default() -> Self {
        static SELECTION: Selection = Selection::NONE;
        static ADDED: BTreeSet<u32> = BTreeSet::new();
        Self { selection: &SELECTION, added: &ADDED, order: &[], lanes: 0 }
    }
}

impl KeyContext<'_> {
    /// Focuses a lane, if there is one with this index.
    pub(crate) fn focus(&self, lane: usize) -> Option<Command> {
        (lane < self.lanes).then(|| SelectCommand::Lane(Some(lane)).into())
    }

    /// Marks the selected messages.
    pub(crate) fn mark(&self, mark: Mark) -> Option<Command> {
        let messages = selected_messages(self.selection, self.added, self.order);
        (!messages.is_empty()).then(|| MarkCommand::Toggle(messages, mark).into())
    }

    /// Selects the message above or below the selected one in the table.
    pub(crate) fn neighbor(&self, by: isize) -> Option<Command> {
        let message = self.neighboring_message(by)?;
        Some(SelectCommand::Message(message).into())
    }

    /// Extends the selection to the message above or below.
    pub(crate) fn extend(&self, by: isize) -> Option<Command> {
        let message = self.neighboring_message(by)?;
        Some(SelectCommand::ExtendTo(message).into())
    }

    fn neighboring_message(&self, by: isize) -> Option<usize> {
        let selected = self.selection.message;
        let at = selected.and_then(|m| self.order.iter().position(|o| *o as usize == m));
        let last = self.order.len().saturating_sub(1);
        let next = at.map_or(0, |at| at.saturating_add_signed(by).min(last));
        self.order.get(next).map(|message| *message as usize)
    }
}
