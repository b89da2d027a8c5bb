#![doc = include_str!("ARCHITECTURE.md")]

#[cfg(feature = "window")]
pub mod app;
pub mod cli;
pub mod exec;

pub use plimsoll_core::{
    analysis, chat, engine, figure, formats, json, languages, live, names, presets, progress,
    providers, report, safe_text, session, systems, token_counter, tokens, units,
};
