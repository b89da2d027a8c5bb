//! Messages of Haystack, as `ChatMessage.to_dict` writes them: a list of them, or the output of an agent.
//!
//! | version | content |
//! |---|---|
//! | before 2.9 | a text |
//! | 2.9 to 2.11 | blocks; the names of all members begin with `_` |
//! | since 2.12 | blocks |
//!
//! The only member of a block names it: `text`, `tool_call`, `tool_call_result`, `reasoning`, `image` or `file`. Usage
//! and model of an answer are in its `meta`.
//!
//! <https://docs.haystack.deepset.ai/docs/chatmessage>

use super::content::{self, CallMatcher, of_block, opaque, part, text_part};
use super::message_list::{self, Dialect, Shape, of_usage};
use super::notes::unknown_role;
use super::{Format, Probe, RecordedData, json};
use crate::json::Value;
use crate::session::{CallDraft, CutAnswer, Draft, Part, Role};

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "Haystack messages",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    recorded: &[RecordedData::Usage, RecordedData::SystemPrompt],
    ..Format::READ_ONLY
};

/// Notation of these messages.
const DIALECT: Dialect = Dialect {
    name: "haystack",
    shape: Shape { marks: &["role", "_role"], ..message_list::CHAT },
    title: message_list::title,
    messages: |value, calls| Ok(vec![message(value, calls)?]),
    call,
    ..Dialect::READ_ONLY
};

/// Members that name a block.
const BLOCKS: [&str; 6] = ["text", "tool_call", "tool_call_result", "reasoning", "image", "file"];

/// Returns a member of a message, whose name began with `_` in some versions.
fn member<'a>(message: &'a Value, key: &str) -> Option<&'a Value> {
    message.get(key).or_else(|| message.get(format!("_{key}").as_str()))
}

fn detect(probe: &Probe) -> Option<String> {
    let list = message_list::detect_list(probe, &DIALECT.shape)?;
    let is_match = list.messages.iter().all(|message| is_message(message));
    is_match.then(|| format!("{} with `meta` and `name`", list.how))
}

fn is_message(message: &Value) -> bool {
    let is_block = |block: &Value| BLOCKS.iter().any(|key| block.get(key).is_some());
    let is_content = match member(message, "content") {
        Some(Value::String(_)) => true,
        Some(Value::Array(blocks)) => blocks.iter().all(is_block),
        _ => false,
    };
    is_content
        && member(message, "meta").is_some_and(Value::is_object)
        && member(message, "name").is_some()
}

fn message(value: &Value, calls: &mut CallMatcher) -> Result<Draft, String> {
    let role = match member(value, "role").and_then(Value::as_str) {
        Some("system") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        Some(other) => return Err(unknown_role(other)),
        None => return Err("a record without a role is kept, but not sent to the model".to_owned()),
    };
    let mut parts: Vec<Part> = match member(value, "content") {
        // The result of a tool in versions without calls.
        Some(text @ Value::String(_)) if role == Role::Tool => {
            let name = member(value, "name").and_then(Value::as_str);
            content::result(0, (None, name), false, text)
        }
        Some(Value::Array(blocks)) => {
            blocks.iter().enumerate().flat_map(|(idx, block)| block_parts(idx, block)).collect()
        }
        text => text.map(content::parts).unwrap_or_default(),
    };
    calls.join(&mut parts);
    Ok(Draft::new(role, parts))
}

fn block_parts(idx: usize, block: &Value) -> Vec<Part> {
    let inner = |key| block.get(key).filter(|inner: &&Value| !inner.is_null());
    if let Some(text) = json::str_at(block, &["text"]) {
        return text_part(idx, text).into_iter().collect();
    }
    if let Some(call) = inner("tool_call") {
        let field = |key| json::str_at(call, &[key]);
        let name = field("tool_name").unwrap_or_default();
        return vec![part(idx, content::call(field("id"), name, call.get("arguments")))];
    }
    if let Some(result) = inner("tool_call_result") {
        let field = |key| json::str_at(result, &["origin", key]);
        let names = (field("id"), field("tool_name"));
        let is_error = json::is_true(result, &["error"]);
        return result_parts(idx, names, is_error, result.get("result").unwrap_or(&Value::Null));
    }
    if let Some(thought) = inner("reasoning") {
        let text = json::str_at(thought, &["reasoning_text"]).unwrap_or_default();
        let body = content::thought(text, 0);
        return body.map(|body| part(idx, body)).into_iter().collect();
    }
    vec![part(idx, of_block(block).map_or_else(|| opaque(block), |media| media.body(None)))]
}

/// Returns the parts of a result: a text, or a list of texts and media.
fn result_parts(
    idx: usize,
    names: (Option<&str>, Option<&str>),
    is_error: bool,
    output: &Value,
) -> Vec<Part> {
    let Some(blocks) = output.as_array() else {
        return content::result(idx, names, is_error, output);
    };
    let text = Value::from(json::text_of(output));
    let mut parts = content::result(idx, names, is_error, &text);
    let others = blocks.iter().filter(|block| block.get("text").is_none());
    parts.extend(others.map(|block| {
        let media = of_block(block).map(|media| media.body(names.0));
        part(idx, media.unwrap_or_else(|| opaque(block)))
    }));
    parts
}

/// Returns the call that an answer reports.
fn call(message: &Value) -> Option<CallDraft> {
    let meta = member(message, "meta")?;
    let reason = json::str_at(meta, &["finish_reason"]);
    Some(CallDraft {
        model: json::str_at(meta, &["model"]).map(str::to_owned),
        usage: Some(of_usage(meta.get("usage")?)?),
        cut: (reason == Some("length")).then(CutAnswer::default),
        ..CallDraft::default()
    })
}
