//! The tab Cost: costs of the session and of every lane, and the prices.
//!
//! Here are its state and results; `ui/cost` draws them.

pub mod compute;
pub mod difference;
pub mod result;
pub mod state;
