//! Where a server tells how long a model's window is, and how to read what it tells.

use super::{Endpoint, LimitField, list, member, text};
use serde_json::{Value, json};

/// Something to ask a server for.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Where.
    pub url: String,
    /// What is posted; asked with GET if there is nothing.
    pub body: Option<Value>,
}

/// What to ask, in order, until one answer tells. A provider's own server is asked only for its models; others may be
/// one of several programs, each with a place of its own.
pub fn window_questions(endpoint: &Endpoint) -> Vec<Question> {
    let get = |url: String| Question { url, body: None };
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
        // llama.cpp's own server.
        get(format!("{origin}/props")),
        // Ollama: what is loaded, then what could be.
        get(format!("{origin}/api/ps")),
        Question {
            url: format!("{origin}/api/show"),
            body: Some(name),
        },
    ]
}

/// The window of a model in tokens as an answer to one of the questions tells it. Where a server tells both what it
/// runs the model with and what the model could take, the former counts.
pub fn context_length(model: &str, answer: &Value) -> Option<u64> {
    let models = [list(answer, "data"), list(answer, "models")].concat();
    // Ollama's names end with a tag that people leave out.
    let is_it = |entry: &&Value| {
        let mut names = ["id", "model", "name"]
            .iter()
            .filter_map(|key| text(entry, key));
        names.any(|name| name == model || name.strip_suffix(":latest") == Some(model))
    };
    if let Some(entry) = models.iter().find(is_it) {
        return length_of(entry);
    }
    if !models.is_empty() {
        return None;
    }
    length_of(answer)
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
        .or_else(|| set_by_ollama(text(entry, "parameters")?))
        .or_else(|| {
            let info = member(entry, "model_info")?.as_object()?;
            let mut lengths = info
                .iter()
                .filter(|(key, _)| key.ends_with(".context_length"));
            count(lengths.next()?.1)
        })
}

/// `num_ctx 8192` among the lines of a model's settings.
fn set_by_ollama(parameters: &str) -> Option<u64> {
    let mut lines = parameters.lines().map(str::split_whitespace);
    let value = lines.find_map(|mut words| {
        (words.next() == Some("num_ctx"))
            .then(|| words.next())
            .flatten()
    });
    value?.parse().ok().filter(|n| *n > 0)
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|n| *n > 0)
}

/// A name as one segment of a path.
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
