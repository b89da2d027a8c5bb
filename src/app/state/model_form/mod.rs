//! The settings of a model that writes summaries or answers probes: its address, key and limits as typed, and its run.

pub mod connection;
pub mod draft;
pub mod run;
pub mod typed;
