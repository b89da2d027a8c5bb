//! The tab Context: a map of one context, and the table of sources with switches.
//!
//! Here is how it is drawn; its results and its layout are in `state/context`.

mod map;
pub mod panel;
mod table;
