//! Export of a managed conversation: the form, its stages and the result.

mod commands;
mod connection;
mod connection_fields;
pub mod dialog;
pub(super) mod draft;
mod form;
pub mod job;
mod model_fields;
pub(super) mod requests;
pub(super) mod result;
mod stage;
mod stages;
