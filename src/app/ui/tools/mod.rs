//! The tab Tools: calls of each tool and the tokens of their results.
//!
//! Here is how it is drawn; its state and results are in `state/tools`.

pub mod panel;
