//! Writes messages: edited ones, and whole conversations that come from another format.

use super::DIALECT;
use crate::formats::CannotExport;
use crate::formats::message_list::{
    Block, Editing, Fate, Held, Lines, Media, Patch, Turn, array_at, at_path, definition, document,
    patched, quoted, text_block, turns, with_member, without, without_members, write_own,
};
use crate::session::{Body, Managed, MediaKind, Part, Role, Session};
use serde_json::{Map, Value, json};

/// Writes a conversation: into its own document, or as a request.
pub(super) fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    if session.source.format == DIALECT.name {
        return write_own(session, managed, &DIALECT);
    }
    let (tools, messages) = messages(turns(session, managed));
    let mut members = Vec::new();
    if let Some(model) = session.models.last() {
        members.push(("model", Value::from(model.as_str())));
    }
    if !tools.is_empty() {
        members.push(("tools", Value::from(tools)));
    }
    Ok(document(&members, messages))
}

/// A message of ours.
pub(in crate::formats) fn written(role: Role, text: &str) -> Value {
    let role = if role == Role::Tool { Role::User } else { role };
    json!({"role": role.name(), "content": text})
}

/// A message some of whose parts changed.
pub(in crate::formats) fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let (bytes, span) = (editing.bytes, &editing.span);
    if let Some(((_, text), nested)) = editing
        .parts
        .split_first()
        .filter(|((part, _), _)| is_result(part))
    {
        if *text == Fate::Gone {
            return None;
        }
        let nested: Vec<Fate<'_>> = nested.iter().map(|(_, fate)| *fate).collect();
        return Some(patched(bytes, span, editing.result(span, *text, &nested)));
    }
    let mut patches = Vec::new();
    let mut dropped = Vec::new();
    edit_thinking(editing, &mut patches, &mut dropped);
    edit_content(editing, &mut patches);
    edit_calls(editing, &mut patches, &mut dropped);
    patches.extend(without_members(bytes, span, &dropped));
    Some(patched(bytes, span, patches))
}

fn is_result(part: &Part) -> bool {
    matches!(part.body, Body::ToolResult { .. })
}

fn is_call(part: &Part) -> bool {
    matches!(part.body, Body::ToolCall { .. })
}

fn is_thinking(part: &Part) -> bool {
    matches!(part.body, Body::Thinking { .. })
}

fn edit_thinking(editing: &Editing<'_>, patches: &mut Vec<Patch>, dropped: &mut Vec<&'static str>) {
    let Some((_, fate)) = editing.parts.iter().find(|(part, _)| is_thinking(part)) else {
        return;
    };
    let place = |key: &str| at_path(editing.bytes, &editing.span, &[key]);
    match fate.or_gone() {
        Fate::Kept => {}
        Fate::Gone => dropped.extend([
            "reasoning_content",
            "reasoning",
            "reasoning_details",
            "thinking_blocks",
        ]),
        Fate::Replaced(text) => {
            dropped.extend(["reasoning_details", "thinking_blocks"]);
            let text = quoted(text);
            patches.push(
                match place("reasoning_content").or_else(|| place("reasoning")) {
                    Some(place) => (place, text),
                    None => with_member(editing.bytes, &editing.span, "reasoning_content", &text),
                },
            );
        }
    }
}

/// Texts and media of the content, and a refusal beside it.
fn edit_content(editing: &Editing<'_>, patches: &mut Vec<Patch>) {
    let (bytes, span) = (editing.bytes, &editing.span);
    let blocks = array_at(bytes, span, &["content"]);
    let mut gone = vec![false; blocks.as_ref().map_or(0, Vec::len)];
    for (part, fate) in editing
        .parts
        .iter()
        .filter(|(part, _)| !is_call(part) && !is_thinking(part))
    {
        let block = part.block as usize;
        let fate = fate.or_gone();
        if let Some(place) = blocks.as_ref().and_then(|blocks| blocks.get(block)) {
            match fate {
                Fate::Kept => {}
                Fate::Gone => gone[block] = true,
                Fate::Replaced(text) => patches.push((place.clone(), text_block(text))),
            }
        } else {
            let key = if block == 0 { "content" } else { "refusal" };
            let text = match fate {
                Fate::Kept => continue,
                Fate::Gone => b"null".to_vec(),
                Fate::Replaced(text) => quoted(text),
            };
            patches.extend(at_path(bytes, span, &[key]).map(|place| (place, text)));
        }
    }
    match (blocks, at_path(bytes, span, &["content"])) {
        (Some(blocks), Some(content)) if !blocks.is_empty() && gone.iter().all(|g| *g) => {
            patches.retain(|(place, _)| !content.contains(&place.start));
            patches.push((content, b"null".to_vec()));
        }
        (Some(blocks), _) => patches.extend(without(&blocks, &gone)),
        _ => {}
    }
}

fn edit_calls(editing: &Editing<'_>, patches: &mut Vec<Patch>, dropped: &mut Vec<&'static str>) {
    let (bytes, span) = (editing.bytes, &editing.span);
    let listed = array_at(bytes, span, &["tool_calls"]).unwrap_or_default();
    let mut gone = vec![false; listed.len()];
    for (nth, (_, fate)) in editing
        .parts
        .iter()
        .filter(|(part, _)| is_call(part))
        .enumerate()
    {
        let function = match listed.get(nth) {
            Some(call) => ["function", "custom"]
                .iter()
                .find_map(|key| at_path(bytes, call, &[key]))
                .unwrap_or(call.clone()),
            None => at_path(bytes, span, &["function_call"]).unwrap_or_default(),
        };
        match (fate, gone.get_mut(nth)) {
            (Fate::Kept, _) => {}
            (Fate::Gone, Some(gone)) => *gone = true,
            (Fate::Gone, None) => dropped.push("function_call"),
            (Fate::Replaced(text), _) => {
                let place = ["arguments", "input"]
                    .iter()
                    .find_map(|key| at_path(bytes, &function, &[key]));
                patches.extend(place.map(|place| (place, quoted(text))));
            }
        }
    }
    if !listed.is_empty() && gone.iter().all(|g| *g) {
        dropped.push("tool_calls");
    } else {
        patches.extend(without(&listed, &gone));
    }
}

/// What a turn holds, sorted by how it is written.
#[derive(Default)]
struct Sorted {
    said: Vec<Value>,
    calls: Vec<Value>,
    results: Vec<Value>,
    /// Images of the results, which a result cannot hold.
    shown: Vec<Value>,
}

impl Sorted {
    fn of(blocks: Vec<Block>, tools: &mut Vec<Value>) -> Self {
        let mut sorted = Self::default();
        for block in blocks {
            match block {
                Block::Text(text) => sorted.said.push(text_value(&text)),
                Block::Native(value) => sorted.said.push(text_value(&value.to_string())),
                Block::Thinking(_) => {}
                Block::Tool(tool) => tools.push(function(&tool)),
                Block::Media(media) => sorted.said.push(media_value(media)),
                Block::Call {
                    call,
                    tool,
                    arguments,
                } => {
                    let function = json!({"name": tool, "arguments": arguments});
                    sorted
                        .calls
                        .push(json!({"id": call, "type": "function", "function": function}));
                }
                Block::Result {
                    call, text, media, ..
                } => {
                    sorted
                        .results
                        .push(json!({"role": "tool", "tool_call_id": call, "content": text}));
                    sorted
                        .shown
                        .extend(media.into_iter().filter_map(shown_value));
                }
            }
        }
        sorted
    }
}

/// Tools and messages of another format's conversation.
fn messages(turns: Vec<Turn>) -> (Vec<Value>, Lines) {
    let (mut tools, mut out) = (Vec::new(), Lines::default());
    // Images of results wait until the last result in a row is written: results must follow their calls.
    let mut shown: Vec<Value> = Vec::new();
    for turn in turns {
        let mut sorted = Sorted::of(turn.blocks, &mut tools);
        sorted.results.iter().for_each(|result| out.push(result));
        shown.append(&mut sorted.shown);
        if sorted.said.is_empty() && sorted.calls.is_empty() {
            continue;
        }
        if matches!(turn.role, Role::User | Role::Tool) {
            shown.append(&mut sorted.said);
            flush(&mut shown, &mut out);
        } else {
            flush(&mut shown, &mut out);
            out.push(&message(turn.role, sorted.said, sorted.calls));
        }
    }
    flush(&mut shown, &mut out);
    (tools, out)
}

/// Writes what waits as a user's message.
fn flush(shown: &mut Vec<Value>, out: &mut Lines) {
    if !shown.is_empty() {
        out.push(&message(Role::User, std::mem::take(shown), Vec::new()));
    }
}

fn message(role: Role, said: Vec<Value>, calls: Vec<Value>) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), role.name().into());
    let only_text = if let [only] = &said[..] {
        only.get("text").cloned()
    } else {
        None
    };
    let content = only_text.unwrap_or_else(|| {
        if said.is_empty() {
            Value::Null
        } else {
            Value::from(said)
        }
    });
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    message.into()
}

fn text_value(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn shown_value(block: Block) -> Option<Value> {
    match block {
        Block::Media(media) => Some(media_value(media)),
        Block::Text(text) => Some(text_value(&text)),
        _ => None,
    }
}

fn media_value(media: Media) -> Value {
    let left_out = text_value(&media.left_out());
    match (media.kind, media.held) {
        (MediaKind::Image, held) => held.url().map_or(
            left_out,
            |url| json!({"type": "image_url", "image_url": {"url": url}}),
        ),
        (MediaKind::Audio, Held::Base64 { mime, data }) => {
            let format = mime.rsplit('/').next().unwrap_or_default();
            json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
        }
        (MediaKind::Document, Held::File(id)) => json!({"type": "file", "file": {"file_id": id}}),
        (MediaKind::Document, held @ Held::Base64 { .. }) => held.url().map_or(
            left_out,
            |url| json!({"type": "file", "file": {"filename": "document.pdf", "file_data": url}}),
        ),
        _ => left_out,
    }
}

/// A tool in the words of this interface.
fn function(tool: &Value) -> Value {
    if tool.get("function").is_some() {
        return tool.clone();
    }
    let (name, description, schema) = definition(tool);
    let mut function = Map::from_iter([("name".to_owned(), Value::from(name))]);
    function.extend(description.map(|text| ("description".to_owned(), text)));
    function.insert("parameters".to_owned(), schema);
    json!({"type": "function", "function": function})
}
