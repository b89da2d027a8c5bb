//! GitHub Copilot Chat 0.42.0: `SummarizedConversationHistory`, and the steps of `AgentIntentInvocation` that call it.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `count` | the token count that is compared with the limit |
//! | `request` | the summary requests |

mod actions;
mod count;
mod request;

pub use actions::ACTIONS;
