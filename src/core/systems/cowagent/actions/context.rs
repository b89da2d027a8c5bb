//! The command `/context`.

use super::super::statistics::{Statistics, context_command};
use super::{split_instructions, term};
use crate::engine::{RewriteInput, Rewritten};

/// Reports messages, roles and characters in the command's own wording.
pub(super) fn log_statistics(input: &RewriteInput<'_>) -> Rewritten {
    let (_, conversation) = split_instructions(&input.messages);
    let counts = Statistics::of(conversation);
    Rewritten {
        terms: vec![
            term("messages", counts.messages),
            term("user", counts.user),
            term("assistant", counts.assistant),
            term("tool", counts.tool),
            term("characters", counts.chars),
        ],
        log: context_command(conversation, "").lines().map(str::to_owned).collect(),
        ..Rewritten::default()
    }
}
