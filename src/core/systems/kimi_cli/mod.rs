//! Kimi CLI 1.52.0: `SimpleCompaction`, and the steps of `KimiSoul` that count tokens and call it.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `count` | the token count between two calls |
//! | `request` | the summary request |

mod actions;
mod count;
mod request;

pub use actions::ACTIONS;
