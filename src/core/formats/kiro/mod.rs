//! Kiro CLI: its session files (`~/.kiro/sessions/cli/ID.jsonl`) and the conversations that it and its predecessor,
//! Amazon Q's command line, save as JSON.

mod events;
mod saved;

pub(super) use events::EVENTS;
pub(super) use saved::SAVED;
