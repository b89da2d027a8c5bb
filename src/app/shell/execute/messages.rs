//! Executes commands of the tab Messages.

use crate::analysis::query::{Direction, Hit};
use crate::app::shell::App;
use crate::app::state::messages::state::{Detail, FoundHit, MessagesCommand};
use crate::app::state::model::selection::SelectCommand;
use crate::app::state::model::tab::Tab;

impl App {
    /// Executes a command of the tab Messages.
    pub(crate) fn execute_messages(&mut self, command: MessagesCommand) {
        let view = self.session.view.messages_mut();
        match command {
            MessagesCommand::Sort(sort) => {
                view.sort = sort;
                self.reorder_messages();
            }
            MessagesCommand::Filter(filter) => {
                if filter.text.trim().is_empty() && !view.filter.text.trim().is_empty() {
                    view.last_query.clone_from(&view.filter.text);
                }
                view.filter = filter;
                view.finds = None;
                self.reorder_messages();
            }
            MessagesCommand::FocusFilter => {
                self.restore_query();
                self.show_tab(Tab::MESSAGES);
                self.once.focuses_filter = true;
            }
            MessagesCommand::Find(direction) => {
                self.restore_query();
                self.session.view.messages_mut().finds = Some(direction);
                self.find_if_ready();
            }
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

    /// Uses the last query again if there is none.
    fn restore_query(&mut self) {
        let view = self.session.view.messages();
        if view.filter.text.trim().is_empty() && !view.last_query.is_empty() {
            let mut filter = view.filter.clone();
            filter.set_text(view.last_query.clone());
            self.execute_messages(MessagesCommand::Filter(filter));
        }
    }

    /// Executes a waiting search once the matches of the query are known.
    pub(crate) fn find_if_ready(&mut self) {
        let session = &mut self.session;
        let view = session.view.messages_mut();
        if let Some(direction) = view.finds
            && session.derived.knows_hits(&view.filter)
        {
            view.finds = None;
            self.find(direction);
        }
    }

    /// Selects the next or previous match of the query and shows it.
    fn find(&mut self, direction: Direction) {
        let hits = self.session.derived.hits();
        let hit = self.session.view.messages().found.map(|found| found.hit);
        let next = hits.and_then(|hits| hits.step(hit, self.session.selection.message, direction));
        if let Some(hit) = next {
            self.show_hit(hit);
        }
    }

    /// Selects a match of the query and shows it.
    fn show_hit(&mut self, hit: Hit) {
        self.execute_select(SelectCommand::Message(hit.message as usize));
        let view = self.session.view.messages_mut();
        view.found = Some(FoundHit { hit, place: None });
        view.detail = Detail::default();
    }

    /// Adapts to a new order or filter: the selected range would contain other messages.
    pub(crate) fn reorder_messages(&mut self) {
        self.session.selection.anchor = None;
        self.session.view.messages_mut().added.clear();
        self.session.view.messages_mut().found = None;
        self.once.reorders_messages = true;
    }
}
