//! Chat completions as OpenAI has them and most servers of models speak them.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat>.

use super::answer::Draft;
use super::said::{Item, Said, Who, arguments_text, said, text_of};
use super::tool::Tool;
use super::{Api, Endpoint, KeyHeader, Prompt, list, member, text};
use serde_json::{Map, Value, json};

/// Chat completions.
pub(super) const API: Api = Api {
    name: "openai",
    label: "OpenAI-compatible chat completions",
    path: "/chat/completions",
    base_url: "https://api.openai.com",
    key_variable: "OPENAI_API_KEY",
    key_header: KeyHeader::Bearer,
    headers: &[],
    describes_models: false,
    write,
    hear,
    read: |draft, answer| {
        hear(draft, answer);
        !list(answer, "choices").is_empty()
    },
};

fn write(endpoint: &Endpoint, prompt: &Prompt) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("model", json!(endpoint.model));
    put("messages", messages(&said(&prompt.messages)));
    put(endpoint.limit_field.name(), prompt.limit());
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

fn messages(said: &[Said]) -> Value {
    let mut messages = Vec::new();
    // Pictures of results, which must wait until all results of the step have been told.
    let mut pictures = Vec::new();
    for Said { who, items } in said {
        let (results, rest): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|i| i.is_result());
        if results.is_empty() && *who != Who::User {
            messages.extend(user(&std::mem::take(&mut pictures)));
        }
        for result in results {
            messages.extend(result_message(result, &mut pictures));
        }
        match who {
            Who::System if !rest.is_empty() => {
                messages.push(json!({"role": "system", "content": text_of(items)}));
            }
            Who::User if !rest.is_empty() => {
                let mut items = std::mem::take(&mut pictures);
                items.extend(rest.into_iter().cloned());
                messages.extend(user(&items));
            }
            Who::Assistant => messages.extend(assistant(items)),
            Who::System | Who::User => {}
        }
    }
    messages.extend(user(&pictures));
    Value::Array(messages)
}

fn user(items: &[Item]) -> Option<Value> {
    if items.is_empty() {
        return None;
    }
    let has_picture = items.iter().any(|item| matches!(item, Item::Image(_)));
    let content = if has_picture {
        items.iter().filter_map(block).collect()
    } else {
        // One text rather than a list of them: some servers know no lists.
        Value::String(text_of(items))
    };
    Some(json!({"role": "user", "content": content}))
}

fn block(item: &Item) -> Option<Value> {
    match item {
        Item::Text(text) => Some(json!({"type": "text", "text": text})),
        Item::Image(url) => Some(json!({"type": "image_url", "image_url": {"url": url}})),
        Item::Call { .. } | Item::Result { .. } => None,
    }
}

/// A result is a text here: its pictures follow in a message of the user.
fn result_message(result: &Item, pictures: &mut Vec<Item>) -> Option<Value> {
    let Item::Result { call, items, .. } = result else {
        return None;
    };
    let images = items.iter().filter(|item| matches!(item, Item::Image(_)));
    pictures.extend(images.cloned());
    Some(json!({"role": "tool", "tool_call_id": call, "content": text_of(items)}))
}

fn assistant(items: &[Item]) -> Option<Value> {
    let mut message = Map::new();
    let mut put = |key: &str, value: Value| message.insert(key.to_owned(), value);
    put("role", json!("assistant"));
    let said = text_of(items);
    let calls: Vec<Value> = items
        .iter()
        .filter_map(|item| match item {
            Item::Call {
                id,
                tool,
                arguments,
            } => Some(json!({"id": id, "type": "function",
                "function": {"name": tool, "arguments": arguments_text(arguments)}})),
            _ => None,
        })
        .collect();
    if said.is_empty() && calls.is_empty() {
        return None;
    }
    if !said.is_empty() {
        put("content", json!(said));
    }
    if !calls.is_empty() {
        put("tool_calls", json!(calls));
    }
    Some(Value::Object(message))
}

/// An event, or a whole answer, which differ in one word.
fn hear(draft: &mut Draft, event: &Value) {
    if let Some(error) = member(event, "error") {
        draft.error = Some(error.clone());
        return;
    }
    draft.name_model(text(event, "model"));
    if let Some(usage) = member(event, "usage") {
        take_usage(draft, usage);
    }
    let Some(choice) = list(event, "choices").first() else {
        return;
    };
    if let Some(error) = member(choice, "error") {
        draft.error = Some(error.clone());
        return;
    }
    let said = member(choice, "delta").or_else(|| member(choice, "message"));
    if let Some(said) = said {
        match said.get("content") {
            Some(Value::String(text)) => draft.text.push_str(text),
            Some(Value::Array(pieces)) => {
                // Reasoning of some servers stands among the pieces, as another type.
                let texts = pieces
                    .iter()
                    .filter(|piece| text(piece, "type") == Some("text"));
                draft
                    .text
                    .extend(texts.filter_map(|piece| text(piece, "text")));
            }
            _ => {}
        }
        draft
            .refusal
            .push_str(text(said, "refusal").unwrap_or_default());
        draft.has_call |= !list(said, "tool_calls").is_empty();
    }
    if let Some(reason) = text(choice, "finish_reason").filter(|reason| !reason.is_empty()) {
        draft.stopped(reason);
    }
}

fn take_usage(draft: &mut Draft, usage: &Value) {
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
