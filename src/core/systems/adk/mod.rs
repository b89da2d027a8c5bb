//! Google ADK for Python, google-adk 2.13.0: `apps/compaction.py`, `flows/llm_flows/context`, `flows/llm_flows/tools` and
//! `plugins/context_filter_plugin.py`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | the action of presets |
//! | `assemble` | the contents of a request: summaries in place of their ranges, pairs of calls and responses |
//! | `estimate` | the token count that is compared with the threshold, and sizes of ranges |
//! | `event` | events of a session |
//! | `filter` | `ContextFilterPlugin` |
//! | `pair` | the pairs of calls and responses in a request, and splits between pairs |
//! | `paired` | the request of a session without summaries, continued from call to call |
//! | `request` | the summary request |
//! | `select` | the events that a compaction summarizes |

mod actions;
mod assemble;
mod estimate;
mod event;
mod filter;
mod pair;
mod paired;
mod request;
mod select;

pub use actions::ACTIONS;
