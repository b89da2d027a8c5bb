//! Measurement of what compactions lost, by asking a model: the form, its stages and the result.
//!
//! Here is how it is drawn; its state and results are in `state/measure`.

pub mod dialog;
pub mod form;
pub mod probe;
pub mod probe_list;
pub mod result;
