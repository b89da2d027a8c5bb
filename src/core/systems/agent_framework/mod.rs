//! Microsoft Agent Framework for Python, agent-framework-core 1.23.0: `_compaction.py`, and when `_clients.py`, `_tools.py`
//! and `_sessions.py` use it.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | the action of presets |
//! | `conversation` | stored and sent messages over calls and turns |
//! | `group` | groups of messages that are kept or excluded whole |
//! | `history` | a list of messages without its old excluded ones |
//! | `marked` | messages with their marks, and the token estimate |
//! | `reconcile` | summaries that outlive a turn |
//! | `settings` | strategies from settings and lists |
//! | `strategy` | the strategies |
//! | `summarize` | the summary request |

mod actions;
mod conversation;
mod group;
mod history;
mod marked;
mod reconcile;
mod settings;
mod strategy;
mod summarize;

pub use actions::ACTIONS;
