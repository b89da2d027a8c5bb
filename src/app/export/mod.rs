//! Export of a managed conversation: the form, its stages and the result.

pub mod command;
mod connection;
mod connection_fields;
pub mod dialog;
pub mod draft;
mod execute;
mod form;
pub(super) mod input;
pub mod job;
pub mod model_draft;
pub(super) mod model_fields;
pub mod model_run;
pub(super) mod result;
mod stage;
pub(super) mod stage_views;
