//! Replaces or removes parts of a record. Keys keep their order and numbers their digits.

use crate::formats::editing::PartChange;
use crate::formats::json;
use crate::json::{Value, json};
use crate::session::{Body, Part};
use std::borrow::Cow;

/// Returns the record's new text: unchanged if all parts are kept, `None` if all are removed.
pub(super) fn record<'a>(
    text: Cow<'a, [u8]>,
    parts: &[(&Part, PartChange<'_>)],
) -> Option<Cow<'a, [u8]>> {
    if parts.iter().all(|(_, change)| *change == PartChange::Removed) {
        return None;
    }
    if parts.iter().all(|(_, change)| *change == PartChange::Kept) {
        return Some(text);
    }
    let mut record = json::parse_lenient(&text).ok()?;
    match json::str_at(&record, &["type"]) {
        Some("attachment") if record.get("rendered").is_some() => {
            let old = Value::Array(rendered(&record));
            // Each block gave one part.
            let numbered: Vec<Part> = (0..)
                .zip(parts)
                .map(|(block, (part, _))| Part { block, ..(*part).clone() })
                .collect();
            let changes = parts.iter().map(|(_, change)| *change);
            let parts: Vec<_> = numbered.iter().zip(changes).collect();
            become_message(&mut record, &content(&old, &parts));
        }
        Some("attachment") => {
            let old = json::at(&record, &["attachment", "prompt"]).cloned().unwrap_or_default();
            become_message(&mut record, &content(&old, parts));
        }
        Some("system") => {
            let old = record.get("content").cloned().unwrap_or_default();
            become_message(&mut record, &content(&old, parts));
        }
        _ => {
            let new = content(json::at(&record, &["message", "content"])?, parts);
            record.get_mut("message")?.as_object_mut()?.insert("content".into(), new);
            // The record's second copy of the tool result.
            record.as_object_mut()?.shift_remove("toolUseResult");
        }
    }
    Some(Cow::Owned(record.to_string().into_bytes()))
}

/// Returns an attachment with a recorded text as a harness message, or `None` for any other record.
pub(super) fn as_message(text: &[u8]) -> Option<Vec<u8>> {
    let mut record = json::parse_lenient(text).ok()?;
    let content = Value::Array(rendered(&record));
    become_message(&mut record, &content);
    Some(record.to_string().into_bytes())
}

/// Returns the blocks that an attachment with a recorded text is sent as.
fn rendered(record: &Value) -> Vec<Value> {
    let rendered = record.get("rendered").and_then(Value::as_array);
    let contents = rendered.into_iter().flatten().filter_map(|text| text.get("content"));
    let blocks = contents.flat_map(|content| match content {
        Value::Array(blocks) => blocks.clone(),
        Value::String(text) => vec![text_block(text)],
        other => vec![other.clone()],
    });
    blocks.filter(|block| json::str_at(block, &["text"]) != Some("")).collect()
}

/// Converts an attachment to a harness message, because an attachment has no member for a new text.
fn become_message(record: &mut Value, content: &Value) {
    let Some(record) = record.as_object_mut() else {
        return;
    };
    let rendering = ["rendered", "renderedRole", "renderedBesideToolResult"];
    for key in ["attachment", "subtype", "level", "content"].into_iter().chain(rendering) {
        record.shift_remove(key);
    }
    record.insert("type".into(), "user".into());
    record.insert("message".into(), json!({"role": "user", "content": content}));
    record.insert("isMeta".into(), true.into());
}

fn content(old: &Value, parts: &[(&Part, PartChange<'_>)]) -> Value {
    let Value::Array(blocks) = old else {
        let replaced = parts.iter().find_map(|(_, change)| {
            if let PartChange::Replaced(text) = change { Some(*text) } else { None }
        });
        return replaced.map_or_else(|| old.clone(), Value::from);
    };
    let of_block = |idx: usize| parts.iter().filter(move |(part, _)| part.block as usize == idx);
    let new = blocks.iter().enumerate().filter_map(|(idx, old)| {
        let changes: Vec<_> = of_block(idx).copied().collect();
        block(old, &changes)
    });
    Value::Array(new.collect())
}

fn block(old: &Value, parts: &[(&Part, PartChange<'_>)]) -> Option<Value> {
    let [(part, change), inside @ ..] = parts else {
        return None;
    };
    if *change == PartChange::Kept && inside.iter().all(|(_, change)| *change == PartChange::Kept) {
        return Some(old.clone());
    }
    match (&part.body, change) {
        (_, PartChange::Removed) => None,
        (Body::ToolResult { .. }, change) => {
            let mut new = old.clone();
            let result = result(old.get("content"), *change, inside);
            new.as_object_mut()?.insert("content".into(), result);
            Some(new)
        }
        (_, PartChange::Kept) => Some(old.clone()),
        (Body::ToolCall { .. }, PartChange::Replaced(text)) => {
            let mut new = old.clone();
            new.as_object_mut()?.insert("input".into(), arguments(text));
            Some(new)
        }
        (_, PartChange::Replaced(text)) => Some(text_block(text)),
    }
}

/// Returns the content of a tool result: its text and its media.
fn result(
    old: Option<&Value>,
    change: PartChange<'_>,
    inside: &[(&Part, PartChange<'_>)],
) -> Value {
    let marker = if let PartChange::Replaced(text) = change { Some(text) } else { None };
    let Some(Value::Array(items)) = old else {
        return marker.map_or_else(|| old.cloned().unwrap_or_default(), Value::from);
    };
    let mut media = inside.iter().map(|(_, change)| *change);
    let mut new: Vec<Value> = marker.map(text_block).into_iter().collect();
    for item in items {
        let is_media = matches!(json::str_at(item, &["type"]), Some("image" | "document"));
        match if is_media { media.next().unwrap_or(PartChange::Removed) } else { change } {
            PartChange::Kept => new.push(item.clone()),
            PartChange::Replaced(text) if is_media => new.push(text_block(text)),
            PartChange::Replaced(_) | PartChange::Removed => {}
        }
    }
    match (marker, new.len()) {
        (Some(marker), 1) => marker.into(),
        _ => Value::Array(new),
    }
}

/// Returns arguments as an object, which the format requires.
fn arguments(text: &str) -> Value {
    crate::json::from_str(text)
        .ok()
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({"text": text}))
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
