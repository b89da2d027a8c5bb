//! Several sessions open at once, as tabs at the top of the window. A hidden tab keeps its session, results, settings,
//! undo, selection and view in memory. Its running work continues and is received when the tab is shown.
//!
//! The tabs of the drawer are defined in `view.rs`.
//!
//! Here is how it is drawn; its state and results are in `state/session_tabs`.

pub mod panel;
