//! `LangChain` 1.5.0: `SummarizationMiddleware` and `ContextEditingMiddleware` of `langchain.agents.middleware`. Deep
//! Agents is built on it and uses its functions.
//!
//! | file | contains |
//! |---|---|
//! | `summarize`, `clear` | actions of presets |
//! | `estimate` | the token estimate |
//! | `cut` | the position of the cut between summarized and kept messages |
//! | `request` | the summary request |
//! | `usage` | the totals that answers reported |

mod clear;
pub(super) mod cut;
pub(super) mod estimate;
pub(super) mod request;
pub(super) mod summarize;
pub(super) mod usage;

use crate::engine::NamedAction;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[clear::ACTION, summarize::ACTION];
