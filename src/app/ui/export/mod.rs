//! Export of a managed conversation: the form, its stages and the result.
//!
//! Here is how it is drawn; its state and results are in `state/export`.

pub mod dialog;
pub mod form;
pub mod result;
