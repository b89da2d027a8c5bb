//! Queries for the context window of a model, and their responses.

use super::api::LimitField;
use super::endpoint::Endpoint;
use super::json::{list_at, member, text_at};
use crate::json::{Value, json};

/// A query to a server.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowQuery {
    /// URL.
    pub url: String,
    /// Body of a POST; `None` for GET.
    pub body: Option<Value>,
}

/// Returns the queries to send in order until a response has the window. A provider's own server only has a list of
/// models; another server may be one of several programs with different URLs.
pub fn window_queries(endpoint: &Endpoint) -> Vec<WindowQuery> {
    let get = |url: String| WindowQuery { url, body: None };
    let models = get(endpoint.url_of("/models"));
    if endpoint.api.describes_models {
        let model = escaped(&endpoint.model);
        return vec![get(endpoint.url_of(&format!("/models/{model}")))];
    }
    if endpoint.is_providers_own() || endpoint.limit_field == LimitField::MaxCompletionTokens {
        return vec![models];
    }
    let origin = endpoint.origin();
    let name = json!({"model": endpoint.model});
    vec![
        models,
        // LM Studio.
        get(format!("{origin}/api/v0/models")),
        // llama.cpp.
        get(format!("{origin}/props")),
        // Ollama: loaded models, then all models.
        get(format!("{origin}/api/ps")),
        WindowQuery { url: format!("{origin}/api/show"), body: Some(name) },
    ]
}

/// Returns the window of a model in tokens from the response to a query. A window that the server has configured takes
/// precedence over the largest one that the model supports.
pub fn context_length(model: &str, response: &Value) -> Option<u64> {
    let models = [list_at(response, "data"), list_at(response, "models")].concat();
    // Ollama's names end with a tag that users omit.
    let is_it = |entry: &&Value| {
        let mut names = ["id", "model", "name"].iter().filter_map(|key| text_at(entry, key));
        names.any(|name| name == model || name.strip_suffix(":latest") == Some(model))
    };
    if let Some(entry) = models.iter().find(is_it) {
        return length_of(entry);
    }
    if !models.is_empty() {
        return None;
    }
    length_of(response)
}

fn length_of(entry: &Value) -> Option<u64> {
    let keys = [
        "loaded_context_length",
        "max_model_len",
        "context_length",
        "max_context_length",
        "context_window",
        "max_input_tokens",
        "n_ctx",
    ];
    let direct = keys.iter().find_map(|key| count(entry.get(key)?));
    direct
        .or_else(|| count(entry.get("default_generation_settings")?.get("n_ctx")?))
        .or_else(|| set_by_ollama(text_at(entry, "parameters")?))
        .or_else(|| {
            let info = member(entry, "model_info")?.as_object()?;
            let mut lengths = info.iter().filter(|(key, _)| key.ends_with(".context_length"));
            count(lengths.next()?.1)
        })
}

/// Reads `num_ctx 8192` from the lines of a model's settings.
fn set_by_ollama(parameters: &str) -> Option<u64> {
    let mut lines = parameters.lines().map(str::split_whitespace);
    let value = lines
        .find_map(|mut words| (words.next() == Some("num_ctx")).then(|| words.next()).flatten());
    value?.parse().ok().filter(|n| *n > 0)
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|n| *n > 0)
}

/// Escapes a name as one segment of a path.
fn escaped(name: &str) -> String {
    use std::fmt::Write as _;
    let mut escaped = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}
