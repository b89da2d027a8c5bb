//! The list of sessions on this machine, the search in all of them, and what their calls used.
//!
//! Here is how it is drawn; its state and results are in `state/sessions`.

pub mod head;
pub mod keys;
pub mod panel;
pub mod results;
pub mod search_field;
pub mod table;
pub mod usage;
