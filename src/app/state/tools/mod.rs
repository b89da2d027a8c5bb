//! The tab Tools: calls of each tool and the tokens of their results.
//!
//! Here are its state and results; `ui/tools` draws them.

pub mod result;
pub mod view;
