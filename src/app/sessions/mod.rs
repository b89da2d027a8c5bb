//! The list of sessions on this machine.

pub(super) mod commands;
pub mod list;
pub mod panel;
