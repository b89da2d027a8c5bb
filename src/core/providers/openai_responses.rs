//! OpenAI Responses.
//!
//! Source: <https://platform.openai.com/docs/api-reference/responses>.

use super::answer::AnswerDraft;
use super::api::{Api, KeyHeader, LimitField};
use super::conversation::{
    ConversationItem, Role, RoleMessage, arguments_text, role_messages, text_of,
};
use super::json::{list_at, member, text_at};
use super::prompt::Prompt;
use super::tool::Tool;
use crate::json::{Map, Value, json};

/// Responses.
pub(super) const API: Api = Api {
    name: "openai-responses",
    label: "OpenAI Responses",
    base_url: "https://api.openai.com",
    version: "/v1",
    path: "/responses",
    key_variable: "OPENAI_API_KEY",
    key_header: KeyHeader { name: "authorization", prefix: "Bearer " },
    headers: &[],
    marks_prefix: false,
    describes_models: false,
    write,
    read_event,
    read,
};

fn write(model: &str, _limit_field: LimitField, prompt: &Prompt) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("model", json!(model));
    put("input", role_messages(&prompt.messages).iter().flat_map(inputs).collect());
    put("max_output_tokens", prompt.limit());
    put("stream", json!(true));
    // By default, the provider stores the conversation.
    put("store", json!(false));
    let tools: Vec<Value> = prompt
        .tools
        .iter()
        .filter_map(Tool::read)
        .map(|tool| {
            let mut tool = tool.write("parameters");
            tool.insert("type".to_owned(), json!("function"));
            // The default is true, which most schemas do not satisfy.
            tool.insert("strict".to_owned(), json!(false));
            Value::Object(tool)
        })
        .collect();
    if !tools.is_empty() {
        put("tools", json!(tools));
    }
    prompt.put_temperature(&mut body);
    Value::Object(body)
}

/// Writes calls and results as separate inputs, and texts and images between them as messages.
fn inputs(message: &RoleMessage) -> Vec<Value> {
    let mut inputs = Vec::new();
    let is_content = |item: &ConversationItem| {
        matches!(item, ConversationItem::Text(_) | ConversationItem::Image(_))
    };
    for items in message.items.chunk_by(|a, b| is_content(a) && is_content(b)) {
        inputs.push(match &items[0] {
            ConversationItem::Call { id, tool, arguments } => {
                json!({"type": "function_call", "call_id": id, "name": tool,
                "arguments": arguments_text(arguments)})
            }
            ConversationItem::Result { call, items, .. } => {
                json!({"type": "function_call_output", "call_id": call, "output": content(items)})
            }
            ConversationItem::Text(_) | ConversationItem::Image(_) => match message.role {
                Role::System => json!({"role": "system", "content": text_of(items)}),
                Role::User => json!({"role": "user", "content": content(items)}),
                Role::Assistant => json!({"role": "assistant", "content": text_of(items)}),
            },
        });
    }
    inputs
}

/// Writes a text, or a list if there are images.
fn content(items: &[ConversationItem]) -> Value {
    if !items.iter().any(|item| matches!(item, ConversationItem::Image(_))) {
        return Value::String(text_of(items));
    }
    let blocks = items.iter().filter_map(|item| match item {
        ConversationItem::Text(text) => Some(json!({"type": "input_text", "text": text})),
        ConversationItem::Image(url) => {
            Some(json!({"type": "input_image", "image_url": url, "detail": "auto"}))
        }
        ConversationItem::Call { .. } | ConversationItem::Result { .. } => None,
    });
    blocks.collect()
}

fn read_event(draft: &mut AnswerDraft, event: &Value) {
    match text_at(event, "type") {
        Some("response.output_text.delta") => {
            draft.text.push_str(text_at(event, "delta").unwrap_or_default());
        }
        Some("response.refusal.delta") => {
            draft.refusal.push_str(text_at(event, "delta").unwrap_or_default());
        }
        Some("response.output_item.added") => {
            let item = &event["item"];
            if text_at(item, "type") == Some("function_call") {
                let arguments = text_at(item, "arguments").unwrap_or_default();
                draft.add_call(output_index(event), text_at(item, "name"), arguments);
            }
        }
        Some("response.function_call_arguments.delta") => {
            let delta = text_at(event, "delta").unwrap_or_default();
            draft.add_call(output_index(event), None, delta);
        }
        Some("response.created") => draft.name_model(text_at(&event["response"], "model")),
        Some("response.completed" | "response.incomplete" | "response.failed") => {
            read(draft, &event["response"]);
            draft.is_over = true;
        }
        Some("error") => draft.error = Some(member(event, "error").unwrap_or(event).clone()),
        _ => {
            if let Some(error) = member(event, "error") {
                draft.error = Some(error.clone());
            }
        }
    }
}

fn read(draft: &mut AnswerDraft, response: &Value) -> bool {
    if let Some(error) = member(response, "error") {
        draft.error = Some(error.clone());
        return true;
    }
    let Some(status) = text_at(response, "status") else {
        return false;
    };
    draft.name_model(text_at(response, "model"));
    let counts = &mut draft.usage;
    let usage = &response["usage"];
    counts.input = usage["input_tokens"].as_u64();
    counts.output = usage["output_tokens"].as_u64();
    counts.cache_read = usage["input_tokens_details"]["cached_tokens"].as_u64();
    counts.reasoning = usage["output_tokens_details"]["reasoning_tokens"].as_u64();
    let reason = text_at(&response["incomplete_details"], "reason");
    draft.stopped(reason.filter(|_| status == "incomplete").unwrap_or(status));
    take_output(draft, list_at(response, "output"));
    true
}

fn output_index(event: &Value) -> u64 {
    event["output_index"].as_u64().unwrap_or_default()
}

/// Reads the output of the whole answer, unless earlier events contained it.
fn take_output(draft: &mut AnswerDraft, output: &[Value]) {
    let is_call = |(_, item): &(usize, &Value)| text_at(item, "type") == Some("function_call");
    for (index, item) in output.iter().enumerate().filter(is_call) {
        let index = index as u64;
        let is_complete = draft.calls.iter().any(|(known, _)| *known == index);
        if !is_complete {
            let arguments = text_at(item, "arguments").unwrap_or_default();
            draft.add_call(index, text_at(item, "name"), arguments);
        }
    }
    let pieces = || output.iter().flat_map(|item| list_at(item, "content"));
    if draft.text.is_empty() {
        let texts = pieces().filter(|piece| text_at(piece, "type") == Some("output_text"));
        draft.text = texts.filter_map(|piece| text_at(piece, "text")).collect();
    }
    if draft.refusal.is_empty() {
        draft.refusal = pieces().filter_map(|piece| text_at(piece, "refusal")).collect();
    }
}
