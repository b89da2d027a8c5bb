//! Goose (1.37.0): `context_mgmt`, and the text of its summary request.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `request` | the summary request: the conversation as text, with fewer results after an overflow |

mod actions;
mod request;

pub use actions::ACTIONS;
