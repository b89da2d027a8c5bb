//! Manual changes of single messages, part by part.

use super::Working;
use crate::engine::context::{Edited, Entry, EntryBody, Left, Marker, PartStatuses};
use crate::engine::working::sums::Weights;
use std::sync::Arc;

impl Working<'_> {
    /// Adds a text that replaces parts and keeps `left` of their content; returns its index.
    pub(crate) fn mark(&mut self, text: &Arc<str>, left: Left, event: u32) -> u32 {
        let Weights { tokens, metered } = self.marker_weights(text);
        self.context.markers.push(Marker {
            text: Arc::clone(text),
            tokens,
            metered,
            event,
            left,
            is_predicted: false,
        });
        self.context.markers.len() as u32 - 1
    }

    /// Returns the weights of a text that replaces parts. Usually it is the text of the previous clearing, which is not
    /// counted again.
    pub(crate) fn marker_weights(&self, text: &Arc<str>) -> Weights {
        if let Some(last) = self.context.markers.last()
            && Arc::ptr_eq(&last.text, text)
        {
            return Weights { tokens: last.tokens, metered: last.metered };
        }
        Weights {
            tokens: self.case.ledger.weigh(text).0 as u32,
            metered: self.meter.weigh_part(self.case, text),
        }
    }

    /// Sets the state of the parts of session messages, by the indices of their entries.
    pub(crate) fn amend(&mut self, amended: Vec<(usize, PartStatuses)>) {
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
            self.sums.remove(self.case, &self.context.markers, before);
            self.weigh(&mut entry);
            self.sums.add(self.case, &self.context.markers, &entry);
            self.context.entries[idx] = entry;
        }
        self.list_live();
    }
}
