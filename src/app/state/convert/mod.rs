//! Conversion of the session to another format.
//!
//! Here are its state and results; `ui/convert` draws them.

pub mod conversion;
