//! Tool results that are emptied in place, many at a time: pairs stay, and only their own entries are looked at.

use super::{LiveResult, Working};
use crate::engine::context::{Edited, Entry, EntryBody, PartFate, PartFates};
use crate::session::Kind;
use std::sync::Arc;

impl Working<'_> {
    /// Empties so many of the oldest live tool results, but what a person pinned among them.
    pub(in crate::engine) fn clear_oldest(&mut self, oldest: usize, marker: &Arc<str>, event: u32) {
        self.mark(marker, event);
        self.shown.forget_from(0);
        let mut results: Vec<LiveResult> = self.live.drain(..oldest).collect();
        let pins = self.case.pins();
        if !pins.is_empty() {
            let is_pinned = |result: &LiveResult| pins.is_pinned(result.message);
            let pinned = results.extract_if(.., |result| is_pinned(result));
            let pinned: Vec<LiveResult> = pinned.collect();
            self.live.splice(..0, pinned);
        }
        self.live_metered -= results.iter().map(|r| u64::from(r.metered)).sum::<u64>();
        let mut idx = 0;
        for of_message in results.chunk_by(|a, b| a.message == b.message) {
            if let Some(found) = self.find(of_message[0].message, idx) {
                idx = found;
                self.clear_in(idx, of_message);
            }
        }
    }

    /// The entry of a message, looked for near `from` first: what is cleared together stands together.
    fn find(&self, message: u32, from: usize) -> Option<usize> {
        const NEAR: usize = 8;
        let entries = &self.context.entries;
        let is_it = |entry: &Entry| entry.message() == Some(message);
        let near = &entries[from..(from + NEAR).min(entries.len())];
        if let Some(at) = near.iter().position(is_it) {
            return Some(from + at);
        }
        // Entries stand in the session's order, unless a recorded compaction carried some over.
        let guess = entries.binary_search_by_key(&message, Entry::position).ok();
        guess
            .filter(|idx| is_it(&entries[*idx]))
            .or_else(|| entries.iter().position(is_it))
    }

    /// Puts the newest marker in the place of these results, all of the message that this entry is.
    fn clear_in(&mut self, entry: usize, cleared: &[LiveResult]) {
        let (case, context) = (self.case, &mut self.context);
        let Some(marker) = context.markers.last() else {
            return;
        };
        let event = marker.event;
        let newest = context.markers.len() as u32 - 1;
        let entry = &mut context.entries[entry];
        let Some(message) = entry.message() else {
            return;
        };
        let parts = case.session.messages[message as usize].parts.clone();
        if let EntryBody::Original(_) = entry.body {
            let parts = PartFates::kept(parts.len());
            entry.body = EntryBody::Edited(Edited { message, parts });
        }
        let EntryBody::Edited(edited) = &mut entry.body else {
            return;
        };
        let is_cleared = |part: u32| cleared.iter().any(|r| r.part == part);
        for (part, fate) in parts.zip(edited.parts.as_mut_slice()) {
            if *fate != PartFate::Kept {
                continue;
            }
            if is_cleared(part as u32) {
                *fate = PartFate::Cleared { marker: newest };
            } else if case.index.owner[part].is_some_and(is_cleared) {
                *fate = PartFate::Removed { event };
            } else {
                continue;
            }
            let (truth, metered) = (case.ledger.truth.per_part[part], self.column.per_part[part]);
            let truth_now = fate.tokens(truth, &context.markers);
            let metered_now = fate.metered(metered, &context.markers);
            let sums = &mut self.sums;
            sums.by_kind[case.index.kinds[part].index()] -= u64::from(truth);
            sums.by_kind[Kind::Notice.index()] += u64::from(truth_now);
            sums.tokens = sums.tokens + u64::from(truth_now) - u64::from(truth);
            sums.metered = sums.metered + u64::from(metered_now) - u64::from(metered);
            entry.tokens = entry.tokens + truth_now - truth;
            entry.metered = entry.metered + metered_now - metered;
        }
        if let Some(units) = self.meter.units_of(case, entry, &context.markers) {
            self.sums.metered = self.sums.metered + u64::from(units) - u64::from(entry.metered);
            entry.metered = units;
        }
    }
}
