//! `OpenAI` Agents SDK 0.24.0 (Python): sessions with a limit, `ToolOutputTrimmer` and
//! `OpenAIResponsesCompactionSession`.
//!
//! | file | contains |
//! |---|---|
//! | `items` | the items that messages are stored as |
//! | `turn` | answers that are never stored, and the start of each turn |
//! | `load` | the newest items of the history, loaded at the start of a turn |
//! | `trim` | previews of old tool outputs |
//! | `compact` | the compaction of the stored history |

mod compact;
mod items;
mod load;
mod trim;
mod turn;

use crate::engine::NamedAction;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[turn::ACTION, compact::ACTION, load::ACTION, trim::ACTION];
