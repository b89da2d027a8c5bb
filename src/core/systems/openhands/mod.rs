//! `OpenHands` software agent SDK 1.58.2: `LLMSummarizingCondenser`.
//!
//! | file | contains |
//! |---|---|
//! | `condense` | the action of presets: when it acts, and its attempts |
//! | `view` | the events of a conversation, where it may be cut, and its token count |
//! | `text` | the summary request: events as text |

mod condense;
mod text;
mod view;

use crate::engine::NamedAction;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[condense::ACTION];
