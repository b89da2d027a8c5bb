//! What a person marked by hand: messages that policies must leave alone, and messages to clear or drop at the end.

use super::Case;
use super::index::SessionIndex;
use crate::session::Session;
use std::sync::Arc;

/// Marks of a person, as indices of the session's messages, each list ascending.
///
/// Pins bind our own strategies. Real systems know none: where one takes or changes a pinned message the run says so.
/// What is cleared or dropped is taken from what is in the context where the run ends, so that everything before is the
/// policy's own; marks of messages that were not said by then mean nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByHand {
    /// No strategy takes these, nor the calls and results that they need.
    pub pinned: Vec<usize>,
    /// Of these the texts, results and pictures go; calls and pairs stay.
    pub cleared: Vec<usize>,
    /// These go, and with them the calls and results that belong to theirs.
    pub dropped: Vec<usize>,
}

impl ByHand {
    /// Whether nothing is marked.
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
    /// The same session with what a person marked, in any order.
    #[must_use]
    pub fn with_by_hand(&self, by_hand: ByHand) -> Self {
        let by_hand = by_hand.sorted();
        Self {
            pins: Arc::new(Pins::new(&self.session, &self.index, &by_hand.pinned)),
            by_hand: Arc::new(by_hand),
            ..self.clone()
        }
    }

    /// What pinned messages need.
    pub(super) fn pins(&self) -> &Pins {
        &self.pins
    }
}

/// Pinned messages with what they need. Nothing is held, and nothing asked for costs anything, where nothing is pinned.
#[derive(Debug, Default)]
pub(super) struct Pins {
    /// By message.
    pinned: Vec<bool>,
    /// Pinned, or a call or result stands in it that such a message needs, by message.
    held: Vec<bool>,
    /// A pinned message holds the call or a result, by pair.
    pairs: Vec<bool>,
}

impl Pins {
    fn new(session: &Session, index: &SessionIndex, pinned: &[usize]) -> Self {
        let n_messages = session.messages.len();
        let pinned: Vec<usize> = pinned.iter().copied().filter(|m| *m < n_messages).collect();
        if pinned.is_empty() {
            return Self::default();
        }
        let mut of_pair: Vec<Vec<usize>> = vec![Vec::new(); index.n_pairs];
        for (pair, message) in index.pair.iter().zip(&index.message_of) {
            if let Some(pair) = pair {
                of_pair[*pair as usize].push(*message as usize);
            }
        }
        let pairs_of = |message: usize| {
            let parts = session.messages[message].parts.clone();
            index.pair[parts]
                .iter()
                .flatten()
                .map(|pair| *pair as usize)
        };
        let mut pins = Self {
            pinned: vec![false; n_messages],
            held: vec![false; n_messages],
            pairs: vec![false; index.n_pairs],
        };
        for message in &pinned {
            pins.pinned[*message] = true;
            pins.held[*message] = true;
            pairs_of(*message).for_each(|pair| pins.pairs[pair] = true);
        }
        // What is held is kept whole, so its other calls and results keep theirs, too.
        let mut reached = vec![false; index.n_pairs];
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

    /// Whether nothing is pinned.
    pub(super) fn is_empty(&self) -> bool {
        self.pinned.is_empty()
    }

    /// Whether a person pinned this message.
    pub(super) fn is_pinned(&self, message: u32) -> bool {
        self.pinned.get(message as usize) == Some(&true)
    }

    /// Whether this message must stay as a whole: it is pinned, or one that is needs it.
    pub(super) fn holds(&self, message: u32) -> bool {
        self.held.get(message as usize) == Some(&true)
    }

    /// Whether a pinned message holds half of this pair of call and result.
    pub(super) fn holds_pair(&self, pair: u32) -> bool {
        self.pairs.get(pair as usize) == Some(&true)
    }
}
