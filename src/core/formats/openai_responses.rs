//! OpenAI Responses API: a list of items, a request (`input`), a response (`output`), or both in one log.
//!
//! - An answer is a run of consecutive model items. The response records its usage.
//! - `previous_response_id` and `conversation` mean that the file does not hold the whole context.
//! - Lists of plain messages without `input_text` or `output_text` are read by [`super::openai_chat`].

use super::content::{CallMatcher, opaque, part, tool_definitions};
use super::editing::{self, Editing, Framing, PartChange};
use super::message_list::{self, Dialect, Shape, Writes};
use super::notes::unknown_role;
use super::{
    Format, Input, ParseError, Parsed, Probe, RecordedData, Warning, content, counts, json,
};
use crate::json::{Value, json};
use crate::progress::Progress;
use crate::session::{Body, CallDraft, CutAnswer, Draft, ModelVendor, Part, Role, Usage};
use crate::units::Tokens;

pub(super) const FORMAT: Format = Format {
    name: DIALECT.name,
    label: "OpenAI Responses",
    detect,
    parse,
    write_own: Some(|session, managed| message_list::write_own(session, managed, &DIALECT)),
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
    ],
    vendor: Some(ModelVendor::OpenAi),
    ..Format::READ_ONLY
};

/// Notation of these items for reading and writing.
pub(super) const DIALECT: Dialect = Dialect {
    name: "openai_responses",
    shape: Shape {
        lists: &["input", "output", "items"],
        marks: &["type", "role"],
        answers: &["response", "output"],
        many: &[],
    },
    is_request: true,
    answers_in_runs: true,
    title: message_list::title,
    body,
    messages,
    note: |_| None,
    call: recorded_call,
    writes: Some(Writes { edit, written, result: None }),
};

/// Item types without the suffix `_call` or `_call_output`.
const TYPES: [&str; 8] = [
    "message",
    "reasoning",
    "item_reference",
    "compaction",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "compaction_summary",
];
/// Calls whose results are part of the call or stay with the provider.
const HOSTED: [&str; 4] =
    ["web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"];

fn detect(probe: &Probe) -> Option<String> {
    let look = message_list::detect_list(probe, &DIALECT.shape)?;
    let is_item = |m: &&Value| match json::str_at(m, &["type"]) {
        Some(kind) => is_known(kind),
        None => json::str_at(m, &["role"]).is_some() && m.get("content").is_some(),
    };
    let is_own = |m: &&Value| {
        let kind = json::str_at(m, &["type"]).unwrap_or("message");
        let blocks = m.get("content").and_then(Value::as_array);
        let mut blocks = blocks.into_iter().flatten();
        kind != "message"
            || blocks.any(|b| {
                json::str_at(b, &["type"])
                    .is_some_and(|t| t.starts_with("input_") || t == "output_text")
            })
    };
    (look.messages.iter().all(is_item) && look.messages.iter().any(is_own))
        .then(|| format!("{}: items of the Responses API", look.how))
}

fn is_known(kind: &str) -> bool {
    TYPES.contains(&kind) || kind.ends_with("_call") || kind.ends_with("_call_output")
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut parsed = message_list::read(input, progress, &DIALECT)?;
    let whole = json::document_span(&input.bytes.whole());
    for key in ["previous_response_id", "conversation"] {
        let holds = |path: &[&str]| {
            let place = editing::at_path(&input.bytes.whole(), &whole, path);
            place.is_some_and(|place| input.bytes.whole().get(place) != Some(b"null"))
        };
        if holds(&[key]) || holds(&["request", key]) || holds(&["response", key]) {
            parsed.warnings.push(Warning {
                line: None,
                text: format!("`{key}` refers to data stored by the provider: the file does not hold the whole context"),
            });
        }
    }
    Ok(parsed)
}

fn body(body: &Value) -> Vec<(&'static str, Draft)> {
    let tools = tool_definitions(body, &["tools"]).map(|draft| ("tools", draft));
    let parts = body.get("instructions").map(content::parts).unwrap_or_default();
    let system = (!parts.is_empty()).then(|| ("instructions", Draft::new(Role::System, parts)));
    tools.into_iter().chain(system).collect()
}

fn messages(value: &Value, calls: &mut CallMatcher) -> Result<Vec<Draft>, String> {
    let mut drafts = drafts(value)?;
    for draft in &mut drafts {
        calls.join(&mut draft.parts);
    }
    Ok(drafts)
}

/// Reads an item, without joining results with their calls.
pub(super) fn drafts(value: &Value) -> Result<Vec<Draft>, String> {
    let kind = json::str_at(value, &["type"]).unwrap_or("message");
    let draft = |role, parts: Vec<Part>| Draft {
        id: json::str_at(value, &["id"]).map(Into::into),
        time: message_list::time_of(value),
        ..Draft::new(role, parts)
    };
    Ok(match kind {
        "message" => {
            let parts = value.get("content").map(content::parts).unwrap_or_default();
            let role = match json::str_at(value, &["role"]) {
                Some("assistant") => Role::Assistant,
                Some("system" | "developer") => Role::System,
                Some("user") => Role::User,
                other => return Err(unknown_role(other.unwrap_or_default())),
            };
            vec![draft(role, parts)]
        }
        "reasoning" => vec![draft(Role::Assistant, content::block(0, value))],
        "compaction" | "compaction_summary" => {
            let sealed = json::str_at(value, &["encrypted_content"]).map_or(0, str::len);
            let body = content::thought("", sealed);
            vec![Draft {
                is_summary: true,
                ..draft(Role::Assistant, body.map(|b| part(0, b)).into_iter().collect())
            }]
        }
        "item_reference" => {
            return Err(
                "an item that only refers to another one: the referenced content is not recorded"
                    .to_owned(),
            );
        }
        "mcp_list_tools" => vec![draft(Role::System, vec![part(0, opaque(value))])],
        "mcp_call" => mcp(value).into_iter().map(|(role, parts)| draft(role, parts)).collect(),
        kind if HOSTED.contains(&kind) => {
            vec![draft(Role::Assistant, vec![part(0, opaque(value))])]
        }
        kind if kind.ends_with("_call_output") => {
            let output = content::first(value, &["output", "tools"]).unwrap_or(&Value::Null);
            let call = json::str_at(value, &["call_id"]);
            vec![draft(Role::Tool, content::result(0, (call, None), false, output))]
        }
        kind if kind.ends_with("_call") => {
            vec![draft(Role::Assistant, vec![part(0, call(kind, value))])]
        }
        _ => vec![draft(Role::User, vec![part(0, opaque(value))])],
    })
}

fn call(kind: &str, value: &Value) -> Body {
    let id = content::first(value, &["call_id", "id"]).and_then(Value::as_str);
    let tool = json::str_at(value, &["name"]).unwrap_or(kind.trim_end_matches("_call"));
    let arguments = content::first(value, &["arguments", "input", "action", "operation"]);
    content::call(id, tool, arguments)
}

/// Returns the parts of an MCP call, which contains its own result.
fn mcp(value: &Value) -> Vec<(Role, Vec<Part>)> {
    let id = json::str_at(value, &["id"]);
    let mut found = vec![(Role::Assistant, vec![part(0, call("mcp_call", value))])];
    if let Some(output) = content::first(value, &["error", "output"]) {
        let failed = value.get("error").is_some_and(|e| !e.is_null());
        found.push((Role::Tool, content::result(1, (id, None), failed, output)));
    }
    found
}

/// Returns the call that a response reports, if it reports usage.
pub(super) fn recorded_call(value: &Value) -> Option<CallDraft> {
    let usage = value.get("usage").filter(|u| u.is_object())?;
    let count = |path: &[&str]| counts::tokens_at(usage, path);
    let input = count(&["input_tokens"])?;
    let reason = json::str_at(value, &["incomplete_details", "reason"]);
    (input > Tokens::ZERO).then(|| CallDraft {
        model: json::str_at(value, &["model"]).map(str::to_owned),
        usage: Some(Usage {
            input,
            cache_read: count(&["input_tokens_details", "cached_tokens"]),
            output: count(&["output_tokens"]),
            reasoning: count(&["output_tokens_details", "reasoning_tokens"]),
            ..Usage::default()
        }),
        time: message_list::time_of(value),
        cut: (reason == Some("max_output_tokens")).then(CutAnswer::default),
        ..CallDraft::default()
    })
}

fn written(role: Role, text: &str) -> Value {
    let (role, kind) = match role {
        Role::System => ("developer", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
        Role::User | Role::Tool => ("user", "input_text"),
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    let ((part, change), bytes, span) = (editing.parts.first()?, editing.bytes, &editing.span);
    match &part.body {
        // A call that contains its result is removed only together with it.
        Body::ToolCall { .. } if editing.parts.len() > 1 => {
            let mut patches = match change {
                PartChange::Replaced(text) => editing::arguments(bytes, span, text),
                PartChange::Removed => return None,
                PartChange::Kept => Vec::new(),
            };
            if let Some((_, PartChange::Replaced(text))) = editing.parts.get(1) {
                let place = editing::at_path(bytes, span, &["output"]);
                patches.extend(place.map(|place| (place, editing::json_string(text))));
            }
            Some(editing::patched(bytes, span, patches))
        }
        Body::ToolCall { .. } => match change {
            PartChange::Removed => None,
            PartChange::Kept => Some(bytes[span.clone()].to_vec()),
            PartChange::Replaced(text) => {
                let patches = editing::arguments(bytes, span, text);
                Some(editing::patched(bytes, span, patches))
            }
        },
        Body::ToolResult { .. } => {
            let framing = Framing {
                whole: |text| Value::from(text),
                block: |text| json!({"type": "input_text", "text": text}),
            };
            editing::edit_result(editing, &["output"], framing)
        }
        Body::Thinking { .. } | Body::Opaque { .. }
            if editing::at_path(bytes, span, &["content"]).is_none() =>
        {
            match change.or_removed() {
                PartChange::Removed => None,
                PartChange::Kept => Some(bytes[span.clone()].to_vec()),
                PartChange::Replaced(text) => {
                    Some(written(Role::Assistant, text).to_string().into_bytes())
                }
            }
        }
        _ => editing::edit(editing, &["content"]),
    }
}
