//! Conversion of the session to another format.
//!
//! Here is how it is drawn; its state and results are in `state/convert`.

pub mod dialog;
