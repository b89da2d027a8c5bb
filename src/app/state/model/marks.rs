//! Manual edits in the window: at most one mark per message, set and removed for many messages at once.

use crate::engine::ManualEdits;
use crate::figure::grouped;
use std::fmt;
use std::sync::Arc;

/// The manual edit of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// No policy removes the message.
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
    pub fn of(edits: &ManualEdits, message: usize) -> Option<Self> {
        let has_it = |mark: &Self| mark.list(edits).binary_search(&message).is_ok();
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

    /// Returns the label of the command that sets the mark.
    pub fn set_label(self) -> &'static str {
        match self {
            Self::Pinned => "Pin",
            Self::Cleared => "Clear",
            Self::Dropped => "Drop",
        }
    }

    /// Returns the label of the command that removes the mark.
    pub fn remove_label(self) -> &'static str {
        match self {
            Self::Pinned => "Unpin",
            Self::Cleared => "Restore the content",
            Self::Dropped => "Take back in",
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
                "No policy removes it or its related calls and results. Ignored by system presets reproduced in code."
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
    pub fn list(self, edits: &ManualEdits) -> &[usize] {
        match self {
            Self::Pinned => &edits.pinned,
            Self::Cleared => &edits.cleared,
            Self::Dropped => &edits.dropped,
        }
    }

    fn list_mut(self, edits: &mut ManualEdits) -> &mut Vec<usize> {
        match self {
            Self::Pinned => &mut edits.pinned,
            Self::Cleared => &mut edits.cleared,
            Self::Dropped => &mut edits.dropped,
        }
    }
}

/// Replaces the marks of messages; `None` removes them.
pub fn set(edits: &mut ManualEdits, messages: &[usize], mark: Option<Mark>) {
    let mut messages = messages.to_vec();
    messages.sort_unstable();
    messages.dedup();
    for known in Mark::ALL {
        let list = known.list_mut(edits);
        list.retain(|m| messages.binary_search(m).is_err());
        if mark == Some(known) {
            list.extend(&messages);
            list.sort_unstable();
        }
    }
}

/// Marks messages. Removes the mark if all of them have it.
pub fn toggle(edits: &mut ManualEdits, messages: &[usize], mark: Mark) {
    let have_it = messages.iter().all(|m| Mark::of(edits, *m) == Some(mark));
    set(edits, messages, (!have_it).then_some(mark));
}

/// Keeps one mark per message, for the first `n_messages` messages. Dropping takes precedence over clearing.
#[must_use]
pub fn one_mark_each(mut edits: ManualEdits, n_messages: usize) -> ManualEdits {
    let dropped = std::mem::take(&mut edits.dropped);
    set(&mut edits, &dropped, Some(Mark::Dropped));
    for mark in Mark::ALL {
        mark.list_mut(&mut edits).retain(|m| *m < n_messages);
    }
    edits
}

/// Returns the count of each mark: `3 pinned, 1 dropped`; empty if nothing is marked.
pub fn summary(edits: &ManualEdits) -> String {
    let counts = Mark::ALL.map(|mark| (mark.list(edits).len(), mark.word()));
    let counts = counts.into_iter().filter(|(n, _)| *n > 0);
    let words = counts.map(|(n, word)| format!("{} {word}", grouped(n as u64)));
    words.collect::<Vec<_>>().join(", ")
}

/// Formats messages as numbers from 1 in the syntax of the command line: `3,8-12`.
pub fn message_numbers(messages: &[usize]) -> String {
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
pub struct RequestedMarks(pub Arc<ResolveMarks>);

/// Returns the marks for a session of this many messages, or a one-line error.
pub type ResolveMarks = dyn Fn(usize) -> Result<ManualEdits, String> + Send + Sync;

impl fmt::Debug for RequestedMarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestedMarks")
    }
}

/// A command that marks messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkCommand {
    /// Set the mark of these messages; `None` removes their marks.
    Set(Vec<usize>, Option<Mark>),
    /// Mark these messages; removes the mark if all of them have it.
    Toggle(Vec<usize>, Mark),
    /// Remove all marks.
    RemoveAll,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(pinned: &[usize], cleared: &[usize], dropped: &[usize]) -> ManualEdits {
        ManualEdits {
            pinned: pinned.to_vec(),
            cleared: cleared.to_vec(),
            dropped: dropped.to_vec(),
        }
    }

    #[test]
    fn a_message_has_one_mark_and_the_last_one_counts() {
        let mut marks = edits(&[2, 5], &[3], &[]);
        set(&mut marks, &[5, 3, 3, 1], Some(Mark::Dropped));
        assert_eq!(marks, edits(&[2], &[], &[1, 3, 5]));
        assert_eq!(Mark::of(&marks, 5), Some(Mark::Dropped));
        set(&mut marks, &[5, 9], None);
        assert_eq!(marks, edits(&[2], &[], &[1, 3]));
        assert_eq!(Mark::of(&marks, 5), None);
    }

    #[test]
    fn toggling_removes_a_mark_that_all_messages_have_and_adds_it_otherwise() {
        let mut marks = edits(&[1], &[], &[]);
        toggle(&mut marks, &[1, 2], Mark::Pinned);
        assert_eq!(marks, edits(&[1, 2], &[], &[]));
        toggle(&mut marks, &[1, 2], Mark::Pinned);
        assert!(marks.is_empty());
    }

    #[test]
    fn marks_of_the_command_line_are_limited_to_one_per_message() {
        let marks = one_mark_each(edits(&[0, 90], &[3, 4, 91], &[4, 92]), 10);
        assert_eq!(marks, edits(&[0], &[3], &[4]));
    }

    #[test]
    fn marks_are_counted_and_formatted_as_ranges() {
        assert_eq!(summary(&edits(&[1, 2, 3], &[], &[7])), "3 pinned, 1 dropped");
        assert_eq!(summary(&ManualEdits::default()), "");
        assert_eq!(message_numbers(&[2, 7, 8, 9, 11]), "3,8-10,12");
        assert_eq!(message_numbers(&[]), "");
    }
}
