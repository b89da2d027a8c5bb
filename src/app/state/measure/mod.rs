//! Measurement of what compactions lost, by asking a model: the form, its stages and the result.
//!
//! Here are its state and results; `ui/measure` draws them.

pub mod command;
pub mod draft;
pub mod job;
pub mod partial;
pub mod run;
