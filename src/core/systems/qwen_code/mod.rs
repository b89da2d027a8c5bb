//! Qwen Code (0.24.4): the check before each request, the summary request, and the history after it.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `compress` | the part to summarize, the two kinds of request, and the new history |
//! | `estimate` | counts of messages, and the thresholds |

mod actions;
mod compress;
mod estimate;

pub use actions::ACTIONS;
