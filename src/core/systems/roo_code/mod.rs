//! Roo Code at cb836567: `core/context-management`, `core/condense` and `utils/tiktoken`.
//!
//! | file | contains |
//! |---|---|
//! | `actions` | actions of presets |
//! | `measure` | the token count that decides, and what it is made of |
//! | `request` | the summary request |
//! | `window` | the sliding window and what it hides |

mod actions;
mod measure;
mod request;
mod window;

pub use actions::ACTIONS;
