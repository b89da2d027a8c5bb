//! Manual edits in the window: at most one mark per message, set and removed for many messages at once.

use crate::app::wording;
use crate::engine::ManualEdits;
use std::fmt;
use std::sync::Arc;

/// The manual edit of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// No strategy removes the message.
    Pinned,
    /// The content is cleared at the end of a run.
    Cleared,
    /// The message is dropped at the end of a run.
    Dropped,
}

impl Mark {
    /// All marks, in display order.
    pub const ALL: [Self; 3] = [Self::Pinned, Self::Cleared, Self::Dropped];

    /// Returns the mark of a message.
    pub fn of(by_hand: &ManualEdits, message: usize) -> Option<Self> {
        let has_it = |mark: &Self| mark.list(by_hand).binary_search(&message).is_ok();
        Self::ALL.into_iter().find(has_it)
    }

    /// Returns the word for a message with this mark.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Cleared => "cleared",
            Self::Dropped => "dropped",
        }
    }

    /// Returns the labels for setting and removing the mark.
    pub fn verbs(self) -> (&'static str, &'static str) {
        match self {
            Self::Pinned => ("Pin", "Unpin"),
            Self::Cleared => ("Clear", "Restore the content"),
            Self::Dropped => ("Drop", "Take back in"),
        }
    }

    /// Returns the key that sets and removes the mark.
    pub fn key(self) -> &'static str {
        match self {
            Self::Pinned => "P",
            Self::Cleared => "C",
            Self::Dropped => "X",
        }
    }

    /// Returns the hover text that describes the effect.
    pub fn help(self) -> &'static str {
        match self {
            Self::Pinned => {
                "No strategy removes it or its related calls and results. Ignored by presets of real systems."
            }
            Self::Cleared => {
                "Clears its text, result and images at the end of the run; calls and pairs remain."
            }
            Self::Dropped => "Drops it at the end of the run, with its calls and results.",
        }
    }

    /// Returns the command-line option for the mark.
    pub fn option(self) -> &'static str {
        match self {
            Self::Pinned => "--pin",
            Self::Cleared => "--clear",
            Self::Dropped => "--drop",
        }
    }

    /// Returns the messages with this mark, ascending.
    pub fn list(self, by_hand: &ManualEdits) -> &[usize] {
        match self {
            Self::Pinned => &by_hand.pinned,
            Self::Cleared => &by_hand.cleared,
            Self::Dropped => &by_hand.dropped,
        }
    }

    fn list_mut(self, by_hand: &mut ManualEdits) -> &mut Vec<usize> {
        match self {
            Self::Pinned => &mut by_hand.pinned,
            Self::Cleared => &mut by_hand.cleared,
            Self::Dropped => &mut by_hand.dropped,
        }
    }
}

/// Replaces the marks of messages; `None` removes them.
pub fn set(by_hand: &mut ManualEdits, messages: &[usize], mark: Option<Mark>) {
    let mut messages = messages.to_vec();
    messages.sort_unstable();
    messages.dedup();
    for known in Mark::ALL {
        let list = known.list_mut(by_hand);
        list.retain(|m| messages.binary_search(m).is_err());
        if mark == Some(known) {
            list.extend(&messages);
            list.sort_unstable();
        }
    }
}

/// Marks messages. Removes the mark if all of them have it.
pub fn toggle(by_hand: &mut ManualEdits, messages: &[usize], mark: Mark) {
    let have_it = messages.iter().all(|m| Mark::of(by_hand, *m) == Some(mark));
    set(by_hand, messages, (!have_it).then_some(mark));
}

/// Keeps one mark per message, for the first `n_messages` messages. Dropping takes precedence over clearing.
#[must_use]
pub fn one_each(mut by_hand: ManualEdits, n_messages: usize) -> ManualEdits {
    let dropped = std::mem::take(&mut by_hand.dropped);
    set(&mut by_hand, &dropped, Some(Mark::Dropped));
    for mark in Mark::ALL {
        mark.list_mut(&mut by_hand).retain(|m| *m < n_messages);
    }
    by_hand
}

/// Returns the count of each mark: `3 pinned, 1 dropped`; empty if nothing is marked.
pub fn said(by_hand: &ManualEdits) -> String {
    let counts = Mark::ALL.map(|mark| (mark.list(by_hand).len(), mark.word()));
    let counts = counts.into_iter().filter(|(n, _)| *n > 0);
    let words = counts.map(|(n, word)| format!("{} {word}", wording::grouped(n as u64)));
    words.collect::<Vec<_>>().join(", ")
}

/// Returns whether a warning is about marks: a mark had no effect, or a pinned message was removed.
pub fn is_about_marks(warning: &str) -> bool {
    [" manually: ", " pinned without effect: ", " pinned, and "]
        .iter()
        .any(|words| warning.contains(words))
}

/// Formats messages in the syntax of the command line, from 1: `3,8-12`.
pub fn stretches(messages: &[usize]) -> String {
    let runs = messages.chunk_by(|a, b| a + 1 == *b);
    let run = |run: &[usize]| match run {
        [one] => (one + 1).to_string(),
        [first, .., last] => format!("{}-{}", first + 1, last + 1),
        [] => String::new(),
    };
    runs.map(run).collect::<Vec<_>>().join(",")
}

/// Marks requested before the number of messages is known.
#[derive(Clone)]
pub struct Wish(pub Arc<Fulfil>);

/// Returns the marks for a session of this many messages, or a one-line error.
pub type Fulfil = dyn Fn(usize) -> Result<ManualEdits, String> + Send + Sync;

impl fmt::Debug for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wish")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_hand(pinned: &[usize], cleared: &[usize], dropped: &[usize]) -> ManualEdits {
        ManualEdits {
            pinned: pinned.to_vec(),
            cleared: cleared.to_vec(),
            dropped: dropped.to_vec(),
        }
    }

    #[test]
    fn a_message_has_one_mark_and_the_last_one_holds() {
        let mut marks = by_hand(&[2, 5], &[3], &[]);
        set(&mut marks, &[5, 3, 3, 1], Some(Mark::Dropped));
        assert_eq!(marks, by_hand(&[2], &[], &[1, 3, 5]));
        assert_eq!(Mark::of(&marks, 5), Some(Mark::Dropped));
        set(&mut marks, &[5, 9], None);
        assert_eq!(marks, by_hand(&[2], &[], &[1, 3]));
        assert_eq!(Mark::of(&marks, 5), None);
    }

    #[test]
    fn a_mark_that_all_have_is_taken_away_and_one_that_some_lack_is_given() {
        let mut marks = by_hand(&[1], &[], &[]);
        toggle(&mut marks, &[1, 2], Mark::Pinned);
        assert_eq!(marks, by_hand(&[1, 2], &[], &[]));
        toggle(&mut marks, &[1, 2], Mark::Pinned);
        assert!(marks.is_empty());
    }

    #[test]
    fn marks_of_a_command_line_become_one_a_message_of_the_session() {
        let marks = one_each(by_hand(&[0, 90], &[3, 4, 91], &[4, 92]), 10);
        assert_eq!(marks, by_hand(&[0], &[3], &[4]));
    }

    #[test]
    fn marks_are_told_by_their_number_and_written_as_stretches() {
        assert_eq!(said(&by_hand(&[1, 2, 3], &[], &[7])), "3 pinned, 1 dropped");
        assert_eq!(said(&ManualEdits::default()), "");
        assert_eq!(stretches(&[2, 7, 8, 9, 11]), "3,8-10,12");
        assert_eq!(stretches(&[]), "");
    }
}
