//! Edits of single messages that leave all others in place: only the entries of edited messages are processed.
//!
//! Most edits of real systems are of this kind (a result cleared, a call removed), and some are made before every call.

use super::diff::{Differences, first_origin, id_of};
use super::entry_updater::{ChangeSource, ContextChange, EntryUpdater};
use crate::chat::ChatMessage;
use crate::engine::agent_messages::messages::Spans;
use crate::engine::agent_messages::pieces::each_origin;
use crate::engine::case::Case;
use crate::engine::context::Entry;
use crate::engine::named::edits::MessageEdit;
use crate::engine::working::{Live, Working, weigh};
use crate::session::WrittenKind;
use std::ops::Range;

/// Edits of the messages that an action received.
#[derive(Debug)]
pub(crate) struct MessageEdits<'a> {
    case: &'a Case,
    before: &'a [ChatMessage],
    /// Edits by position; each changes something.
    edits: &'a [MessageEdit],
    spans: &'a Spans,
    /// The next edit to process.
    next: usize,
    group: EditGroup<'a>,
}

/// Neighboring messages that share entries, with the state of these.
#[derive(Debug, Default)]
pub(super) struct EditGroup<'a> {
    /// Indices of the entries, including unchanged ones.
    pub(crate) entries: Range<usize>,
    /// Content of the changed entries.
    pub(crate) differences: Differences<'a>,
    touched: Vec<u32>,
    placed: Vec<u32>,
}

impl<'a> MessageEdits<'a> {
    /// Prepares edits. Returns none if they write new messages or move existing ones.
    pub(crate) fn new(
        case: &'a Case,
        before: &'a [ChatMessage],
        edits: &'a [MessageEdit],
        spans: &'a Spans,
    ) -> Option<Self> {
        let is_sorted = edits.is_sorted_by(|a, b| a.at < b.at);
        let mut ids = Vec::new();
        let stays = |edit: &MessageEdit| {
            let was = before.get(edit.at);
            let now = edit.now.as_ref();
            was.is_some_and(|was| now.is_none_or(|now| keeps_order(case, was, now, &mut ids)))
        };
        (is_sorted && edits.iter().all(stays)).then(|| Self {
            case,
            before,
            edits,
            spans,
            next: 0,
            group: EditGroup::default(),
        })
    }

    /// Returns the entries that no message contains, ascending.
    pub(crate) fn hidden(&self) -> &'a [u32] {
        self.spans.hidden()
    }

    /// Returns the positions of the edited messages.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.edits.iter().map(|edit| edit.at)
    }

    /// Returns a message with all messages that share entries with it, and these entries.
    pub(crate) fn around(&self, message: usize) -> (Range<usize>, Range<usize>) {
        let (first, last) = self.spans.of(message).unwrap_or_default();
        let (mut messages, mut entries) = (message..message + 1, first..last + 1);
        while let Some((first, last)) = self.spans.of(messages.start.wrapping_sub(1))
            && last >= entries.start
        {
            messages.start -= 1;
            entries.start = entries.start.min(first);
        }
        while let Some((first, last)) = self.spans.of(messages.end)
            && first < entries.end
        {
            messages.end += 1;
            entries.end = entries.end.max(last + 1);
        }
        (messages, entries)
    }

    /// Returns the next edited messages with all that share entries with them.
    pub(super) fn next_group(&mut self) -> Option<&mut EditGroup<'a>> {
        let at = self.edits.get(self.next)?.at;
        let (messages, entries) = self.around(at);
        let edits = &self.edits[self.next..];
        let edits = &edits[..edits.partition_point(|edit| edit.at < messages.end)];
        self.next += edits.len();
        self.group.entries = entries;
        self.group.take_in(self.case, self.before, messages, edits);
        Some(&mut self.group)
    }
}

impl<'a> EditGroup<'a> {
    /// Returns whether an entry may differ.
    pub(crate) fn touches(&self, id: u32) -> bool {
        self.touched.contains(&id)
    }

    /// Returns whether any content of a changed entry remains.
    pub(crate) fn is_there(&self, id: u32) -> bool {
        self.placed.contains(&id)
    }

    fn take_in(
        &mut self,
        case: &Case,
        before: &'a [ChatMessage],
        messages: Range<usize>,
        edits: &'a [MessageEdit],
    ) {
        self.touched.clear();
        self.placed.clear();
        self.differences.was.clear();
        self.differences.now.clear();
        for edit in edits {
            self.differences.was.take_in(&before[edit.at]);
            each_id(case, &before[edit.at], |id| self.touched.extend(id));
        }
        let mut edits = edits.iter().peekable();
        for at in messages {
            let edit = edits.next_if(|edit| edit.at == at);
            let Some(message) = edit.map_or(Some(&before[at]), |edit| edit.now.as_ref()) else {
                continue;
            };
            let n_placed = self.placed.len();
            each_id(case, message, |id| self.placed.extend(id));
            if !self.placed[n_placed..].iter().any(|id| self.touches(*id)) {
                continue;
            }
            self.differences.now.take_in(message);
            if edit.is_none() {
                self.differences.was.take_in(message);
            }
        }
    }
}

impl Working<'_> {
    /// Applies edits to the entries from `first` on. Some of the entries may be missing here (`missing`, ascending).
    pub(crate) fn apply_edits(
        &mut self,
        first: usize,
        mut edits: MessageEdits<'_>,
        change: ChangeSource,
        missing: &[usize],
    ) -> EditResult {
        let mut entries = std::mem::take(&mut self.context.entries);
        let mut markers = std::mem::take(&mut self.context.markers);
        let meter = self.meter.clone();
        let mut updater = EntryUpdater::new(self.case, &meter, &mut markers, change);
        let touched = self.touch(&mut entries, &mut edits, &mut updater, missing);
        let gone: Vec<usize> = touched.gone.iter().map(|(idx, _)| *idx).collect();
        let covers = updater.covers(gone.iter().map(|idx| &entries[*idx]));
        let dropped = updater.assign_covers(covers, &touched.rewritten, &mut entries);
        let context_change = updater.done();
        self.context.dropped.extend(dropped);
        self.context.markers = markers;
        self.update_live(&entries, &touched.changed, &gone);
        let changes = touched.changed.iter().chain(&gone).copied();
        self.mark_changed(changes.min().unwrap_or(usize::MAX));
        if remove_entries(&mut entries, &gone, edits.hidden(), first) {
            self.mark_changed(first);
        }
        self.context.entries = entries;
        EditResult {
            context_change,
            gone: touched.gone.into_iter().map(|(_, in_edits)| in_edits).collect(),
            rewrote_text: !touched.rewritten.is_empty(),
        }
    }

    /// Updates the entries that edits change.
    fn touch(
        &mut self,
        entries: &mut [Entry],
        edits: &mut MessageEdits<'_>,
        updater: &mut EntryUpdater<'_>,
        missing: &[usize],
    ) -> Touched {
        let case = self.case;
        let mut touched = Touched::default();
        while let Some(group) = edits.next_group() {
            let Range { start, end } = group.entries;
            let n_missing = missing.partition_point(|idx| *idx < start);
            let here = start - n_missing..end - n_missing;
            for (idx, entry) in here.clone().zip(&mut entries[here]) {
                if !group.touches(entry.id) {
                    continue;
                }
                self.sums.remove(case, updater.markers, entry);
                if !group.is_there(entry.id) {
                    touched.gone.push((idx, idx + n_missing));
                    continue;
                }
                let rewritten_kind = updater.change(entry, &group.differences);
                touched.rewritten.extend(rewritten_kind.map(|kind| (idx, kind)));
                weigh(case, &self.meter, &self.column, updater.markers, entry);
                self.sums.add(case, updater.markers, entry);
                touched.changed.push(idx);
            }
        }
        touched
    }

    /// Updates the live results if only some entries changed and some were removed (indices): removed results never
    /// return.
    pub(super) fn update_live(&mut self, entries: &[Entry], changed: &[usize], gone: &[usize]) {
        let touched = changed.iter().chain(gone);
        let mut others: Vec<u32> = touched.map(|idx| entries[*idx].id).collect();
        others.sort_unstable();
        let mut live = Live::default();
        for idx in changed {
            self.live_in(&entries[*idx], &mut live);
        }
        let mut live = live.iter().copied().peekable();
        self.live.retain_mut(|result| {
            if others.binary_search(&result.message).is_err() {
                return true;
            }
            let left = live.next_if(|left| left.part == result.part);
            left.map(|left| *result = left).is_some()
        });
    }
}

/// Entries that edits changed, by index.
#[derive(Debug, Default)]
struct Touched {
    changed: Vec<usize>,
    /// Removed entries, with their indices in the edits.
    gone: Vec<(usize, usize)>,
    /// Written messages whose text changed.
    rewritten: Vec<(usize, WrittenKind)>,
}

/// The result of edits.
#[derive(Debug)]
pub(crate) struct EditResult {
    pub(crate) context_change: ContextChange,
    /// Removed entries, by their indices in the edits.
    pub(crate) gone: Vec<usize>,
    /// Whether the text of a written message changed.
    pub(crate) rewrote_text: bool,
}

/// Removes entries (ascending indices) and moves those that no action sees to the front, from `first` on. Returns
/// whether they moved.
fn remove_entries(entries: &mut Vec<Entry>, gone: &[usize], hidden: &[u32], first: usize) -> bool {
    let is_in_place = |(nth, idx): (usize, &u32)| *idx as usize == first + nth;
    let is_first = hidden.iter().enumerate().all(is_in_place)
        && entries[first..][..hidden.len()].is_sorted_by_key(|entry| entry.id);
    if !is_first {
        let tail = entries.split_off(first);
        let mut kept = Vec::with_capacity(tail.len());
        for (idx, entry) in (first..).zip(tail) {
            if hidden.binary_search(&(idx as u32)).is_ok() {
                entries.push(entry);
            } else if gone.binary_search(&idx).is_err() {
                kept.push(entry);
            }
        }
        entries[first..].sort_by_key(|entry| entry.id);
        entries.append(&mut kept);
        return true;
    }
    if let Some(first_gone) = gone.first() {
        let mut gone = gone.iter().peekable();
        let behind = entries.split_off(*first_gone).into_iter();
        let behind = behind.zip(*first_gone..);
        let kept = behind.filter(|(_, idx)| gone.next_if_eq(&idx).is_none());
        entries.extend(kept.map(|(entry, _)| entry));
    }
    false
}

/// Returns the edit of each message, if messages only changed or were removed; none if there are new ones or the order
/// changed.
pub fn edits_of(before: &[ChatMessage], after: &[ChatMessage]) -> Option<Vec<MessageEdit>> {
    let mut edits = Vec::new();
    let gone = |at| MessageEdit { at, now: None };
    let mut next = 0;
    for message in after {
        if before.get(next).is_some_and(|was| was.is_copy_of(message)) {
            next += 1;
            continue;
        }
        let first = first_origin(message)?;
        let is_it = |was: &ChatMessage| first_origin(was) == Some(first);
        let at = next + before.get(next..)?.iter().position(is_it)?;
        edits.extend((next..at).map(gone));
        if before[at] != *message {
            edits.push(MessageEdit { at, now: Some(message.clone()) });
        }
        next = at + 1;
    }
    edits.extend((next..before.len()).map(gone));
    Some(edits)
}

/// Returns whether a message contains only its previous content, in the order of the entries.
fn keeps_order(case: &Case, was: &ChatMessage, now: &ChatMessage, ids: &mut Vec<u32>) -> bool {
    ids.clear();
    each_id(case, was, |id| ids.extend(id));
    let (mut keeps, mut from) = (true, 0);
    each_id(case, now, |id| {
        let at = id.and_then(|id| ids.iter().position(|known| *known == id));
        keeps &= at.is_some_and(|at| at >= from);
        from = at.unwrap_or(from);
    });
    keeps
}

/// Passes the entry of each piece of a message to `give`; none for a new piece.
fn each_id(case: &Case, message: &ChatMessage, mut give: impl FnMut(Option<u32>)) {
    each_origin(message, |origin| {
        give(origin.map(|origin| id_of(case, origin)));
    });
}
