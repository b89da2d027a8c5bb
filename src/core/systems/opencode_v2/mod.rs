//! The second engine of `OpenCode` (`opencode-ai` 1.18.33): `ToolOutputStore` and `SessionCompaction`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `bound` | limits of a tool result on arrival |
//! | `checkpoint` | the message that takes the place of a history, and the summary request |
//! | `record` | messages as text, and their estimates |

mod actions;
mod bound;
mod checkpoint;
mod record;

pub use actions::ACTIONS;
