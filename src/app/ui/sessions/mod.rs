//! The list of sessions on this machine, and the search in all of them.
//!
//! Here is how it is drawn; its state and results are in `state/sessions`.

pub mod keys;
pub mod panel;
pub mod results;
pub mod search_field;
pub mod table;
