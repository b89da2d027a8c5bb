//! Cline before its SDK, 3.85.0: `core/context/context-management/ContextManager`.
//!
//! The program hides a range of messages and lays texts over others. All results of a call are one message there.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `units` | messages as the program numbers them |
//! | `reads` | reads of files that were read again |

mod actions;
mod reads;
mod units;

pub use actions::ACTIONS;
