//! Haystack 3.4.1: `CompactionHook` with its compactors, and `ApproximateTokenCounter`.
//!
//! | file | contains |
//! |---|---|
//! | `conversation` | the conversation's turns and steps, and its tokens |
//! | `hook` | the decision to compact |
//! | `prune` | `ToolResultPruningCompactor` |
//! | `render` | messages as text, which is counted and summarized |
//! | `slide` | `SlidingWindowCompactor` |
//! | `summarize` | `SummarizationCompactor` |

mod conversation;
mod hook;
mod prune;
mod render;
mod slide;
mod summarize;

use crate::engine::NamedAction;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[prune::ACTION, slide::ACTION, summarize::ACTION];
