//! Results for what is selected or shown now. The others have an accessor in the table of results.

use super::keys::{ChangesKey, TextKey, TriedSettingKey};
use super::{DIM_AFTER, Derived};
use crate::app::changes::compute::{Changes, Target};
use crate::app::evaluate::session::SessionIndex;
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
    /// Returns the latest runs, to share with a thread.
    pub fn shared_runs(&self) -> Option<&Arc<Runs>> {
        self.runs.get()
    }

    /// Returns the indices of the session's names and files, to share with a thread.
    pub fn shared_index(&self) -> Option<&Arc<SessionIndex>> {
        self.index.get()
    }

    /// Returns the messages in the order of the message table; none until it is computed.
    pub fn order(&self) -> &[u32] {
        self.message_order.get().map_or(&[], |order| order)
    }

    /// Returns the focused lane's samples in the order of the call list; none until it is computed.
    pub fn calls(&self) -> &[u32] {
        self.call_order.get().map_or(&[], |order| order)
    }

    /// Returns whether every result of `other` is available here too, so that a swap does not flicker.
    pub fn shows_all_of(&self, other: &Self) -> bool {
        let there = |derived: &Self| {
            [
                derived.cumulative.get().is_some(),
                derived.costs.get().is_some(),
                derived.insights.get().is_some(),
                derived.rereads.get().is_some(),
                derived.losses.get().is_some(),
            ]
        };
        let both = there(self).into_iter().zip(there(other));
        both.into_iter().all(|(here, there)| here || !there)
    }

    /// Returns the number of replays so far.
    pub fn revision(&self) -> u64 {
        self.runs.generation()
    }

    /// Returns whether results have been outdated for so long that lanes are dimmed. A shorter limit would flicker.
    pub fn is_stale(&self) -> bool {
        self.stale_since.is_some_and(|since| since.elapsed() > DIM_AFTER)
    }

    /// Returns the full text of the selected message, if ready.
    pub fn selected_text(
        &self,
        document: &Document,
        selection: &Selection,
        view: &View,
    ) -> Option<&MessageText> {
        let key = self.text_key(document, selection, view)?;
        self.text.of(&key).map(Arc::as_ref)
    }

    /// Returns the changes of the selected item in the focused lane, if ready.
    pub fn selected_changes(&self, selection: &Selection, view: &View) -> Option<&Changes> {
        let key = self.changes_key(selection, view)?;
        self.changes.of(&key).map(Arc::as_ref)
    }

    /// Returns the curve of the setting under the pointer, once it was replayed.
    pub fn hovered_setting(
        &self,
        sweep: Option<&Sweep>,
        point: Option<usize>,
    ) -> Option<&[Sample]> {
        let key = TriedSettingKey { sweep: sweep?.id, point: point? };
        self.tried_setting.of(&key).map(|samples| samples.as_slice())
    }

    pub(super) fn text_key(
        &self,
        document: &Document,
        selection: &Selection,
        view: &View,
    ) -> Option<TextKey> {
        Some(TextKey {
            document: document.id,
            ledgers: self.ledgers.generation(),
            message: selection.message?,
            is_record: view.messages.detail.aspect == Aspect::Record,
        })
    }

    pub(super) fn changes_key(&self, selection: &Selection, view: &View) -> Option<ChangesKey> {
        let message = selection.message.filter(|_| view.messages.detail.aspect == Aspect::Changes);
        let target = match (selection.written, message) {
            (Some(place), _) => Target::Written(place),
            (None, message) => Target::Message(message?),
        };
        Some(ChangesKey {
            runs: self.runs.generation(),
            rows: self.rows.generation(),
            lane: selection.lane?,
            target,
        })
    }
}
