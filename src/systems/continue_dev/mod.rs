//! Continue: `compileChatMessages` of its extensions (commit d0a3c0b6), and compaction of its command line (1.5.47).
//!
//! | file | contains |
//! |---|---|
//! | `compact` | compaction of the command line |
//! | `history` | the command line's items and their token counts, and the summary request |
//! | `compile` | pruning by the extensions |

mod compact;
mod compile;
mod history;

use crate::chat::{Arguments, Call};
use crate::engine::NamedAction;
use crate::tokens;
use std::borrow::Cow;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[
    compact::CONTINUE,
    compact::COMPACT,
    compile::SHAPE,
    compile::PRUNE,
];

/// Returns the arguments of a call as text.
fn arguments(call: &Call) -> Cow<'_, str> {
    match call.function.as_ref().map(|f| &f.arguments) {
        Some(Arguments::Text(text)) => Cow::Borrowed(text),
        Some(Arguments::Json(value)) => value.to_string().into(),
        Some(Arguments::Missing) | None => Cow::default(),
    }
}

/// Counts a text with a vocabulary.
fn count(text: &str, vocabulary: &str) -> u64 {
    let counter = tokens::by_name(vocabulary).unwrap_or_else(tokens::default_counter);
    u64::from((counter.count)(text))
}
