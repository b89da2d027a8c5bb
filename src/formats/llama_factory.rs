//! LLaMA-Factory data sets of version 1: messages whose content blocks have a `value`.

use super::content_edit::{self, Framing};
use super::message_list::{self, Calls, Dialect, Editing, Shape, Writes, tool_definitions};
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, json};
use crate::progress::Progress;
use crate::session::{Body, Draft, Role};
use serde_json::{Map, Value, json};

/// Descriptor of this format.
pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "LLaMA-Factory data set",
    detect,
    in_pieces: false,
    parse,
    export: Some(|session, managed| message_list::write_own_only(session, managed, &DIALECT)),
    recorded: &[RecordedData::SystemPrompt, RecordedData::Tools],
    kept: None,
    resume: None,
};

/// Notation of these messages for reading and writing.
const DIALECT: Dialect = Dialect {
    name: "llama_factory",
    shape: Shape {
        lists: &["messages", "chosen_messages"],
        ..message_list::CHAT
    },
    is_request: false,
    answers_in_runs: false,
    title: |_| None,
    body,
    messages: |value, calls| Ok(vec![message(value, calls)?]),
    step: |_| None,
    writes: Some(Writes {
        edit,
        written: |role, text| json!({"role": role.name(), "content": [{"type": "text", "value": text}]}),
    }),
};

fn detect(probe: &Probe) -> Option<String> {
    let look = message_list::detect_list(probe, &DIALECT.shape)?;
    let blocks = look
        .messages
        .iter()
        .filter_map(|m| m.get("content")?.as_array())
        .flatten();
    let mut blocks = blocks.peekable();
    let is_its =
        |b: &Value| b.get("type").is_some() && b.get("value").is_some() && b.get("text").is_none();
    (blocks.peek().is_some() && blocks.all(is_its))
        .then(|| format!("{}: content blocks with a `value`", look.how))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    message_list::read(input, progress, &DIALECT)
}

/// Reads `tools`, a string that holds JSON.
fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let parsed: Value = match body.get("tools") {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    let listed = Value::Object(Map::from_iter([("tools".to_owned(), parsed)]));
    tool_definitions(&listed, &["tools"])
        .map(|draft| ("tools", draft))
        .into_iter()
        .collect()
}

fn message(value: &Value, calls: &mut Calls) -> Result<Draft, String> {
    let content = value.get("content").unwrap_or(&Value::Null);
    let (role, parts) = match json::str_at(value, &["role"]) {
        Some("system") => (Role::System, content::parts(content)),
        Some("user" | "human") => (Role::User, content::parts(content)),
        Some("assistant") => (Role::Assistant, content::parts(content)),
        Some("tool") => (Role::Tool, content::result(0, (None, None), false, content)),
        other => {
            let other = json::quoted(other.unwrap_or_default());
            return Err(format!(
                "a message with the unknown role `{other}` is kept, but not sent to the model"
            ));
        }
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
        return content_edit::edit_result(editing, &["content"], framing);
    }
    content_edit::edit(editing, &["content"])
}
