//! Converts the content blocks of a message to parts.

use super::entry::ResultContent;
use crate::formats::content;
use crate::formats::json::{self, joined};

use crate::json::BorrowedValue;
use crate::session::{Body, Part};
use std::borrow::Cow;

/// Returns the parts of a content, a text or blocks. Every block gives at least one part, so that an edit can refer to
/// each block.
pub(super) fn parts(content: &BorrowedValue<'_>) -> Vec<Part> {
    let blocks = match content {
        BorrowedValue::Null => &[],
        BorrowedValue::List(blocks) => &blocks[..],
        one => std::slice::from_ref(one),
    };
    let mut parts = Vec::with_capacity(blocks.len());
    for (idx, block) in blocks.iter().enumerate() {
        parts.extend(bodies(block).map(|body| content::part(idx, body)));
    }
    parts
}

/// Returns the notation of the last tool result's content.
pub(super) fn result_content(content: &BorrowedValue<'_>) -> ResultContent {
    let mut results = content.elements().iter().rev().filter(|it| it.get("tool_use_id").is_some());
    match results.next().and_then(|result| result.get("content")) {
        Some(BorrowedValue::List(items)) => match items.last() {
            Some(last) if last.is_str_at(&["type"], "text") => ResultContent::EndsWithText,
            _ => ResultContent::EndsWithOther,
        },
        _ => ResultContent::Text,
    }
}

/// Returns a block's body and those of the media inside it.
fn bodies(block: &BorrowedValue<'_>) -> impl Iterator<Item = Body> {
    let kind = block.str_at(&["type"]).unwrap_or_default();
    let text = |key: &str| block.str_at(&[key]).unwrap_or_default();
    let mut inside = Vec::new();
    let body = match &*kind {
        _ if let BorrowedValue::Text(_) = block => Body::Text(json::borrowed_text_of(block).into()),
        "text" => Body::Text(text("text").into()),
        "thinking" => thinking(text("thinking"), &text("signature")),
        "redacted_thinking" => thinking("".into(), &text("data")),
        "image" => media(block, "image/*", None),
        "document" => media(block, "application/pdf", None),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => Body::ToolCall {
            call: text("id").into(),
            tool: text("name").into(),
            arguments: block.get("input").map(BorrowedValue::to_json).unwrap_or_default().into(),
        },
        _ if block.get("tool_use_id").is_some() => tool_result(block, &mut inside),
        _ => Body::Opaque { json: block.to_json().into(), name: kind.into() },
    };
    std::iter::once(body).chain(inside)
}

fn thinking(text: Cow<'_, str>, sealed: &str) -> Body {
    let sealed_bytes = u32::try_from(sealed.len()).unwrap_or(u32::MAX);
    Body::Thinking { text: text.into(), sealed_bytes, reported: None }
}

/// Returns a tool result and adds its media to `inside`. Other content becomes text as JSON.
fn tool_result(block: &BorrowedValue<'_>, inside: &mut Vec<Body>) -> Body {
    let call = block.str_at(&["tool_use_id"]).unwrap_or_default();
    let mut texts = Vec::new();
    match block.get("content") {
        Some(BorrowedValue::List(items)) => {
            for item in items {
                match item.str_at(&["type"]).as_deref() {
                    Some("image") => inside.push(media(item, "image/*", Some(&call))),
                    Some("document") => inside.push(media(item, "application/pdf", Some(&call))),
                    Some("text") => texts.push(json::borrowed_text_of(item)),
                    _ => texts.push(item.to_json().into()),
                }
            }
        }
        Some(BorrowedValue::Null) | None => {}
        Some(text @ BorrowedValue::Text(_)) => texts.push(json::borrowed_text_of(text)),
        Some(other) => texts.push(other.to_json().into()),
    }
    Body::ToolResult {
        call: call.into(),
        tool: "".into(),
        is_error: block.is_true(&["is_error"]),
        text: joined(texts).into(),
    }
}

fn media(block: &BorrowedValue<'_>, mime: &str, within: Option<&str>) -> Body {
    let source = |key: &str| block.str_at(&["source", key]);
    let own = source("media_type");
    let mime = own.as_deref().unwrap_or(mime);
    match (source("type").as_deref(), source("data"), source("url")) {
        // A plain-text document is sent to the model as text.
        (Some("text"), Some(text), _) if within.is_none() => Body::Text(text.into()),
        (_, Some(payload), _) => content::from_base64(mime, &payload, within),
        (_, _, Some(url)) => content::from_url(mime, &url, within),
        _ => content::reference(mime, 0, within),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;

    #[test]
    fn returns_a_part_for_every_block_and_for_media_in_results() {
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
        let content = json!([
            {"type": "thinking", "thinking": "hm", "signature": "abc"},
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"z": 1, "a": 2.5}},
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true,
             "content": [{"type": "text", "text": "a"}, image, {"type": "tool_reference", "tool_name": "X"}]},
            {"type": "novelty", "x": 1},
            "bare"
        ]);
        let text = content.to_string();
        let parts = parts(&BorrowedValue::parse(&text).unwrap());
        let blocks: Vec<_> = parts.iter().map(|p| p.block).collect();
        assert_eq!(blocks, [0, 1, 2, 2, 3, 4]);
        let bodies: Vec<_> = parts.into_iter().map(|p| p.body).collect();
        let text = "a\n{\"type\":\"tool_reference\",\"tool_name\":\"X\"}";
        assert_eq!(
            bodies[0],
            Body::Thinking { text: "hm".into(), sealed_bytes: 3, reported: None }
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
        assert_eq!(bodies[3], content::from_base64("image/png", "AAAA", Some("t1")));
        assert_eq!(
            bodies[4],
            Body::Opaque { name: "novelty".into(), json: "{\"type\":\"novelty\",\"x\":1}".into() }
        );
        assert_eq!(bodies[5], Body::Text("bare".into()));
    }
}
