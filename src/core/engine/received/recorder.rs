//! Records the content that each call received, as differences from the call before.

use super::texts::{TextInfo, Texts};
use super::{PartVisibility, Received, ReceivedChange, TextKind, Visibility};
use crate::engine::case::Case;
use crate::engine::context::{Context, Edited, Entry, EntryBody, Left, PartStatus};
use crate::engine::working::Working;
use crate::engine::working::prefix::CommonPrefix;
use crate::session::WrittenKind;
use std::ops::Range;

/// Records the content that calls receive.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// Messages received differently from the call before.
    changes: Vec<ReceivedChange>,
    /// Received state of parts.
    parts: Vec<PartVisibility>,
    texts: Texts,
    /// Entries of the last call, in order.
    last: Vec<Slot>,
    /// Received state of each message.
    visibilities: Vec<Visibility>,
    /// The last call that contained each message, counted from 1.
    placed: Vec<u32>,
    /// The last call accounts for the messages before this index.
    messages_end: usize,
    calls: u32,
    /// Whether nothing is recorded, because nobody reads the record.
    is_off: bool,
}

/// One entry of a call's context.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Message(u32),
    Text(u32),
}

/// Returns the slots that were removed and the positions of the entries that were added between two calls. A message
/// that both calls received whole need not be processed again. Both lists are usually in the session's order, so one
/// pass pairs them; an unpaired message is only compared again.
fn apart(left: &[Slot], entries: &[Entry], visibilities: &[Visibility]) -> (Vec<Slot>, Vec<usize>) {
    let mut gone = Vec::with_capacity(left.len());
    let mut added = Vec::with_capacity(entries.len());
    let mut next = 0;
    for (nth, entry) in entries.iter().enumerate() {
        let precedes = |slot: &Slot| match (slot, &entry.body) {
            (Slot::Message(was), EntryBody::Original(is)) => {
                was < is || visibilities[*was as usize] != Visibility::Whole
            }
            (Slot::Text(_), EntryBody::Original(_)) => true,
            _ => false,
        };
        while let Some(slot) = left.get(next).filter(|slot| precedes(slot)) {
            gone.push(*slot);
            next += 1;
        }
        if left.get(next).is_some_and(|slot| slot.is_still(entry, visibilities)) {
            next += 1;
        } else {
            added.push(nth);
        }
    }
    gone.extend(&left[next..]);
    (gone, added)
}

impl Slot {
    /// Returns whether an entry is the message of this slot, received whole before and now.
    #[inline]
    fn is_still(self, entry: &Entry, visibilities: &[Visibility]) -> bool {
        match (self, &entry.body) {
            (Self::Message(was), EntryBody::Original(is)) => {
                was == *is && visibilities[was as usize] == Visibility::Whole
            }
            _ => false,
        }
    }
}

impl Recorder {
    /// Creates an empty record.
    pub(crate) fn new(case: &Case) -> Self {
        let n = case.session.messages.len();
        Self {
            last: Vec::with_capacity(n),
            visibilities: vec![Visibility::Gone; n],
            placed: vec![0; n],
            ..Self::default()
        }
    }

    /// Creates a record that stays empty.
    pub(crate) fn off() -> Self {
        Self { is_off: true, ..Self::default() }
    }

    /// Returns the record.
    pub(crate) fn finish(&mut self) -> Received {
        let texts = std::mem::take(&mut self.texts);
        Received {
            changes: std::mem::take(&mut self.changes),
            texts: texts.list,
            text_changes: texts.changes,
            parts: std::mem::take(&mut self.parts),
        }
    }

    /// Records that a call receives this context, which shares `common` with the context of the last call.
    pub(crate) fn note(&mut self, working: &mut Working<'_>, call: usize, common: CommonPrefix) {
        if !self.is_off {
            self.note_call(working.case, &working.context, call as u32, common.n_entries);
        }
        working.first_changed = usize::MAX;
    }

    fn note_call(&mut self, case: &Case, context: &Context, call: u32, n_same: usize) {
        self.calls += 1;
        let n_same = n_same.min(self.last.len()).min(context.entries.len());
        let new = self.messages_end..context.messages_end;
        let entries = &context.entries[n_same..];
        if n_same == self.last.len() && self.are_all_new(case, entries, &new) {
            return;
        }
        self.note_changes(case, context, n_same, (call, &new));
        self.add_history(case, call, new);
        self.texts.settle(call);
    }

    /// Records a context whose entries may differ from `n_same` on.
    fn note_changes(
        &mut self,
        case: &Case,
        context: &Context,
        n_same: usize,
        (call, new): (u32, &Range<usize>),
    ) {
        let entries = &context.entries[n_same..];
        let left = self.last.split_off(n_same);
        let (gone, added) = apart(&left, entries, &self.visibilities);
        for slot in &gone {
            match *slot {
                Slot::Text(text) => self.texts.count(text, false),
                Slot::Message(message) => self.count_in(case, message, false),
            }
        }
        let mut added = added.iter().peekable();
        for (nth, entry) in entries.iter().enumerate() {
            if added.next_if(|at| **at == nth).is_some() {
                self.add_slot(case, context, entry, (call, new));
            } else {
                self.last.push(Slot::Message(entry.id));
            }
        }
        for slot in gone {
            if let Slot::Message(message) = slot
                && self.placed[message as usize] != self.calls
            {
                self.visibilities[message as usize] = Visibility::Gone;
                self.change(call, message, Visibility::Gone);
            }
        }
    }

    /// Returns whether these entries are all new messages, whole and in order. This is the usual case, in which nothing
    /// has to be recorded.
    fn are_all_new(&mut self, case: &Case, entries: &[Entry], new: &Range<usize>) -> bool {
        let mut expected = new.clone().filter(|message| case.index.in_history(*message));
        let is_next = |entry: &Entry| match entry.body {
            EntryBody::Original(message) => expected.next() == Some(message as usize),
            _ => false,
        };
        if !entries.iter().all(is_next) || expected.next().is_some() {
            return false;
        }
        for entry in entries {
            self.visibilities[entry.id as usize] = Visibility::Whole;
            self.last.push(Slot::Message(entry.id));
        }
        self.messages_end = self.messages_end.max(new.end);
        true
    }

    /// Adds a new or changed entry as the next slot.
    fn add_slot(
        &mut self,
        case: &Case,
        context: &Context,
        entry: &Entry,
        at: (u32, &Range<usize>),
    ) {
        match &entry.body {
            EntryBody::Written(written) => {
                let kind = match written.kind {
                    WrittenKind::Summary => TextKind::Summary,
                    WrittenKind::Notice | WrittenKind::Addition => TextKind::Notice,
                };
                let about = TextInfo {
                    kind,
                    is_predicted: written.is_predicted,
                    tokens: entry.tokens,
                    event: written.event,
                };
                let text = self.texts.index(&written.text, about);
                self.texts.count(text, true);
                self.last.push(Slot::Text(text));
            }
            EntryBody::Original(message) => self.place(case, *message, Visibility::Whole, at),
            EntryBody::Edited(edited) => {
                let visibility = self.visibility(context, edited);
                self.place(case, edited.message, visibility, at);
            }
        }
    }

    /// Adds a message as the next slot.
    fn place(
        &mut self,
        case: &Case,
        message: u32,
        visibility: Visibility,
        at: (u32, &Range<usize>),
    ) {
        self.placed[message as usize] = self.calls;
        self.last.push(Slot::Message(message));
        self.set_visibility(case, message, visibility, at);
    }

    /// Sets the received state of a message.
    fn set_visibility(
        &mut self,
        case: &Case,
        message: u32,
        visibility: Visibility,
        (call, new): (u32, &Range<usize>),
    ) {
        let idx = message as usize;
        let was = std::mem::replace(&mut self.visibilities[idx], visibility);
        if visibility != Visibility::Whole {
            self.count_in(case, message, true);
        }
        // New messages are recorded after all entries are in place.
        if was != visibility && !(new.contains(&idx) && case.index.in_history(idx)) {
            self.change(call, message, visibility);
        }
    }

    /// Adds messages of the history: received whole, unless their state differs.
    fn add_history(&mut self, case: &Case, call: u32, new: Range<usize>) {
        self.messages_end = self.messages_end.max(new.end);
        for message in new {
            let visibility = self.visibilities[message];
            if visibility != Visibility::Whole && case.index.in_history(message) {
                self.change(call, message as u32, visibility);
            }
        }
    }

    fn change(&mut self, call: u32, message: u32, now: Visibility) {
        if let Some(last) = self.changes.last_mut()
            && (last.call, last.now, last.messages.end) == (call, now, message)
        {
            last.messages.end += 1;
            return;
        }
        let messages = message..message + 1;
        self.changes.push(ReceivedChange { call, messages, now });
    }

    /// Returns the received state of a message with changed parts.
    fn visibility(&mut self, context: &Context, edited: &Edited) -> Visibility {
        let first = self.parts.len();
        for status in edited.parts.as_slice() {
            let visibility = match status {
                PartStatus::Kept => PartVisibility::Kept,
                PartStatus::Removed { .. } => PartVisibility::Gone,
                PartStatus::Cleared { marker } => {
                    let marker = &context.markers[*marker as usize];
                    let kind = match marker.left {
                        Left::All => None,
                        Left::Some => Some(TextKind::Remainder),
                        Left::Nothing | Left::Elsewhere => Some(TextKind::Marker),
                    };
                    kind.map_or(PartVisibility::Kept, |kind| {
                        let about = TextInfo {
                            kind,
                            is_predicted: marker.is_predicted,
                            tokens: marker.tokens,
                            event: marker.event,
                        };
                        PartVisibility::Text(self.texts.index(&marker.text, about))
                    })
                }
            };
            self.parts.push(visibility);
        }
        let (before, now) = self.parts.split_at(first);
        let visibility = match self.visibilities[edited.message as usize] {
            _ if now.iter().all(|part| *part == PartVisibility::Kept) => Visibility::Whole,
            Visibility::Partly(known) if before[known as usize..].starts_with(now) => {
                Visibility::Partly(known)
            }
            // Messages of one clearing usually share their state.
            _ if before.ends_with(now) => Visibility::Partly((first - now.len()) as u32),
            _ => return Visibility::Partly(first as u32),
        };
        self.parts.truncate(first);
        visibility
    }

    /// Counts the texts in the place of a message's parts as added or removed.
    #[inline]
    fn count_in(&mut self, case: &Case, message: u32, is_added: bool) {
        if let Visibility::Partly(first) = self.visibilities[message as usize] {
            let n_parts = case.index.parts(message as usize).len();
            let parts = &self.parts[first as usize..][..n_parts];
            for part in parts {
                if let PartVisibility::Text(text) = part {
                    self.texts.count(*text, is_added);
                }
            }
        }
    }
}
