//! Conversion of the session to another format.

mod commands;
pub mod conversion;
pub mod dialog;
