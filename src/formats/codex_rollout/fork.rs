//! Where a fork's own records begin.

use super::lines::{Line, Meta, What};
use crate::units::Millis;

/// Codex writes a parent's history into a fork's file in one go, a few milliseconds for a thousand lines. A
/// pause as long as this means that the copy is over, should the turns' ids not tell.
const PAUSE: i64 = 500;

/// Follows a file and tells what was copied into it from the session it was forked from.
#[derive(Debug, Default)]
pub(super) struct Fork {
    head: Option<Head>,
    /// Turns with younger ids are the file's own, once it is known to be a fork.
    own: Option<Box<str>>,
    /// The lines are older than the session, so that nobody stamped them anew: it is a whole copy of ours, forks'
    /// copies of their parents included.
    is_whole: bool,
    is_over: bool,
    latest: Option<Millis>,
}

/// What the file's first head says.
#[derive(Debug)]
struct Head {
    id: Box<str>,
    forked_from: Box<str>,
    begun: Option<Millis>,
}

impl Fork {
    /// The head of a session; only the file's first one counts, but for a whole copy, where the second one may be
    /// that of its original's parent.
    pub(super) fn meta(&mut self, meta: &Meta) {
        let Some(head) = &self.head else {
            self.own = meta.forked_from.is_some().then(|| meta.id.clone());
            self.head = Some(Head {
                id: meta.id.clone(),
                forked_from: meta.forked_from.clone().unwrap_or_default(),
                begun: meta.time,
            });
            return;
        };
        if self.is_whole && meta.id != head.id && meta.id != head.forked_from && !self.is_over {
            self.own = Some(head.forked_from.clone());
        }
    }

    /// Whether this line was copied from the parent. To be asked of every line, in order.
    pub(super) fn is_copied(&mut self, line: &Line) -> bool {
        let Some(own) = self.own.as_deref().filter(|_| !self.is_over) else {
            return false;
        };
        let before = self.latest;
        self.latest = line.time.or(before);
        let begun = self.head.as_ref().and_then(|head| head.begun);
        let is_older = || matches!((line.time, begun), (Some(time), Some(begun)) if time < begun);
        if before.is_none() && !self.is_whole && is_older() {
            self.is_whole = true;
            self.own = None;
            return false;
        }
        let is_later = |turn: &str| is_timed(own) && is_timed(turn) && turn > own;
        let paused = match (before, line.time) {
            (Some(before), Some(now)) => now.0 - before.0 >= PAUSE,
            _ => false,
        };
        self.is_over =
            paused || matches!(&line.what, What::Turn { id: Some(turn), .. } if is_later(turn));
        !self.is_over
    }
}

/// A UUID of version 7 begins with its time, so that two of them sort by age.
fn is_timed(id: &str) -> bool {
    id.len() == 36 && id.as_bytes()[14] == b'7'
}
