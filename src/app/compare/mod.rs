//! The comparison with a second session: its curve in the timeline, and the tab Compare with figures and contents that
//! only one session has.

pub mod command;
pub(super) mod comparison;
mod contents;
mod detail;
mod execute;
mod figures;
mod input;
pub(super) mod kept;
pub(super) mod panel;
pub mod state;
