//! Conversion of the session to another format.

pub mod conversion;
pub mod dialog;
mod execute;
