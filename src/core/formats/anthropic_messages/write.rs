//! Writes edited messages, and whole conversations of other formats.

use crate::formats::content::{Media, MediaSource};
use crate::formats::editing::{
    Editing, PartChange, Patch, array_at, at_path, json_string, patched, text_block,
    without_elements,
};
use crate::formats::message_list::{
    Lines, PlainBlock, PlainMessage, definition, document, plain_messages,
};
use crate::json::{Map, Value, json};
use crate::session::{Body, Managed, MediaKind, Part, Role, Session, Span};

/// Writes a conversation of another format as a request.
pub(super) fn request(session: &Session, managed: &Managed) -> Vec<u8> {
    let request = Request::of(plain_messages(session, managed));
    let mut members = Vec::new();
    if let Some(model) = session.models.last() {
        members.push(("model", Value::from(model.as_str())));
    }
    match &request.system[..] {
        [] => {}
        [only] => members.push(("system", only["text"].clone())),
        _ => members.push(("system", request.system.into())),
    }
    if !request.tools.is_empty() {
        members.push(("tools", request.tools.into()));
    }
    let mut lines = Lines::default();
    for (role, blocks) in request.messages {
        lines.push(&message(role, blocks));
    }
    document(&members, lines)
}

/// Returns a new message. The list only has user and assistant messages.
pub(super) fn written(role: Role, text: &str) -> Value {
    json!({"role": list_role(role).name(), "content": text})
}

/// Creates a result that Plimsoll adds.
pub(super) fn added_result(call: &str, text: &str) -> Value {
    let result =
        json!({"type": "tool_result", "tool_use_id": call, "content": text, "is_error": true});
    json!({"role": "user", "content": [result]})
}

/// Returns a message with its edited parts, or `None` if no part is left.
pub(super) fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let (bytes, span) = (editing.bytes, &editing.span);
    let Some(blocks) = array_at(bytes, span, &["content"]) else {
        let replaced = editing.parts.iter().find_map(|(_, change)| match change {
            PartChange::Replaced(text) => {
                Some((at_path(bytes, span, &["content"])?, json_string(text)))
            }
            _ => None,
        });
        return Some(patched(bytes, span, replaced.into_iter().collect()));
    };
    let mut patches = Vec::new();
    let mut removed = vec![false; blocks.len()];
    for (idx, block) in blocks.iter().enumerate() {
        let mut parts = editing.parts.iter().filter(|(part, _)| part.block as usize == idx);
        if let Some((part, change)) = parts.next() {
            let nested: Vec<PartChange<'_>> = parts.map(|(_, change)| *change).collect();
            removed[idx] = edit_block(editing, block, part, *change, &nested, &mut patches);
        }
    }
    if removed.iter().all(|g| *g) {
        return None;
    }
    patches.extend(without_elements(&blocks, &removed));
    Some(patched(bytes, span, patches))
}

/// Adds the patches for one block. Returns whether the block is removed.
fn edit_block(
    editing: &Editing<'_>,
    block: &Span,
    part: &Part,
    change: PartChange<'_>,
    nested: &[PartChange<'_>],
    patches: &mut Vec<Patch>,
) -> bool {
    let place = |key| at_path(editing.bytes, block, &[key]);
    match (&part.body, change) {
        (_, PartChange::Removed) => return true,
        (Body::ToolResult { .. }, PartChange::Kept)
            if nested.iter().all(|f| *f == PartChange::Kept) => {}
        (Body::ToolResult { .. }, _) => patches.extend(editing.result(block, change, nested)),
        (_, PartChange::Kept) => {}
        (Body::ToolCall { .. }, PartChange::Replaced(text)) => {
            patches
                .extend(place("input").map(|place| (place, input(text).to_string().into_bytes())));
        }
        (_, PartChange::Replaced("")) => return true,
        // Other members of the block (cache_control) stay.
        (Body::Text(_), PartChange::Replaced(text)) => {
            patches.extend(place("text").map(|place| (place, json_string(text))));
        }
        // A signature is valid for its own thought only.
        (_, PartChange::Replaced(text)) => patches.push((block.clone(), text_block(text))),
    }
    false
}

/// Returns a call's arguments as an object.
fn input(arguments: &str) -> Value {
    match crate::json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => value,
        _ if arguments.is_empty() => json!({}),
        _ => json!({"_raw": arguments}),
    }
}

/// Returns the role in the message list: the assistant, or the user for all others.
fn list_role(role: Role) -> Role {
    if role == Role::Assistant { Role::Assistant } else { Role::User }
}

/// A request under construction.
#[derive(Default)]
struct Request {
    system: Vec<Value>,
    tools: Vec<Value>,
    messages: Vec<(Role, Vec<Value>)>,
}

impl Request {
    fn of(turns: Vec<PlainMessage>) -> Self {
        let mut request = Self::default();
        for turn in turns {
            request.add(turn);
        }
        for (_, blocks) in request.messages.iter_mut().filter(|(role, _)| *role == Role::User) {
            // Results come first, because they must follow their calls.
            blocks.sort_by_key(|block| block["type"] != "tool_result");
        }
        request
    }

    fn add(&mut self, turn: PlainMessage) {
        let is_instruction = turn.role == Role::System && self.messages.is_empty();
        let mut others = Vec::new();
        for block in turn.blocks {
            match block {
                PlainBlock::Tool(tool) => self.tools.push(tool_value(tool)),
                PlainBlock::Text(text) if is_instruction => {
                    self.system.push(json!({"type": "text", "text": text}));
                }
                block => others.push(block_value(block)),
            }
        }
        if others.is_empty() {
            return;
        }
        let role = list_role(turn.role);
        match self.messages.last_mut().filter(|(last, _)| *last == role) {
            Some((_, blocks)) => blocks.append(&mut others),
            None => self.messages.push((role, others)),
        }
    }
}

/// Returns a message, with its content as a string if it is a single text.
fn message(role: Role, blocks: Vec<Value>) -> Value {
    let only_text = if let [only] = &blocks[..] { only.get("text").cloned() } else { None };
    json!({"role": role.name(), "content": only_text.unwrap_or_else(|| blocks.into())})
}

fn block_value(block: PlainBlock) -> Value {
    match block {
        PlainBlock::Text(text) => json!({"type": "text", "text": text}),
        PlainBlock::Thinking(value) | PlainBlock::Native(value) | PlainBlock::Tool(value) => value,
        PlainBlock::Media(media) => media_value(media),
        PlainBlock::Call { call, tool, arguments } => {
            json!({"type": "tool_use", "id": call, "name": tool, "input": input(&arguments)})
        }
        PlainBlock::Result { call, is_error, text, media } => {
            let media = media.into_iter().map(block_value).collect();
            result_value(&call, is_error, &text, media)
        }
    }
}

/// Returns a tool result, without content if it is empty.
pub(in crate::formats) fn result_value(
    call: &str,
    is_error: bool,
    text: &str,
    media: Vec<Value>,
) -> Value {
    let mut result = Map::new();
    result.insert("type".to_owned(), "tool_result".into());
    result.insert("tool_use_id".to_owned(), call.into());
    if !media.is_empty() {
        let text = (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
        let content: Vec<Value> = text.into_iter().chain(media).collect();
        result.insert("content".to_owned(), content.into());
    } else if !text.is_empty() {
        result.insert("content".to_owned(), text.into());
    }
    if is_error {
        result.insert("is_error".to_owned(), true.into());
    }
    result.into()
}

pub(in crate::formats) fn media_value(media: Media) -> Value {
    let kind = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        MediaKind::Audio => return json!({"type": "text", "text": media.placeholder()}),
    };
    let source = match media.source {
        MediaSource::Base64 { mime, data } => {
            json!({"type": "base64", "media_type": mime, "data": data})
        }
        MediaSource::Url(url) => json!({"type": "url", "url": url}),
        MediaSource::File(id) => json!({"type": "file", "file_id": id}),
    };
    json!({"type": kind, "source": source})
}

/// Returns a tool definition in the notation of this API.
fn tool_value(tool: Value) -> Value {
    if tool.get("input_schema").is_some() {
        return tool;
    }
    let (name, description, schema) = definition(&tool);
    let mut out = Map::from_iter([("name".to_owned(), Value::from(name))]);
    out.extend(description.map(|text| ("description".to_owned(), text)));
    out.insert("input_schema".to_owned(), schema);
    out.into()
}
