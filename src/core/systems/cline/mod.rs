//! Cline, SDK core at 21cb8d25: `extensions/context` and `session/services/message-builder`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `stored` | messages as the program stores them, and their token estimate |
//! | `budget` | the size of a request, its trigger and targets |
//! | `agentic` | compaction with a summary |
//! | `basic` | compaction without a request |
//! | `activity` | files and commands in dropped work |
//! | `shape` | results as they are sent |

mod actions;
mod activity;
mod agentic;
mod basic;
mod budget;
mod shape;
mod stored;

pub use actions::ACTIONS;
