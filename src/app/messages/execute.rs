//! Executes commands of the tab Messages.

use super::state::MessagesCommand;
use crate::app::App;

impl App {
    /// Executes a command of the tab Messages.
    pub(in crate::app) fn execute_messages(&mut self, command: MessagesCommand) {
        let view = &mut self.view.messages;
        match command {
            MessagesCommand::Sort(sort) => {
                view.sort = sort;
                self.reorder_messages();
            }
            MessagesCommand::Filter(filter) => {
                view.filter = filter;
                self.reorder_messages();
            }
            MessagesCommand::FocusFilter => self.once.focuses_filter = true,
            MessagesCommand::EditJump(text) => view.jump = text,
            MessagesCommand::Detail(detail) => view.detail = detail,
        }
    }

    /// Adapts to a new order or filter: the selected range would contain other messages.
    pub(in crate::app) fn reorder_messages(&mut self) {
        self.selection.anchor = None;
        self.view.messages.added.clear();
        self.once.reorders_messages = true;
    }
}
