//! The texts that a policy put into the context, with their additions and removals.

use super::{PolicyText, TextChange, TextKind};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Texts of the policy's own.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// The texts.
    pub(super) list: Vec<PolicyText>,
    /// Additions and removals, by call.
    pub(super) changes: Vec<TextChange>,
    /// Number of occurrences of each text.
    there: Vec<u32>,
    /// Texts that this call changed, with whether they were present before.
    touched: Vec<(u32, bool)>,
    /// Indices of the texts.
    known: HashMap<TextKey, u32>,
    /// The text of the last lookup, with its event and index.
    newest: Option<(Arc<str>, u32, u32)>,
}

/// Properties of a text besides its wording.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextInfo {
    pub(super) kind: TextKind,
    pub(super) is_predicted: bool,
    pub(super) tokens: u32,
    /// Index of the event that added it.
    pub(super) event: u32,
}

/// Identity of a text: its wording, and for a predicted text also the event.
#[derive(Debug, PartialEq, Eq)]
struct TextKey {
    text: Arc<str>,
    event: Option<u32>,
    is_remainder: bool,
}

impl Hash for TextKey {
    /// Stand-ins are long and identical: the event distinguishes them, so only the ends are hashed.
    fn hash<H: Hasher>(&self, state: &mut H) {
        const END: usize = 32;
        let bytes = self.text.as_bytes();
        if self.event.is_some() && bytes.len() > 2 * END {
            (bytes.len(), self.event).hash(state);
            bytes[..END].hash(state);
            bytes[bytes.len() - END..].hash(state);
        } else {
            bytes.hash(state);
        }
    }
}

impl Texts {
    /// Returns the index of a text. A predicted text gets a new index for each event, although the wording is the same.
    pub(super) fn index(&mut self, text: &Arc<str>, about: TextInfo) -> u32 {
        let TextInfo { kind, event, .. } = about;
        let is_remainder = kind == TextKind::Remainder;
        if let Some((newest, of, idx)) = &self.newest
            && Arc::ptr_eq(newest, text)
            && (!about.is_predicted || *of == event)
            && is_remainder == self.is_remainder(*idx)
        {
            return *idx;
        }
        // Stand-ins of many events share one text.
        let shared = match &self.newest {
            Some((newest, _, idx)) if newest == text => Arc::clone(&self.list[*idx as usize].text),
            _ => Arc::clone(text),
        };
        let key = TextKey {
            text: Arc::clone(&shared),
            event: about.is_predicted.then_some(event),
            is_remainder,
        };
        let (list, there) = (&mut self.list, &mut self.there);
        let idx = *self.known.entry(key).or_insert_with(|| {
            list.push(PolicyText {
                text: Arc::clone(&shared),
                kind,
                is_predicted: about.is_predicted,
                tokens: about.tokens,
                event: about.event,
            });
            there.push(0);
            list.len() as u32 - 1
        });
        self.newest = Some((Arc::clone(text), event, idx));
        idx
    }

    /// Returns whether a text is the remainder of a part.
    fn is_remainder(&self, text: u32) -> bool {
        self.list[text as usize].kind == TextKind::Remainder
    }

    /// Counts the addition or removal of a text. A remainder is not counted, since it changes with its message.
    #[inline]
    pub(super) fn count(&mut self, text: u32, is_added: bool) {
        if self.is_remainder(text) {
            return;
        }
        let there = &mut self.there[text as usize];
        let was_there = *there > 0;
        *there = if is_added { *there + 1 } else { *there - 1 };
        if was_there != (*there > 0) {
            self.touched.push((text, was_there));
        }
    }

    /// Records which texts were added and removed.
    pub(super) fn settle(&mut self, call: u32) {
        let mut touched = std::mem::take(&mut self.touched);
        // Of several changes, the first has the state before the call.
        touched.sort_by_key(|(text, _)| *text);
        touched.dedup_by_key(|(text, _)| *text);
        for (text, was_there) in touched.drain(..) {
            let is_there = self.there[text as usize] > 0;
            if is_there != was_there {
                self.changes.push(TextChange { call, text, is_there });
            }
        }
        self.touched = touched;
    }
}
