#![doc = include_str!("README.md")]

pub mod analysis;
pub mod chat;
pub mod engine;
pub mod figure;
pub mod formats;
pub mod json;
pub mod presets;
pub mod progress;
pub mod providers;
pub mod report;
pub mod safe_text;
pub mod session;
pub mod systems;
pub mod tokens;
pub mod units;

/// A layer that is a crate of its own.
pub use token_counter;
