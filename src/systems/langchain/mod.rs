//! `LangChain` 1.5.0: `SummarizationMiddleware` and `ContextEditingMiddleware` of `langchain.agents.middleware`.
//!
//! | file | contains |
//! |---|---|
//! | `summarize`, `clear` | actions of presets |
//! | `estimate` | the token estimate |
//! | `cut` | the position of the cut between summarized and kept messages |
//! | `request` | the summary request |

mod clear;
mod cut;
mod estimate;
mod request;
mod summarize;

use crate::engine::NamedAction;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[clear::ACTION, summarize::ACTION];
