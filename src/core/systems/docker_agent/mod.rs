//! docker-agent 1.32.3 (formerly cagent): `doCompact` of its runtime, and the messages that `Session.GetMessages` omits.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `view` | which messages and results a request omits |

mod actions;
mod view;

pub use actions::ACTIONS;
