//! Measurement of what compactions lost, by asking a model: the form, its stages and the result.

pub mod command;
pub mod dialog;
pub mod draft;
mod execute;
mod form;
pub mod job;
pub mod partial;
mod probe;
mod probe_list;
mod result;
pub mod run;
