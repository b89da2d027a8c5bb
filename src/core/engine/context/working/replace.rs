//! Replaces entries: by a written message, or by those that a named action left.

use super::Working;
use crate::chat::ChatMessage;
use crate::engine::context::taken::Taken;
use crate::engine::context::{Dropped, Entry, EntryBody, Written};
use crate::engine::conversion::diff::Diff;
use crate::engine::conversion::entries::replace_entries;
use crate::engine::conversion::entry_updater::{ChangeSource, ContextChange};
use crate::engine::policy::stages::SummaryPosition;
use std::ops::Range;
use std::sync::Arc;

impl Working<'_> {
    /// Replaces the entries from `first` on by those that a named action left (`after`).
    pub(in crate::engine) fn rewrite(
        &mut self,
        first: usize,
        messages: (&[ChatMessage], &[ChatMessage]),
        change: ChangeSource,
    ) -> ContextChange {
        let mut diff = Diff::new(self.case, messages, self.next_id);
        // Entries that say what they said may have another id, which messages contain.
        self.shown.mark_changed(first);
        let (case, markers) = (self.case, &self.context.markers);
        for entry in &self.context.entries[first..] {
            if diff.touches(entry.id) {
                self.sums.remove(case, markers, entry);
            }
        }
        let tail = self.context.entries.split_off(first);
        let were: Vec<_> = tail.iter().map(|entry| (entry.id, entry.text())).collect();
        let head = std::mem::replace(&mut self.context.entries, tail);
        let (context, next_id) = (&mut self.context, &mut self.next_id);
        let context_change =
            replace_entries(self.case, &self.meter, context, &mut diff, change, next_id);
        let tail = std::mem::replace(&mut self.context.entries, head);
        let is_as_it_was = |((id, text), is): &(&(u32, Option<Arc<str>>), &Entry)| {
            let is_kept = *id == is.id && !diff.touches(is.id);
            // Another summary is a change even if it has the same text: in a simulation its text is a stand-in.
            let is_new_summary = *id != is.id && is.is_summary();
            is_kept || !is_new_summary && text.as_ref().is_some_and(|text| is.says(text))
        };
        let as_they_were = were.iter().zip(&tail).take_while(is_as_it_was).count();
        self.mark_changed(first + as_they_were);
        for mut entry in tail {
            if diff.touches(entry.id) {
                self.weigh(&mut entry);
                self.sums.add(self.case, &self.context.markers, &entry);
            }
            self.context.entries.push(entry);
        }
        self.list_live();
        context_change
    }

    /// Removes entries. `written`, with its true tokens, replaces the first or last of them and covers them all, if
    /// given.
    pub(in crate::engine) fn replace(
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
