//! A request to a model, independent of the API.

use crate::chat::ChatMessage;
use crate::json::{Map, Number, Value};

/// A request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// The messages, in the shape of any API.
    pub messages: Vec<ChatMessage>,
    /// Maximum number of tokens of the answer, including reasoning. (OpenAI Responses require at least 16.)
    pub max_tokens: u64,
    /// Temperature; the server's default if `None`, which some models require.
    pub temperature: Option<f64>,
    /// Tool definitions in the shape of any API.
    pub tools: Vec<Value>,
    /// Other prompts begin with all messages but the last, so that a provider that caches on request should cache
    /// these.
    pub repeats_prefix: bool,
}

impl Prompt {
    /// Returns the output limit, at least 1, since servers reject 0.
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
