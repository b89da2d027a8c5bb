//! The texts that a policy put into the context: which there are, and when each came and went.

use super::{SeenKind, SeenText, TextChange};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Texts of the policy's own.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// What they are.
    pub(super) list: Vec<SeenText>,
    /// When these came and went, by step.
    pub(super) changes: Vec<TextChange>,
    /// How often each is there.
    there: Vec<u32>,
    /// Those that this call touched, with whether they were there before it.
    touched: Vec<(u32, bool)>,
    /// Their indices.
    known: HashMap<Wording, u32>,
    /// The one that was looked up last, with its event and index.
    newest: Option<(Arc<str>, u32, u32)>,
}

/// What there is to know of a text beside what it says.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) kind: SeenKind,
    pub(super) is_predicted: bool,
    pub(super) tokens: u32,
    /// Index of the event that put it there.
    pub(super) event: u32,
}

/// What makes two texts the same: what they say, and of predicted ones the event.
#[derive(Debug, PartialEq, Eq)]
struct Wording {
    text: Arc<str>,
    event: Option<u32>,
    is_remainder: bool,
}

impl Hash for Wording {
    /// Stand-ins are long and read alike: their events tell them apart, so only the ends are looked at.
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
    /// The index of a text. What is predicted is another text with every event, though it reads alike.
    pub(super) fn index(&mut self, text: &Arc<str>, about: About) -> u32 {
        let About { kind, event, .. } = about;
        let is_remainder = kind == SeenKind::Remainder;
        if let Some((newest, of, idx)) = &self.newest
            && Arc::ptr_eq(newest, text)
            && (!about.is_predicted || *of == event)
            && is_remainder == self.is_remainder(*idx)
        {
            return *idx;
        }
        let key = Wording {
            text: Arc::clone(text),
            event: about.is_predicted.then_some(event),
            is_remainder,
        };
        let (list, there) = (&mut self.list, &mut self.there);
        let idx = *self.known.entry(key).or_insert_with(|| {
            list.push(SeenText {
                text: Arc::clone(text),
                kind,
                is_predicted: about.is_predicted,
                tokens: about.tokens,
            });
            there.push(0);
            list.len() as u32 - 1
        });
        self.newest = Some((Arc::clone(text), event, idx));
        idx
    }

    /// Whether a text is what is left of a part.
    fn is_remainder(&self, text: u32) -> bool {
        self.list[text as usize].kind == SeenKind::Remainder
    }

    /// A text comes or goes once. What is left of a part comes and goes with its message, so it is not counted.
    #[inline]
    pub(super) fn count(&mut self, text: u32, comes: bool) {
        if self.is_remainder(text) {
            return;
        }
        let there = &mut self.there[text as usize];
        let was_there = *there > 0;
        *there = if comes { *there + 1 } else { *there - 1 };
        if was_there != (*there > 0) {
            self.touched.push((text, was_there));
        }
    }

    /// Writes down which texts came and went.
    pub(super) fn settle(&mut self, step: u32) {
        let mut touched = std::mem::take(&mut self.touched);
        // Of several touches the first knows what was before.
        touched.sort_by_key(|(text, _)| *text);
        touched.dedup_by_key(|(text, _)| *text);
        for (text, was_there) in touched.drain(..) {
            let is_there = self.there[text as usize] > 0;
            if is_there != was_there {
                self.changes.push(TextChange {
                    step,
                    text,
                    is_there,
                });
            }
        }
        self.touched = touched;
    }
}
