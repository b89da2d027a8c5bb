//! Pydantic AI: capabilities of pydantic-ai-harness 0.62.0, processors of the documentation, and what the agent of
//! pydantic-ai-slim 2.68.0 does with a history.
//!
//! | file | contains |
//! |---|---|
//! | `clear` | `ClearToolResults` |
//! | `history` | the agent's messages, and the removal of results without a call |
//! | `process` | processors of the documentation, which `ProcessHistory` runs |
//! | `size` | counts of messages and tokens |
//! | `slide` | `SlidingWindowCompaction` |

mod clear;
mod history;
mod process;
mod size;
mod slide;

use crate::engine::NamedAction;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] =
    &[clear::ACTION, history::REPAIR, process::KEEP, process::SUMMARIZE, slide::ACTION];
