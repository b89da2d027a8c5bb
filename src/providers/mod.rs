//! What providers of models speak: requests, streamed answers and refusals of three APIs as values.
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

/// Every API that can be spoken, the default first.
pub const APIS: [&Api; 3] = [
    &openai_chat::API,
    &openai_responses::API,
    &anthropic_messages::API,
];

/// How one kind of server is spoken to.
#[derive(Debug)]
pub struct Api {
    /// Name in settings and on the command line.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Where requests go, behind the version (`/v1`).
    pub path: &'static str,
    /// The provider's own address.
    pub base_url: &'static str,
    /// Environment variable that people keep the key in.
    pub key_variable: &'static str,
    /// How the key is sent.
    pub key_header: KeyHeader,
    /// Further headers of every request.
    pub headers: &'static [(&'static str, &'static str)],
    /// Whether the server tells of a single model at `/models/NAME`, its window included.
    describes_models: bool,
    /// Writes a request's body.
    write: fn(&Endpoint, &Prompt) -> Value,
    /// Takes in one event of a stream.
    hear: fn(&mut Draft, &Value),
    /// Takes in a whole answer that was not streamed. False if it is none.
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

/// The API of this name.
pub fn api_by_name(name: &str) -> Option<&'static Api> {
    APIS.into_iter().find(|api| api.name == name)
}

/// A member of an object that is there and not `null`.
fn member<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|member| !member.is_null())
}

/// A text that is a member of an object.
fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// The members of a list that is a member of an object; none if there is no such list.
fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], |list| list)
}
