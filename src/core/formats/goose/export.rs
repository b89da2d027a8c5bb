//! Writes a managed conversation: into its document, or as lines after the head.
//!
//! Kept messages keep their content byte for byte. Messages that a compaction hid from the model or the user become
//! visible to both, because the new file holds the context only. Of two consecutive answers, the second is marked as a
//! new one.

use super::{BEGINS, FORMAT};
use crate::formats::editing::{
    self, Editing, Framing, OutputRecord, PartChange, Patch, array_at, at_path, is_whole,
    json_string, output_records, patched, with_member, without_elements,
};
use crate::formats::mark::MARK;
use crate::formats::{CannotExport, json, jsonl};
use crate::json::{Value, json};
use crate::progress::Progress;
use crate::session::{Body, Managed, Part, Role, Session, Span};

/// Writes a managed conversation.
pub(super) fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    let bytes: &[u8] = &session.source.bytes.whole();
    if is_whole(session, managed, &FORMAT) {
        return Ok(bytes.to_vec());
    }
    let records = records(session, managed);
    let whole = json::document_span(bytes);
    let list = json::member(bytes, &whole, "conversation");
    if let Some(list) = list.filter(|_| json::is_one_value(&bytes[whole.clone()])) {
        let text = [b"[\n    ", &records.join(&b",\n    "[..])[..], b"\n  ]"].concat();
        let count = counted(bytes, &whole, records.len());
        let patches = count.into_iter().chain([(list, text)]);
        return Ok(patched(bytes, &(0..bytes.len()), patches.collect()));
    }
    let mut out = Vec::with_capacity(bytes.len());
    for head in heads(bytes)? {
        let count = counted(bytes, &head, records.len());
        out.extend_from_slice(&patched(bytes, &head, count.into_iter().collect()));
        out.push(b'\n');
    }
    for record in &records {
        out.extend_from_slice(record);
        out.push(b'\n');
    }
    Ok(out)
}

/// Returns the byte range of a record's content, which a managed conversation keeps verbatim.
pub(super) fn kept(record: &[u8]) -> Vec<Span> {
    let whole = 0..record.len();
    vec![json::member(record, &whole, "content").unwrap_or(whole)]
}

/// Returns a patch for the number of messages, if the file records it.
fn counted(bytes: &[u8], head: &Span, messages: usize) -> Option<Patch> {
    let place = json::member(bytes, head, "message_count")?;
    Some((place, messages.to_string().into_bytes()))
}

/// Returns the lines with session data instead of messages.
fn heads(bytes: &[u8]) -> Result<Vec<Span>, CannotExport> {
    let is_head = |value: &Value| value.is_object() && value.get("role").is_none();
    let head = |record: jsonl::Record| is_head(&record.value).then_some(record.span);
    let found = jsonl::map_records(bytes, &Progress::default(), 1, &mut Vec::new(), head);
    let found = found.map_err(|cancelled| CannotExport { reason: cancelled.to_string() })?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the messages of the new file, in order.
fn records(session: &Session, managed: &Managed) -> Vec<Vec<u8>> {
    let left = output_records(session, managed, edit);
    // The previous answer, with its message index in the session.
    let mut answer: Option<Option<usize>> = None;
    let mut time = left.iter().find_map(|item| match item {
        OutputRecord::Existing { text, .. } => created(text),
        OutputRecord::Added { .. } => None,
    });
    let mut records = Vec::with_capacity(left.len());
    for item in left {
        match item {
            OutputRecord::Existing { text, message } => {
                let is_answer = session.messages[message].role == Role::Assistant;
                let begins = is_answer && answer.is_some_and(|before| before != Some(message));
                answer = is_answer.then_some(Some(message));
                time = created(&text).or(time);
                records.push(visible(&text, begins));
            }
            OutputRecord::Added { role, text } => {
                let begins = role == Role::Assistant && answer.is_some();
                answer = (role == Role::Assistant).then_some(None);
                records.push(visible(&written(role, text, time.as_ref()), begins));
            }
        }
    }
    records
}

/// Returns the time at which a message was written.
fn created(record: &[u8]) -> Option<Value> {
    let place = json::member(record, &(0..record.len()), "created")?;
    json::parse_span(record, &place)
}

/// Returns a new message.
fn written(role: Role, text: &str, time: Option<&Value>) -> Vec<u8> {
    let role = if role == Role::Assistant { role } else { Role::User };
    let content = json!([{"type": "text", "text": text}]);
    let message =
        json!({"role": role.name(), "created": time.unwrap_or(&0.into()), "content": content});
    message.to_string().into_bytes()
}

/// Returns the record as visible to all. An answer directly after another one is marked as a new one.
fn visible(record: &[u8], begins: bool) -> Vec<u8> {
    let whole = 0..record.len();
    let is_hidden = |place: &Span| bytes_are(record, place, "false");
    let flags = ["userVisible", "agentVisible"].iter();
    let hidden =
        flags.filter_map(|flag| at_path(record, &whole, &["metadata", *flag]).filter(is_hidden));
    let mut patches: Vec<Patch> = hidden.map(|place| (place, b"true".to_vec())).collect();
    let mark = json!({BEGINS: begins}).to_string().into_bytes();
    match json::member(record, &whole, MARK) {
        Some(old) => patches.push((old, mark)),
        None if begins => patches.push(with_member(record, &whole, MARK, &mark)),
        None => {}
    }
    patched(record, &whole, patches)
}

fn bytes_are(bytes: &[u8], place: &Span, text: &str) -> bool {
    bytes.get(place.clone()) == Some(text.as_bytes())
}

/// Returns a record with its edited parts, or `None` if no part is left.
fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let (bytes, span) = (editing.bytes, &editing.span);
    let blocks = array_at(bytes, span, &["content"])?;
    let mut removed = vec![false; blocks.len()];
    let mut patches = Vec::new();
    for (idx, block) in blocks.iter().enumerate() {
        let held: Vec<(&Part, PartChange<'_>)> =
            editing.parts.iter().filter(|(part, _)| part.block as usize == idx).copied().collect();
        match block_patches(bytes, block, &held) {
            Some(more) => patches.extend(more),
            None => removed[idx] = true,
        }
    }
    patches.extend(without_elements(&blocks, &removed));
    Some(patched(bytes, span, patches))
}

/// Returns the patches for one block, or `None` if it is removed. Calls and answers are wrapped in a result object.
fn block_patches(
    bytes: &[u8],
    block: &Span,
    held: &[(&Part, PartChange<'_>)],
) -> Option<Vec<Patch>> {
    let inner = |path: &[&str]| at_path(bytes, block, path);
    match held.first() {
        Some((part, PartChange::Replaced(text))) if matches!(part.body, Body::ToolCall { .. }) => {
            let call = inner(&["toolCall", "value"]).or_else(|| inner(&["toolCall"]));
            Some(call.map_or_else(Vec::new, |call| editing::arguments(bytes, &call, text)))
        }
        Some((part, change)) if matches!(part.body, Body::ToolResult { .. }) => {
            let nested: Vec<PartChange<'_>> = held[1..].iter().map(|(_, change)| *change).collect();
            answer(bytes, &inner(&["toolResult"])?, *change, &nested)
        }
        _ => editing::block_patches(bytes, block, held),
    }
}

/// Notation of a text in MCP results.
const FRAMING: Framing = Framing {
    whole: |text| json!([{"type": "text", "text": text}]),
    block: |text| json!({"type": "text", "text": text}),
};

/// Returns the patches for a tool's output or its error, or `None` if it is removed.
fn answer(
    bytes: &[u8],
    result: &Span,
    change: PartChange<'_>,
    nested: &[PartChange<'_>],
) -> Option<Vec<Patch>> {
    let text = match change {
        PartChange::Removed => return None,
        PartChange::Kept if nested.iter().all(|change| *change == PartChange::Kept) => {
            return Some(Vec::new());
        }
        PartChange::Kept => None,
        PartChange::Replaced(text) => Some(text),
    };
    let member = |key| {
        let place = json::member(bytes, result, key)?;
        (!bytes_are(bytes, &place, "null")).then_some(place)
    };
    Some(match (member("value"), member("error"), text) {
        (None, Some(error), Some(text)) => vec![(error, json_string(text))],
        (value, _, _) => {
            let place = value.unwrap_or_else(|| result.clone());
            editing::answer_patches(bytes, &place, text, nested, Some(FRAMING))
        }
    })
}
