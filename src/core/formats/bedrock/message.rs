//! Reads a message of the Converse API.

use crate::formats::content::{self, CallMatcher, empty_content, is_of_result, of_block, part};
use crate::formats::notes::unknown_role;
use crate::formats::{counts, json, message_list};
use crate::json::Value;
use crate::session::{Body, Draft, Part, Role, Usage};
use crate::units::Tokens;

/// Members that name a block.
const BLOCKS: [&str; 12] = [
    "text",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "cachePoint",
    "image",
    "document",
    "video",
    "audio",
    "guardContent",
    "citationsContent",
    "searchResult",
];

/// Returns whether a value may be a message of this API.
pub(super) fn is_one(message: &Value) -> bool {
    let is_role = matches!(json::str_at(message, &["role"]), Some("user" | "assistant"));
    let blocks = message.get("content").and_then(Value::as_array);
    is_role && blocks.is_some_and(|blocks| blocks.iter().all(is_block))
}

/// Returns whether a message has a block.
pub(super) fn has_blocks(message: &Value) -> bool {
    message.get("content").and_then(Value::as_array).is_some_and(|blocks| !blocks.is_empty())
}

fn is_block(block: &Value) -> bool {
    let Some(members) = block.as_object() else { return false };
    let is_named = |key: &String| BLOCKS.contains(&key.as_str());
    // A dump may write the other members as `null`.
    let mut present = members.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key);
    present.next().is_some_and(is_named) && present.next().is_none()
}

/// Reads a message.
pub(super) fn read(value: &Value, calls: &mut CallMatcher) -> Result<Draft, String> {
    let role = match json::str_at(value, &["role"]) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some(other) => return Err(unknown_role(other)),
        None => return Err("a record without a role is kept, but not sent to the model".to_owned()),
    };
    let mut parts = value.get("content").map(parts).unwrap_or_default();
    calls.join(&mut parts);
    let is_tools = role == Role::User && !parts.is_empty() && parts.iter().all(is_of_result);
    let mut draft = Draft::new(if is_tools { Role::Tool } else { role }, parts);
    draft.time = message_list::time_of(value);
    draft.empty = empty_content(value);
    Ok(draft)
}

/// Returns the parts of a content: a text, or a list of blocks.
pub(super) fn parts(content: &Value) -> Vec<Part> {
    match content {
        Value::Array(blocks) => {
            blocks.iter().enumerate().flat_map(|(idx, block)| block_parts(idx, block)).collect()
        }
        text => content::text_part(0, text.as_str().unwrap_or_default()).into_iter().collect(),
    }
}

fn block_parts(idx: usize, block: &Value) -> Vec<Part> {
    let member = |key| content::first(block, &[key]);
    if let Some(text) = text_of(block) {
        return content::text_part(idx, &text).into_iter().collect();
    }
    if let Some(call) = member("toolUse") {
        let field = |key| json::str_at(call, &[key]);
        let name = field("name").unwrap_or_default();
        return vec![part(idx, content::call(field("toolUseId"), name, call.get("input")))];
    }
    if let Some(result) = member("toolResult") {
        return result_parts(idx, result);
    }
    if let Some(thought) = member("reasoningContent") {
        let text = json::str_at(thought, &["reasoningText", "text"]).unwrap_or_default();
        let sealed = [&["reasoningText", "signature"][..], &["redactedContent"]];
        let redacted = json::str_at(thought, &["redactedContent", "data"]).map_or(0, str::len);
        let sealed: usize =
            sealed.iter().filter_map(|path| json::str_at(thought, path)).map(str::len).sum();
        let body = content::thought(text, sealed + redacted);
        return body.map(|body| part(idx, body)).into_iter().collect();
    }
    // A cache point is no content.
    if member("cachePoint").is_some() {
        return Vec::new();
    }
    vec![part(idx, media_or_opaque(block, None))]
}

/// Returns the text of a block of text: plain, with citations, or for a guardrail.
fn text_of(block: &Value) -> Option<String> {
    let plain = block.get("text").or_else(|| json::at(block, &["guardContent", "text", "text"]));
    let cited = || json::at(block, &["citationsContent", "content"]).map(json::text_of);
    plain.and_then(Value::as_str).map(str::to_owned).or_else(cited)
}

fn result_parts(idx: usize, result: &Value) -> Vec<Part> {
    let blocks = result.get("content").and_then(Value::as_array);
    let blocks = || blocks.into_iter().flatten();
    let text = |block: &Value| {
        let json = || block.get("json").filter(|json| !json.is_null()).map(Value::to_string);
        text_of(block).or_else(json)
    };
    let texts: Vec<String> = blocks().filter_map(text).collect();
    let call: Box<str> = json::str_at(result, &["toolUseId"]).unwrap_or_default().into();
    let body = Body::ToolResult {
        call: call.clone(),
        tool: "".into(),
        is_error: json::str_at(result, &["status"]) == Some("error"),
        text: texts.join("\n").into(),
    };
    let others = blocks().filter(|block| text(block).is_none());
    let others = others.map(|block| part(idx, media_or_opaque(block, Some(&call))));
    std::iter::once(part(idx, body)).chain(others).collect()
}

fn media_or_opaque(block: &Value, within: Option<&str>) -> Body {
    of_block(block).map_or_else(
        || {
            let name = block.as_object().and_then(|members| members.keys().next());
            let name = name.map_or("unknown", String::as_str);
            Body::Opaque { name: name.into(), json: block.to_string().into() }
        },
        |media| media.body(within),
    )
}

/// Reads usage. Bedrock's input excludes cached tokens. Strands Agents writes the counts of other providers in the same
/// fields, which include them: the total shows which.
pub(super) fn usage(usage: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(usage, &[key]);
    let (input, output) = (count("inputTokens")?, count("outputTokens"));
    let read = count("cacheReadInputTokens");
    let write = count("cacheWriteInputTokens");
    let sum = input + output.unwrap_or_default();
    let input = match count("totalTokens") {
        Some(total) if total == sum => counts::whole_input(input, read, write),
        _ => input + read.unwrap_or_default() + write.unwrap_or_default(),
    };
    (input > Tokens::ZERO).then_some(Usage {
        input,
        cache_read: read,
        cache_write: write,
        output,
        ..Usage::default()
    })
}
