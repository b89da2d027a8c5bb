//! Chat completions as defined by OpenAI and supported by most model servers.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat>.

use super::answer::AnswerDraft;
use super::api::{Api, KeyHeader, LimitField};
use super::conversation::{
    ConversationItem, Role, RoleMessage, arguments_text, role_messages, text_of,
};
use super::json::{list_at, member, text_at};
use super::prompt::Prompt;
use super::tool::Tool;
use crate::json::{Map, Value, json};

/// Chat completions.
pub(super) const API: Api = Api {
    name: "openai",
    label: "OpenAI-compatible chat completions",
    base_url: "https://api.openai.com",
    version: "/v1",
    path: "/chat/completions",
    key_variable: "OPENAI_API_KEY",
    key_header: KeyHeader { name: "authorization", prefix: "Bearer " },
    headers: &[],
    marks_prefix: false,
    describes_models: false,
    write,
    read_event,
    read: |draft, answer| {
        read_event(draft, answer);
        !list_at(answer, "choices").is_empty()
    },
};

fn write(model: &str, limit_field: LimitField, prompt: &Prompt) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("model", json!(model));
    put("messages", messages(&role_messages(&prompt.messages)));
    put(limit_field.name(), prompt.limit());
    put("stream", json!(true));
    put("stream_options", json!({"include_usage": true}));
    let tools: Vec<Value> = prompt
        .tools
        .iter()
        .filter_map(Tool::read)
        .map(|tool| json!({"type": "function", "function": tool.write("parameters")}))
        .collect();
    if !tools.is_empty() {
        put("tools", json!(tools));
    }
    prompt.put_temperature(&mut body);
    Value::Object(body)
}

fn messages(conversation: &[RoleMessage]) -> Value {
    let mut messages = Vec::new();
    // Images of results follow in a user message after all results of the call.
    let mut images = Vec::new();
    for RoleMessage { role, items } in conversation {
        let (results, rest): (Vec<&ConversationItem>, Vec<&ConversationItem>) =
            items.iter().partition(|i| i.is_result());
        if results.is_empty() && *role != Role::User {
            messages.extend(user(&std::mem::take(&mut images)));
        }
        for result in results {
            messages.extend(result_message(result, &mut images));
        }
        match role {
            Role::System if !rest.is_empty() => {
                messages.push(json!({"role": "system", "content": text_of(items)}));
            }
            Role::User if !rest.is_empty() => {
                let mut items = std::mem::take(&mut images);
                items.extend(rest.into_iter().cloned());
                messages.extend(user(&items));
            }
            Role::Assistant => messages.extend(assistant(items)),
            Role::System | Role::User => {}
        }
    }
    messages.extend(user(&images));
    Value::Array(messages)
}

fn user(items: &[ConversationItem]) -> Option<Value> {
    if items.is_empty() {
        return None;
    }
    let has_image = items.iter().any(|item| matches!(item, ConversationItem::Image(_)));
    let content = if has_image {
        items.iter().filter_map(block).collect()
    } else {
        // One text instead of a list, since some servers do not support lists.
        Value::String(text_of(items))
    };
    Some(json!({"role": "user", "content": content}))
}

fn block(item: &ConversationItem) -> Option<Value> {
    match item {
        ConversationItem::Text(text) => Some(json!({"type": "text", "text": text})),
        ConversationItem::Image(url) => {
            Some(json!({"type": "image_url", "image_url": {"url": url}}))
        }
        ConversationItem::Call { .. } | ConversationItem::Result { .. } => None,
    }
}

/// Writes the text of a result. Its images follow in a user message.
fn result_message(result: &ConversationItem, images: &mut Vec<ConversationItem>) -> Option<Value> {
    let ConversationItem::Result { call, items, .. } = result else {
        return None;
    };
    let own = items.iter().filter(|item| matches!(item, ConversationItem::Image(_)));
    images.extend(own.cloned());
    Some(json!({"role": "tool", "tool_call_id": call, "content": text_of(items)}))
}

fn assistant(items: &[ConversationItem]) -> Option<Value> {
    let mut message = Map::new();
    let mut put = |key: &str, value: Value| message.insert(key.to_owned(), value);
    put("role", json!("assistant"));
    let text = text_of(items);
    let calls: Vec<Value> = items
        .iter()
        .filter_map(|item| match item {
            ConversationItem::Call { id, tool, arguments } => {
                Some(json!({"id": id, "type": "function",
                "function": {"name": tool, "arguments": arguments_text(arguments)}}))
            }
            _ => None,
        })
        .collect();
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    if !text.is_empty() {
        put("content", json!(text));
    }
    if !calls.is_empty() {
        put("tool_calls", json!(calls));
    }
    Some(Value::Object(message))
}

/// Reads an event or a whole answer, which have the same shape except for one key.
fn read_event(draft: &mut AnswerDraft, event: &Value) {
    if let Some(error) = member(event, "error") {
        draft.error = Some(error.clone());
        return;
    }
    draft.name_model(text_at(event, "model"));
    if let Some(usage) = member(event, "usage") {
        take_usage(draft, usage);
    }
    let Some(choice) = list_at(event, "choices").first() else {
        return;
    };
    if let Some(error) = member(choice, "error") {
        draft.error = Some(error.clone());
        return;
    }
    let message = member(choice, "delta").or_else(|| member(choice, "message"));
    if let Some(message) = message {
        match message.get("content") {
            Some(Value::String(text)) => draft.text.push_str(text),
            Some(Value::Array(pieces)) => {
                // Some servers add reasoning as pieces of another type.
                let texts = pieces.iter().filter(|piece| text_at(piece, "type") == Some("text"));
                draft.text.extend(texts.filter_map(|piece| text_at(piece, "text")));
            }
            _ => {}
        }
        draft.refusal.push_str(text_at(message, "refusal").unwrap_or_default());
        for (nth, call) in list_at(message, "tool_calls").iter().enumerate() {
            let index = call["index"].as_u64().unwrap_or(nth as u64);
            let function = &call["function"];
            let arguments = text_at(function, "arguments").unwrap_or_default();
            draft.add_call(index, text_at(function, "name"), arguments);
        }
    }
    if let Some(reason) = text_at(choice, "finish_reason").filter(|reason| !reason.is_empty()) {
        draft.stopped(reason);
    }
}

fn take_usage(draft: &mut AnswerDraft, usage: &Value) {
    let count = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64);
    let counts = &mut draft.usage;
    counts.input = count(usage, "prompt_tokens").or(counts.input);
    counts.output = count(usage, "completion_tokens").or(counts.output);
    let details = &usage["prompt_tokens_details"];
    counts.cache_read = count(details, "cached_tokens")
        .or_else(|| count(usage, "prompt_cache_hit_tokens"))
        .or(counts.cache_read);
    counts.cache_write = count(details, "cache_write_tokens").or(counts.cache_write);
    counts.reasoning =
        count(&usage["completion_tokens_details"], "reasoning_tokens").or(counts.reasoning);
}
