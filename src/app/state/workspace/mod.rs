//! The workspace of a session: lanes, settings, marks, selection and view, kept with the file and saved on request.

pub mod billing;
pub mod contents;
pub mod kept_comparison;
pub mod reopened;
pub mod saver;
pub mod settings;
pub mod visits;
