//! Requests, streamed answers and refusals of three provider APIs as values.
//!
//! Pure: bytes in, values out. `exec` opens the connection. Keys are only used here to remove them from a server's
//! messages.

mod answer;
mod anthropic_messages;
mod api;
mod conversation;
mod endpoint;
mod json;
mod openai_chat;
mod openai_responses;
mod plain_text;
mod prompt;
mod reading;
mod refusal;
mod sse;
mod surrogates;
mod tool;
mod web_page;
mod window;

pub use answer::{Answer, AnswerCall, Stop};
pub use api::{Api, KeyHeader, LimitField};
pub use endpoint::{Endpoint, EndpointError};
pub use plain_text::{hide, plain_line};
pub use prompt::Prompt;
pub use reading::{ReadError, Reading};
pub use refusal::{Refusal, RefusalKind};
pub use window::{WindowQuery, context_length, window_queries};

/// Supported APIs, the default first.
pub const APIS: [&Api; 3] = [&openai_chat::API, &openai_responses::API, &anthropic_messages::API];

/// Returns the API of this name.
pub fn api_by_name(name: &str) -> Option<&'static Api> {
    APIS.into_iter().find(|api| api.name == name)
}
