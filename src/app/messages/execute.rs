//! Executes commands of the tab Messages.

use super::state::{Detail, FoundHit, MessagesCommand};
use crate::analysis::query::{Direction, Hit};
use crate::app::App;
use crate::app::selection::SelectCommand;
use crate::app::view::Tab;

impl App {
    /// Executes a command of the tab Messages.
    pub(in crate::app) fn execute_messages(&mut self, command: MessagesCommand) {
        let view = &mut self.session.view.messages;
        match command {
            MessagesCommand::Sort(sort) => {
                view.sort = sort;
                self.reorder_messages();
            }
            MessagesCommand::Filter(filter) => {
                view.filter = filter;
                self.reorder_messages();
            }
            MessagesCommand::FocusFilter => {
                self.show_tab(Tab::Messages);
                self.once.focuses_filter = true;
            }
            MessagesCommand::Find(direction) => self.find(direction),
            MessagesCommand::Show(hit) => self.show_hit(hit),
            MessagesCommand::ShowFound(place) => {
                if let Some(found) = &mut view.found {
                    found.place = Some(place);
                    view.detail.page = place.page;
                    self.once.reveals_hit = true;
                }
            }
            MessagesCommand::EditJump(text) => view.jump = text,
            MessagesCommand::Detail(detail) => view.detail = detail,
        }
    }

    /// Selects the next or previous match of the query and shows it.
    fn find(&mut self, direction: Direction) {
        let hits = self.session.derived.hits();
        let hit = self.session.view.messages.found.map(|found| found.hit);
        let next = hits.and_then(|hits| hits.step(hit, self.session.selection.message, direction));
        if let Some(hit) = next {
            self.show_hit(hit);
        }
    }

    /// Selects a match of the query and shows it.
    fn show_hit(&mut self, hit: Hit) {
        self.execute_select(SelectCommand::Message(hit.message as usize));
        let view = &mut self.session.view.messages;
        view.found = Some(FoundHit { hit, place: None });
        view.detail = Detail::default();
    }

    /// Adapts to a new order or filter: the selected range would contain other messages.
    pub(in crate::app) fn reorder_messages(&mut self) {
        self.session.selection.anchor = None;
        self.session.view.messages.added.clear();
        self.session.view.messages.found = None;
        self.once.reorders_messages = true;
    }
}
