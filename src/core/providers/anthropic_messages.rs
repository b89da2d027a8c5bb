//! Anthropic Messages.
//!
//! Source: <https://docs.anthropic.com/en/api/messages>.

use super::answer::AnswerDraft;
use super::api::{Api, KeyHeader, LimitField};
use super::conversation::{
    ConversationItem, Role, RoleMessage, arguments_object, role_messages, text_of,
};
use super::json::{list_at, member, text_at};
use super::prompt::Prompt;
use super::tool::Tool;
use crate::json::{Map, Value, json};

/// Messages.
pub(super) const API: Api = Api {
    name: "anthropic",
    label: "Anthropic Messages",
    base_url: "https://api.anthropic.com",
    version: "/v1",
    path: "/messages",
    key_variable: "ANTHROPIC_API_KEY",
    key_header: KeyHeader { name: "x-api-key", prefix: "" },
    headers: &[("anthropic-version", "2023-06-01")],
    marks_prefix: true,
    describes_models: true,
    write,
    read_event,
    read,
};

fn write(model: &str, _limit_field: LimitField, prompt: &Prompt) -> Value {
    let messages = role_messages(&prompt.messages);
    // Later system messages keep their position, since the last one is often the question.
    let n_system = messages.iter().take_while(|message| message.role == Role::System).count();
    let n_system = if n_system == messages.len() { 0 } else { n_system };
    let (system, rest) = messages.split_at(n_system);
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("model", json!(model));
    put("max_tokens", prompt.limit());
    if !system.is_empty() {
        let texts: Vec<String> = system.iter().map(|s| text_of(&s.items)).collect();
        put("system", json!(texts.join("\n\n")));
    }
    let mut turns = turns(rest);
    if prompt.repeats_prefix {
        mark_prefix(&mut turns);
    }
    put("messages", turns);
    put("stream", json!(true));
    let tools: Vec<Tool<'_>> = prompt.tools.iter().filter_map(Tool::read).collect();
    if !tools.is_empty() {
        put("tools", definitions(tools));
    } else if let Some(tools) = tools_called(rest) {
        // Calls of undefined tools are rejected. The model must not call these.
        put("tools", definitions(tools));
        put("tool_choice", json!({"type": "none"}));
    }
    prompt.put_temperature(&mut body);
    Value::Object(body)
}

fn definitions(tools: Vec<Tool<'_>>) -> Value {
    let tools = tools.into_iter().map(|tool| Value::Object(tool.write("input_schema")));
    tools.collect()
}

/// Returns the tools that a conversation calls, each once; `None` if it calls none.
fn tools_called(messages: &[RoleMessage]) -> Option<Vec<Tool<'_>>> {
    let mut names: Vec<&str> = Vec::new();
    for item in messages.iter().flat_map(|message| &message.items) {
        match item {
            ConversationItem::Call { tool, .. } if !names.contains(&&**tool) => names.push(tool),
            _ => {}
        }
    }
    (!names.is_empty()).then(|| names.into_iter().map(Tool::named).collect())
}

/// Writes alternating messages of user and assistant, the user first, with results before other content.
fn turns(conversation: &[RoleMessage]) -> Value {
    let mut turns: Vec<(&str, Vec<&ConversationItem>)> = Vec::new();
    for RoleMessage { role, items } in conversation {
        let role = if *role == Role::Assistant { "assistant" } else { "user" };
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(items),
            _ => turns.push((role, items.iter().collect())),
        }
    }
    let mut messages = Vec::new();
    if turns.first().is_some_and(|(role, _)| *role == "assistant") {
        messages.push(json!({"role": "user", "content": "(The conversation continues.)"}));
    }
    for (role, mut items) in turns {
        items.sort_by_key(|item| !item.is_result());
        let content: Vec<Value> = items.into_iter().map(|item| block(item, role)).collect();
        messages.push(json!({"role": role, "content": content}));
    }
    Value::Array(messages)
}

/// Marks the content before the last block for the provider's cache.
fn mark_prefix(turns: &mut Value) {
    let turns = turns.as_array_mut().into_iter().flatten();
    let blocks = turns.filter_map(|turn| turn.get_mut("content")?.as_array_mut());
    if let Some(block) = blocks.flatten().rev().nth(1) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn block(item: &ConversationItem, role: &str) -> Value {
    match item {
        ConversationItem::Text(text) => json!({"type": "text", "text": text}),
        // Only user messages may contain images.
        ConversationItem::Image(_) if role == "assistant" => {
            json!({"type": "text", "text": "[image]"})
        }
        ConversationItem::Image(url) => json!({"type": "image", "source": source(url)}),
        ConversationItem::Call { id, tool, arguments } => {
            json!({"type": "tool_use", "id": call_id(id), "name": tool,
            "input": arguments_object(arguments)})
        }
        ConversationItem::Result { call, items, is_error } => result(call, items, *is_error),
    }
}

fn result(call: &str, items: &[ConversationItem], is_error: bool) -> Value {
    let mut result = json!({"type": "tool_result", "tool_use_id": call_id(call)});
    if !items.is_empty() {
        result["content"] = items.iter().map(|item| block(item, "user")).collect();
    }
    if is_error {
        result["is_error"] = json!(true);
    }
    result
}

/// Replaces the characters of an id that this API does not accept.
fn call_id(id: &str) -> String {
    let is_accepted = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.chars().map(|c| if is_accepted(c) { c } else { '_' }).collect()
}

/// Writes the source of an image: inline bytes or a URL.
fn source(url: &str) -> Value {
    let inline = url.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    match inline {
        Some((media, data)) => json!({"type": "base64", "media_type": media, "data": data}),
        None => json!({"type": "url", "url": url}),
    }
}

fn read_event(draft: &mut AnswerDraft, event: &Value) {
    match text_at(event, "type") {
        Some("message_start") => {
            draft.name_model(text_at(&event["message"], "model"));
            take_usage(draft, &event["message"]["usage"]);
        }
        Some("content_block_start") => {
            let index = event["index"].as_u64().unwrap_or_default();
            take_block(draft, index, &event["content_block"]);
        }
        Some("content_block_delta")
            if text_at(&event["delta"], "type") == Some("input_json_delta") =>
        {
            let index = event["index"].as_u64().unwrap_or_default();
            let arguments = text_at(&event["delta"], "partial_json").unwrap_or_default();
            draft.add_call(index, None, arguments);
        }
        Some("content_block_delta") if text_at(&event["delta"], "type") == Some("text_delta") => {
            draft.text.push_str(text_at(&event["delta"], "text").unwrap_or_default());
        }
        Some("message_delta") => {
            take_usage(draft, &event["usage"]);
            if let Some(reason) = text_at(&event["delta"], "stop_reason") {
                draft.stopped(reason);
            }
        }
        Some("message_stop") => draft.is_over = true,
        _ => {
            if let Some(error) = member(event, "error") {
                draft.error = Some(error.clone());
            }
        }
    }
}

fn read(draft: &mut AnswerDraft, message: &Value) -> bool {
    if let Some(error) = member(message, "error") {
        draft.error = Some(error.clone());
        return true;
    }
    if message.get("content").and_then(Value::as_array).is_none() {
        return false;
    }
    draft.name_model(text_at(message, "model"));
    for (index, block) in list_at(message, "content").iter().enumerate() {
        take_block(draft, index as u64, block);
    }
    take_usage(draft, &message["usage"]);
    if let Some(reason) = text_at(message, "stop_reason") {
        draft.stopped(reason);
    }
    true
}

fn take_block(draft: &mut AnswerDraft, index: u64, block: &Value) {
    match text_at(block, "type") {
        Some("text") => draft.text.push_str(text_at(block, "text").unwrap_or_default()),
        Some("tool_use") => {
            // The start of a streamed call has an empty object.
            let input = member(block, "input").filter(|input| **input != json!({}));
            let arguments = input.map(Value::to_string).unwrap_or_default();
            draft.add_call(index, text_at(block, "name"), &arguments);
        }
        _ => {}
    }
}

/// Reads usage. The API counts cached tokens separately; [`super::answer::UsageCounts::input`] includes them.
fn take_usage(draft: &mut AnswerDraft, usage: &Value) {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let counts = &mut draft.usage;
    counts.cache_read = count("cache_read_input_tokens").or(counts.cache_read);
    counts.cache_write = count("cache_creation_input_tokens").or(counts.cache_write);
    if let Some(fresh) = count("input_tokens") {
        let cached = [counts.cache_read, counts.cache_write].into_iter().flatten();
        counts.input = Some(cached.fold(fresh, u64::saturating_add));
    }
    counts.output = count("output_tokens").or(counts.output);
}
