//! Notes on messages: written in a dialog, shown with their message and listed in a report.

pub mod note;
