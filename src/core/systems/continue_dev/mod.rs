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

use crate::engine::NamedAction;
use crate::tokens;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] =
    &[compact::CONTINUE, compact::COMPACT, compile::SHAPE, compile::PRUNE];

/// Counts a text with a vocabulary.
fn count(text: &str, vocabulary: &str) -> u64 {
    let counter = tokens::by_name(vocabulary).unwrap_or_else(tokens::default_counter);
    u64::from((counter.count)(text))
}
