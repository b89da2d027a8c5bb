//! Requests, streamed answers and refusals of three provider APIs as values.
//!
//! Pure: bytes in, values out. Who opens the connection is `exec`; keys are seen here only
//! to be taken out of what a server says.

mod answer;
mod anthropic_messages;
mod endpoint;
mod openai_chat;
mod openai_responses;
mod page;
mod plain;
mod prompt;
mod reading;
mod refusal;
mod said;
mod sse;
mod surrogates;
mod tool;
mod window;

pub use answer::{Answer, Stop};
pub use endpoint::{Endpoint, EndpointError, LimitField};
pub use plain::{hide, plain_line};
pub use prompt::{Prompt, body};
pub use reading::{ReadError, Reading};
pub use refusal::{Refusal, RefusalKind};
pub use window::{Question, context_length, window_questions};

use answer::Draft;
use serde_json::Value;

/// Supported APIs, the default first.
pub const APIS: [&Api; 3] = [
    &openai_chat::API,
    &openai_responses::API,
    &anthropic_messages::API,
];

/// An API of model servers.
#[derive(Debug)]
pub struct Api {
    /// Name in settings and on the command line.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Path for requests, after the version (`/v1`).
    pub path: &'static str,
    /// The provider's own address.
    pub base_url: &'static str,
    /// Usual environment variable of the key.
    pub key_variable: &'static str,
    /// Header of the key.
    pub key_header: KeyHeader,
    /// Further headers of every request.
    pub headers: &'static [(&'static str, &'static str)],
    /// The server describes a single model, with its window, at `/models/NAME`.
    describes_models: bool,
    /// Writes a request's body.
    write: fn(&Endpoint, &Prompt) -> Value,
    /// Reads an event of a stream.
    hear: fn(&mut Draft, &Value),
    /// Reads a whole answer that was not streamed. Returns false if it is not an answer.
    read: fn(&mut Draft, &Value) -> bool,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `x-api-key: KEY`.
    XApiKey,
}

/// Returns the API of this name.
pub fn api_by_name(name: &str) -> Option<&'static Api> {
    APIS.into_iter().find(|api| api.name == name)
}

/// Returns a member of an object unless it is missing or `null`.
fn member<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|member| !member.is_null())
}

/// Returns a text member of an object.
fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// Returns the items of a list member of an object; empty if there is no such list.
fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], |list| list)
}
