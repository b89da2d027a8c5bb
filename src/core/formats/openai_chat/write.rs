//! Writes messages: edited ones, and whole conversations of other formats.

use crate::formats::content::{Media, MediaSource};
use crate::formats::editing::{
    Editing, PartChange, Patch, array_at, at_path, json_string, patched, text_block, with_member,
    without_elements, without_members,
};
use crate::formats::message_list::{
    Lines, PlainBlock, PlainMessage, definition, document, plain_messages,
};
use crate::json::{Map, Value, json};
use crate::session::{Body, Managed, MediaKind, Part, Role, Session};

/// Writes a conversation of another format as a request.
pub(super) fn request(session: &Session, managed: &Managed) -> Vec<u8> {
    let (tools, messages) = messages(plain_messages(session, managed));
    let mut members = Vec::new();
    if let Some(model) = session.models.last() {
        members.push(("model", Value::from(model.as_str())));
    }
    if !tools.is_empty() {
        members.push(("tools", Value::from(tools)));
    }
    document(&members, messages)
}

/// Creates a message that Plimsoll adds.
pub(crate) fn written(role: Role, text: &str) -> Value {
    let role = if role == Role::Tool { Role::User } else { role };
    json!({"role": role.name(), "content": text})
}

/// Creates a result that Plimsoll adds.
pub(crate) fn added_result(call: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": call, "content": text})
}

/// Rewrites a message some of whose parts changed.
pub(crate) fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let (bytes, span) = (editing.bytes, &editing.span);
    if let Some(((_, text), nested)) =
        editing.parts.split_first().filter(|((part, _), _)| is_result(part))
    {
        if *text == PartChange::Removed {
            return None;
        }
        let nested: Vec<PartChange<'_>> = nested.iter().map(|(_, change)| *change).collect();
        return Some(patched(bytes, span, editing.result(span, *text, &nested)));
    }
    let mut patches = Vec::new();
    let mut removed_members = Vec::new();
    edit_thinking(editing, &mut patches, &mut removed_members);
    edit_content(editing, &mut patches);
    edit_calls(editing, &mut patches, &mut removed_members);
    patches.extend(without_members(bytes, span, &removed_members));
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

fn edit_thinking(
    editing: &Editing<'_>,
    patches: &mut Vec<Patch>,
    removed_members: &mut Vec<&'static str>,
) {
    let Some((_, change)) = editing.parts.iter().find(|(part, _)| is_thinking(part)) else {
        return;
    };
    let range = |key: &str| at_path(editing.bytes, &editing.span, &[key]);
    match change.or_removed() {
        PartChange::Kept => {}
        PartChange::Removed => removed_members.extend([
            "reasoning_content",
            "reasoning",
            "reasoning_details",
            "thinking_blocks",
        ]),
        PartChange::Replaced(text) => {
            removed_members.extend(["reasoning_details", "thinking_blocks"]);
            let text = json_string(text);
            patches.push(match range("reasoning_content").or_else(|| range("reasoning")) {
                Some(range) => (range, text),
                None => with_member(editing.bytes, &editing.span, "reasoning_content", &text),
            });
        }
    }
}

/// Adds patches for texts and media of the content, and for a refusal.
fn edit_content(editing: &Editing<'_>, patches: &mut Vec<Patch>) {
    let (bytes, span) = (editing.bytes, &editing.span);
    let blocks = array_at(bytes, span, &["content"]);
    let mut removed = vec![false; blocks.as_ref().map_or(0, Vec::len)];
    for (part, change) in
        editing.parts.iter().filter(|(part, _)| !is_call(part) && !is_thinking(part))
    {
        let block = part.block as usize;
        let change = change.or_removed();
        if let Some(range) = blocks.as_ref().and_then(|blocks| blocks.get(block)) {
            match change {
                PartChange::Kept => {}
                PartChange::Removed => removed[block] = true,
                PartChange::Replaced(text) => patches.push((range.clone(), text_block(text))),
            }
        } else {
            let key = if block == 0 { "content" } else { "refusal" };
            let text = match change {
                PartChange::Kept => continue,
                PartChange::Removed => b"null".to_vec(),
                PartChange::Replaced(text) => json_string(text),
            };
            patches.extend(at_path(bytes, span, &[key]).map(|range| (range, text)));
        }
    }
    match (blocks, at_path(bytes, span, &["content"])) {
        (Some(blocks), Some(content)) if !blocks.is_empty() && removed.iter().all(|g| *g) => {
            patches.retain(|(range, _)| !content.contains(&range.start));
            patches.push((content, b"null".to_vec()));
        }
        (Some(blocks), _) => patches.extend(without_elements(&blocks, &removed)),
        _ => {}
    }
}

fn edit_calls(
    editing: &Editing<'_>,
    patches: &mut Vec<Patch>,
    removed_members: &mut Vec<&'static str>,
) {
    let (bytes, span) = (editing.bytes, &editing.span);
    let listed = array_at(bytes, span, &["tool_calls"]).unwrap_or_default();
    let mut removed = vec![false; listed.len()];
    for (nth, (_, change)) in editing.parts.iter().filter(|(part, _)| is_call(part)).enumerate() {
        let function = match listed.get(nth) {
            Some(call) => ["function", "custom"]
                .iter()
                .find_map(|key| at_path(bytes, call, &[key]))
                .unwrap_or(call.clone()),
            None => at_path(bytes, span, &["function_call"]).unwrap_or_default(),
        };
        match (change, removed.get_mut(nth)) {
            (PartChange::Kept, _) => {}
            (PartChange::Removed, Some(removed)) => *removed = true,
            (PartChange::Removed, None) => removed_members.push("function_call"),
            (PartChange::Replaced(text), _) => {
                let range =
                    ["arguments", "input"].iter().find_map(|key| at_path(bytes, &function, &[key]));
                patches.extend(range.map(|range| (range, json_string(text))));
            }
        }
    }
    if !listed.is_empty() && removed.iter().all(|g| *g) {
        removed_members.push("tool_calls");
    } else {
        patches.extend(without_elements(&listed, &removed));
    }
}

/// The blocks of a message, by the way they are written.
#[derive(Default)]
struct SortedBlocks {
    content: Vec<Value>,
    calls: Vec<Value>,
    results: Vec<Value>,
    /// Media of the results, which a result cannot contain.
    result_media: Vec<Value>,
}

impl SortedBlocks {
    fn of(blocks: Vec<PlainBlock>, tools: &mut Vec<Value>) -> Self {
        let mut sorted = Self::default();
        for block in blocks {
            match block {
                PlainBlock::Text(text) => sorted.content.push(text_value(&text)),
                PlainBlock::Native(value) => sorted.content.push(text_value(&value.to_string())),
                PlainBlock::Thinking(_) => {}
                PlainBlock::Tool(tool) => tools.push(function(&tool)),
                PlainBlock::Media(media) => sorted.content.push(media_value(media)),
                PlainBlock::Call { call, tool, arguments } => {
                    let function = json!({"name": tool, "arguments": arguments});
                    sorted
                        .calls
                        .push(json!({"id": call, "type": "function", "function": function}));
                }
                PlainBlock::Result { call, text, media, .. } => {
                    sorted
                        .results
                        .push(json!({"role": "tool", "tool_call_id": call, "content": text}));
                    sorted.result_media.extend(media.into_iter().filter_map(media_or_text));
                }
            }
        }
        sorted
    }
}

/// Converts the tools and messages of another format.
fn messages(conversation: Vec<PlainMessage>) -> (Vec<Value>, Lines) {
    let (mut tools, mut out) = (Vec::new(), Lines::default());
    // Media of results follow the last of several results, because results must directly follow their calls.
    let mut pending_media: Vec<Value> = Vec::new();
    for plain in conversation {
        let mut sorted = SortedBlocks::of(plain.blocks, &mut tools);
        sorted.results.iter().for_each(|result| out.push(result));
        pending_media.append(&mut sorted.result_media);
        if sorted.content.is_empty() && sorted.calls.is_empty() {
            continue;
        }
        if matches!(plain.role, Role::User | Role::Tool) {
            pending_media.append(&mut sorted.content);
            flush(&mut pending_media, &mut out);
        } else {
            flush(&mut pending_media, &mut out);
            out.push(&message(plain.role, sorted.content, sorted.calls));
        }
    }
    flush(&mut pending_media, &mut out);
    (tools, out)
}

/// Writes pending media as a user message.
fn flush(pending_media: &mut Vec<Value>, out: &mut Lines) {
    if !pending_media.is_empty() {
        out.push(&message(Role::User, std::mem::take(pending_media), Vec::new()));
    }
}

fn message(role: Role, content: Vec<Value>, calls: Vec<Value>) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), role.name().into());
    let only_text = if let [only] = &content[..] { only.get("text").cloned() } else { None };
    let content = only_text
        .unwrap_or_else(|| if content.is_empty() { Value::Null } else { Value::from(content) });
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    message.into()
}

fn text_value(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn media_or_text(block: PlainBlock) -> Option<Value> {
    match block {
        PlainBlock::Media(media) => Some(media_value(media)),
        PlainBlock::Text(text) => Some(text_value(&text)),
        _ => None,
    }
}

fn media_value(media: Media) -> Value {
    let replacement = text_value(&media.placeholder());
    match (media.kind, media.source) {
        (MediaKind::Image, source) => source
            .url()
            .map_or(replacement, |url| json!({"type": "image_url", "image_url": {"url": url}})),
        (MediaKind::Audio, MediaSource::Base64 { mime, data }) => {
            let format = mime.rsplit('/').next().unwrap_or_default();
            json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
        }
        (MediaKind::Document, MediaSource::File(id)) => {
            json!({"type": "file", "file": {"file_id": id}})
        }
        (MediaKind::Document, source @ MediaSource::Base64 { .. }) => source.url().map_or(
            replacement,
            |url| json!({"type": "file", "file": {"filename": "document.pdf", "file_data": url}}),
        ),
        _ => replacement,
    }
}

/// Converts a tool definition to the form of Chat Completions.
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
