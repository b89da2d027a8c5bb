//! A view that is rebuilt before every call, cached between calls: usually only the new messages differ.
//!
//! A cached view has the weight of a rebuilt one, but records the events that changed it first. It may therefore only
//! serve as the context of a call: before any other use, it is rebuilt ([`Run::settle`]).

use super::Run;

use super::named_state::{After, PendingAction};
use crate::chat::Mark;
use crate::engine::agent_messages::stand_in::StandIn;
use crate::engine::case::Case;
use crate::engine::context::taken::join;
use crate::engine::context::{Entry, EntryBody, PartStatus};
use crate::engine::conversion::entry_updater::{ChangeSource, ContextChange};
use crate::engine::conversion::message_edits::{EditResult, MessageEdits};
use crate::engine::conversion::sent::SentMessages;
use crate::engine::named::Rewritten;
use crate::engine::named::edits::{KnownEdits, MessageEdit};
use crate::engine::policy::stages::Mutates;
use crate::engine::working::Working;
use crate::engine::working::prefix::LastPrompt;

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
    result: ViewResult,
    context_change: ContextChange,
}

/// The result of the action that builds a view.
#[derive(Debug)]
enum ViewResult {
    /// Edits of messages.
    Edits {
        /// The edits that the action returned.
        given: KnownEdits,
        /// The edits that were applied.
        applied: Vec<MessageEdit>,
        /// Entries of the store that the view does not contain.
        gone: Vec<usize>,
    },
    /// All messages.
    All(SentMessages),
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
    /// Updates the view of the last call with the current result of an action, if that is possible without rebuilding
    /// it. Returns the change if this call uses the updated view.
    pub(super) fn reuse_view(
        &mut self,
        stage: usize,
        (pending, stand_in): (&PendingAction, Option<&StandIn>),
        done: &Rewritten,
        change: ChangeSource,
    ) -> Option<ContextChange> {
        let is_view = self.triggers.stage(stage).mutates == Mutates::View;
        let is_unchanged = done.messages.is_none() && done.edits.is_empty();
        if !is_view || self.store.is_some() || is_unchanged || !pending.is_plain() {
            return None;
        }
        let mut view = self.view.take_if(|view| view.stage == stage)?;
        let again = self.update_view(&mut view, (pending, stand_in), done, change);
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
        done: &Rewritten,
        change: ChangeSource,
    ) -> Option<ContextChange> {
        let new = pending.before.since(&view.mark)?;
        if !view.continues(pending, &self.working) {
            return None;
        }
        let working = view.working.as_mut()?;
        let context_change = match (&mut view.result, &done.messages) {
            (ViewResult::Edits { given, applied, gone }, None) => {
                let mut new = done.edits.added(given)?;
                if let Some(stand_in) = stand_in {
                    new = stand_in.take_out_edits(&pending.before, &new)?;
                }
                new.retain(|edit| pending.before.get(edit.at) != edit.now.as_ref());
                let edits = MessageEdits::new(self.case, &pending.before, &new, &pending.spans)?;
                if !are_apart(&edits, applied, &self.working) {
                    return None;
                }
                working.append_from(&self.working, &mut view.store);
                let edited = working.apply_edits(0, edits, change, gone);
                *given = done.edits.known();
                gone.extend(edited.gone);
                gone.sort_unstable();
                add_edits(applied, new);
                edited.context_change
            }
            (ViewResult::All(sent), Some(now)) if **now != *pending.before => {
                working.append_from(&self.working, &mut view.store);
                sent.add(new);
                let n_hidden = pending.spans.hidden().len();
                let changes = sent.change_to(working, n_hidden, now)?;
                let context_change;
                (context_change, *sent) = working.change_sent(changes, change);
                context_change
            }
            _ => return None,
        };
        match self.prefix.last {
            LastPrompt::View => self.prefix.last = LastPrompt::Working,
            LastPrompt::Working => self.prefix.last = LastPrompt::Store,
            LastPrompt::Store | LastPrompt::Old(_) => {}
        }
        let working = view.working.take()?;
        self.store = Some(Box::new(std::mem::replace(&mut self.working, *working)));
        view.add(context_change);
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
        (given, after): (KnownEdits, After),
        edited: EditResult,
    ) {
        let Some(store) = &self.store else {
            return;
        };
        let result = match after {
            After::Edits(_) if edited.rewrote_text => None,
            After::Edits(applied) => Some(ViewResult::Edits { given, applied, gone: edited.gone }),
            After::All(all) => {
                let n_hidden = pending.spans.hidden().len();
                let sent = SentMessages::new(&self.working, n_hidden, &all, store.next_id);
                sent.map(ViewResult::All)
            }
        };
        let Some(result) = result else {
            return;
        };
        let view = View {
            stage,
            working: None,
            built_from: Some((pending.clone(), change)),
            is_new: true,
            mark: pending.before.mark(),
            store: store.extent(),
            result,
            context_change: edited.context_change,
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
            self.working = store.view();
            let after = match view.result {
                ViewResult::Edits { applied, .. } => After::Edits(applied),
                ViewResult::All(sent) => After::of_all(&pending.before, sent.to_vec()),
            };
            self.put(&pending, &after, change);
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
    /// Continues with another case ([`Working::moved_to`]).
    pub(super) fn moved_to(self, case: &Case) -> View<'_> {
        let Self { stage, working, built_from, is_new, mark, store, result, context_change } = self;
        let working = working.map(|working| Box::new(working.moved_to(case)));
        View { stage, working, built_from, is_new, mark, store, result, context_change }
    }

    /// Returns the context of the last call, if no call uses it now.
    pub(super) fn kept(&self) -> Option<&Working<'a>> {
        self.working.as_deref()
    }

    /// Returns whether it consists of all messages that its action left, rather than of edits.
    pub(super) fn has_all_messages(&self) -> bool {
        matches!(self.result, ViewResult::All(_))
    }

    /// Returns whether only messages were added to the store, behind those that the view contains.
    fn continues(&self, pending: &PendingAction, store: &Working<'_>) -> bool {
        let is_in_place = |(nth, idx): (usize, &u32)| *idx as usize == nth;
        store.context.dropped.len() == self.store.n_dropped
            && pending.spans.hidden().iter().enumerate().all(is_in_place)
    }

    fn add(&mut self, context_change: ContextChange) {
        if !context_change.messages.is_empty() {
            self.context_change.messages.extend(context_change.messages);
            self.context_change.messages = join(std::mem::take(&mut self.context_change.messages));
        }
        self.context_change.removed |= context_change.removed;
    }
}

/// Returns whether further edits have the same effect as if all edits were applied at once.
fn are_apart(edits: &MessageEdits<'_>, applied: &[MessageEdit], store: &Working<'_>) -> bool {
    let is_apart = |message: usize| {
        let (messages, entries) = edits.around(message);
        let at = applied.partition_point(|edit| edit.at < messages.start);
        let mut entries = store.context.entries[entries].iter();
        applied.get(at).is_none_or(|e| e.at >= messages.end)
            && entries.all(|entry| entry.message().is_some())
    };
    edits.places().all(is_apart)
}

/// Adds edits to those of a view.
fn add_edits(applied: &mut Vec<MessageEdit>, new: Vec<MessageEdit>) {
    let is_behind = applied.last().map(|edit| edit.at) < new.first().map(|edit| edit.at);
    applied.extend(new);
    if !is_behind {
        applied.sort_by_key(|edit| edit.at);
    }
}
