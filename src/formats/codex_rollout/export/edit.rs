//! A response item with parts of it replaced or left out; keys keep their order and numbers their digits.

use super::super::record::words;
use crate::formats::json;
use crate::session::{Body, Part, Role};
use serde_json::{Value, json};

/// What becomes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate<'a> {
    Kept,
    Replaced(&'a str),
    Gone,
}

/// A part and what becomes of it.
pub(super) type Fated<'a> = (&'a Part, Fate<'a>);

/// The item's new text: its own where nothing changed, none where nothing is left.
pub(super) fn item(text: &[u8], parts: &[Fated<'_>]) -> Option<Vec<u8>> {
    if parts.iter().all(|(_, fate)| *fate == Fate::Gone) {
        return None;
    }
    if parts.iter().all(|(_, fate)| *fate == Fate::Kept) {
        return Some(text.to_vec());
    }
    let item = json::parse_lenient(text).ok()?;
    let new = match (&parts.first()?.0.body, parts.first()?.1) {
        (Body::ToolCall { .. }, Fate::Replaced(text)) => call(item, text),
        (Body::ToolResult { .. }, Fate::Gone) => return None,
        (Body::ToolResult { .. }, fate) => result(item, fate, &parts[1..])?,
        _ if is_message(&item) => message(item, parts)?,
        _ => said(&item, parts),
    };
    Some(new.to_string().into_bytes())
}

/// Only the provider can write reasoning and other sealed items: what stands there now is said instead.
fn said(item: &Value, parts: &[Fated<'_>]) -> Value {
    let text = |(part, fate): &Fated<'_>| match fate {
        Fate::Kept if matches!(part.body, Body::Text(_)) => Some(part.body.text().to_owned()),
        Fate::Replaced(text) => Some((*text).to_owned()),
        Fate::Kept | Fate::Gone => None,
    };
    let kind = json::str_at(item, &["type"]).unwrap_or_default();
    let is_models = kind == "reasoning" || kind.ends_with("_call") || kind.contains("compaction");
    let role = if is_models {
        Role::Assistant
    } else {
        Role::User
    };
    let texts: Vec<_> = parts.iter().filter_map(text).collect();
    let mut said = words(role, "");
    if let Some(Value::Array(blocks)) = said.get_mut("content") {
        let kind = blocks[0]["type"].take();
        *blocks = texts
            .iter()
            .map(|text| json!({"type": kind, "text": text}))
            .collect();
    }
    said
}

fn is_message(item: &Value) -> bool {
    let kind = json::str_at(item, &["type"]);
    matches!(kind, None | Some("message" | "agent_message")) && item.get("content").is_some()
}

/// A call with other arguments, in the form that they had.
fn call(mut item: Value, text: &str) -> Value {
    for key in ["arguments", "input", "action"] {
        if let Some(old) = item.get_mut(key) {
            let as_object = || serde_json::from_str(text).ok().filter(Value::is_object);
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

fn message(mut item: Value, parts: &[Fated<'_>]) -> Option<Value> {
    let kind = match json::str_at(&item, &["role"]) {
        Some("assistant") => "output_text",
        _ => "input_text",
    };
    let content = item.get_mut("content")?;
    if let Value::Array(blocks) = content {
        let fate = |idx: usize| {
            let found = parts.iter().find(|(part, _)| part.block as usize == idx);
            found.map_or(Fate::Gone, |(_, fate)| *fate)
        };
        let new = blocks
            .iter()
            .enumerate()
            .filter_map(|(idx, old)| block(old, fate(idx), kind));
        *blocks = new.collect();
    } else if let Some(Fate::Replaced(text)) = parts.first().map(|(_, fate)| *fate) {
        *content = text.into();
    }
    Some(item)
}

fn block(old: &Value, fate: Fate<'_>, kind: &str) -> Option<Value> {
    match fate {
        Fate::Kept => Some(old.clone()),
        Fate::Gone => None,
        Fate::Replaced(text) => {
            let mut new = old.clone();
            match new.get_mut("text") {
                Some(old) => *old = text.into(),
                None => new = json!({"type": kind, "text": text}),
            }
            Some(new)
        }
    }
}

/// A tool's answer: its text, and one by one the media beside it.
fn result(mut item: Value, fate: Fate<'_>, media: &[Fated<'_>]) -> Option<Value> {
    if let (Some(tools), Fate::Replaced(text)) = (item.get_mut("tools"), fate) {
        // Only tools may stand there. The model sees none, and the note is for whoever reads the file.
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
        if let Fate::Replaced(text) = fate {
            *inner = text.into();
        }
        return Some(item);
    };
    let fate_of = |idx: usize, block: &Value| {
        let found = media.iter().find(|(part, _)| part.block as usize == idx);
        match found {
            Some((_, fate)) => *fate,
            None if block.get("text").is_some() && fate == Fate::Kept => Fate::Kept,
            None => Fate::Gone,
        }
    };
    let kept = blocks
        .iter()
        .enumerate()
        .filter_map(|(idx, old)| block(old, fate_of(idx, old), "input_text"));
    let kept: Vec<Value> = kept.collect();
    *inner = match fate {
        Fate::Replaced(text) if kept.is_empty() => text.into(),
        Fate::Replaced(text) => {
            let marker = json!({"type": "input_text", "text": text});
            std::iter::once(marker).chain(kept).collect()
        }
        _ => kept.into(),
    };
    Some(item)
}
