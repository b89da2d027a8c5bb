#![doc = include_str!("ARCHITECTURE.md")]

pub mod analysis;
#[cfg(feature = "window")]
pub mod app;
pub mod chat;
pub mod cli;
pub mod engine;
pub mod exec;
pub mod figure;
pub mod formats;
pub mod presets;
pub mod progress;
pub mod providers;
pub mod report;
pub mod safe_text;
pub mod session;
pub mod systems;
pub mod tokens;
pub mod units;

pub use token_counter;
