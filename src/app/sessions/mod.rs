//! The list of sessions on this machine, and the search in all of them.

pub(super) mod execute;
mod keys;
pub mod list;
pub mod panel;
mod results;
pub mod search;
mod search_field;
mod table;
