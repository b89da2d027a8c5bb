//! Content of a message, block by block, as parts.

use crate::formats::json;
use crate::formats::payload;
use crate::session::{Body, Part};
use serde_json::Value;

/// The parts of a content: of a text, or of blocks. Every block gives at least one part, so that an edit can
/// name each.
pub(super) fn parts(content: &Value) -> Vec<Part> {
    let part = |block: usize, body| Part {
        body,
        record: 0,
        block: u32::try_from(block).unwrap_or(u32::MAX),
    };
    match content {
        Value::Null => Vec::new(),
        Value::Array(blocks) => blocks
            .iter()
            .enumerate()
            .flat_map(|(idx, block)| bodies(block).into_iter().map(move |body| part(idx, body)))
            .collect(),
        other => bodies(other)
            .into_iter()
            .map(|body| part(0, body))
            .collect(),
    }
}

fn bodies(block: &Value) -> Vec<Body> {
    if let Value::String(text) = block {
        return vec![Body::Text(text.as_str().into())];
    }
    let kind = json::str_at(block, &["type"]).unwrap_or_default();
    let text = |key: &str| json::str_at(block, &[key]).unwrap_or_default();
    let body = match kind {
        "text" => Body::Text(text("text").into()),
        "thinking" => thinking(text("thinking"), text("signature")),
        "redacted_thinking" => thinking("", text("data")),
        "image" => media(block, "image/*", None),
        "document" => media(block, "application/pdf", None),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Body::ToolCall {
            call: text("id").into(),
            tool: text("name").into(),
            arguments: block
                .get("input")
                .map(Value::to_string)
                .unwrap_or_default()
                .into(),
        },
        _ if block.get("tool_use_id").is_some() => return tool_result(block),
        _ => Body::Opaque {
            name: kind.into(),
            json: block.to_string().into(),
        },
    };
    vec![body]
}

fn thinking(text: &str, sealed: &str) -> Body {
    let sealed_bytes = u32::try_from(sealed.len()).unwrap_or(u32::MAX);
    Body::Thinking {
        text: text.into(),
        sealed_bytes,
        reported: None,
    }
}

/// A result and the media inside it. What is neither text nor media is weighed as its JSON.
fn tool_result(block: &Value) -> Vec<Body> {
    let call = json::str_at(block, &["tool_use_id"]).unwrap_or_default();
    let mut texts = Vec::new();
    let mut inside = Vec::new();
    match block.get("content") {
        Some(Value::Array(items)) => {
            for item in items {
                match json::str_at(item, &["type"]) {
                    Some("image") => inside.push(media(item, "image/*", Some(call))),
                    Some("document") => inside.push(media(item, "application/pdf", Some(call))),
                    Some("text") => texts.push(json::text_of(item)),
                    _ => texts.push(item.to_string()),
                }
            }
        }
        Some(Value::String(text)) => texts.push(text.clone()),
        Some(Value::Null) | None => {}
        Some(other) => texts.push(other.to_string()),
    }
    let result = Body::ToolResult {
        call: call.into(),
        tool: "".into(),
        is_error: json::is_true(block, &["is_error"]),
        text: texts.join("\n").into(),
    };
    std::iter::once(result).chain(inside).collect()
}

fn media(block: &Value, mime: &str, within: Option<&str>) -> Body {
    let source = |key: &str| json::str_at(block, &["source", key]);
    let mime = source("media_type").unwrap_or(mime);
    match (source("type"), source("data"), source("url")) {
        // A document that is plain text goes to the model as text.
        (Some("text"), Some(text), _) if within.is_none() => Body::Text(text.into()),
        (_, Some(payload), _) => payload::from_base64(mime, payload, within),
        (_, _, Some(url)) => payload::from_url(mime, url, within),
        _ => payload::reference(mime, 0, within),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_block_gives_a_part_and_a_result_names_what_is_inside() {
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
        let content = json!([
            {"type": "thinking", "thinking": "hm", "signature": "abc"},
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"z": 1, "a": 2.5}},
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true,
             "content": [{"type": "text", "text": "a"}, image, {"type": "tool_reference", "tool_name": "X"}]},
            {"type": "novelty", "x": 1},
            "bare"
        ]);
        let parts = parts(&content);
        let blocks: Vec<_> = parts.iter().map(|p| p.block).collect();
        assert_eq!(blocks, [0, 1, 2, 2, 3, 4]);
        let bodies: Vec<_> = parts.into_iter().map(|p| p.body).collect();
        let text = "a\n{\"type\":\"tool_reference\",\"tool_name\":\"X\"}";
        assert_eq!(
            bodies[0],
            Body::Thinking {
                text: "hm".into(),
                sealed_bytes: 3,
                reported: None
            }
        );
        assert_eq!(
            bodies[1],
            Body::ToolCall {
                call: "t1".into(),
                tool: "Read".into(),
                arguments: "{\"z\":1,\"a\":2.5}".into()
            }
        );
        assert_eq!(
            bodies[2],
            Body::ToolResult {
                call: "t1".into(),
                tool: "".into(),
                is_error: true,
                text: text.into()
            }
        );
        assert_eq!(
            bodies[3],
            payload::from_base64("image/png", "AAAA", Some("t1"))
        );
        assert_eq!(
            bodies[4],
            Body::Opaque {
                name: "novelty".into(),
                json: "{\"type\":\"novelty\",\"x\":1}".into()
            }
        );
        assert_eq!(bodies[5], Body::Text("bare".into()));
    }
}
