//! Replaces the entries of a context by those that a named action left.

use super::diff::Diff;
use super::entries::replace_entries;
use super::entry_updater::{ChangeSource, ContextChange};
use crate::chat::ChatMessage;
use crate::engine::context::Entry;
use crate::engine::working::Working;
use std::sync::Arc;

impl Working<'_> {
    /// Replaces the entries from `first` on by those that a named action left (`after`).
    pub(crate) fn rewrite(
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
}
