//! The page *Usage* of the list: what the calls of all listed sessions used.
//!
//! The figures are those of `plimsoll usage`, without archives. Here are its state and results; `ui/sessions/usage` draws them.

pub mod bars;
pub mod command;
pub mod page;
pub mod row_sessions;
pub mod text;
pub mod view;
