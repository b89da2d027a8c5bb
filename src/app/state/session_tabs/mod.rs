//! Several sessions open at once, as tabs at the top of the window. A hidden tab keeps its session, results, settings,
//! undo, selection and view in memory. Its running work continues and is received when the tab is shown.
//!
//! The tabs of the drawer are defined in `view.rs`.
//!
//! Here are its state and results; `ui/session_tabs` draws them.

pub mod command;
pub mod label;
pub mod target_tab;
