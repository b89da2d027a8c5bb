//! PicoClaw: as shipped before its issue on context management, as the issue proposes, and as it was then built.
//!
//! Stored sessions contain no system prompt; a summary is stored separately from the history. Read from sipeed/picoclaw
//! at 021aa7d6 (before) and cf67dd38 (after). Its optional manager `seahorse` is not modelled.

pub mod active_turn;
pub mod boundary;
pub mod budget;
pub mod estimate;
pub mod event;
pub mod force_compression;
mod go_json;
pub mod message;
pub mod prompt;
pub mod provider_error;
pub mod sanitize;
pub mod settings;
pub mod store;
pub mod summarize;
pub mod summary_text;
pub mod turn_setup;

mod action;
mod edition;

pub use action::{ACTIONS, METERS};
pub use edition::Edition;
pub use settings::Settings;
pub use store::{Conversation, Stored};
