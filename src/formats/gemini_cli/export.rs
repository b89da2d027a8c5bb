//! Writes a managed conversation: into its document, or as lines of which only the last state is left.
//!
//! Kept messages keep the bytes of their records. In JSON Lines what was replaced, taken back or compacted before is left
//! out once anything changes: reading the file again must not bring it back.

use super::super::content_edit;
use super::super::message_list::{
    Editing, Fate, Left, MARK, Patch, array_at, at_path, is_whole, left, patched, quoted,
    with_member, without,
};
use super::super::{CannotExport, json, jsonl};
use super::FORMAT;
use crate::progress::Progress;
use crate::session::{Body, Managed, Part, Role, Session, Span};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Writes the conversation.
pub(super) fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    let bytes: &[u8] = &session.source.bytes;
    if session.source.format != FORMAT.name {
        let reason = format!("only a {0} can be written as one", FORMAT.label);
        return Err(CannotExport { reason });
    }
    if is_whole(session, managed, &FORMAT) {
        return Ok(bytes.to_vec());
    }
    let records: Vec<Vec<u8>> = left(session, managed, edit).into_iter().map(text).collect();
    let whole = json::document_span(bytes);
    let list = json::member(bytes, &whole, "messages");
    if let Some(list) = list.filter(|_| json::is_one_value(&bytes[whole.clone()])) {
        let lines = records.join(&b",\n    "[..]);
        let text = [b"[\n    ", &lines[..], b"\n  ]"].concat();
        let mark = json!({"managed": true, "messages": records.len()})
            .to_string()
            .into_bytes();
        let mark = match json::member(bytes, &whole, MARK) {
            Some(place) => (place, mark),
            None => with_member(bytes, &whole, MARK, &mark),
        };
        return Ok(patched(bytes, &(0..bytes.len()), vec![mark, (list, text)]));
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
    // What the kept answers report belongs to contexts that the file does not hold any more.
    let mark = json!({"$set": {MARK: {"managed": true}}});
    out.extend_from_slice(mark.to_string().as_bytes());
    out.push(b'\n');
    Ok(out)
}

/// The lines that say something about the session rather than in it.
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
    let found = found.map_err(|cancelled| CannotExport {
        reason: cancelled.to_string(),
    })?;
    Ok(found.into_iter().flatten().collect())
}

fn text(left: Left<'_>) -> Vec<u8> {
    match left {
        Left::Record { text } => one_line(&text),
        Left::Written { role, text } => {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            let id = format!("plimsoll-{:016x}", hasher.finish());
            let kind = if role == Role::Assistant {
                "gemini"
            } else {
                "user"
            };
            let content = json!([{"text": text}]);
            json!({"id": id, "type": kind, "content": content})
                .to_string()
                .into_bytes()
        }
    }
}

/// A record on one line: breaks stand between values only, where they mean nothing.
fn one_line(text: &[u8]) -> Vec<u8> {
    text.iter()
        .map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b })
        .collect()
}

/// A record some of whose parts changed: its content, its calls, and what came of them.
fn edit(editing: &Editing<'_>) -> Option<Vec<u8>> {
    if editing.is_emptied() {
        return None;
    }
    let (bytes, span) = (editing.bytes, &editing.span);
    let listed = array_at(bytes, span, &["toolCalls"]).unwrap_or_default();
    let ids: Vec<Option<Value>> = listed
        .iter()
        .map(|call| json::parse_span(bytes, &json::member(bytes, call, "id")?))
        .collect();
    let place = |part: &Part| {
        let (Body::ToolCall { call, .. }
        | Body::ToolResult { call, .. }
        | Body::Media {
            within: Some(call), ..
        }) = &part.body
        else {
            return None;
        };
        ids.iter()
            .position(|id| id.as_ref().and_then(Value::as_str) == Some(call))
    };
    let content = at_path(bytes, span, &["content"]);
    let in_content = |part: &Part| content_holds(bytes, content.as_ref(), part);
    let mut patches: Vec<Patch> = Vec::new();
    let mut gone = vec![false; listed.len()];
    let mut said = Vec::new();
    for (part, fate) in &editing.parts {
        match place(part).filter(|_| !in_content(part)) {
            Some(at) => gone[at] |= edit_call(bytes, &listed[at], part, *fate, &mut patches),
            None => said.push((*part, *fate)),
        }
    }
    // Patches within a call that goes would stand in its way.
    patches.retain(|(place, _)| {
        !listed
            .iter()
            .zip(&gone)
            .any(|(call, gone)| *gone && call.contains(&place.start))
    });
    patches.extend(without(&listed, &gone));
    if let Some(content) = content.filter(|_| !said.is_empty()) {
        match content_edit::patches(bytes, &content, &said) {
            Some(more) => patches.extend(more),
            None => patches.push((content, quoted(""))),
        }
    }
    Some(patched(bytes, span, patches))
}

/// Whether the content itself holds the call or the result that a part is.
fn content_holds(bytes: &[u8], content: Option<&Span>, part: &Part) -> bool {
    let key = match part.body {
        Body::ToolCall { .. } => "functionCall",
        _ => "functionResponse",
    };
    let blocks = content
        .and_then(|content| json::elements(bytes, content))
        .unwrap_or_default();
    let block = blocks.get(part.block as usize);
    block.is_some_and(|block| json::member(bytes, block, key).is_some())
}

/// Patches for a call or what came of it; whether the call goes.
fn edit_call(
    bytes: &[u8],
    call: &Span,
    part: &Part,
    fate: Fate<'_>,
    patches: &mut Vec<Patch>,
) -> bool {
    match (&part.body, fate) {
        (Body::ToolCall { .. }, Fate::Gone) => return true,
        (Body::ToolCall { .. }, Fate::Replaced(text)) => {
            patches.extend(content_edit::arguments(bytes, call, text));
        }
        (Body::ToolResult { call: id, tool, .. }, Fate::Replaced(text)) => {
            let response = json!({"id": &**id, "name": &**tool, "response": {"output": text}});
            let result = json!([{"functionResponse": response}])
                .to_string()
                .into_bytes();
            patches.extend(json::member(bytes, call, "result").map(|place| (place, result)));
            // A second copy, for the screen.
            patches.extend(
                json::member(bytes, call, "resultDisplay").map(|place| (place, quoted(text))),
            );
        }
        (Body::ToolResult { .. }, Fate::Gone) => {
            patches
                .extend(json::member(bytes, call, "result").map(|place| (place, b"null".to_vec())));
        }
        _ => {}
    }
    false
}
