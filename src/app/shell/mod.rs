//! The frame around the features: panel layout, drawer, keyboard, focus, undo, dialogs of the system and toasts.

mod action;
mod action_table;
pub mod command;
mod drawer;
mod escape;
mod execute;
pub(super) mod file_dialog;
pub(super) mod fit;
pub(super) mod focus;
pub(super) mod history;
mod jump;
pub(super) mod keys;
pub(super) mod layout;
pub(super) mod open_session;
pub(super) mod resizable_panel;
pub(super) mod saved_state;
mod select;
pub mod shortcuts;
pub mod toasts;
pub(super) mod typed_ahead;
