//! Conversations that a program holds in memory: the notation of their messages, which are read and written one by one.

mod notation;
mod reader;

pub use notation::{PLAIN, notation};
pub use reader::{MessageReader, PlannedMessage, parse_message};

use super::message_list::Dialect;
use super::{anthropic_messages, gemini_api, openai_chat, openai_responses};

/// Notations in which programs hold a conversation and send it.
const DIALECTS: [&Dialect; 4] = [
    &openai_chat::DIALECT,
    &openai_responses::DIALECT,
    &anthropic_messages::DIALECT,
    &gemini_api::DIALECT,
];

/// Returns the names of the notations.
pub fn notations() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().map(|dialect| dialect.name)
}
