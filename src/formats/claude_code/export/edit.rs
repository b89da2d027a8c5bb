//! A record with parts of it replaced or left out; keys keep their order and numbers their digits.

use crate::formats::json;
use crate::session::{Body, Part};
use serde_json::{Value, json};
use std::borrow::Cow;

/// What becomes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate<'a> {
    Kept,
    Replaced(&'a str),
    Gone,
}

/// The record's new text: its own where nothing changed, none where nothing is left.
pub(super) fn record<'a>(
    text: Cow<'a, [u8]>,
    parts: &[(&Part, Fate<'_>)],
) -> Option<Cow<'a, [u8]>> {
    if parts.iter().all(|(_, fate)| *fate == Fate::Gone) {
        return None;
    }
    if parts.iter().all(|(_, fate)| *fate == Fate::Kept) {
        return Some(text);
    }
    let mut record = json::parse_lenient(&text).ok()?;
    match json::str_at(&record, &["type"]) {
        Some("attachment") => {
            let old = json::at(&record, &["attachment", "prompt"])
                .cloned()
                .unwrap_or_default();
            become_words(&mut record, &content(&old, parts));
        }
        Some("system") => {
            let old = record.get("content").cloned().unwrap_or_default();
            become_words(&mut record, &content(&old, parts));
        }
        _ => {
            let new = content(json::at(&record, &["message", "content"])?, parts);
            record
                .get_mut("message")?
                .as_object_mut()?
                .insert("content".into(), new);
            // A second copy of the tool's result.
            record.as_object_mut()?.shift_remove("toolUseResult");
        }
    }
    Some(Cow::Owned(record.to_string().into_bytes()))
}

/// What the harness attached becomes words of the harness: an attachment has no place for a text of ours.
fn become_words(record: &mut Value, content: &Value) {
    let Some(record) = record.as_object_mut() else {
        return;
    };
    for key in ["attachment", "subtype", "level", "content"] {
        record.shift_remove(key);
    }
    record.insert("type".into(), "user".into());
    record.insert(
        "message".into(),
        json!({"role": "user", "content": content}),
    );
    record.insert("isMeta".into(), true.into());
}

fn content(old: &Value, parts: &[(&Part, Fate<'_>)]) -> Value {
    let Value::Array(blocks) = old else {
        let replaced = parts.iter().find_map(|(_, fate)| {
            if let Fate::Replaced(text) = fate {
                Some(*text)
            } else {
                None
            }
        });
        return replaced.map_or_else(|| old.clone(), Value::from);
    };
    let of_block = |idx: usize| {
        parts
            .iter()
            .filter(move |(part, _)| part.block as usize == idx)
    };
    let new = blocks.iter().enumerate().filter_map(|(idx, old)| {
        let fates: Vec<_> = of_block(idx).copied().collect();
        block(old, &fates)
    });
    Value::Array(new.collect())
}

fn block(old: &Value, parts: &[(&Part, Fate<'_>)]) -> Option<Value> {
    let [(part, fate), inside @ ..] = parts else {
        return None;
    };
    if *fate == Fate::Kept && inside.iter().all(|(_, fate)| *fate == Fate::Kept) {
        return Some(old.clone());
    }
    match (&part.body, fate) {
        (_, Fate::Gone) => None,
        (Body::ToolResult { .. }, fate) => {
            let mut new = old.clone();
            let result = result(old.get("content"), *fate, inside);
            new.as_object_mut()?.insert("content".into(), result);
            Some(new)
        }
        (_, Fate::Kept) => Some(old.clone()),
        (Body::ToolCall { .. }, Fate::Replaced(text)) => {
            let mut new = old.clone();
            new.as_object_mut()?.insert("input".into(), arguments(text));
            Some(new)
        }
        (_, Fate::Replaced(text)) => Some(words(text)),
    }
}

/// The content of a tool's result: its text, and the media inside it one by one.
fn result(old: Option<&Value>, fate: Fate<'_>, inside: &[(&Part, Fate<'_>)]) -> Value {
    let marker = if let Fate::Replaced(text) = fate {
        Some(text)
    } else {
        None
    };
    let Some(Value::Array(items)) = old else {
        return marker.map_or_else(|| old.cloned().unwrap_or_default(), Value::from);
    };
    let mut media = inside.iter().map(|(_, fate)| *fate);
    let mut new: Vec<Value> = marker.map(words).into_iter().collect();
    for item in items {
        let is_media = matches!(json::str_at(item, &["type"]), Some("image" | "document"));
        match if is_media {
            media.next().unwrap_or(Fate::Gone)
        } else {
            fate
        } {
            Fate::Kept => new.push(item.clone()),
            Fate::Replaced(text) if is_media => new.push(words(text)),
            Fate::Replaced(_) | Fate::Gone => {}
        }
    }
    match (marker, new.len()) {
        (Some(marker), 1) => marker.into(),
        _ => Value::Array(new),
    }
}

/// Arguments must be an object.
fn arguments(text: &str) -> Value {
    serde_json::from_str::<Value>(text)
        .ok()
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({"text": text}))
}

fn words(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
