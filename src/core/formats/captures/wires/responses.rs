//! `OpenAI` Responses, over HTTP or a websocket.

use super::{Wire, merge, take};
use crate::formats::{json, openai_responses};
use crate::json::{Value, json};

pub(super) const WIRE: Wire = Wire {
    dialect: &openai_responses::DIALECT,
    list: "input",
    answer: &["output"],
    paths: &["/responses", "/responses/compact"],
    is_request: |request| {
        let is_item = |item: &Value| item.get("type").is_some() || item.get("role").is_some();
        match request.get("input") {
            Some(Value::Array(items)) => items.iter().all(is_item),
            Some(Value::String(_)) => true,
            _ => false,
        }
    },
    is_own_request: |_| true,
    is_response: |response| {
        let kind = json::str_at(response, &["type"]).unwrap_or_default();
        kind.starts_with("response.") || response.get("output").is_some_and(Value::is_array)
    },
    request,
    whole: |response| response,
    join,
    call: openai_responses::recorded_call,
};

/// Writes a text as the only message of the input.
fn request(mut request: Value) -> Value {
    if let Some(input) = request.get_mut("input")
        && let Value::String(text) = input
    {
        *input = json!([{"type": "message", "role": "user", "content": text.as_str()}]);
    }
    request
}

fn join(events: Vec<Value>) -> Value {
    let mut response = json!({});
    let mut items = Vec::new();
    for mut event in events {
        let kind = json::str_at(&event, &["type"]).unwrap_or_default().to_owned();
        match &*kind {
            "response.output_item.done" => items.push(take(&mut event, "item")),
            "error" => {
                let error = take(&mut event, "error");
                let error = if error.is_null() {
                    json!({"message": take(&mut event, "message")})
                } else {
                    error
                };
                merge(&mut response, json!({"error": error}));
            }
            // The last state is the whole response.
            _ if event.get("response").is_some() => {
                merge(&mut response, take(&mut event, "response"));
            }
            _ if event.get("output").is_some() => merge(&mut response, event),
            _ => {}
        }
    }
    let n_listed = response.get("output").and_then(Value::as_array).map_or(0, Vec::len);
    if n_listed < items.len() {
        merge(&mut response, json!({"output": items}));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_state_is_the_response_and_items_replace_a_missing_one() {
        let item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]});
        let usage = json!({"input_tokens": 5, "output_tokens": 1});
        let events = vec![
            json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}),
            json!({"type": "response.output_item.done", "item": item}),
            json!({"type": "response.completed", "response": {"id": "r", "output": [], "usage": usage}}),
        ];
        let cut = events[..2].to_vec();
        let response = join(events);
        assert_eq!(response["output"], json!([item]));
        assert_eq!((WIRE.call)(&response).and_then(|call| call.usage).unwrap().input.0, 5);
        assert_eq!(join(cut)["output"], json!([item]));
    }
}
