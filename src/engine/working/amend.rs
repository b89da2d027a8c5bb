//! Single messages that change part by part, at a person's word.

use super::Working;
use crate::engine::context::{Edited, Entry, EntryBody, Left, Marker, PartFates};
use std::sync::Arc;

impl Working<'_> {
    /// A text to stand in the place of parts, of which so much is left; gives its index.
    pub(in crate::engine) fn mark(&mut self, text: &Arc<str>, left: Left, event: u32) -> u32 {
        self.context.markers.push(Marker {
            text: Arc::clone(text),
            tokens: self.case.ledger.weigh(text).0 as u32,
            metered: self.meter.weigh_part(self.case, text),
            event,
            left,
            is_predicted: false,
        });
        self.context.markers.len() as u32 - 1
    }

    /// Gives messages of the session, by the indices of their entries, other fates of their parts.
    pub(in crate::engine) fn amend(&mut self, amended: Vec<(usize, PartFates)>) {
        self.shown.forget_from(0);
        for (idx, parts) in amended {
            self.mark_changed(idx);
            let before = &self.context.entries[idx];
            let Some(message) = before.message() else {
                continue;
            };
            let mut entry = Entry {
                id: before.id,
                tokens: 0,
                metered: 0,
                body: EntryBody::Edited(Edited { message, parts }),
            };
            self.sums.forget(self.case, &self.context.markers, before);
            self.weigh(&mut entry);
            self.sums.add(self.case, &self.context.markers, &entry);
            self.context.entries[idx] = entry;
        }
        self.list_live();
    }
}
