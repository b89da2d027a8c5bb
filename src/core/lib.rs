//! The pure layers of Plimsoll: read sessions of LLM agents, count their tokens, replay policies and analyze the results.
//!
//! Nothing here uses a file, clock, network, environment or thread, except threads of rayon over values. The crate
//! `plimsoll` adds files, models, the command line and the window; `src/ARCHITECTURE.md` is the map of all layers.

pub mod analysis;
pub mod chat;
pub mod engine;
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

/// A layer that is a crate of its own.
pub use token_counter;
