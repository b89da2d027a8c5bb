//! Crush (commit 37f36e93): `Summarize` of `sessionAgent`, and the condition under which its runs stop for it.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |

mod actions;

pub use actions::ACTIONS;
