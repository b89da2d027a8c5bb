#![doc = include_str!("ARCHITECTURE.md")]

pub mod engine;
pub mod formats;
pub mod presets;
pub mod session;
pub mod tokens;
pub mod units;
