//! Reads instructions, messages and answers in any of the conventions.

use super::attributes::{Attributes, parsed};
use super::spans::Span;
use crate::formats::content::{self, part, tool_definitions};
use crate::json::{Map, Value, json};
use crate::session::{Draft, Role};

const TOOLS: [&str; 4] =
    ["gen_ai.tool.definitions", "gen_ai.request.tools", "ai.prompt.tools", "llm.request.functions"];
const SYSTEMS: [&str; 2] = ["gen_ai.system_instructions", "gen_ai.system.instructions"];

/// Reads instructions and tool definitions.
pub(super) fn instructions_and_tools(attributes: &Attributes, span: &Span) -> Vec<Draft> {
    let with_source = |draft: Draft| Draft { raw: vec![span.bytes.clone()], ..draft };
    let mut tools = attributes.json(&TOOLS);
    if tools.is_none() {
        let listed =
            attributes.below("llm.tools").or_else(|| attributes.below("llm.request.functions"));
        let schema =
            |tool: &Value| tool.pointer("/tool/json_schema").map_or_else(|| tool.clone(), parsed);
        tools = listed
            .and_then(|list| Some(list.as_array()?.iter().map(schema).collect::<Vec<_>>().into()));
    }
    let body = Value::Object(Map::from_iter([("tools".to_owned(), tools.unwrap_or_default())]));
    let tools = tool_definitions(&body, &["tools"]).map(with_source);
    let system = attributes.first(&SYSTEMS).map(parsed).map(|value| content::parts(&value));
    let system = system.filter(|parts| !parts.is_empty());
    let system = system.map(|parts| with_source(Draft::new(Role::System, parts)));
    tools.into_iter().chain(system).collect()
}

/// Reads messages stored as JSON in one attribute or spread over attributes below a prefix.
pub(super) fn messages(
    attributes: &Attributes,
    names: &[&str],
    prefixes: &[&str],
    span: &Span,
) -> Vec<Draft> {
    let found = attributes.json(names).filter(|v| v.is_array() || v.get("messages").is_some());
    let found = found.or_else(|| prefixes.iter().find_map(|prefix| attributes.below(prefix)));
    let found = found.unwrap_or_default();
    let list = found.get("messages").unwrap_or(&found).as_array();
    let list = list.into_iter().flatten();
    list.filter_map(|value| message(value, span)).collect()
}

fn message(value: &Value, span: &Span) -> Option<Draft> {
    let value = value.get("message").filter(|v| v.is_object()).unwrap_or(value);
    // OpenInference wraps content blocks.
    let blocks = value.get("contents").and_then(Value::as_array);
    let blocks = blocks.map(|list| {
        let inner = |b: &Value| b.get("message_content").unwrap_or(b).clone();
        list.iter().map(inner).collect::<Vec<_>>()
    });
    match blocks {
        Some(blocks) => {
            let mut whole = value.clone();
            whole.as_object_mut()?.insert("content".to_owned(), blocks.into());
            content::any_message::read(&whole, &span.bytes)
        }
        None => content::any_message::read(value, &span.bytes),
    }
}

/// Reads an event of the older convention, which stores one message per event.
pub(super) fn event(
    name: &str,
    attributes: &Attributes,
    span: &Span,
    context: &mut Vec<Draft>,
    answers: &mut Vec<Draft>,
) {
    let role = match name {
        "gen_ai.system.message" => "system",
        "gen_ai.user.message" => "user",
        "gen_ai.assistant.message" => "assistant",
        "gen_ai.tool.message" => "tool",
        "gen_ai.choice" => "choice",
        "gen_ai.content.prompt" => {
            context.extend(messages(attributes, &["gen_ai.prompt"], &[], span));
            return;
        }
        "gen_ai.content.completion" => {
            answers.extend(messages(attributes, &["gen_ai.completion"], &[], span));
            return;
        }
        _ => return,
    };
    let whole = match attributes.json(&["message", "gen_ai.event.content"]) {
        Some(message) if message.is_object() => message,
        _ => {
            let member = |key: &str| Some((key.to_owned(), parsed_list(attributes.first(&[key])?)));
            let keys = ["content", "tool_calls", "id", "tool_call_id", "name"];
            Value::Object(keys.iter().filter_map(|key| member(key)).collect())
        }
    };
    let mut whole = whole;
    let sender = if role == "choice" { "assistant" } else { role };
    if let Some(members) = whole.as_object_mut() {
        members.insert("role".to_owned(), sender.into());
    }
    let draft = message(&whole, span);
    if role == "choice" {
        answers.extend(draft);
    } else {
        context.extend(draft);
    }
}

/// Parses lists stored as JSON. Leaves texts unchanged.
fn parsed_list(value: &Value) -> Value {
    let found = parsed(value);
    if found.is_array() { found } else { value.clone() }
}

/// Reads an answer in Vercel's attributes.
pub(super) fn vercel(attributes: &Attributes, span: &Span) -> Option<Draft> {
    let text = attributes.text(&["ai.response.text"]).unwrap_or_default();
    let calls = attributes.json(&["ai.response.toolCalls"]).unwrap_or_default();
    content::any_message::read(
        &json!({"role": "assistant", "content": text, "toolCalls": calls}),
        &span.bytes,
    )
}

/// Reads an answer that `any-agent` records: tool calls without ids, or a text.
pub(super) fn any_agent(attributes: &Attributes, span: &Span) -> Option<Draft> {
    let output = attributes.first(&["gen_ai.output"])?;
    let called = parsed(output);
    let called = called.as_array().into_iter().flatten();
    let parts = called.filter_map(|call| {
        let tool = call.get("tool.name")?.as_str()?;
        let body = content::call(None, tool, call.get("tool.args"));
        Some(part(0, body))
    });
    let mut parts: Vec<_> = parts.collect();
    if parts.is_empty() {
        parts.extend(content::text_part(0, &content::text_or_json(output)));
    }
    (!parts.is_empty())
        .then(|| Draft { raw: vec![span.bytes.clone()], ..Draft::new(Role::Assistant, parts) })
}
