//! Executes commands that select calls, messages, lanes and events.

use crate::app::shell::App;
use crate::app::state::cost::state::CostPage;
use crate::app::state::messages::order::selected_messages;
use crate::app::state::model::lane_context::WrittenPosition;
use crate::app::state::model::selection::{EventId, SelectCommand, Selection, Spot};
use crate::app::state::model::tab::Tab;
use crate::app::state::wording;
use crate::session::Kind;
use std::collections::BTreeSet;

impl App {
    /// Executes a command that selects.
    pub(crate) fn execute_select(&mut self, command: SelectCommand) {
        match command {
            SelectCommand::Call(call) => self.select_call(call),
            SelectCommand::Jump(landmark, direction) => self.jump(landmark, direction),
            SelectCommand::Calls(calls) => {
                self.session.selection.calls = calls;
                self.reorder_messages();
            }
            SelectCommand::ZoomToCalls => self.once.zooms_to_calls = true,
            SelectCommand::Compare(call) => self.compare_call(call),
            SelectCommand::Message(message) => self.select_message(message),
            SelectCommand::Written(lane, place) => self.select_written(lane, place),
            SelectCommand::NoMessage => self.select_no_message(),
            SelectCommand::ExtendTo(message) => self.extend_selection(message),
            SelectCommand::Toggle(message) => self.toggle_message(message),
            SelectCommand::Spot(spot) => self.select_spot(spot),
            SelectCommand::Event(event) => self.select_event(event),
            SelectCommand::RecordedCompaction(index) => self.select_compaction(index),
            SelectCommand::MessageNumber(number) => self.select_message_number(number),
            SelectCommand::Lane(lane) => {
                self.session.selection.lane = lane.filter(|l| *l < self.session.config.lanes.len());
            }
        }
    }

    /// Selects a call and the heaviest message added there.
    pub(crate) fn select_call(&mut self, call: usize) {
        let Some(document) = &self.session.document else {
            return;
        };
        let call = call.min(document.last_call());
        self.session.selection.call = call;
        self.session.selection.event = None;
        self.session.view.unfolded.clear();
        let ledger = match self.session.derived.runs() {
            Some(runs) if runs.document == document.id => &runs.case.ledger,
            _ => &document.loaded.case.ledger,
        };
        if let Some((message, _)) = document.largest_new_message(ledger, call) {
            self.choose(message);
        }
        self.once.reveals_event = true;
        self.once.reveals_message = true;
    }

    /// Compares a call with the selected one and shows their difference, or stops comparing.
    fn compare_call(&mut self, call: Option<usize>) {
        self.session.selection.compared = call;
        if call.is_some() {
            self.session.view.tab = Tab::COST;
            self.session.view.cost_mut().page = CostPage::Difference;
        }
    }

    /// Selects a spot in all panels; the drawer keeps its tab.
    fn select_spot(&mut self, spot: Spot) {
        if let Some(call) = spot.call {
            self.select_call(call);
        }
        if let Some(message) = spot.message {
            let tab = self.session.view.tab;
            self.select_message(message);
            self.session.view.tab = tab;
        }
        if let Some(lane) = spot.lane {
            self.session.selection.lane = Some(lane.min(self.session.config.lanes.len() - 1));
        }
    }

    /// Selects an event with its call and its lane.
    fn select_event(&mut self, id: EventId) {
        let runs = self.session.derived.runs();
        let found = runs.and_then(|runs| runs.event(id));
        if let Some(call) = found.map(|(_, event)| event.call) {
            self.select_call(call);
            self.session.selection.lane = id.lane;
            self.session.selection.event = Some(id);
            // The row is already under the pointer.
            self.once.reveals_event = false;
        }
    }

    /// Selects a recorded compaction: its event and call, and its summary if the file has one.
    fn select_compaction(&mut self, index: usize) {
        let summary = self.session.document.as_ref().and_then(|document| {
            let compaction = document.session().compactions.get(index)?;
            let mut kept = compaction.kept.iter().copied();
            kept.find(|message| document.facts[*message].kind == Kind::Summary)
        });
        self.select_event(EventId { lane: None, index });
        match summary {
            Some(summary) => self.select_message(summary),
            None => self.session.view.tab = Tab::EVENTS,
        }
        self.once.reveals_event = true;
    }

    /// Selects a message. Moves to the first call that includes it if the selected call is earlier.
    fn select_message(&mut self, message: usize) {
        let Some(document) = &self.session.document else {
            return;
        };
        if message < document.n_messages() {
            let call = &mut self.session.selection.call;
            *call = document.call_that_shows(message, *call);
            self.choose(message);
            self.session.view.tab = Tab::MESSAGES;
            self.once.reveals_message = true;
        }
    }

    /// Selects a message and all table rows between it and the previous selection.
    fn extend_selection(&mut self, message: usize) {
        let Selection { anchor, message: from, .. } = self.session.selection;
        self.select_message(message);
        let anchor = anchor.or(from);
        self.session.selection.anchor = anchor.filter(|anchor| *anchor != message);
    }

    /// Adds a message to the selected ones, or removes it.
    fn toggle_message(&mut self, message: usize) {
        let session = &self.session;
        let added = &session.view.messages().added;
        let selected = selected_messages(&session.selection, added, session.derived.order());
        let mut added: BTreeSet<u32> = selected.into_iter().map(|m| m as u32).collect();
        let is_added = added.insert(message as u32);
        if !is_added {
            added.remove(&(message as u32));
        }
        let last = added.last().filter(|_| !is_added);
        self.select_message(last.map_or(message, |last| *last as usize));
        if added.len() > 1 {
            self.session.view.messages_mut().added = added;
        }
    }

    /// Clears the message selection.
    fn select_no_message(&mut self) {
        self.session.view.messages_mut().added.clear();
        let selection = &mut self.session.selection;
        selection.message = None;
        selection.anchor = None;
        selection.written = None;
    }

    fn choose(&mut self, message: usize) {
        let (selection, view) = (&mut self.session.selection, &mut self.session.view);
        selection.message = Some(message);
        selection.written = None;
        selection.anchor = None;
        view.messages_mut().added.clear();
        view.messages_mut().detail.page = 0;
        view.messages_mut().found = None;
        view.unfolded.insert(message as u32);
    }

    /// Selects a message that a lane wrote.
    fn select_written(&mut self, lane: usize, place: WrittenPosition) {
        let (selection, view) = (&mut self.session.selection, &mut self.session.view);
        selection.lane = Some(lane).filter(|l| *l < self.session.config.lanes.len());
        selection.message = None;
        selection.anchor = None;
        selection.written = Some(place);
        view.messages_mut().added.clear();
        view.messages_mut().detail.page = 0;
        view.tab = Tab::MESSAGES;
    }

    fn select_message_number(&mut self, number: usize) {
        let Some(n) = self.session.document.as_ref().map(|d| d.n_messages()) else {
            return;
        };
        self.session.view.messages_mut().jump.clear();
        if n == 0 {
            return;
        }
        let message = number.clamp(1, n) - 1;
        if message + 1 != number {
            let shown = wording::number(message);
            let text = if n == 1 {
                "There is 1 message: showing it.".to_owned()
            } else {
                format!("There are {n} messages: showing message {shown}.")
            };
            self.toasts.info(text);
        } else if !self.session.derived.order().contains(&(message as u32)) {
            self.toasts.info("The filter hides this message from the table.");
        }
        self.select_message(message);
    }
}
