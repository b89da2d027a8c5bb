//! Access to the available results for panels.

use super::{ChangesKey, DIM_AFTER, Derived};
use crate::analysis::facts::Facts;
use crate::analysis::loss::Names;
use crate::analysis::query::Hits;
use crate::app::changes::compute::{Changes, Target};
use crate::app::cost::compute::Costs;
use crate::app::cost::difference::Differences;
use crate::app::evaluate::facts::Evaluation;
use crate::app::evaluate::losses::{Losses, ReuseDistances};
use crate::app::events::list::EventList;
use crate::app::insights::session::SessionInsights;
use crate::app::lanes::rows::LaneRows;
use crate::app::messages::cumulative::CumulativeTokens;
use crate::app::messages::state::Aspect;
use crate::app::messages::text::MessageText;
use crate::app::open::document::Document;
use crate::app::runs::replays::Runs;
use crate::app::selection::Selection;
use crate::app::tune::sweep::Sweep;
use crate::app::view::View;
use crate::engine::Sample;
use std::sync::Arc;

impl Derived {
    /// Returns the latest runs, possibly of an earlier config.
    pub fn runs(&self) -> Option<&Arc<Runs>> {
        self.runs.get()
    }

    /// Returns the latest aligned rows.
    pub fn rows(&self) -> Option<&Arc<LaneRows>> {
        self.rows.get()
    }

    /// Returns the latest order of the message table.
    pub fn order(&self) -> &[u32] {
        self.order.get().map_or(&[], |order| order)
    }

    /// Returns the matches of the query in the message table, possibly of an earlier query.
    pub fn hits(&self) -> Option<&Hits> {
        self.hits.get().map(Arc::as_ref)
    }

    /// Returns the latest list of events.
    pub fn events(&self) -> Option<&EventList> {
        self.events.get().map(Arc::as_ref)
    }

    /// Returns the resent counts and last uses of messages.
    pub fn cumulative(&self) -> Option<&CumulativeTokens> {
        self.cumulative.get().map(Arc::as_ref)
    }

    /// Returns whether every result of `other` is available here too, so that a swap does not flicker.
    pub fn shows_all_of(&self, other: &Self) -> bool {
        let there = |derived: &Self| {
            [
                derived.cumulative.get().is_some(),
                derived.costs.get().is_some(),
                derived.insights.get().is_some(),
                derived.reuse.get().is_some(),
                derived.losses.get().is_some(),
            ]
        };
        let both = there(self).into_iter().zip(there(other));
        both.into_iter().all(|(here, there)| here || !there)
    }

    /// Returns the costs, possibly of earlier runs.
    pub fn costs(&self) -> Option<&Costs> {
        self.costs.get().map(Arc::as_ref)
    }

    /// Returns the insights of the session, possibly for earlier settings.
    pub fn insights(&self) -> Option<&SessionInsights> {
        self.insights.get().map(Arc::as_ref)
    }

    /// Returns the index of the session's names.
    pub fn names(&self) -> Option<&Arc<Names>> {
        self.names.get()
    }

    /// Returns the distances of the agent's references.
    pub fn reuse_distances(&self) -> Option<&Arc<ReuseDistances>> {
        self.reuse.get()
    }

    /// Returns the losses of all lanes, possibly of earlier runs.
    pub fn losses(&self) -> Option<&Losses> {
        self.losses.get().map(Arc::as_ref)
    }

    /// Returns the facts of the session, once requested.
    pub fn facts(&self) -> Option<&Facts> {
        self.facts.get().map(Arc::as_ref)
    }

    /// Returns the facts that each lane kept, once requested, possibly of earlier runs.
    pub fn evaluation(&self) -> Option<&Evaluation> {
        self.evaluation.get().map(Arc::as_ref)
    }

    /// Returns the focused lane's samples in the order of the call list.
    pub fn calls(&self) -> &[u32] {
        self.calls.get().map_or(&[], |order| order)
    }

    /// Returns the difference of the compared calls in every lane, possibly of earlier calls.
    pub fn differences(&self) -> Option<&Differences> {
        self.difference.get().map(Arc::as_ref)
    }

    /// Returns the number of results so far.
    pub fn revision(&self) -> u64 {
        self.runs.generation()
    }

    /// Returns the full text of the selected message, if ready.
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

    /// Returns the changes of the selected item in the focused lane, if ready.
    pub fn changes(&self, selection: &Selection, view: &View) -> Option<&Changes> {
        let key = self.changes_key(selection, view)?;
        let changes = self.changes.get().filter(|_| self.changes.is_for(&key));
        changes.map(Arc::as_ref)
    }

    /// Returns whether results have been outdated for so long that lanes are dimmed. A shorter limit would flicker.
    pub fn is_stale(&self) -> bool {
        self.stale_since
            .is_some_and(|since| since.elapsed() > DIM_AFTER)
    }

    /// Returns the curve of the setting under the pointer, once it was replayed.
    pub fn tried_setting(&self, sweep: Option<&Sweep>, point: Option<usize>) -> Option<&[Sample]> {
        let key = (sweep?.id, point?);
        let samples = self
            .tried_setting
            .get()
            .filter(|_| self.tried_setting.is_for(&key));
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
            view.messages.detail.aspect == Aspect::Record,
        ))
    }

    pub(super) fn changes_key(&self, selection: &Selection, view: &View) -> Option<ChangesKey> {
        let message = selection
            .message
            .filter(|_| view.messages.detail.aspect == Aspect::Changes);
        let target = match (selection.written, message) {
            (Some(place), _) => Target::Written(place),
            (None, message) => Target::Message(message?),
        };
        let (rows, runs) = (self.rows.generation(), self.runs.generation());
        Some((rows, runs, selection.lane?, target))
    }
}
