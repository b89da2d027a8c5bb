//! Records the content that each call received, as differences from the call before.

use super::texts::{About, Texts};
use super::{PartSight, Seen, SeenChange, SeenKind, Sight};
use crate::engine::case::Case;
use crate::engine::context::prefix::Common;
use crate::engine::context::working::Working;
use crate::engine::context::{Context, Edited, Entry, EntryBody, Left, PartFate, PartFates};
use crate::session::WrittenKind;
use std::ops::Range;

/// Records the content that calls receive.
#[derive(Debug, Default)]
pub(in crate::engine) struct Watch {
    /// Messages received differently from the call before.
    changes: Vec<SeenChange>,
    /// Received state of parts.
    parts: Vec<PartSight>,
    texts: Texts,
    /// The newest text in the place of a message's only part, by its marker, with the resulting state.
    stand_in: Option<(u32, Sight)>,
    /// Entries of the last call, in order.
    last: Vec<Seat>,
    /// Received state of each message.
    sights: Vec<Sight>,
    /// The last call that contained each message, counted from 1.
    placed: Vec<u32>,
    /// The last call accounts for the messages before this index.
    messages_end: usize,
    calls: u32,
}

/// One entry of a call's context.
#[derive(Clone, Copy, Debug)]
enum Seat {
    Message(u32),
    Text(u32),
}

/// Returns the seats that were removed and the positions of the entries that were added between two calls. A message
/// that both calls received whole need not be processed again. Both lists are usually in the session's order, so one
/// pass pairs them; an unpaired message is only compared again.
fn apart(left: &[Seat], entries: &[Entry], sights: &[Sight]) -> (Vec<Seat>, Vec<usize>) {
    let mut gone = Vec::with_capacity(left.len());
    let mut fresh = Vec::with_capacity(entries.len());
    let mut next = 0;
    for (nth, entry) in entries.iter().enumerate() {
        let stands_before = |seat: &Seat| match (seat, &entry.body) {
            (Seat::Message(was), EntryBody::Original(is)) => {
                was < is || sights[*was as usize] != Sight::Whole
            }
            (Seat::Text(_), EntryBody::Original(_)) => true,
            _ => false,
        };
        while let Some(seat) = left.get(next).filter(|seat| stands_before(seat)) {
            gone.push(*seat);
            next += 1;
        }
        if left
            .get(next)
            .is_some_and(|seat| seat.is_still(entry, sights))
        {
            next += 1;
        } else {
            fresh.push(nth);
        }
    }
    gone.extend(&left[next..]);
    (gone, fresh)
}

impl Seat {
    /// Returns whether an entry is the message of this seat, received whole before and now.
    #[inline]
    fn is_still(self, entry: &Entry, sights: &[Sight]) -> bool {
        match (self, &entry.body) {
            (Self::Message(was), EntryBody::Original(is)) => {
                was == *is && sights[was as usize] == Sight::Whole
            }
            _ => false,
        }
    }
}

impl Watch {
    /// Creates an empty record.
    pub(in crate::engine) fn new(case: &Case) -> Self {
        let n = case.session.messages.len();
        Self {
            last: Vec::with_capacity(n),
            sights: vec![Sight::Gone; n],
            placed: vec![0; n],
            ..Self::default()
        }
    }

    /// Returns the record.
    pub(in crate::engine) fn finish(&mut self) -> Seen {
        let texts = std::mem::take(&mut self.texts);
        Seen {
            changes: std::mem::take(&mut self.changes),
            texts: texts.list,
            text_changes: texts.changes,
            parts: std::mem::take(&mut self.parts),
        }
    }

    /// Records that a call receives this context, which shares `common` with the context of the last call.
    pub(in crate::engine) fn note(
        &mut self,
        working: &mut Working<'_>,
        step: usize,
        common: Common,
    ) {
        let edits = working.changed.edits().filter(|_| common.is_same_context);
        let n_same = common.n_entries;
        self.note_call(working.case, &working.context, (step as u32, n_same, edits));
        working.changed.settle();
    }

    fn note_call(
        &mut self,
        case: &Case,
        context: &Context,
        (step, n_same, edits): (u32, usize, Option<&[u32]>),
    ) {
        self.calls += 1;
        let n_same = n_same.min(self.last.len()).min(context.entries.len());
        let new = self.messages_end..context.messages_end;
        let entries = &context.entries[n_same..];
        if n_same == self.last.len() && self.all_said(case, entries, &new) {
            return;
        }
        self.stand_in = None;
        let (last, at) = (self.last.len(), (step, &new));
        match (edits, context.entries.split_at_checked(last)) {
            (Some(edited), Some(both)) => self.note_edits(case, context, (edited, both), at),
            _ => self.note_moves(case, context, n_same, at),
        }
        self.join(case, step, new);
        self.texts.settle(step);
    }

    /// Records edits of entries that the last call received at the same positions.
    fn note_edits(
        &mut self,
        case: &Case,
        context: &Context,
        (edited, (old, added)): (&[u32], (&[Entry], &[Entry])),
        at: (u32, &Range<usize>),
    ) {
        for entry in edited.iter().filter_map(|idx| old.get(*idx as usize)) {
            if let EntryBody::Edited(edited) = &entry.body {
                let sight = self.sight(context, edited);
                self.count_in(case, edited.message, false);
                self.see(case, edited.message, sight, at);
            }
        }
        for entry in added {
            self.seat(case, context, entry, at);
        }
    }

    /// Records a context whose entries may differ in position from `n_same` on.
    fn note_moves(
        &mut self,
        case: &Case,
        context: &Context,
        n_same: usize,
        (step, new): (u32, &Range<usize>),
    ) {
        let entries = &context.entries[n_same..];
        let (same_behind, n_added) = self.behind(n_same, entries);
        let (old, added) = entries.split_at(entries.len() - n_added);
        let between = &old[..old.len() - same_behind];
        let behind = self.last.split_off(self.last.len() - same_behind);
        let left = self.last.split_off(n_same);
        let (gone, fresh) = apart(&left, between, &self.sights);
        for seat in &gone {
            match *seat {
                Seat::Text(text) => self.texts.count(text, false),
                Seat::Message(message) => self.count_in(case, message, false),
            }
        }
        let mut fresh = fresh.iter();
        let mut next = fresh.next();
        for (nth, entry) in between.iter().enumerate() {
            if next == Some(&nth) {
                self.seat(case, context, entry, (step, new));
                next = fresh.next();
            } else {
                self.last.push(Seat::Message(entry.id));
            }
        }
        self.last.extend(behind);
        for entry in added {
            self.seat(case, context, entry, (step, new));
        }
        for seat in gone {
            if let Seat::Message(message) = seat
                && self.placed[message as usize] != self.calls
            {
                self.sights[message as usize] = Sight::Gone;
                self.change(step, message, Sight::Gone);
            }
        }
    }

    /// Returns the number of last seats from `n_same` on that are unchanged, and the number of entries behind them that
    /// are new messages.
    fn behind(&self, n_same: usize, entries: &[Entry]) -> (usize, usize) {
        let is_added = |entry: &&Entry| matches!(entry.body, EntryBody::Original(message) if message as usize >= self.messages_end);
        let n_added = entries.iter().rev().take_while(is_added).count();
        let old = entries[..entries.len() - n_added].iter().rev();
        let pairs = self.last[n_same..].iter().rev().zip(old);
        let is_still = |(seat, entry): &(&Seat, &Entry)| seat.is_still(entry, &self.sights);
        (pairs.take_while(is_still).count(), n_added)
    }

    /// Returns whether these entries are all new messages, whole and in order. This is the usual case, in which nothing
    /// has to be recorded.
    fn all_said(&mut self, case: &Case, entries: &[Entry], new: &Range<usize>) -> bool {
        let mut said = new
            .clone()
            .filter(|message| case.index.in_history(*message));
        let is_next = |entry: &Entry| match entry.body {
            EntryBody::Original(message) => said.next() == Some(message as usize),
            _ => false,
        };
        if !entries.iter().all(is_next) || said.next().is_some() {
            return false;
        }
        for entry in entries {
            self.sights[entry.id as usize] = Sight::Whole;
            self.last.push(Seat::Message(entry.id));
        }
        self.messages_end = self.messages_end.max(new.end);
        true
    }

    /// Adds a new or changed entry as the next seat.
    fn seat(&mut self, case: &Case, context: &Context, entry: &Entry, at: (u32, &Range<usize>)) {
        match &entry.body {
            EntryBody::Written(written) => {
                let kind = match written.kind {
                    WrittenKind::Summary => SeenKind::Summary,
                    WrittenKind::Notice => SeenKind::Notice,
                };
                let about = About {
                    kind,
                    is_predicted: written.is_predicted,
                    tokens: entry.tokens,
                    event: written.event,
                };
                let text = self.texts.index(&written.text, about);
                self.texts.count(text, true);
                self.last.push(Seat::Text(text));
            }
            EntryBody::Original(message) => self.place(case, *message, Sight::Whole, at),
            EntryBody::Edited(edited) => {
                let sight = self.sight(context, edited);
                self.place(case, edited.message, sight, at);
            }
        }
    }

    /// Adds a message as the next seat.
    fn place(&mut self, case: &Case, message: u32, sight: Sight, at: (u32, &Range<usize>)) {
        self.placed[message as usize] = self.calls;
        self.last.push(Seat::Message(message));
        self.see(case, message, sight, at);
    }

    /// Sets the received state of a message.
    fn see(&mut self, case: &Case, message: u32, sight: Sight, (step, new): (u32, &Range<usize>)) {
        let idx = message as usize;
        let was = std::mem::replace(&mut self.sights[idx], sight);
        if sight != Sight::Whole {
            self.count_in(case, message, true);
        }
        // New messages are recorded after all entries are in place.
        if was != sight && !(new.contains(&idx) && case.index.in_history(idx)) {
            self.change(step, message, sight);
        }
    }

    /// Adds messages of the history: received whole, unless their state differs.
    fn join(&mut self, case: &Case, step: u32, new: Range<usize>) {
        self.messages_end = self.messages_end.max(new.end);
        for message in new {
            let sight = self.sights[message];
            if sight != Sight::Whole && case.index.in_history(message) {
                self.change(step, message as u32, sight);
            }
        }
    }

    fn change(&mut self, step: u32, message: u32, now: Sight) {
        if let Some(last) = self.changes.last_mut()
            && (last.step, last.now, last.messages.end) == (step, now, message)
        {
            last.messages.end += 1;
            return;
        }
        let messages = message..message + 1;
        self.changes.push(SeenChange {
            step,
            messages,
            now,
        });
    }

    /// Returns the received state of a message with changed parts. Messages of one clearing usually have the same
    /// state.
    fn sight(&mut self, context: &Context, edited: &Edited) -> Sight {
        let PartFates::One(PartFate::Cleared { marker }) = edited.parts else {
            return self.sight_of_parts(context, edited);
        };
        match (self.stand_in, self.sights[edited.message as usize]) {
            (Some((of, sight)), Sight::Whole | Sight::Gone) if of == marker => sight,
            _ => {
                let sight = self.sight_of_parts(context, edited);
                self.stand_in = Some((marker, sight));
                sight
            }
        }
    }

    fn sight_of_parts(&mut self, context: &Context, edited: &Edited) -> Sight {
        let first = self.parts.len();
        for fate in edited.parts.as_slice() {
            let sight = match fate {
                PartFate::Kept => PartSight::Kept,
                PartFate::Removed { .. } => PartSight::Gone,
                PartFate::Cleared { marker } => {
                    let marker = &context.markers[*marker as usize];
                    let kind = match marker.left {
                        Left::All => None,
                        Left::Some => Some(SeenKind::Remainder),
                        Left::Nothing => Some(SeenKind::Marker),
                    };
                    kind.map_or(PartSight::Kept, |kind| {
                        let about = About {
                            kind,
                            is_predicted: marker.is_predicted,
                            tokens: marker.tokens,
                            event: marker.event,
                        };
                        PartSight::Text(self.texts.index(&marker.text, about))
                    })
                }
            };
            self.parts.push(sight);
        }
        let (before, now) = self.parts.split_at(first);
        let sight = match self.sights[edited.message as usize] {
            _ if now.iter().all(|part| *part == PartSight::Kept) => Sight::Whole,
            Sight::Partly(known) if before[known as usize..].starts_with(now) => {
                Sight::Partly(known)
            }
            _ => return Sight::Partly(first as u32),
        };
        self.parts.truncate(first);
        sight
    }

    /// Counts the texts in the place of a message's parts as added or removed.
    #[inline]
    fn count_in(&mut self, case: &Case, message: u32, comes: bool) {
        if let Sight::Partly(first) = self.sights[message as usize] {
            let n_parts = case.index.parts(message as usize).len();
            let parts = &self.parts[first as usize..][..n_parts];
            for part in parts {
                if let PartSight::Text(text) = part {
                    self.texts.count(*text, comes);
                }
            }
        }
    }
}
