//! Several sessions open at once, as tabs at the top of the window. A hidden tab keeps its session, results, settings,
//! undo, selection and view in memory. Its running work continues and is received when the tab is shown.
//!
//! The tabs of the drawer are defined in `view.rs`.

pub mod command;
mod execute;
pub(super) mod open_item;
pub(super) mod panel;
pub(super) mod session_tab;
pub mod target_tab;
