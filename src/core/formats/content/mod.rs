//! Reads content blocks in the notation of all supported providers and programs: texts, thoughts, calls, results,
//! images.
//!
//! Programs define their own records but rarely their own blocks. Unknown blocks are kept whole and counted as JSON.
//! Calls and results without an id get an empty one, and [`super::transcript`] matches them.

pub(super) mod any_message;
mod call_matcher;
mod media;
mod parts;
mod payload;

pub(super) use call_matcher::{AnsweredCall, CallMatcher};
pub use media::media_bytes;
pub(super) use media::{Media, MediaSource, all_in, found, of_block, of_urls};
pub use parts::definitions_in;
pub(super) use parts::{
    assign_reasoning, empty_content, is_of_result, opaque, part, tool_definitions,
};
pub(super) use payload::{decode, from_base64, from_url, reference};

use super::json;
use crate::json::Value;
use crate::session::{Body, Part};

const TEXTS: [&str; 5] = ["text", "input_text", "output_text", "summary_text", "refusal"];
const THOUGHTS: [&str; 7] = [
    "thinking",
    "think",
    "reasoning",
    "thought",
    "reasoning_content",
    "redacted_thinking",
    "redactedThinking",
];
const CALLS: [&str; 6] =
    ["tool_use", "toolCall", "tool_call", "tool-call", "function_call", "toolUse"];
const RESULTS: [&str; 7] = [
    "tool_result",
    "toolResult",
    "tool-result",
    "tool_call_response",
    "tool_response",
    "toolResponse",
    "function_call_output",
];
/// Keys of a call's own id. They precede `id`, which may be the block's.
const CALL_IDS: [&str; 7] =
    ["call_id", "toolCallId", "tool_call_id", "callID", "callId", "toolUseId", "id"];
/// Keys under which a result names its call.
const RESULT_IDS: [&str; 8] =
    ["tool_use_id", "tool_call_id", "toolCallId", "call_id", "callID", "callId", "toolUseId", "id"];
const NAMES: [&str; 4] = ["name", "toolName", "tool_name", "tool"];
/// Keys of a call's arguments.
pub(crate) const ARGUMENTS: [&str; 4] = ["input", "arguments", "args", "parameters"];
/// Keys of a tool's output.
pub(crate) const OUTPUTS: [&str; 6] = ["content", "output", "result", "response", "value", "text"];
const SEALS: [&str; 7] = [
    "signature",
    "thinkingSignature",
    "thoughtSignature",
    "encrypted_content",
    "encryptedContent",
    "encrypted",
    "data",
];

/// Returns the parts of a content: a text, one block, or a list of them.
pub(crate) fn parts(content: &Value) -> Vec<Part> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(blocks) => {
            blocks.iter().enumerate().flat_map(|(idx, b)| block(idx, b)).collect()
        }
        one => block(0, one),
    }
}

/// Returns the parts of one block: the block itself and, for a result, the media inside it.
pub(crate) fn block(idx: usize, block: &Value) -> Vec<Part> {
    let kind = json::str_at(block, &["type"]);
    let is_of = |kinds: &[&str]| kind.is_some_and(|kind| kinds.contains(&kind));
    if let Some(call) = block.get("functionCall").or_else(|| block.get("function_call")) {
        return vec![part(idx, call_of(call))];
    }
    if let Some(split_output) =
        block.get("functionResponse").or_else(|| block.get("function_response"))
    {
        return result_of(idx, split_output);
    }
    if is_of(&CALLS) {
        return vec![part(idx, call_of(block))];
    }
    if is_of(&RESULTS) {
        return result_of(idx, block);
    }
    if is_of(&THOUGHTS) || json::is_true(block, &["thought"]) {
        return thought_of(block).map(|body| part(idx, body)).into_iter().collect();
    }
    if let Some(text) = plain(block, kind) {
        return text_part(idx, text).into_iter().collect();
    }
    if let Some(urls) = block.get("image_urls").and_then(Value::as_array) {
        return of_urls(urls).map(|media| part(idx, media.body(None))).collect();
    }
    vec![part(idx, media_or_opaque(block, None))]
}

/// Returns a text part, or `None` for an empty text.
pub(crate) fn text_part(block: usize, text: &str) -> Option<Part> {
    (!text.is_empty()).then(|| part(block, Body::Text(text.into())))
}

/// Returns a thought, or `None` if it has neither text nor encrypted data.
pub(crate) fn thought(text: &str, sealed: usize) -> Option<Body> {
    (!text.is_empty() || sealed > 0).then(|| Body::Thinking {
        text: text.into(),
        sealed_bytes: u32::try_from(sealed).unwrap_or(u32::MAX),
        reported: None,
    })
}

/// Returns a call. An unknown id becomes an empty one.
pub(crate) fn call(id: Option<&str>, tool: &str, arguments: Option<&Value>) -> Body {
    Body::ToolCall {
        call: id.unwrap_or_default().into(),
        tool: tool.into(),
        arguments: arguments.map(text_or_json).unwrap_or_default(),
    }
}

/// Returns the parts of a tool result: its text and the media in it.
pub(crate) fn result(
    idx: usize,
    (call, tool): (Option<&str>, Option<&str>),
    is_error: bool,
    content: &Value,
) -> Vec<Part> {
    let call: Box<str> = call.unwrap_or_default().into();
    let (text, inside) = split_output(content);
    let inside = inside.into_iter().map(|b| part(idx, media_or_opaque(b, Some(&call))));
    let inside: Vec<Part> = inside.collect();
    let body = Body::ToolResult {
        call,
        tool: tool.unwrap_or_default().into(),
        is_error,
        text: text.into(),
    };
    std::iter::once(part(idx, body)).chain(inside).collect()
}

/// Returns a text unchanged, any other value as JSON, and an empty text for `null`.
pub(crate) fn text_or_json(value: &Value) -> Box<str> {
    match value {
        Value::Null => "".into(),
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

fn call_of(block: &Value) -> Body {
    // Some data sets store the whole call as JSON in a string.
    let value = json::str_at(block, &["value"]).and_then(|text| crate::json::from_str(text).ok());
    if let Some(value) = value.filter(|v| json::str_at(v, &["name"]).is_some()) {
        return call_of(&value);
    }
    let inner = ["function", "custom"]
        .iter()
        .find_map(|key| block.get(key).filter(|v| v.is_object()))
        .unwrap_or(block);
    let name = first(inner, &NAMES).and_then(Value::as_str);
    let id = first(block, &CALL_IDS).and_then(Value::as_str);
    call(id, name.unwrap_or_default(), first(inner, &ARGUMENTS))
}

fn result_of(idx: usize, block: &Value) -> Vec<Part> {
    let get_str = |keys: &[&str]| first(block, keys).and_then(Value::as_str);
    let is_error = ["is_error", "isError"].iter().any(|key| json::is_true(block, &[key]))
        || get_str(&["status"]).is_some_and(|status| matches!(status, "error" | "failed"))
        || block.get("success").and_then(Value::as_bool) == Some(false);
    let content = first(block, &OUTPUTS).unwrap_or(&Value::Null);
    let is_error = is_error || content.get("error").is_some() && content.get("output").is_none();
    result(idx, (get_str(&RESULT_IDS), get_str(&NAMES)), is_error, content)
}

fn thought_of(block: &Value) -> Option<Body> {
    let texts =
        ["thinking", "think", "thought", "reasoning", "text", "summary", "content", "value"]
            .iter()
            .filter_map(|key| block.get(key).filter(|v| v.is_string() || v.is_array()))
            .map(json::text_of);
    let text = texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let sealed = SEALS.iter().filter_map(|key| json::str_at(block, &[key])).map(str::len);
    thought(&text, sealed.sum())
}

/// Returns the text of a block that consists of text only.
fn plain<'a>(block: &'a Value, kind: Option<&str>) -> Option<&'a str> {
    let get_str = |keys: &[&str]| first(block, keys).and_then(Value::as_str);
    match kind {
        Some(kind) if TEXTS.contains(&kind) => get_str(&["text", "refusal", "value", "content"]),
        // A file that the program read for the model.
        Some("file") if block.get("path").is_some() => get_str(&["content"]),
        Some(_) => None,
        None => block.as_str().or_else(|| get_str(&["text"])),
    }
}

/// Returns the text of a tool's output and its blocks other than text.
fn split_output(content: &Value) -> (String, Vec<&Value>) {
    let is_block = |b: &Value| b.is_string() || b.get("type").is_some() || b.get("text").is_some();
    match content {
        Value::Array(blocks) if blocks.iter().all(is_block) => {
            let texts: Vec<&str> = blocks.iter().filter_map(text_of_block).collect();
            let others = blocks.iter().filter(|b| !is_text(b)).collect();
            (texts.join("\n"), others)
        }
        Value::Object(members) => {
            // Other members are sent to the model as well, except the framing of MCP servers.
            let is_alone =
                members.len() == 1 || members.get("content").is_some_and(Value::is_array);
            let inner = ["content", "output", "text", "error"]
                .iter()
                .find_map(|key| content.get(key).filter(|v| v.is_string() || v.is_array()));
            match inner.filter(|_| is_alone) {
                Some(inner) => split_output(inner),
                None => (content.to_string(), Vec::new()),
            }
        }
        other => (text_or_json(other).into(), Vec::new()),
    }
}

/// Returns whether a block within a tool's output is text.
pub(crate) fn is_text(block: &Value) -> bool {
    text_of_block(block).is_some()
}

fn text_of_block(block: &Value) -> Option<&str> {
    plain(block, json::str_at(block, &["type"]))
}

fn media_or_opaque(block: &Value, within: Option<&str>) -> Body {
    of_block(block).map_or_else(|| opaque(block), |media| media.body(within))
}

/// Returns the first of these members that is present and not `null`.
pub(crate) fn first<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| value.get(key).filter(|v| !v.is_null()))
}
