//! Writes a managed conversation as a session file: the header and the remaining entries, each naming the previous one.
//!
//! Kept entries are copied byte for byte except for that name. Other branches and compacted entries are left out, so
//! that the new file holds exactly the context.

use super::entry::bare_summary;
use super::{FORMAT, RECORD_IDS};
use crate::formats::editing::{
    self, Editing, Framing, OutputRecord, PartChange, at_path, existing, is_whole, json_string,
    output_records, patched, with_member,
};
use crate::formats::mark::MARK;
use crate::formats::{CannotExport, json, jsonl, mark};
use crate::json::{Value, json};
use crate::progress::Progress;
use crate::session::{Body, Managed, Role, Session, Span};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Writes the conversation.
pub(super) fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    let bytes: &[u8] = &session.source.bytes.whole();
    if is_whole(session, managed, &FORMAT) {
        return Ok(bytes.to_vec());
    }
    let head = head(bytes)?;
    // Version 1 has no tree: entries are in file order and name no previous entry.
    let is_tree = json::member(bytes, &head, "version").is_some();
    let mut out = bytes[head].to_vec();
    out.push(b'\n');
    let mut before: Option<String> = None;
    let records = output_records(session, managed, edit);
    let mut ids = RECORD_IDS.taken(existing(&records));
    for (n, record) in records.into_iter().enumerate() {
        let text = match record {
            OutputRecord::Existing { text, .. } => text.into_owned(),
            OutputRecord::Added { role, text } => {
                let id = ids.free(|more| id_of(text, n as u64 + more));
                entry(written(role, text, &id), is_tree)
            }
        };
        let text = chained(text, before.as_deref());
        before = id(&text).or(before);
        out.extend_from_slice(&text);
        out.push(b'\n');
    }
    // The usage that the kept answers report belongs to contexts that are no longer in the file.
    let data = mark::mark(managed, None);
    let mark = json!({"type": "custom", "customType": MARK, "id": "plimsoll", "parentId": before, "data": data});
    out.extend_from_slice(&entry(mark, is_tree));
    out.push(b'\n');
    Ok(out)
}

/// Returns the spans of an entry that a managed conversation keeps byte for byte: its content, not its parent.
pub(super) fn kept(entry: &[u8]) -> Vec<Span> {
    let whole = 0..entry.len();
    let mut members = ["message", "content", "summary"].iter();
    let found = members.find_map(|key| json::member(entry, &whole, key));
    vec![found.unwrap_or(whole)]
}

/// Returns the span of the header.
fn head(bytes: &[u8]) -> Result<Span, CannotExport> {
    let is_head = |record: jsonl::Record| {
        (json::str_at(&record.value, &["type"]) == Some("session")).then_some(record.span)
    };
    let found = jsonl::map_records(bytes, &Progress::default(), 1, &mut Vec::new(), is_head);
    let found = found.ok().and_then(|all| all.into_iter().flatten().next());
    found.ok_or_else(|| CannotExport {
        reason: "the session's header is missing from its file".to_owned(),
    })
}

/// Returns an id for the entry at an index, in the notation of the program.
fn id_of(text: &str, n: u64) -> String {
    let mut hasher = DefaultHasher::new();
    (text, n).hash(&mut hasher);
    format!("{:08x}", hasher.finish() as u32)
}

/// Creates an entry for a message that Plimsoll adds, in the form that extensions use.
fn written(role: Role, text: &str, id: &str) -> Value {
    if role == Role::Assistant {
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop"});
        json!({"type": "message", "id": id, "parentId": null, "message": message})
    } else {
        json!({"type": "custom_message", "customType": "plimsoll", "id": id, "parentId": null, "content": text, "display": true})
    }
}

/// Serializes an entry that Plimsoll adds.
fn entry(mut entry: Value, is_tree: bool) -> Vec<u8> {
    if let (false, Some(members)) = (is_tree, entry.as_object_mut()) {
        members.shift_remove("id");
        members.shift_remove("parentId");
    }
    entry.to_string().into_bytes()
}

/// Sets the previous entry of an entry. Entries of version 1 name none.
fn chained(text: Vec<u8>, before: Option<&str>) -> Vec<u8> {
    let span = 0..text.len();
    if json::member(&text, &span, "id").is_none() {
        return text;
    }
    let name = before.map_or_else(|| b"null".to_vec(), json_string);
    let patch = match json::member(&text, &span, "parentId") {
        Some(place) => (place, name),
        None => with_member(&text, &span, "parentId", &name),
    };
    patched(&text, &span, vec![patch])
}

fn id(text: &[u8]) -> Option<String> {
    let place = json::member(text, &(0..text.len()), "id")?;
    json::parse_span(text, &place)?.as_str().map(str::to_owned)
}

/// Rewrites an entry some of whose parts changed.
fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let (bytes, span) = (editing.bytes, &editing.span);
    let ((part, change), content) = (editing.parts.first()?, &["message", "content"]);
    if matches!(part.body, Body::ToolResult { .. }) {
        let framing = Framing {
            whole: |text| json!([{"type": "text", "text": text}]),
            block: |text| json!({"type": "text", "text": text}),
        };
        return editing::edit_result(editing, content, framing);
    }
    // The `content` member of a command, if present, is empty.
    if at_path(bytes, span, &["message", "output"]).is_some() {
        return match change.or_removed() {
            PartChange::Removed => None,
            PartChange::Kept => Some(bytes[span.clone()].to_vec()),
            PartChange::Replaced(text) => Some(shell(bytes, span, text)),
        };
    }
    if at_path(bytes, span, content).is_some() {
        return editing::edit(editing, content);
    }
    let paths: [&[&str]; 3] = [&["content"], &["summary"], &["message", "summary"]];
    let found = paths.iter().find(|path| at_path(bytes, span, path).is_some())?;
    if *found == ["content"] {
        return editing::edit(editing, found);
    }
    match change.or_removed() {
        PartChange::Removed => None,
        PartChange::Kept => Some(bytes[span.clone()].to_vec()),
        // Pi would put its words around it.
        PartChange::Replaced(text) if bare_summary(text) == text => Some(shell(bytes, span, text)),
        PartChange::Replaced(text) => {
            let place = at_path(bytes, span, found)?;
            Some(patched(bytes, span, vec![(place, json_string(bare_summary(text)))]))
        }
    }
}

/// Replaces an entry by plain text: a command of the user, whose text consists of several members, or a summary.
fn shell(bytes: &[u8], span: &Span, text: &str) -> Vec<u8> {
    let entry = json::parse_span(bytes, span).unwrap_or_default();
    let member = |key: &str| entry.get(key).cloned().unwrap_or(Value::Null);
    json!({
        "type": "custom_message", "customType": "plimsoll", "id": member("id"), "parentId": member("parentId"),
        "timestamp": member("timestamp"), "content": text, "display": true,
    })
    .to_string()
    .into_bytes()
}
