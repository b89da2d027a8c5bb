//! The frame around the features: panel layout, drawer, keyboard, focus, undo, dialogs of the system and toasts.

mod drawer;
mod escape;
pub(super) mod file_dialog;
pub(super) mod fit;
pub(super) mod focus;
pub(super) mod history;
pub(super) mod keys;
pub mod layout;
pub(super) mod resizable_panel;
pub(super) mod saved_state;
mod selection;
pub mod shortcuts;
pub mod toasts;
