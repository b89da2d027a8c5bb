//! Replaces entries by a written message.

use super::Working;
use crate::engine::context::taken::Taken;
use crate::engine::context::{Dropped, Entry, EntryBody, Written};
use crate::engine::vocabulary::SummaryPosition;
use std::ops::Range;

impl Working<'_> {
    /// Removes entries. `written`, with its true tokens, replaces the first or last of them and covers them all, if
    /// given.
    pub(crate) fn replace(
        &mut self,
        taken: Taken,
        (written, place): (Option<(Written, u32)>, SummaryPosition),
        event: u32,
    ) {
        let Taken { entries: taken, covers, .. } = taken;
        self.live.retain_mut(|r| !holds(&covers, r.message));
        self.mark_changed(taken.first().copied().unwrap_or(usize::MAX));
        let mut entries = std::mem::take(&mut self.context.entries);
        for idx in &taken {
            self.sums.remove(self.case, &self.context.markers, &entries[*idx]);
        }
        let mut next = taken.iter().copied().peekable();
        let mut idx = 0..;
        entries.retain(|_| next.next_if_eq(&idx.next().unwrap_or(0)).is_none());
        self.context.entries = entries;
        let place = match place {
            SummaryPosition::First => taken.first().copied(),
            SummaryPosition::Last => taken.last().map(|last| last + 1 - taken.len()),
        };
        if let (Some((written, tokens)), Some(place)) = (written, place) {
            self.write(place, Written { covers, ..written }, tokens);
        } else {
            let gone = |messages| Dropped { messages, event: Some(event), is_summarized: false };
            self.context.dropped.extend(covers.into_iter().map(gone));
        }
    }

    fn write(&mut self, place: usize, written: Written, tokens: u32) {
        let metered = self.meter.weigh_known(&written.text, tokens);
        let entry = Entry {
            id: self.next_id,
            tokens,
            metered,
            body: EntryBody::Written(Box::new(written)),
        };
        self.next_id += 1;
        self.sums.add(self.case, &self.context.markers, &entry);
        self.context.entries.insert(place, entry);
    }
}

/// Returns whether sorted ranges contain a message.
fn holds(ranges: &[Range<u32>], message: u32) -> bool {
    let at = ranges.partition_point(|range| range.end <= message);
    ranges.get(at).is_some_and(|range| range.contains(&message))
}
