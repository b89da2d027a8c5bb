//! What is there of the results, for panels to show.

use super::{ChangesKey, DIM_AFTER, Derived};
use crate::analysis::loss::Names;
use crate::app::carried::CarriedTable;
use crate::app::changes::{Changes, Target};
use crate::app::costs::Costs;
use crate::app::document::Document;
use crate::app::event_table::EventList;
use crate::app::lane_rows::LaneRows;
use crate::app::losses::{Losses, Reach, Survivals};
use crate::app::message_text::MessageText;
use crate::app::runs::Runs;
use crate::app::session_insights::SessionInsights;
use crate::app::state::{Aspect, Selection, View};
use crate::app::tuning::Tuning;
use crate::engine::Sample;
use std::sync::Arc;

impl Derived {
    /// The latest runs, maybe of a config before.
    pub fn runs(&self) -> Option<&Arc<Runs>> {
        self.runs.get()
    }

    /// The latest aligned rows.
    pub fn rows(&self) -> Option<&Arc<LaneRows>> {
        self.rows.get()
    }

    /// The latest order of the message table.
    pub fn order(&self) -> &[u32] {
        self.order.get().map_or(&[], |order| order)
    }

    /// The latest list of events.
    pub fn events(&self) -> Option<&EventList> {
        self.events.get().map(Arc::as_ref)
    }

    /// How long messages were carried, and when they were last needed.
    pub fn carried(&self) -> Option<&CarriedTable> {
        self.carried.get().map(Arc::as_ref)
    }

    /// Whether there is everything that there is in other results: then these can take their place, and nothing blinks.
    pub fn shows_all_of(&self, other: &Self) -> bool {
        let there = |derived: &Self| {
            [
                derived.carried.get().is_some(),
                derived.costs.get().is_some(),
                derived.insights.get().is_some(),
                derived.reach.get().is_some(),
                derived.losses.get().is_some(),
            ]
        };
        let both = there(self).into_iter().zip(there(other));
        both.into_iter().all(|(here, there)| here || !there)
    }

    /// What everything costs, maybe by the runs before.
    pub fn costs(&self) -> Option<&Costs> {
        self.costs.get().map(Arc::as_ref)
    }

    /// What there is to know about the session, maybe with the settings before.
    pub fn insights(&self) -> Option<&SessionInsights> {
        self.insights.get().map(Arc::as_ref)
    }

    /// The index of the session's names.
    pub fn names(&self) -> Option<&Arc<Names>> {
        self.names.get()
    }

    /// How far back the agent reached.
    pub fn reach(&self) -> Option<&Arc<Reach>> {
        self.reach.get()
    }

    /// What every lane lacked, maybe by the runs before.
    pub fn losses(&self) -> Option<&Losses> {
        self.losses.get().map(Arc::as_ref)
    }

    /// What recorded compactions left, once somebody wants to see it.
    pub fn survivals(&self) -> Option<&Survivals> {
        self.survivals.get().map(Arc::as_ref)
    }

    /// The focused lane's samples in the order of the list of calls.
    pub fn calls(&self) -> &[u32] {
        self.calls.get().map_or(&[], |order| order)
    }

    /// Counts the results so far.
    pub fn revision(&self) -> u64 {
        self.runs.generation()
    }

    /// The selected message in full, if it is there yet.
    pub fn text(
        &self,
        document: &Document,
        selection: &Selection,
        view: &View,
    ) -> Option<&MessageText> {
        let key = self.text_key(document, selection, view)?;
        self.text
            .get()
            .filter(|_| self.text.is_for(&key))
            .map(Arc::as_ref)
    }

    /// What the focused lane has in the place of what is selected, if that is worked out yet.
    pub fn changes(&self, selection: &Selection, view: &View) -> Option<&Changes> {
        let key = self.changes_key(selection, view)?;
        let changes = self.changes.get().filter(|_| self.changes.is_for(&key));
        changes.map(Arc::as_ref)
    }

    /// What is shown is not what is wanted, and has not been for long enough to say so: lanes that are dimmed for
    /// a frame or two flicker.
    pub fn is_stale(&self) -> bool {
        self.stale_since
            .is_some_and(|since| since.elapsed() > DIM_AFTER)
    }

    /// The curve of the setting under the pointer, once it was played.
    pub fn ghost(&self, tuning: Option<&Tuning>, point: Option<usize>) -> Option<&[Sample]> {
        let key = (tuning?.id, point?);
        let samples = self.ghost.get().filter(|_| self.ghost.is_for(&key));
        samples.map(|samples| samples.as_slice())
    }

    pub(super) fn text_key(
        &self,
        document: &Document,
        selection: &Selection,
        view: &View,
    ) -> Option<(u64, u64, usize, bool)> {
        Some((
            document.id,
            self.ledgers.generation(),
            selection.message?,
            view.detail.aspect == Aspect::Record,
        ))
    }

    pub(super) fn changes_key(&self, selection: &Selection, view: &View) -> Option<ChangesKey> {
        let message = selection
            .message
            .filter(|_| view.detail.aspect == Aspect::Changes);
        let target = match (selection.written, message) {
            (Some(place), _) => Target::Written(place),
            (None, message) => Target::Message(message?),
        };
        let (rows, runs) = (self.rows.generation(), self.runs.generation());
        Some((rows, runs, selection.lane?, target))
    }
}
