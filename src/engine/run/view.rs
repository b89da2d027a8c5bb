//! A view that is rebuilt before every call, cached between calls: usually only the new messages differ.
//!
//! A cached view has the weight of a rebuilt one, but records the events that changed it first. It may therefore only
//! serve as the context of a call: before any other use, it is rebuilt ([`Run::settle`]).

use super::Run;

use super::named_actions::state::{After, PendingAction};
use crate::chat::Mark;
use crate::engine::context::prefix::LastPrompt;
use crate::engine::context::taken::join;
use crate::engine::context::working::Working;
use crate::engine::context::{Entry, EntryBody, PartStatus};
use crate::engine::conversion::entry_updater::{ChangeSource, ContextChange};
use crate::engine::conversion::message_edits::{EditResult, MessageEdits};
use crate::engine::conversion::stand_in::StandIn;
use crate::engine::named::edits::{Edits, KnownEdits, MessageEdit};
use crate::engine::policy::stages::Mutates;

/// A view that may be reused.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// The stage that builds it.
    stage: usize,
    /// The context of the last call; none while a call uses it.
    working: Option<Box<Working<'a>>>,
    /// The action and event that it was built from, while a call uses it.
    built_from: Option<(PendingAction, ChangeSource)>,
    /// Whether it was rebuilt for the current call.
    is_new: bool,
    /// The length of the conversation when it was built.
    mark: Mark,
    store: Extent,
    /// The edits that the action returned.
    given: KnownEdits,
    /// The edits that were applied.
    edits: Vec<MessageEdit>,
    /// Entries of the store that it does not contain.
    gone: Vec<usize>,
    context_change: ContextChange,
}

/// The part of a store that a view contains.
#[derive(Clone, Debug, Default)]
struct Extent {
    /// Number of entries.
    n_entries: usize,
    /// Number of dropped ranges.
    n_dropped: usize,
    /// Number of markers when the view was rebuilt.
    n_markers: usize,
    /// Positions in the view of newer markers.
    markers: Vec<u32>,
}

impl<'a> Run<'a> {
    /// Updates the view of the last call with the current edits of an action, if they include all previous edits.
    /// Returns the change if this call uses the updated view.
    pub(super) fn reuse_view(
        &mut self,
        stage: usize,
        (pending, stand_in): (&PendingAction, Option<&StandIn>),
        given: &Edits,
        change: ChangeSource,
    ) -> Option<ContextChange> {
        let is_view = self.triggers.stage(stage).mutates == Mutates::View;
        if !is_view || self.store.is_some() || given.is_empty() || !pending.is_plain() {
            return None;
        }
        let mut view = self.view.take_if(|view| view.stage == stage)?;
        let again = self.update_view(&mut view, (pending, stand_in), given, change);
        if again.is_some() {
            self.view = Some(view);
        } else {
            self.forget_view(view);
        }
        again
    }

    /// Updates this view as [`Run::reuse_view`] does.
    fn update_view(
        &mut self,
        view: &mut View<'a>,
        (pending, stand_in): (&PendingAction, Option<&StandIn>),
        given: &Edits,
        change: ChangeSource,
    ) -> Option<ContextChange> {
        pending.before.since(&view.mark)?;
        let mut new = given.added(&view.given)?;
        if let Some(stand_in) = stand_in {
            new = stand_in.take_out_edits(&pending.before, &new)?;
        }
        new.retain(|edit| pending.before.get(edit.at) != edit.now.as_ref());
        let edits = MessageEdits::new(self.case, &pending.before, &new, &pending.spans)?;
        if !view.takes(&edits, &self.working) {
            return None;
        }
        let mut working = view.working.take()?;
        match self.prefix.last {
            LastPrompt::View => self.prefix.last = LastPrompt::Working,
            LastPrompt::Working => self.prefix.last = LastPrompt::Store,
            LastPrompt::Store | LastPrompt::Old(_) => {}
        }
        working.append_from(&self.working, &mut view.store);
        let EditResult {
            context_change,
            gone,
            ..
        } = working.apply_edits(0, edits, change, &view.gone);
        self.store = Some(Box::new(std::mem::replace(&mut self.working, *working)));
        view.add(context_change, gone, new);
        view.given = given.known();
        view.mark = pending.before.mark();
        view.built_from = Some((pending.clone(), change));
        view.is_new = false;
        Some(view.context_change.clone())
    }

    /// Discards a view for reuse; it may be the context of the last call.
    fn forget_view(&mut self, view: View<'a>) {
        if let (LastPrompt::View, Some(working)) = (&self.prefix.last, view.working) {
            self.prefix.last = LastPrompt::Old(working);
        }
    }

    /// Caches a view that was just rebuilt from the store.
    pub(super) fn keep_view(
        &mut self,
        stage: usize,
        (pending, change): (&PendingAction, ChangeSource),
        (given, edits): (KnownEdits, Vec<MessageEdit>),
        edited: &EditResult,
    ) {
        let Some(store) = self.store.as_ref().filter(|_| !edited.rewrote_text) else {
            return;
        };
        let view = View {
            stage,
            working: None,
            built_from: Some((pending.clone(), change)),
            is_new: true,
            mark: pending.before.mark(),
            store: store.extent(),
            given,
            edits,
            gone: edited.gone.clone(),
            context_change: edited.context_change.clone(),
        };
        if let Some(last) = self.view.replace(view) {
            self.forget_view(last);
        }
    }

    /// Rebuilds the view of a call before it is used otherwise.
    pub(super) fn settle(&mut self) {
        let Some(view) = self.view.take_if(|view| view.built_from.is_some()) else {
            return;
        };
        let (Some((pending, change)), Some(store)) = (view.built_from, &self.store) else {
            return;
        };
        if !view.is_new {
            let first_changed = self.working.first_changed;
            self.working = (**store).clone();
            self.put(&pending, &After::Edits(view.edits), change);
            // The content is unchanged, so its common prefix with the last prompt is unchanged too.
            self.working.first_changed = first_changed;
        }
    }

    /// Continues the view that the last call of the session received, unless a stage has changed the store since: the
    /// end of a run is what its last call received, and all that was said since.
    pub(super) fn continue_last_view(&mut self) {
        if let LastPrompt::Old(view) = std::mem::take(&mut self.prefix.last)
            && !self.acted
        {
            self.working = *view;
        }
    }

    /// Replaces the view of the call by the store.
    pub(super) fn back_to_store(&mut self) {
        let Some(store) = self.store.take() else {
            return;
        };
        let view_working = std::mem::replace(&mut self.working, *store);
        if let Some(view) = &mut self.view
            && view.built_from.take().is_some()
        {
            view.working = Some(Box::new(view_working));
            self.prefix.last = LastPrompt::View;
        } else {
            self.prefix.last = LastPrompt::Old(Box::new(view_working));
        }
    }
}

impl Working<'_> {
    /// Returns the size of the store, for a view of it.
    fn extent(&self) -> Extent {
        Extent {
            n_entries: self.context.entries.len(),
            n_dropped: self.context.dropped.len(),
            n_markers: self.context.markers.len(),
            markers: Vec::new(),
        }
    }

    /// Adds the new content of the store to this view.
    fn append_from(&mut self, store: &Self, extent: &mut Extent) {
        let known = extent.n_markers + extent.markers.len();
        for marker in &store.context.markers[known..] {
            extent.markers.push(self.context.markers.len() as u32);
            self.context.markers.push(marker.clone());
        }
        let new = &store.context.entries[extent.n_entries..];
        extent.n_entries = store.context.entries.len();
        self.context.entries.reserve(new.len());
        for entry in new {
            let mut entry = entry.clone();
            extent.remark(&mut entry);
            self.sums.add(self.case, &self.context.markers, &entry);
            let mut live = std::mem::take(&mut self.live);
            self.live_in(&entry, &mut live);
            self.live = live;
            self.context.entries.push(entry);
        }
        self.context.messages_end = store.context.messages_end;
    }
}

impl Extent {
    /// Changes the markers of a store entry to those of the view.
    fn remark(&self, entry: &mut Entry) {
        let EntryBody::Edited(edited) = &mut entry.body else {
            return;
        };
        for status in edited.parts.as_mut_slice() {
            if let PartStatus::Cleared { marker } = status
                && let Some(nth) = (*marker as usize).checked_sub(self.n_markers)
            {
                *marker = self.markers[nth];
            }
        }
    }
}

impl<'a> View<'a> {
    /// Returns the context of the last call, if no call uses it now.
    pub(super) fn kept(&self) -> Option<&Working<'a>> {
        self.working.as_deref()
    }

    /// Returns whether further edits have the same effect as if all edits were applied at once.
    fn takes(&self, edits: &MessageEdits<'_>, store: &Working<'_>) -> bool {
        let is_in_place = |(nth, idx): (usize, &u32)| *idx as usize == nth;
        let is_apart = |message: usize| {
            let (messages, entries) = edits.around(message);
            let at = self.edits.partition_point(|edit| edit.at < messages.start);
            let mut entries = store.context.entries[entries].iter();
            self.edits.get(at).is_none_or(|e| e.at >= messages.end)
                && entries.all(|entry| entry.message().is_some())
        };
        self.working.is_some()
            && store.context.dropped.len() == self.store.n_dropped
            && edits.hidden().iter().enumerate().all(is_in_place)
            && edits.places().all(is_apart)
    }

    fn add(&mut self, context_change: ContextChange, gone: Vec<usize>, edits: Vec<MessageEdit>) {
        if !context_change.messages.is_empty() {
            self.context_change.messages.extend(context_change.messages);
            self.context_change.messages = join(std::mem::take(&mut self.context_change.messages));
        }
        self.context_change.removed |= context_change.removed;
        self.gone.extend(gone);
        self.gone.sort_unstable();
        let is_behind = self.edits.last().map(|edit| edit.at) < edits.first().map(|edit| edit.at);
        self.edits.extend(edits);
        if !is_behind {
            self.edits.sort_by_key(|edit| edit.at);
        }
    }
}
