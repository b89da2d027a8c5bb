//! Replaces or removes parts of a response item. Keys keep their order and numbers their digits.

use super::super::record::message_item;
use super::super::tools::ARGUMENTS;
use crate::formats::editing::PartChange;
use crate::formats::json;
use crate::json::{Value, json};
use crate::session::{Body, Part, Role};

/// A part and its change.
pub(super) type ChangedPart<'a> = (&'a Part, PartChange<'a>);

/// Returns the item's new text: unchanged if all parts are kept, `None` if all are removed.
pub(super) fn item(text: &[u8], parts: &[ChangedPart<'_>]) -> Option<Vec<u8>> {
    if parts.iter().all(|(_, change)| *change == PartChange::Removed) {
        return None;
    }
    if parts.iter().all(|(_, change)| *change == PartChange::Kept) {
        return Some(text.to_vec());
    }
    let item = json::parse_lenient(text).ok()?;
    let new = match (&parts.first()?.0.body, parts.first()?.1) {
        (Body::ToolCall { .. }, PartChange::Replaced(text)) => call(item, text),
        (Body::ToolResult { .. }, PartChange::Removed) => return None,
        (Body::ToolResult { .. }, change) => result(item, change, &parts[1..])?,
        _ if is_message(&item) => message(item, parts)?,
        _ => as_message(&item, parts),
    };
    Some(new.to_string().into_bytes())
}

/// Converts an item that only the provider can write, such as encrypted reasoning, to a message with its edited text.
fn as_message(item: &Value, parts: &[ChangedPart<'_>]) -> Value {
    let text = |(part, change): &ChangedPart<'_>| match change {
        PartChange::Kept if matches!(part.body, Body::Text(_)) => Some(part.body.text().to_owned()),
        PartChange::Replaced(text) => Some((*text).to_owned()),
        PartChange::Kept | PartChange::Removed => None,
    };
    let kind = json::str_at(item, &["type"]).unwrap_or_default();
    let is_by_model = kind == "reasoning" || kind.ends_with("_call") || kind.contains("compaction");
    let role = if is_by_model { Role::Assistant } else { Role::User };
    let texts: Vec<_> = parts.iter().filter_map(text).collect();
    let mut message = message_item(role, "");
    if let Some(Value::Array(blocks)) = message.get_mut("content") {
        let kind = blocks[0]["type"].take();
        *blocks = texts.iter().map(|text| json!({"type": kind, "text": text})).collect();
    }
    message
}

fn is_message(item: &Value) -> bool {
    let kind = json::str_at(item, &["type"]);
    matches!(kind, None | Some("message" | "agent_message")) && item.get("content").is_some()
}

/// Replaces the arguments of a call in their own notation.
fn call(mut item: Value, text: &str) -> Value {
    for key in ARGUMENTS {
        if let Some(old) = item.get_mut(key) {
            let as_object = || crate::json::from_str(text).ok().filter(Value::is_object);
            *old = match old {
                Value::String(_) => text.into(),
                _ if key == "action" => {
                    as_object().unwrap_or_else(|| json!({"type": "exec", "command": [text]}))
                }
                _ => as_object().unwrap_or_else(|| text.into()),
            };
            break;
        }
    }
    item
}

fn message(mut item: Value, parts: &[ChangedPart<'_>]) -> Option<Value> {
    let kind = match json::str_at(&item, &["role"]) {
        Some("assistant") => "output_text",
        _ => "input_text",
    };
    let content = item.get_mut("content")?;
    if let Value::Array(blocks) = content {
        let change = |idx: usize| {
            let found = parts.iter().find(|(part, _)| part.block as usize == idx);
            found.map_or(PartChange::Removed, |(_, change)| *change)
        };
        let new = blocks.iter().enumerate().filter_map(|(idx, old)| block(old, change(idx), kind));
        *blocks = new.collect();
    } else if let Some(PartChange::Replaced(text)) = parts.first().map(|(_, change)| *change) {
        *content = text.into();
    }
    Some(item)
}

fn block(old: &Value, change: PartChange<'_>, kind: &str) -> Option<Value> {
    match change {
        PartChange::Kept => Some(old.clone()),
        PartChange::Removed => None,
        PartChange::Replaced(text) => {
            let mut new = old.clone();
            match new.get_mut("text") {
                Some(old) => *old = text.into(),
                None => new = json!({"type": kind, "text": text}),
            }
            Some(new)
        }
    }
}

/// Returns a tool result with its edited text and media, or `None` if it has no output.
fn result(mut item: Value, change: PartChange<'_>, media: &[ChangedPart<'_>]) -> Option<Value> {
    if let (Some(tools), PartChange::Replaced(text)) = (item.get_mut("tools"), change) {
        // Only tools are allowed in this list. The model gets none, and the note documents the change.
        *tools = json!([]);
        item[super::super::tools::NOTE] = text.into();
        return Some(item);
    }
    let output = item.get_mut("output")?;
    let inner = match output {
        Value::Object(object) if object.contains_key("content") => object.get_mut("content")?,
        whole => whole,
    };
    let Value::Array(blocks) = inner else {
        if let PartChange::Replaced(text) = change {
            *inner = text.into();
        }
        return Some(item);
    };
    let change_of = |idx: usize, block: &Value| {
        let found = media.iter().find(|(part, _)| part.block as usize == idx);
        match found {
            Some((_, change)) => *change,
            None if block.get("text").is_some() && change == PartChange::Kept => PartChange::Kept,
            None => PartChange::Removed,
        }
    };
    let kept = blocks
        .iter()
        .enumerate()
        .filter_map(|(idx, old)| block(old, change_of(idx, old), "input_text"));
    let kept: Vec<Value> = kept.collect();
    *inner = match change {
        PartChange::Replaced(text) if kept.is_empty() => text.into(),
        PartChange::Replaced(text) => {
            let marker = json!({"type": "input_text", "text": text});
            std::iter::once(marker).chain(kept).collect()
        }
        _ => kept.into(),
    };
    Some(item)
}
