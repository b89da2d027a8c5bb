//! Gemini `generateContent` and `streamGenerateContent`, also as Code Assist wraps them.

use super::{Wire, append, merge, take};
use crate::formats::{counts, gemini_api, json};
use crate::json::{Value, json};
use crate::session::{CallDraft, CutAnswer};

pub(super) const WIRE: Wire = Wire {
    dialect: &gemini_api::DIALECT,
    list: "contents",
    answer: &["candidates", "content"],
    paths: &["generateContent", "streamGenerateContent"],
    is_request: |request| {
        let contents =
            request.get("contents").or_else(|| json::at(request, &["request", "contents"]));
        contents.is_some_and(Value::is_array)
    },
    is_own_request: |_| true,
    is_response: |response| {
        let inner = response.get("response").unwrap_or(response);
        inner.get("candidates").is_some() || inner.get("usageMetadata").is_some()
    },
    request: |mut request| {
        if request.get("contents").is_some() {
            return request;
        }
        let mut inner = take(&mut request, "request");
        merge(&mut inner, json!({"model": take(&mut request, "model")}));
        inner
    },
    whole: |response| join(vec![response]),
    join,
    call,
};

fn join(chunks: Vec<Value>) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    let mut response = json!({});
    let mut candidate = json!({});
    for mut chunk in chunks {
        let inner = take(&mut chunk, "response");
        let mut chunk = if inner.is_null() { chunk } else { inner };
        let candidates = take(&mut chunk, "candidates");
        merge(&mut response, chunk);
        let Some(first) = candidates.as_array().and_then(|list| list.first()) else {
            continue;
        };
        if let Some(reason) = json::str_at(first, &["finishReason"]) {
            merge(&mut candidate, json!({"finishReason": reason}));
        }
        let listed = json::at(first, &["content", "parts"]).and_then(Value::as_array);
        listed.into_iter().flatten().for_each(|part| add_part(&mut parts, part));
    }
    if !parts.is_empty() {
        let content = json!({"role": "model", "parts": parts});
        merge(&mut candidate, json!({"content": content}));
        merge(&mut response, json!({"candidates": [candidate]}));
    }
    response
}

/// Adds a part. A piece of a text continues the text before it.
fn add_part(parts: &mut Vec<Value>, part: &Value) {
    let is_thought = |part: &Value| json::is_true(part, &["thought"]);
    let piece = json::str_at(part, &["text"]);
    let last = parts.last_mut().filter(|last| {
        json::str_at(last, &["text"]).is_some() && is_thought(last) == is_thought(part)
    });
    match (last, piece) {
        (Some(last), Some(piece)) => {
            append(last, "text", piece);
            if let Some(signature) = json::str_at(part, &["thoughtSignature"]) {
                merge(last, json!({"thoughtSignature": signature}));
            }
        }
        _ => parts.push(part.clone()),
    }
}

fn call(response: &Value) -> Option<CallDraft> {
    let usage = counts::gemini_usage(response.get("usageMetadata")?)?;
    let reason = json::at(response, &["candidates"]).and_then(Value::as_array);
    let reason = reason.and_then(|list| json::str_at(list.first()?, &["finishReason"]));
    Some(CallDraft {
        model: json::str_at(response, &["modelVersion"]).map(str::to_owned),
        usage: Some(usage),
        cut: (reason == Some("MAX_TOKENS")).then(CutAnswer::default),
        ..CallDraft::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_pieces_of_texts_and_thoughts() {
        let chunk = |parts: Value| json!({"response": {"candidates": [{"content": {"role": "model", "parts": parts}}]}});
        let chunks = vec![
            chunk(json!([{"text": "Hm", "thought": true}])),
            chunk(json!([{"text": "I "}])),
            chunk(json!([{"text": "look."}, {"functionCall": {"name": "ls", "args": {}}}])),
            json!({"response": {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}}}),
        ];
        let response = join(chunks);
        let parts = &response["candidates"][0]["content"]["parts"];
        assert_eq!(parts.as_array().map(Vec::len), Some(3));
        assert_eq!(parts[1]["text"], "I look.");
        let usage = call(&response).and_then(|call| call.usage).unwrap();
        assert_eq!((usage.input.0, usage.output.map(|n| n.0)), (9, Some(5)));
    }
}
