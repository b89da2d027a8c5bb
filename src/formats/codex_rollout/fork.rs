//! Where a fork's own records begin.

use super::lines::{Line, Meta, What};
use crate::units::Millis;

/// Codex writes a parent's history into a fork's file in one go, a few milliseconds for a thousand lines. A
/// pause as long as this means that the copy is over, should the turns' ids not tell.
const PAUSE: i64 = 500;

/// Follows a file and tells what was copied into it from the session it was forked from.
#[derive(Debug, Default)]
pub(super) struct Fork {
    /// The file's own id, once it is known to be a fork.
    own: Option<Box<str>>,
    has_meta: bool,
    is_over: bool,
    latest: Option<Millis>,
}

impl Fork {
    /// The head of a session; only the file's first one counts.
    pub(super) fn meta(&mut self, meta: &Meta) {
        if !self.has_meta {
            self.has_meta = true;
            self.own = meta.forked_from.is_some().then(|| meta.id.clone());
        }
    }

    /// Whether this line was copied from the parent. To be asked of every line, in order.
    pub(super) fn is_copied(&mut self, line: &Line) -> bool {
        let Some(own) = self.own.as_deref().filter(|_| !self.is_over) else {
            return false;
        };
        let is_later = |turn: &str| is_timed(own) && is_timed(turn) && turn > own;
        let paused = match (self.latest, line.time) {
            (Some(before), Some(now)) => now.0 - before.0 >= PAUSE,
            _ => false,
        };
        self.latest = line.time.or(self.latest);
        self.is_over =
            paused || matches!(&line.what, What::Turn { id: Some(turn), .. } if is_later(turn));
        !self.is_over
    }
}

/// A UUID of version 7 begins with its time, so that two of them sort by age.
fn is_timed(id: &str) -> bool {
    id.len() == 36 && id.as_bytes()[14] == b'7'
}
