//! What is asked of a model, whoever serves it.

use super::Endpoint;
use crate::chat::ChatMessage;
use serde_json::{Map, Number, Value};

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// The messages, in either shape.
    pub messages: Vec<ChatMessage>,
    /// Most tokens of the answer, reasoning included. (OpenAI's Responses take no less than 16.)
    pub max_tokens: u64,
    /// How freely words are chosen; the server's own default if `None`, which is what some models insist on.
    pub temperature: Option<f64>,
    /// Tools of the conversation as any of the APIs defines them.
    pub tools: Vec<Value>,
}

/// The body of a request: streamed, with an explicit limit, and nothing `null`.
///
/// Reasoning of earlier answers is left out, since servers take back only what they wrote themselves; so are pictures
/// whose bytes a session does not hold, which leave a word in their place.
pub fn body(endpoint: &Endpoint, prompt: &Prompt) -> Value {
    (endpoint.api.write)(endpoint, prompt)
}

impl Prompt {
    /// At least one token, since no server takes none.
    pub(super) fn limit(&self) -> Value {
        Value::from(self.max_tokens.max(1))
    }

    /// Adds the temperature, if one is set and is a number.
    pub(super) fn put_temperature(&self, body: &mut Map<String, Value>) {
        if let Some(number) = self.temperature.and_then(Number::from_f64) {
            body.insert("temperature".to_owned(), Value::Number(number));
        }
    }
}
