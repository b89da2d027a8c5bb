//! The tab Context: a map of one context, all contexts over time, and the table of sources with
//! switches.
//!
//! Here is how it is drawn; its results and its layout are in `state/context`.

mod map;
mod over_time;
pub mod panel;
mod table;
