//! Several sessions open at once, as tabs. A hidden tab keeps its session, results, settings, undo, selection and view in
//! memory; its running work goes on and is received when the tab is shown.

pub mod command;
mod execute;
pub(super) mod open_item;
pub(super) mod panel;
pub(super) mod session_tab;
pub mod target_tab;
