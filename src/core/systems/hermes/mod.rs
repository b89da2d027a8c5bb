//! Hermes 0.19.0: `ContextCompressor`, and the steps of the conversation loop that call it.
//!
//! | file | contains |
//! |---|---|
//! | `action` | the action of presets: when the loop compresses |
//! | `assemble` | the new history: a summary between head and tail |
//! | `compress` | one compression |
//! | `cut` | the boundaries of head and tail |
//! | `estimate` | token estimates |
//! | `line` | the line in place of an old result |
//! | `prune` | the replacement of old results and arguments |
//! | `request` | the summary request |
//! | `state` | what the compressor remembers between calls |
//! | `summary_text` | texts of messages with a summary |

mod action;
mod assemble;
mod compress;
mod cut;
mod estimate;
mod line;
mod prune;
mod request;
mod state;
mod summary_text;

pub use action::ACTIONS;
