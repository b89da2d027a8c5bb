//! The workspace of a session: lanes, settings, marks, selection and view, kept with the file and saved on request.

mod billing;
pub(super) mod contents;
pub(super) mod execute;
pub(super) mod saver;
mod settings;
pub(super) mod visits;
