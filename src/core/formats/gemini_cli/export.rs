//! Writes a managed conversation: into its document, or as lines with the final state only.
//!
//! Kept messages keep the bytes of their records. In JSON Lines, replaced, rewound and previously compacted messages
//! are left out if anything changed, because reading the file again would restore them.

use super::{FORMAT, RECORD_IDS};
use crate::formats::editing::{
    self, Editing, OutputRecord, PartChange, Patch, array_at, at_path, existing, is_whole,
    json_string, output_records, patched, with_member, without_elements,
};
use crate::formats::mark::MARK;
use crate::formats::record_ids::TakenIds;
use crate::formats::{CannotExport, json, jsonl, mark};
use crate::json::json;
use crate::progress::Progress;
use crate::session::{Body, Managed, Part, Role, Session, Span};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Writes a managed conversation.
pub(super) fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    let bytes: &[u8] = &session.source.bytes.whole();
    if is_whole(session, managed, &FORMAT) {
        return Ok(bytes.to_vec());
    }
    let records = output_records(session, managed, edit);
    let mut ids = RECORD_IDS.taken(existing(&records));
    let records = records.into_iter();
    let mut records: Vec<Vec<u8>> = records.map(|record| text(record, &mut ids)).collect();
    make_ids_unique(&mut records, &mut ids);
    let whole = json::document_span(bytes);
    let list = json::member(bytes, &whole, "messages");
    if let Some(list) = list.filter(|_| json::is_one_value(&bytes[whole.clone()])) {
        let lines = records.join(&b",\n    "[..]);
        let text = [b"[\n    ", &lines[..], b"\n  ]"].concat();
        let mark = mark::mark(managed, Some(records.len()));
        let mark = mark.to_string().into_bytes();
        let mark = match json::member(bytes, &whole, MARK) {
            Some(place) => (place, mark),
            None => with_member(bytes, &whole, MARK, &mark),
        };
        return Ok(patched(bytes, &(0..bytes.len()), vec![mark, (list, text)]));
    }
    for record in &mut records {
        one_line(record);
    }
    let mut out = Vec::with_capacity(bytes.len());
    for line in heads(bytes)?
        .iter()
        .map(|span| &bytes[span.clone()])
        .chain(records.iter().map(Vec::as_slice))
    {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    // The kept answers report contexts that the file no longer holds.
    let mark = json!({"$set": {MARK: mark::mark(managed, None)}});
    out.extend_from_slice(mark.to_string().as_bytes());
    out.push(b'\n');
    Ok(out)
}

/// Returns the spans of a record that a managed conversation keeps byte for byte: all of it but its id.
pub(super) fn kept(record: &[u8]) -> Vec<Span> {
    let whole = 0..record.len();
    match json::member(record, &whole, "id") {
        Some(id) => vec![0..id.start, id.end..record.len()],
        None => vec![whole],
    }
}

/// Gives each further record of an id another one: a program that resumes a session states messages again under their ids,
/// and a line replaces the one before with its id.
fn make_ids_unique(records: &mut [Vec<u8>], ids: &mut TakenIds) {
    let mut seen = HashSet::new();
    for record in records {
        let span = 0..record.len();
        let Some(old) = id(record, &span).filter(|id| !seen.insert(id.clone())) else {
            continue;
        };
        if let Some(place) = json::member(record, &span, "id") {
            let new = ids.free(|n| format!("{old}-{}", n + 2));
            *record = patched(record, &span, vec![(place, json_string(&new))]);
        }
    }
}

/// Returns the lines with session data instead of messages.
fn heads(bytes: &[u8]) -> Result<Vec<Span>, CannotExport> {
    let head = |record: jsonl::Record| {
        let value = &record.value;
        let is_head = value.get("$set").map_or_else(
            || value.get("sessionId").is_some() && value.get("id").is_none(),
            |set| set.get("messages").is_none() && set.get(MARK).is_none(),
        );
        is_head.then_some(record.span)
    };
    let found = jsonl::map_records(bytes, &Progress::default(), 1, &mut Vec::new(), head);
    let found = found.map_err(|cancelled| CannotExport { reason: cancelled.to_string() })?;
    Ok(found.into_iter().flatten().collect())
}

fn text(left: OutputRecord<'_>, ids: &mut TakenIds) -> Vec<u8> {
    match left {
        OutputRecord::Existing { text, .. } => text.into_owned(),
        OutputRecord::Added { role, text } => {
            let id = ids.free(|n| {
                let mut hasher = DefaultHasher::new();
                text.hash(&mut hasher);
                format!("plimsoll-{:016x}", hasher.finish().wrapping_add(n))
            });
            let kind = if role == Role::Assistant { "gemini" } else { "user" };
            let content = json!([{"text": text}]);
            json!({"id": id, "type": kind, "content": content}).to_string().into_bytes()
        }
    }
}

/// Puts a record on one line. Line breaks only occur between values, where spaces are equivalent.
fn one_line(text: &mut [u8]) {
    for byte in text.iter_mut().filter(|b| matches!(b, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

/// Returns a record with its edited content, calls and results, or `None` if no part is left.
fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let (bytes, span) = (editing.bytes, &editing.span);
    let listed = array_at(bytes, span, &["toolCalls"]).unwrap_or_default();
    let content = at_path(bytes, span, &["content"]);
    let place = |part: &Part| {
        let at = call_of(part).and_then(|call| {
            let is_it = |place: &Span| id(bytes, place).as_deref() == Some(call);
            listed.iter().position(is_it)
        });
        at.filter(|_| !content_holds(bytes, content.as_ref(), part))
    };
    let mut of_calls: Vec<Vec<(&Part, PartChange<'_>)>> = vec![Vec::new(); listed.len()];
    let mut of_content = Vec::new();
    for (part, change) in &editing.parts {
        let list = place(part).and_then(|at| of_calls.get_mut(at));
        list.unwrap_or(&mut of_content).push((*part, *change));
    }
    let mut patches: Vec<Patch> = Vec::new();
    let mut removed = vec![false; listed.len()];
    for ((call, parts), removed) in listed.iter().zip(&of_calls).zip(&mut removed) {
        match call_patches(bytes, call, parts) {
            Some(more) => patches.extend(more),
            None => *removed = true,
        }
    }
    patches.extend(without_elements(&listed, &removed));
    if let Some(content) = content.filter(|_| !of_content.is_empty()) {
        match editing::patches(bytes, &content, &of_content) {
            Some(more) => patches.extend(more),
            None => patches.push((content, json_string(""))),
        }
    }
    Some(patched(bytes, span, patches))
}

/// Returns the call that a part is, or whose result it belongs to.
fn call_of(part: &Part) -> Option<&str> {
    match &part.body {
        Body::ToolCall { call, .. }
        | Body::ToolResult { call, .. }
        | Body::Media { within: Some(call), .. } => Some(call),
        _ => None,
    }
}

fn id(bytes: &[u8], call: &Span) -> Option<String> {
    let id = json::parse_span(bytes, &json::member(bytes, call, "id")?)?;
    id.as_str().map(str::to_owned)
}

/// Returns whether the content itself contains the part's call or result.
fn content_holds(bytes: &[u8], content: Option<&Span>, part: &Part) -> bool {
    let key = match part.body {
        Body::ToolCall { .. } => "functionCall",
        _ => "functionResponse",
    };
    let blocks = content.and_then(|content| json::elements(bytes, content)).unwrap_or_default();
    let block = blocks.get(part.block as usize);
    block.is_some_and(|block| json::member(bytes, block, key).is_some())
}

/// Returns the patches for a call and its result, or `None` if the call is removed.
fn call_patches(
    bytes: &[u8],
    call: &Span,
    parts: &[(&Part, PartChange<'_>)],
) -> Option<Vec<Patch>> {
    let mut patches: Vec<Patch> = Vec::new();
    let (mut answer, mut inside) = (None, Vec::new());
    for (part, change) in parts {
        match (&part.body, change) {
            (Body::ToolCall { .. }, PartChange::Removed) => return None,
            (Body::ToolCall { .. }, PartChange::Replaced(text)) => {
                patches.extend(editing::arguments(bytes, call, text));
            }
            (Body::ToolResult { tool, .. }, change) => answer = Some((&**tool, *change)),
            (Body::Media { .. }, change) => inside.push(*change),
            _ => {}
        }
    }
    let place = json::member(bytes, call, "result");
    if let (Some((tool, change)), Some(place)) = (answer, place) {
        if change != PartChange::Kept || inside.iter().any(|change| *change != PartChange::Kept) {
            let result = result(bytes, &place, (call, tool), change, &inside);
            patches.push((place, result));
        }
        // The second copy of the result, for display.
        if let (PartChange::Replaced(text), Some(shown)) =
            (change, json::member(bytes, call, "resultDisplay"))
        {
            patches.push((shown, json_string(text)));
        }
    }
    Some(patches)
}

/// Returns the new result of a call: its text and its remaining images.
fn result(
    bytes: &[u8],
    place: &Span,
    (call, tool): (&Span, &str),
    change: PartChange<'_>,
    inside: &[PartChange<'_>],
) -> Vec<u8> {
    let mut inside = inside.iter();
    let mut left: Vec<Vec<u8>> = Vec::new();
    if let PartChange::Replaced(text) = change {
        let response = json!({"id": id(bytes, call), "name": tool, "response": {"output": text}});
        left.push(json!({"functionResponse": response}).to_string().into_bytes());
    }
    for block in json::elements(bytes, place).unwrap_or_default() {
        let as_it_is = bytes[block.clone()].to_vec();
        let is_answer = json::member(bytes, &block, "functionResponse").is_some()
            || json::member(bytes, &block, "text").is_some();
        match (is_answer, change) {
            (true, PartChange::Kept) => left.push(as_it_is),
            (true, _) => {}
            (false, _) => match inside.next() {
                Some(PartChange::Replaced(text)) => {
                    left.push(json!({"text": text}).to_string().into_bytes());
                }
                Some(PartChange::Removed) => {}
                Some(PartChange::Kept) | None => left.push(as_it_is),
            },
        }
    }
    if left.is_empty() {
        return b"null".to_vec();
    }
    [&b"["[..], &left.join(&b", "[..]), &b"]"[..]].concat()
}
