//! Clears or shortens many tool results in place: pairs stay, and only the affected entries are processed.

use super::{Live, LiveResult, Working};
use crate::engine::context::taken::ranges;
use crate::engine::context::{Edited, Entry, EntryBody, Left, PartStatus, PartStatuses};
use crate::engine::working::sums::Weights;
use crate::session::{Body, Kind};
use std::ops::Range;
use std::sync::Arc;

/// A selection of live tool results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// The oldest, this many.
    Oldest(usize),
    /// The results at these positions (ascending).
    At(Vec<usize>),
}

impl Which {
    /// Returns the number of results.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Oldest(n) => *n,
            Self::At(places) => places.len(),
        }
    }

    /// Returns their positions among all live results.
    pub(crate) fn places(&self) -> Vec<usize> {
        match self {
            Self::Oldest(n) => (0..*n).collect(),
            Self::At(places) => places.clone(),
        }
    }

    /// Returns the messages that contain them, as ascending ranges.
    pub(crate) fn messages(&self, live: &[LiveResult]) -> Vec<Range<u32>> {
        match self {
            Self::Oldest(n) => ranges(live[..*n].iter().map(|r| r.message)),
            Self::At(places) => ranges(places.iter().map(|at| live[*at].message)),
        }
    }

    fn take_out(&self, live: &mut Live) -> Vec<LiveResult> {
        match self {
            Self::Oldest(n) => live.take_oldest(*n),
            Self::At(places) => live.take_at(places),
        }
    }
}

impl Working<'_> {
    /// Clears tool results.
    pub(crate) fn clear(&mut self, which: &Which, marker: &Arc<str>, event: u32) {
        self.mark(marker, Left::Nothing, event);
        let results = which.take_out(&mut self.live);
        let mut idx = 0;
        for of_message in results.chunk_by(|a, b| a.message == b.message) {
            if let Some(found) = self.find(of_message[0].message, idx) {
                idx = found;
                self.put_marker(idx, of_message, Left::Nothing);
            }
        }
    }

    /// Replaces a live result by a shorter text, which keeps `left` of its content; the remainder stays live.
    pub(crate) fn shorten(&mut self, nth: usize, (text, left): (&Arc<str>, Left), event: u32) {
        let result = self.live[nth];
        let Some(idx) = self.find(result.message, 0) else {
            return;
        };
        let before = self.part_metered(idx, result.part);
        self.mark(text, left, event);
        self.put_marker(idx, &[result], left);
        let after = self.part_metered(idx, result.part);
        self.live.reweigh(nth, result.metered - before + after);
    }

    /// Returns the current text of a live result; none if it is not the result of a call.
    pub(crate) fn live_text(&self, nth: usize) -> Option<&str> {
        self.live_content(nth).map(|(text, _)| text)
    }

    /// Returns the current text of a live result, and what it keeps of the recorded one; none if it is not the result of a
    /// call.
    pub(crate) fn live_content(&self, nth: usize) -> Option<(&str, Left)> {
        let result = self.live[nth];
        let Body::ToolResult { text, .. } = &self.case.session.parts[result.part as usize].body
        else {
            return None;
        };
        let entry = &self.context.entries[self.find(result.message, 0)?];
        let EntryBody::Edited(edited) = &entry.body else {
            return Some((text, Left::All));
        };
        let start = self.case.index.parts(result.message as usize).start;
        match edited.parts.as_slice().get(result.part as usize - start) {
            Some(PartStatus::Cleared { marker }) => {
                let marker = &self.context.markers[*marker as usize];
                Some((&marker.text, marker.left))
            }
            _ => Some((text, Left::All)),
        }
    }

    /// Returns the current weight of an entry's part on the policy's own meter.
    fn part_metered(&self, entry: usize, part: u32) -> u32 {
        let untouched = self.column.per_part[part as usize];
        let EntryBody::Edited(edited) = &self.context.entries[entry].body else {
            return untouched;
        };
        let parts = self.case.index.parts(edited.message as usize);
        let status = edited.parts.as_slice().get(part as usize - parts.start);
        status.map_or(untouched, |status| status.metered(untouched, &self.context.markers))
    }

    /// Returns the entry of a message. Searches near `from` first, since results cleared together are usually adjacent.
    fn find(&self, message: u32, from: usize) -> Option<usize> {
        // The next result follows after a call or two. Farther ones are found by binary search.
        const NEAR: usize = 8;
        let entries = &self.context.entries;
        // The id of a session entry is its message's index.
        let is_it = |entry: &Entry| entry.id == message;
        let near = &entries[from..(from + NEAR).min(entries.len())];
        if let Some(at) = near.iter().position(is_it) {
            return Some(from + at);
        }
        // Entries are in the session's order, unless a recorded compaction kept some out of order.
        let guess = entries.binary_search_by_key(&message, Entry::position).ok();
        guess.filter(|idx| is_it(&entries[*idx])).or_else(|| entries.iter().position(is_it))
    }

    /// Replaces these results of one message, which is this entry, by the newest marker. Parts of a cleared result (an
    /// image inside it) are removed too.
    fn put_marker(&mut self, entry: usize, results: &[LiveResult], left: Left) {
        self.mark_changed(entry);
        if let EntryBody::Original(message) = self.context.entries[entry].body {
            let parts = self.case.index.parts(message as usize);
            // Usually the message consists of that result only.
            if parts.len() == 1 && self.meter.adds_up() {
                return self.put_marker_whole(entry, message, parts.start);
            }
            let parts = PartStatuses::kept(parts.len());
            self.context.entries[entry].body = EntryBody::Edited(Edited { message, parts });
        }
        self.put_marker_in_parts(entry, results, left);
    }

    /// Handles an entry that is an untouched message of this one part.
    fn put_marker_whole(&mut self, entry: usize, message: u32, part: usize) {
        let context = &mut self.context;
        let Some(marker) = context.markers.last() else {
            return;
        };
        let before = Weights {
            tokens: self.case.ledger.truth.per_part[part],
            metered: self.column.per_part[part],
        };
        let after = Weights { tokens: marker.tokens, metered: marker.metered };
        let marker = context.markers.len() as u32 - 1;
        let parts = PartStatuses::One(PartStatus::Cleared { marker });
        let entry = &mut context.entries[entry];
        entry.body = EntryBody::Edited(Edited { message, parts });
        entry.tokens = entry.tokens + after.tokens - before.tokens;
        entry.metered = entry.metered + after.metered - before.metered;
        self.sums.put_text(self.case.index.kinds[part], before, after);
    }

    /// Handles an entry with parts that stay or changed before.
    fn put_marker_in_parts(&mut self, entry: usize, results: &[LiveResult], left: Left) {
        let (case, context) = (self.case, &mut self.context);
        let Some(marker) = context.markers.last() else {
            return;
        };
        let event = marker.event;
        let newest = context.markers.len() as u32 - 1;
        let entry = &mut context.entries[entry];
        let EntryBody::Edited(edited) = &mut entry.body else {
            return;
        };
        let parts = case.index.parts(edited.message as usize);
        let is_one = |part: u32| results.iter().any(|r| r.part == part);
        for (part, status) in parts.zip(edited.parts.as_mut_slice()) {
            if !status.has_content(&context.markers) {
                continue;
            }
            let now = if is_one(part as u32) {
                PartStatus::Cleared { marker: newest }
            } else if left == Left::Nothing && case.index.owner[part].is_some_and(is_one) {
                PartStatus::Removed { event }
            } else {
                continue;
            };
            let was = std::mem::replace(status, now);
            let (truth, metered) = (case.ledger.truth.per_part[part], self.column.per_part[part]);
            let kind = if was == PartStatus::Kept { case.index.kinds[part] } else { Kind::Notice };
            let weights = |status: &PartStatus| {
                let markers = &context.markers;
                Weights {
                    tokens: status.tokens(truth, markers),
                    metered: status.metered(metered, markers),
                }
            };
            let (before, after) = (weights(&was), weights(status));
            self.sums.put_text(kind, before, after);
            entry.tokens = entry.tokens + after.tokens - before.tokens;
            entry.metered = entry.metered + after.metered - before.metered;
        }
        if let Some(units) = self.meter.units_of(case, entry, &context.markers) {
            self.sums.metered = self.sums.metered + u64::from(units) - u64::from(entry.metered);
            entry.metered = units;
        }
    }
}
