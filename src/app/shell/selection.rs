//! Selection of calls, events and messages, and unfolding of the rows that show them.

use crate::app::command::Spot;
use crate::app::lanes::rows::Place;
use crate::app::runs::replays::EventId;
use crate::app::state::{Selection, Tab};
use crate::app::{App, wording};

impl App {
    /// Selects a call and the heaviest message added there.
    pub(in crate::app) fn select_step(&mut self, step: usize) {
        let Some(document) = &self.document else {
            return;
        };
        let step = step.min(document.last_step());
        self.selection.step = step;
        self.selection.event = None;
        self.view.unfolded.clear();
        let ledger = match self.derived.runs() {
            Some(runs) if runs.document == document.id => &runs.case.ledger,
            _ => &document.loaded.case.ledger,
        };
        if let Some((message, _)) = document.biggest_growth(ledger, step) {
            self.choose(message);
        }
        self.once.reveals_event = true;
        self.once.reveals_message = true;
    }

    /// Selects a spot in all panels; the drawer keeps its tab.
    pub(in crate::app) fn look_at(&mut self, place: Spot) {
        if let Some(step) = place.step {
            self.select_step(step);
        }
        if let Some(message) = place.message {
            let tab = self.view.tab;
            self.select_message(message);
            self.view.tab = tab;
        }
        if let Some(lane) = place.lane {
            self.selection.lane = Some(lane.min(self.config.lanes.len() - 1));
        }
    }

    /// Selects an event with its call and its lane.
    pub(in crate::app) fn select_event(&mut self, id: EventId) {
        let runs = self.derived.runs();
        let found = runs.and_then(|runs| runs.event(id));
        if let Some(step) = found.map(|(_, event)| event.step) {
            self.select_step(step);
            self.selection.lane = id.0;
            self.selection.event = Some(id);
            // The row is already under the pointer.
            self.once.reveals_event = false;
        }
    }

    /// Selects a message. Moves to the first call that includes it if the selected call is earlier.
    pub(in crate::app) fn select_message(&mut self, message: usize) {
        let Some(document) = &self.document else {
            return;
        };
        if message < document.facts.len() {
            self.selection.step = document.step_that_shows(message, self.selection.step);
            self.choose(message);
            self.view.tab = Tab::Messages;
            self.once.reveals_message = true;
        }
    }

    /// Selects a message and all table rows between it and the previous selection.
    pub(in crate::app) fn extend_selection(&mut self, message: usize) {
        let Selection {
            anchor,
            message: from,
            ..
        } = self.selection;
        self.select_message(message);
        let anchor = anchor.or(from);
        self.selection.anchor = anchor.filter(|anchor| *anchor != message);
    }

    /// Clears the message selection.
    pub(in crate::app) fn deselect(&mut self) {
        self.selection.message = None;
        self.selection.anchor = None;
        self.selection.written = None;
    }

    fn choose(&mut self, message: usize) {
        self.selection.message = Some(message);
        self.selection.written = None;
        self.selection.anchor = None;
        self.view.detail.page = 0;
        self.view.unfolded.insert(message as u32);
    }

    /// Selects a message that a lane wrote.
    pub(in crate::app) fn select_written(&mut self, lane: usize, place: Place) {
        self.selection.lane = Some(lane).filter(|l| *l < self.config.lanes.len());
        self.selection.message = None;
        self.selection.anchor = None;
        self.selection.written = Some(place);
        self.view.detail.page = 0;
        self.view.tab = Tab::Messages;
    }

    pub(in crate::app) fn go_to_message(&mut self, number: usize) {
        let Some(n) = self.document.as_ref().map(|d| d.facts.len()) else {
            return;
        };
        self.view.jump.clear();
        if n == 0 {
            return;
        }
        let message = number.clamp(1, n) - 1;
        if message + 1 != number {
            let shown = wording::number(message);
            let said = if n == 1 {
                "There is 1 message: showing it.".to_owned()
            } else {
                format!("There are {n} messages: showing message {shown}.")
            };
            self.toasts.info(said);
        } else if !self.derived.order().contains(&(message as u32)) {
            self.toasts
                .info("The filter hides this message from the table.");
        }
        self.select_message(message);
    }

    pub(in crate::app) fn unfold(&mut self, first: u32, last: u32) {
        let before = self.view.unfolded.len();
        self.view.unfolded.retain(|m| !(first..=last).contains(m));
        if self.view.unfolded.len() == before {
            self.view.unfolded.insert(first);
        }
    }

    pub(in crate::app) fn travel(&mut self, is_back: bool) {
        let config = if is_back {
            self.history.undo(&self.config)
        } else {
            self.history.redo(&self.config)
        };
        if let Some(config) = config {
            self.config = config;
            self.selection.lane = self
                .selection
                .lane
                .map(|l| l.min(self.config.lanes.len() - 1));
        }
    }
}
