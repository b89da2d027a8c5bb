//! The places in messages where the texts of a query occur.

use super::{Query, QuerySubject};
use crate::session::Session;
use rayon::prelude::*;

/// Messages that are searched at once. After each batch the search ends if it has enough hits, so a batch is small
/// against the 100,000 messages of a large session, and large enough for all cores.
const BATCH: usize = 4_096;

/// A place that matches a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Index of the message.
    pub message: u32,
    /// Index of the part in the message, from 0.
    pub part: u32,
    /// Number of earlier occurrences in the same part.
    pub nth: u32,
}

/// The places that match a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// The places, up to a limit.
    pub list: Vec<Hit>,
    /// Whether there are more than the limit.
    pub is_cut: bool,
}

impl Query {
    /// Returns the places in messages that match, in the order of the messages, up to `most`. A message that matches
    /// without an occurrence of a text, such as by its kind, is one place. An empty query has none.
    pub fn hits(&self, session: &Session, matching: &[u32], most: usize) -> Hits {
        let mut hits = Hits::default();
        if self.is_empty() {
            return hits;
        }
        for messages in matching.chunks(BATCH) {
            let found: Vec<Vec<Hit>> = messages
                .par_iter()
                .map(|message| self.hits_in(session, *message, most + 1))
                .collect();
            hits.list.extend(found.into_iter().flatten());
            if hits.list.len() > most {
                hits.is_cut = true;
                hits.list.truncate(most);
                break;
            }
        }
        hits
    }

    fn hits_in(&self, session: &Session, message: u32, most: usize) -> Vec<Hit> {
        self.hits_of(&QuerySubject::new(session, None, message as usize), most)
    }

    /// Returns the places in a message that matches; at least one.
    pub(super) fn hits_of(&self, subject: &QuerySubject<'_>, most: usize) -> Vec<Hit> {
        let message = subject.index as u32;
        let hit = |part: u32, nth: u32| Hit { message, part, nth };
        let in_part = |(part, text): (u32, &str)| {
            let n = self.occurrences(text).len() as u32;
            (0..n).map(move |nth| hit(part, nth))
        };
        let texts = (0..).zip(subject.parts.iter().map(|part| part.body.text()));
        let mut hits: Vec<Hit> = texts.flat_map(in_part).take(most).collect();
        if hits.is_empty() {
            hits.push(hit(0, 0));
        }
        hits
    }
}

/// The direction of a step in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the next item.
    Next,
    /// To the previous item.
    Previous,
}

impl Hits {
    /// Returns the place after `current`, or before it; wraps around. Without a current place, returns the first one
    /// from message `from` on, or the one before that.
    pub fn step(
        &self,
        current: Option<Hit>,
        from: Option<usize>,
        direction: Direction,
    ) -> Option<Hit> {
        let is_back = direction == Direction::Previous;
        let n = self.list.len();
        let position = |hit: Hit| self.list.iter().position(|other| *other == hit);
        let next = match current.and_then(position) {
            Some(at) if is_back => at + n - 1,
            Some(at) => at + 1,
            None => {
                let is_after = |hit: &Hit| from.is_some_and(|from| hit.message as usize >= from);
                let first = self.list.iter().position(is_after).unwrap_or(0);
                if is_back { first + n.max(1) - 1 } else { first }
            }
        };
        self.list.get(next.checked_rem(n)?).copied()
    }
}
