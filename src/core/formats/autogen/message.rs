//! Reads the messages that agents send to models, and the calls that they report.

use crate::formats::content::{self, from_base64, part, text_part};
use crate::formats::read_log::ReadLog;
use crate::formats::rows::Row;
use crate::formats::{counts, json};
use crate::json::Value;
use crate::session::{CallDraft, Draft, Part, Role, Usage};
use crate::units::Tokens;

/// Reads a message of an agent's context. Returns `None` for an unknown type.
pub(super) fn of_context(row: &Row) -> Option<Draft> {
    let value = &row.value;
    let content = value.get("content").unwrap_or(&Value::Null);
    let (role, parts) = match json::str_at(value, &["type"])? {
        "SystemMessage" => (Role::System, texts(content)),
        "UserMessage" => (Role::User, texts(content)),
        "AssistantMessage" => {
            let thought = json::str_at(value, &["thought"]).unwrap_or_default();
            let thought = content::thought(thought, 0).map(|body| part(0, body));
            (Role::Assistant, thought.into_iter().chain(answer(content)).collect())
        }
        "FunctionExecutionResultMessage" => (Role::Tool, results(content)),
        _ => return None,
    };
    Some(Draft { raw: vec![row.span.clone()], ..Draft::new(role, parts) })
}

/// Returns the parts of a text, or of a list of texts and images.
pub(super) fn texts(content: &Value) -> Vec<Part> {
    let items = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    let item = |(idx, item): (usize, &Value)| {
        if let Some(text) = item.as_str() {
            return text_part(idx, text);
        }
        // An image without its type.
        let data = json::str_at(item, &["data"])?;
        Some(part(idx, from_base64("image/png", data, None)))
    };
    items.iter().enumerate().filter_map(item).collect()
}

/// Returns the parts of an answer: a text, or a list of calls.
pub(super) fn answer(content: &Value) -> Vec<Part> {
    let Some(calls) = content.as_array() else {
        let text = content::text_or_json(content);
        return text_part(0, &text).into_iter().collect();
    };
    let call = |(idx, call): (usize, &Value)| {
        let field = |key| json::str_at(call, &[key]);
        let name = field("name").unwrap_or_default();
        part(idx, content::call(field("id"), name, call.get("arguments")))
    };
    calls.iter().enumerate().map(call).collect()
}

/// Returns the results of tools.
pub(super) fn results(content: &Value) -> Vec<Part> {
    let results = content.as_array().into_iter().flatten().enumerate();
    let result = |(idx, result): (usize, &Value)| {
        let names = (json::str_at(result, &["call_id"]), json::str_at(result, &["name"]));
        let text = result.get("content").unwrap_or(&Value::Null);
        content::result(idx, names, json::is_true(result, &["is_error"]), text)
    };
    results.flat_map(result).collect()
}

/// Returns the call that a message of a thread reports.
pub(super) fn call_of(row: &Row, log: &mut ReadLog) -> CallDraft {
    let count = |key| counts::tokens_at(&row.value, &["models_usage", key]);
    let input = count("prompt_tokens").filter(|input| *input > Tokens::ZERO);
    let output = count("completion_tokens");
    let usage = input.map(|input| Usage { input, output, ..Usage::default() });
    CallDraft {
        usage: log.notes.usage(row.span.start, usage),
        time: json::millis_at(&row.value, &["created_at"]),
        ..CallDraft::default()
    }
}
