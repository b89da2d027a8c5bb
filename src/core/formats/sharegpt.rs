//! `ShareGPT` data sets and LLaMA-Factory's variants: conversations whose turns have a `from` and a `value`.
//!
//! Calls and results have no ids: a result belongs to the oldest unanswered call. A call's value is JSON with its name
//! and arguments, or a list of these. `tools` is a string that holds JSON.

use super::content::{CallMatcher, part, tool_definitions};
use super::editing::{Editing, PartChange, Patch, at_path, json_string, patched};
use super::message_list::{self, Dialect, Shape, Writes};
use super::{Format, Probe, RecordedData, content, json};
use crate::json::{Map, Value, json};
use crate::session::{Body, Draft, Part, Role};

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "ShareGPT data set",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    write_own: Some(|session, managed| message_list::write_own(session, managed, &DIALECT)),
    recorded: &[RecordedData::SystemPrompt, RecordedData::Tools],
    ..Format::READ_ONLY
};

/// Notation of these turns for reading and writing.
const DIALECT: Dialect = Dialect {
    name: "sharegpt",
    shape: Shape {
        lists: &["conversations", "conversation", "items"],
        marks: &["from"],
        answers: &[],
        many: &[],
    },
    title: |conversation| json::str_at(conversation, &["title"]).map(str::to_owned),
    body,
    messages: |value, calls| Ok(vec![message(value, calls)?]),
    writes: Some(Writes { edit, written, result: None }),
    ..Dialect::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let look = message_list::detect_list(probe, &DIALECT.shape)?;
    let is_turn = |m: &&Value| {
        role(json::str_at(m, &["from"]).unwrap_or_default()).is_some()
            && json::str_at(m, &["value"]).is_some()
    };
    look.messages
        .iter()
        .all(is_turn)
        .then(|| format!("{}: turns with `from` and `value`", look.how))
}

/// Returns the role of a `from` value.
fn role(from: &str) -> Option<Role> {
    Some(match from {
        "system" => Role::System,
        "human" | "user" => Role::User,
        "gpt" | "assistant" | "chatgpt" | "bing" | "bard" | "model" | "function_call"
        | "tool_call" => Role::Assistant,
        "observation" | "tool" | "tool_response" | "function_response" | "function_return" => {
            Role::Tool
        }
        _ => return None,
    })
}

fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let parsed: Value = match body.get("tools") {
        Some(Value::String(text)) => crate::json::from_str(text).unwrap_or_default(),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    let listed = Value::Object(Map::from_iter([("tools".to_owned(), parsed)]));
    let tools = tool_definitions(&listed, &["tools"]).map(|draft| ("tools", draft));
    let system = body.get("system").map(content::parts).filter(|parts| !parts.is_empty());
    let system = system.map(|parts| ("system", Draft::new(Role::System, parts)));
    tools.into_iter().chain(system).collect()
}

fn message(value: &Value, calls: &mut CallMatcher) -> Result<Draft, String> {
    let from = json::str_at(value, &["from"]).unwrap_or_default();
    let text = json::str_at(value, &["value"]).unwrap_or_default();
    let role = role(from).ok_or_else(|| {
        let from = json::shortened(from);
        format!("a turn from the unknown `{from}` is kept, but not sent to the model")
    })?;
    let parts = match role {
        Role::Assistant if from.ends_with("_call") => calls_or_text(text, calls),
        Role::Tool => {
            let call = calls.answer(None);
            content::result(0, (Some(&call.id), Some(&call.tool)), false, &text.into())
        }
        _ => content::text_part(0, text).into_iter().collect(),
    };
    Ok(Draft::new(role, parts))
}

/// Returns the calls of a turn. A value that is not JSON becomes a text.
fn calls_or_text(text: &str, calls: &mut CallMatcher) -> Vec<Part> {
    let Ok(value) = crate::json::from_str(text) else {
        return content::text_part(0, text).into_iter().collect();
    };
    let listed = match &value {
        Value::Array(list) => list.iter().collect(),
        one => vec![one],
    };
    let call = |(idx, request): (usize, &Value)| {
        let tool = json::str_at(request, &["name"])?;
        let id = calls.add(None, tool);
        let arguments = content::first(request, &["arguments", "parameters"]);
        Some(part(idx, content::call(Some(&id), tool, arguments)))
    };
    let parts: Option<Vec<Part>> = listed.into_iter().enumerate().map(call).collect();
    parts.unwrap_or_else(|| content::text_part(0, text).into_iter().collect())
}

fn written(role: Role, text: &str) -> Value {
    let from = match role {
        Role::System => "system",
        Role::Assistant => "gpt",
        Role::User | Role::Tool => "human",
    };
    json!({"from": from, "value": text})
}

/// Returns a turn with its edited parts and a new value, or `None` if no part is left.
fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let left: Vec<Value> =
        editing.parts.iter().filter_map(|(part, change)| left(part, *change)).collect();
    let text = match &left[..] {
        [Value::String(text)] => text.clone(),
        [only] => only.to_string(),
        many => Value::from(many).to_string(),
    };
    let place = at_path(editing.bytes, &editing.span, &["value"])?;
    let patch: Patch = (place, json_string(&text));
    Some(patched(editing.bytes, &editing.span, vec![patch]))
}

/// Returns the new value of a part, a call or a text, or `None` if it is removed.
fn left(part: &Part, change: PartChange<'_>) -> Option<Value> {
    let new = match change {
        PartChange::Removed => return None,
        PartChange::Kept => None,
        PartChange::Replaced(text) => Some(text),
    };
    Some(match &part.body {
        Body::ToolCall { tool, arguments, .. } => {
            let arguments = new.unwrap_or(arguments);
            let arguments =
                crate::json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
            json!({"name": &**tool, "arguments": arguments})
        }
        body => Value::from(new.unwrap_or(body.text())),
    })
}
