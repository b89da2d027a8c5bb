//! Manual edits: messages that policies must not touch, and messages to clear or drop at the end of a run.

use super::Case;
use super::index::SessionIndex;
use crate::session::Session;
use std::sync::Arc;

/// Manual edits, as indices of the session's messages, each list ascending.
///
/// Pins bind stages. Named actions of real systems ignore pins: if one removes or changes a pinned message, the run
/// reports it. Clearing and dropping apply to the context where the run ends, so everything before is the policy's own.
/// Edits of messages that were not sent by then have no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManualEdits {
    /// Messages that no stage removes, with the calls and results that they need.
    pub pinned: Vec<usize>,
    /// Messages whose texts, results and images are cleared; calls and pairs stay.
    pub cleared: Vec<usize>,
    /// Messages that are dropped, with the calls and results paired with theirs.
    pub dropped: Vec<usize>,
}

impl ManualEdits {
    /// Returns whether there are no manual edits.
    pub fn is_empty(&self) -> bool {
        self.pinned.is_empty() && self.cleared.is_empty() && self.dropped.is_empty()
    }

    fn sorted(mut self) -> Self {
        for marks in [&mut self.pinned, &mut self.cleared, &mut self.dropped] {
            marks.sort_unstable();
            marks.dedup();
        }
        self
    }
}

impl Case {
    /// Returns the same session with these manual edits, in any order.
    #[must_use]
    pub fn with_manual_edits(&self, manual_edits: ManualEdits) -> Self {
        let manual_edits = manual_edits.sorted();
        Self {
            pins: Arc::new(Pins::new(&self.session, &self.index, &manual_edits.pinned)),
            manual_edits: Arc::new(manual_edits),
            ..self.clone()
        }
    }

    /// Returns the pinned messages and those that they need.
    pub(crate) fn pins(&self) -> &Pins {
        &self.pins
    }
}

/// Pinned messages with the calls and results that they need. Empty, and free to query, if nothing is pinned.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    /// By message.
    pinned: Vec<bool>,
    /// Pinned, or holds a call or result that a pinned message needs, by message.
    held: Vec<bool>,
    /// Whether a pinned message holds the call or a result, by pair.
    pairs: Vec<bool>,
}

impl Pins {
    fn new(session: &Session, index: &SessionIndex, pinned: &[usize]) -> Self {
        let n_messages = session.messages.len();
        let pinned: Vec<usize> = pinned.iter().copied().filter(|m| *m < n_messages).collect();
        if pinned.is_empty() {
            return Self::default();
        }
        let mut of_pair: Vec<Vec<usize>> = vec![Vec::new(); index.calls.n_calls()];
        for (part, message) in index.message_of.iter().enumerate() {
            if let Some(pair) = index.calls.number(part) {
                of_pair[pair as usize].push(*message as usize);
            }
        }
        let pairs_of = |message: usize| {
            let parts = session.messages[message].parts.clone();
            parts.filter_map(|part| index.calls.number(part)).map(|pair| pair as usize)
        };
        let mut pins = Self {
            pinned: vec![false; n_messages],
            held: vec![false; n_messages],
            pairs: vec![false; index.calls.n_calls()],
        };
        for message in &pinned {
            pins.pinned[*message] = true;
            pins.held[*message] = true;
            pairs_of(*message).for_each(|pair| pins.pairs[pair] = true);
        }
        // A held message is kept whole, so its other calls and results keep theirs too.
        let mut reached = vec![false; index.calls.n_calls()];
        let mut open = pinned;
        while let Some(message) = open.pop() {
            for pair in pairs_of(message) {
                if std::mem::replace(&mut reached[pair], true) {
                    continue;
                }
                for other in &of_pair[pair] {
                    if !std::mem::replace(&mut pins.held[*other], true) {
                        open.push(*other);
                    }
                }
            }
        }
        pins
    }

    /// Returns whether nothing is pinned.
    pub(crate) fn is_empty(&self) -> bool {
        self.pinned.is_empty()
    }

    /// Returns whether the user pinned this message.
    pub(crate) fn is_pinned(&self, message: u32) -> bool {
        self.pinned.get(message as usize) == Some(&true)
    }

    /// Returns whether this message must stay whole: it is pinned, or a pinned message needs it.
    pub(crate) fn holds(&self, message: u32) -> bool {
        self.held.get(message as usize) == Some(&true)
    }

    /// Returns whether a pinned message holds half of this pair of call and result.
    pub(crate) fn holds_pair(&self, pair: u32) -> bool {
        self.pairs.get(pair as usize) == Some(&true)
    }
}
