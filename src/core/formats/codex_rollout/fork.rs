//! Finds the beginning of a fork's own records.

use super::lines::{LineContent, Meta, RolloutLine};
use crate::units::Millis;

/// Pause in milliseconds that ends the copy, if turn ids do not. Codex writes a parent's history into a fork's file at
/// once, in a few milliseconds per thousand lines.
// Chosen: half would mistake a slow disk for the end of the copy. Double would count a prompt that a script sends at
// once as copied.
const PAUSE: i64 = 500;

/// Determines for each line whether it was copied from the session that this file was forked from.
#[derive(Debug, Default)]
pub(super) struct Fork {
    head: Option<ForkHead>,
    /// Turns with younger ids are the file's own. Set once the file is known to be a fork.
    own: Option<Box<str>>,
    /// The lines are older than the session, so their times were not rewritten: the file is a complete managed conversation,
    /// including the lines that forks copied from their parents.
    is_whole: bool,
    is_over: bool,
    latest: Option<Millis>,
}

/// Data of the file's first head.
#[derive(Debug)]
struct ForkHead {
    id: Box<str>,
    forked_from: Box<str>,
    begun: Option<Millis>,
}

impl Fork {
    /// Reads a session head. Only the file's first one counts, except in a complete copy, whose second one may be that
    /// of the original's parent.
    pub(super) fn meta(&mut self, meta: &Meta) {
        let Some(head) = &self.head else {
            self.own = meta.forked_from.is_some().then(|| meta.id.clone());
            self.head = Some(ForkHead {
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

    /// Returns whether this line was copied from the parent. Must be called for every line, in order.
    pub(super) fn is_copied(&mut self, line: &RolloutLine) -> bool {
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
        self.is_over = paused
            || matches!(&line.content, LineContent::Turn { id: Some(turn), .. } if is_later(turn));
        !self.is_over
    }
}

/// Returns whether an id is a UUID of version 7, which begins with its time so that ids sort by age.
fn is_timed(id: &str) -> bool {
    // The digit after the second hyphen is the version (RFC 9562, section 4.2).
    id.len() == 36 && id.as_bytes()[14] == b'7'
}
