//! Contents of the Gemini API: a request (`contents`), a saved checkpoint (`history`), or the bare list.

use super::content::{CallMatcher, tool_definitions};
use super::editing::Editing;
use super::message_list::{self, Dialect, Shape, Writes};
use super::{Format, Probe, RecordedData, content, editing, json};
use crate::json::{Map, Value, json};
use crate::session::{Body, Draft, Role};

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "Gemini contents",
    detect,
    parse: |input, progress| message_list::read(input, progress, &DIALECT),
    write_own: Some(|session, managed| message_list::write_own(session, managed, &DIALECT)),
    recorded: &[RecordedData::SystemPrompt, RecordedData::Tools],
    ..Format::READ_ONLY
};

/// Notation of these contents for reading and writing.
pub(super) const DIALECT: Dialect = Dialect {
    name: "gemini_api",
    shape: Shape { lists: &["contents", "history"], ..message_list::CHAT },
    body,
    messages: |value, calls| message(value, calls).map(|draft| vec![draft]),
    writes: Some(Writes {
        edit,
        result: None,
        written: |role, text| {
            let role = if role == Role::Assistant { "model" } else { "user" };
            json!({"role": role, "parts": [{"text": text}]})
        },
    }),
    ..Dialect::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let look = message_list::detect_list(probe, &DIALECT.shape)?;
    let is_content = |m: &&Value| {
        matches!(json::str_at(m, &["role"]), Some("user" | "model" | "function" | "system"))
            && m.get("parts").is_some_and(Value::is_array)
    };
    look.messages
        .iter()
        .all(is_content)
        .then(|| format!("{}: contents with `role` and `parts`", look.how))
}

fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let groups =
        body.get("tools").or_else(|| body.pointer("/config/tools")).and_then(Value::as_array);
    let declared = groups.into_iter().flatten().filter_map(|group| {
        content::first(group, &["functionDeclarations", "function_declarations"])?.as_array()
    });
    let declared: Vec<Value> = declared.flatten().cloned().collect();
    let listed = Value::Object(Map::from_iter([("tools".to_owned(), Value::from(declared))]));
    let tools = tool_definitions(&listed, &["tools"]).map(|draft| ("tools", draft));
    let system = content::first(body, &["systemInstruction", "system_instruction"]);
    let parts = system.map(|s| content::parts(s.get("parts").unwrap_or(s))).unwrap_or_default();
    let system = (!parts.is_empty()).then(|| ("system", Draft::new(Role::System, parts)));
    tools.into_iter().chain(system).collect()
}

fn message(value: &Value, calls: &mut CallMatcher) -> Result<Draft, String> {
    let mut parts = value.get("parts").map(content::parts).unwrap_or_default();
    let is_answer = parts.first().is_some_and(|p| matches!(p.body, Body::ToolResult { .. }));
    let role = match json::str_at(value, &["role"]) {
        Some("model") => Role::Assistant,
        Some("system") => Role::System,
        Some("user" | "function") if is_answer => Role::Tool,
        Some("user" | "function") => Role::User,
        other => {
            let other = json::shortened(other.unwrap_or_default());
            return Err(format!(
                "a content with the unknown role `{other}` is kept, but not sent to the model"
            ));
        }
    };
    calls.join(&mut parts);
    Ok(Draft::new(role, parts))
}

fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    editing::edit(editing, &["parts"])
}
