//! The open session: loading, following a growing file, pasting, and the start screen.
//!
//! Here is how it is drawn; its state and results are in `state/open`.

pub mod path_dialog;
pub mod welcome;
