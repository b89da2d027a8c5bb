//! LLaMA-Factory data sets of version 1: messages whose content blocks have a `value`.

use super::content::{CallMatcher, tool_definitions};
use super::editing::Editing;
use super::editing::{self, Framing};
use super::message_list::{self, Dialect, Shape, Writes};
use super::notes::unknown_role;
use super::{Format, Probe, RecordedData, content, json};
use crate::json::{Map, Value, json};
use crate::session::{Body, Draft, Role};

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "LLaMA-Factory data set",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    write_own: Some(|session, managed| message_list::write_own(session, managed, &DIALECT)),
    recorded: &[RecordedData::SystemPrompt, RecordedData::Tools],
    ..Format::READ_ONLY
};

/// Notation of these messages for reading and writing.
const DIALECT: Dialect = Dialect {
    name: "llama_factory",
    shape: Shape { lists: &["messages", "chosen_messages"], ..message_list::CHAT },
    body,
    messages: |value, calls| Ok(vec![message(value, calls)?]),
    writes: Some(Writes {
        edit,
        result: None,
        written: |role, text| json!({"role": role.name(), "content": [{"type": "text", "value": text}]}),
    }),
    ..Dialect::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let look = message_list::detect_list(probe, &DIALECT.shape)?;
    let blocks = look.messages.iter().filter_map(|m| m.get("content")?.as_array()).flatten();
    let mut blocks = blocks.peekable();
    let is_match =
        |b: &Value| b.get("type").is_some() && b.get("value").is_some() && b.get("text").is_none();
    (blocks.peek().is_some() && blocks.all(is_match))
        .then(|| format!("{}: content blocks with a `value`", look.how))
}

/// Reads `tools`, a string that holds JSON.
fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let parsed: Value = match body.get("tools") {
        Some(Value::String(text)) => crate::json::from_str(text).unwrap_or_default(),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    let listed = Value::Object(Map::from_iter([("tools".to_owned(), parsed)]));
    tool_definitions(&listed, &["tools"]).map(|draft| ("tools", draft)).into_iter().collect()
}

fn message(value: &Value, calls: &mut CallMatcher) -> Result<Draft, String> {
    let content = value.get("content").unwrap_or(&Value::Null);
    let (role, parts) = match json::str_at(value, &["role"]) {
        Some("system") => (Role::System, content::parts(content)),
        Some("user" | "human") => (Role::User, content::parts(content)),
        Some("assistant") => (Role::Assistant, content::parts(content)),
        Some("tool") => (Role::Tool, content::result(0, (None, None), false, content)),
        other => return Err(unknown_role(other.unwrap_or_default())),
    };
    let mut draft = Draft::new(role, parts);
    calls.join(&mut draft.parts);
    Ok(draft)
}

fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    let first = editing.parts.first().map(|(part, _)| &part.body);
    if matches!(first, Some(Body::ToolResult { .. })) {
        let framing = Framing {
            whole: |text| json!([{"type": "text", "value": text}]),
            block: |text| json!({"type": "text", "value": text}),
        };
        return editing::edit_result(editing, &["content"], framing);
    }
    editing::edit(editing, &["content"])
}
