//! Scripted answers of the model, and descriptions of its requests.

use plimsoll::chat::{ChatMessage, Content, SummaryReply, SummaryRequest, message_to_json};
use plimsoll::json::{Value, json};
use plimsoll::languages::python::{Layout, python_dumps};
use plimsoll::systems::holmesgpt::NO_MESSAGE;

/// Characters of a described content.
const HEAD_CHARS: usize = 90;
/// Maximum characters of a request that is described in full.
const MAX_LISTED_CHARS: usize = 4000;

/// Returns a scripted answer: a text, an exception, or fields of a message. Calls count only if the request has tools or
/// instructions; in a request flattened for a summary the text counts.
pub(super) fn scripted_reply(answer: &Value, request: &SummaryRequest) -> SummaryReply {
    if let Some(error) = answer.as_str().and_then(|text| text.strip_prefix("exception: ")) {
        return SummaryReply::Failed(exception_text(error));
    }
    if answer.is_null() {
        return SummaryReply::Failed(NO_MESSAGE.to_owned());
    }
    let is_native = |m: &ChatMessage| m.is("system") || m.is("tool") || !m.calls().is_empty();
    let calls = answer["tool_calls"] == true || answer["tool_calls"].is_array();
    if calls && (request.with_tools || request.messages.iter().any(is_native)) {
        return SummaryReply::ToolCall;
    }
    let text = match answer {
        Value::String(text) => text.clone(),
        other => text_of(&other["content"]),
    };
    SummaryReply::Text(text.into())
}

/// Returns the text of a content: a text, or the texts of its blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|b| b["type"] == "text");
            let texts: Vec<_> = texts.map(|b| b["text"].as_str().unwrap_or_default()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Returns the text of `Exception('text')` as Python prints it. Some exceptions print only their text.
fn exception_text(repr: &str) -> String {
    let inner = repr.split_once('(').filter(|(name, rest)| {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name && rest.starts_with(['\'', '"'])
    });
    let Some((_, inner)) = inner else {
        return repr.to_owned();
    };
    let quote = inner.chars().next();
    let mut text = String::new();
    let mut chars = inner.chars().skip(1);
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(chars.next().map(|c| if c == 'n' { '\n' } else { c })),
            c if Some(c) == quote => break,
            c => text.push(c),
        }
    }
    text
}

/// Returns a request as a case describes it.
pub(super) fn described(request: &SummaryRequest) -> Value {
    let (instruction, messages) = match request.messages.split_last() {
        Some((last, rest)) => (last.text().unwrap_or_default(), rest),
        None => ("", &[][..]),
    };
    let listed: Value = messages.iter().map(message_to_json).collect();
    let is_short = python_dumps(&listed, Layout::UNICODE).chars().count() <= MAX_LISTED_CHARS;
    json!({
        "n_messages": request.messages.len(),
        "roles": roles(&request.messages),
        "with_tools": request.with_tools,
        "tool_choice": request.with_tools.then_some("auto"),
        "last_is_instructions": true,
        "instructions_chars": instruction.chars().count(),
        "messages_without_instructions": if is_short { listed } else { Value::Null },
        "content_heads": messages.iter().map(content_head).collect::<Value>(),
    })
}

pub(super) fn roles(messages: &[ChatMessage]) -> Value {
    messages.iter().map(|m| json!(&*m.role)).collect()
}

fn content_head(message: &ChatMessage) -> Value {
    let text = match &message.content {
        Content::Missing | Content::Null => return Value::Null,
        Content::Text(text) => text.text.to_string(),
        _ => python_dumps(&message_to_json(message)["content"], Layout::UNICODE),
    };
    json!(text.chars().take(HEAD_CHARS).collect::<String>())
}
