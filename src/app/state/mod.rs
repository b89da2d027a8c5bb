//! State and computations of the window, without drawing: nothing here uses egui, so that all of it can be tested without a
//! window.
//!
//! `model` stands below: the session, the selection, the lanes with their replays, view settings and results as such. Each
//! other folder is a feature. `open_session.rs` and `command.rs` stand above: what panels read, and what they send.

pub mod changes;
pub mod command;
pub mod command_palette;
pub mod compare;
pub mod context;
pub mod conversation_usage;
pub mod convert;
pub mod copy_command;
pub mod cost;
pub mod evaluate;
pub mod events;
pub mod export;
pub mod insights;
pub mod lanes;
pub mod measure;
pub mod messages;
pub mod model;
pub mod model_form;
pub mod notes;
pub mod open;
pub mod open_session;
pub mod report_export;
pub mod restore;
pub mod results;
pub mod run_logs;
pub mod session_tabs;
pub mod sessions;
pub mod settings_panel;
pub mod shell_command;
pub mod timeline;
pub mod tools;
pub mod tune;
pub mod wording;
pub mod working_preset;
pub mod workspace;
