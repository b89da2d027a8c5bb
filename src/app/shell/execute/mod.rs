//! Executes the commands of panels after the frame, a file per kind of command.

pub mod command_palette;
pub mod compare;
pub mod convert;
pub mod export;
pub mod follow;
pub mod jump;
pub mod lanes;
pub mod manual_edits;
pub mod measure;
pub mod messages;
pub mod notes;
pub mod open;
pub mod preset;
pub mod report_export;
pub mod restore;
pub mod run_logs;
pub mod select;
pub mod session_tabs;
pub mod sessions;
pub mod settings_panel;
pub mod shell;
pub mod tune;
pub mod workspace;
