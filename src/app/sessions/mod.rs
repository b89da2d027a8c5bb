//! The list of sessions on this machine.

pub(super) mod execute;
pub mod list;
pub mod panel;
