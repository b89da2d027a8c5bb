//! pi, the coding agent: `@mariozechner/pi-coding-agent` 0.73.1, `core/compaction`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `cut` | token estimate and the position of the cut |
//! | `request` | summary requests |
//! | `file_lists` | files read and modified, which pass from summary to summary |

mod actions;
mod cut;
mod file_lists;
mod request;

pub use actions::ACTIONS;
