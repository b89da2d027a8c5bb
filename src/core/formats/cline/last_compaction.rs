//! The last compaction of a session of Cline's core, `ID.compaction.json` next to `ID.messages.json`.
//!
//! - The messages are the whole history. From `source_message_count` messages on, the program sends the messages of the
//!   compaction in their place.
//! - The next compaction overwrites the file. The contexts between an earlier and the last compaction are not recorded.

use super::message;
use crate::formats::folder::FolderFile;
use crate::formats::read_log::ReadLog;
use crate::formats::rows::{self, Row};
use crate::formats::{counts, json};
use crate::progress::{Cancelled, Progress};
use crate::session::{
    Body, Draft, MAX_KEPT, Managed, ManagedEntry, ManagedPart, Message, Part, RecordedCompaction,
    Role, Session, WrittenKind,
};
use crate::units::Tokens;
use std::borrow::Cow;
use std::collections::HashMap;

/// End of the name of the file with the history.
const HISTORY: &str = ".messages.json";
/// End of the name of the file with the last compaction.
const COMPACTION: &str = ".compaction.json";
/// Member of the combined document with the last compaction.
const MEMBER: &str = "compaction.json";
/// Member with the number of messages that the compaction replaces.
const COUNT: &str = "source_message_count";
/// Characters per token in the largest estimate of a history that cannot exceed the program's own.
// Measured: the program's estimates are about 1 token for 3 characters of JSON.
const CHARS_PER_TOKEN: usize = 4;

/// Combines the files of a session: the document of the history with the compaction as its last member.
pub(super) fn combined(files: &[FolderFile]) -> Option<Vec<u8>> {
    let named = |end: &str| files.iter().find(|file| file.file_name().ends_with(end));
    let history = named(HISTORY)?;
    let Some(compaction) = named(COMPACTION) else {
        return Some(history.bytes.clone());
    };
    let state = json::document_span(&compaction.bytes);
    json::member(&compaction.bytes, &state, COUNT)?;
    let span = json::document_span(&history.bytes);
    json::member(&history.bytes, &span, "messages")?;
    let text = history.bytes[span].trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let mut document = text.to_vec();
    document.extend_from_slice(format!(",\n\"{MEMBER}\": ").as_bytes());
    document.extend_from_slice(&compaction.value());
    document.extend_from_slice(b"\n}\n");
    Some(document)
}

/// Removes the compaction from a combined document.
pub(super) fn removed(document: Vec<u8>) -> Vec<u8> {
    let whole = json::document_span(&document);
    let Some(span) = json::member(&document, &whole, MEMBER) else {
        return document;
    };
    let comma = document[..span.start].iter().rposition(|byte| *byte == b',');
    let start = comma.unwrap_or(span.start);
    [&document[..start], &document[span.end..]].concat()
}

/// Returns whether a document holds a compaction.
pub(super) fn is_in(document: &[u8]) -> bool {
    json::member(document, &json::document_span(document), MEMBER).is_some()
}

/// Returns the conversation with messages that only the compaction holds as messages to be added to the history.
pub(super) fn with_texts<'a>(session: &Session, managed: &'a Managed) -> Cow<'a, Managed> {
    let added = |message: usize| {
        let message = session.messages.get(message)?;
        (!message.in_history).then_some(message)
    };
    let body = |part: usize| session.parts.get(part).map(|part| part.body.text());
    let remaining = |part: &ManagedPart| match part {
        ManagedPart::Kept { part } => body(*part).map(str::to_owned),
        ManagedPart::Replaced { text, .. } => Some(text.clone()),
    };
    let text_of = |entry: &ManagedEntry| -> Option<(usize, String)> {
        let (ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. }) = entry else {
            return None;
        };
        let kept = added(*message)?.parts.clone().filter_map(body).map(str::to_owned);
        let texts: Vec<String> = match entry {
            ManagedEntry::Edited { parts, .. } => parts.iter().filter_map(remaining).collect(),
            _ => kept.collect(),
        };
        Some((*message, texts.join("\n")))
    };
    if !managed.entries.iter().any(|entry| text_of(entry).is_some()) {
        return Cow::Borrowed(managed);
    }
    let mut managed = managed.clone();
    for entry in &mut managed.entries {
        if let Some((message, text)) = text_of(entry) {
            *entry = ManagedEntry::Written {
                role: session.messages[message].role,
                text,
                kind: WrittenKind::Summary,
                joins_next: false,
                answers: None,
                before_message: message,
            };
        }
    }
    Cow::Owned(managed)
}

/// Adds the compaction of a combined document to its session.
pub(super) fn apply(
    session: &mut Session,
    progress: &Progress,
    log: &mut ReadLog,
) -> Result<(), Cancelled> {
    let bytes = session.source.bytes.whole();
    let whole = json::document_span(&bytes);
    let Some(state) = json::member(&bytes, &whole, MEMBER) else {
        return Ok(());
    };
    let around = rows::members_except(&bytes, &state, &["messages"]);
    let listed = json::member(&bytes, &whole, "messages");
    let history = listed.and_then(|list| json::elements(&bytes, &list)).unwrap_or_default();
    let count = json::u64_at(&around, &[COUNT]).and_then(|count| usize::try_from(count).ok());
    let Some(count) = count.filter(|count| *count <= history.len()) else {
        log.notes.add(state.start, "the last compaction does not belong to these messages");
        return Ok(());
    };
    let end = history.get(count).map_or(usize::MAX, |span| span.start);
    let is_later = |m: &Message| m.raw.first().is_some_and(|span| span.start >= end);
    let at = session.messages.iter().position(is_later).unwrap_or(session.messages.len());
    let rows = rows::rows_at(&bytes, &state, &["messages"], progress, &mut log.notes)?;
    let before =
        rows.iter().find_map(|row| counts::tokens_at(&row.value, &["metadata", "tokensBefore"]));
    let before = log.notes.tokens(state.start, before, "a count of this compaction");
    let (kept, added) = new_context(session, at, &rows, log);
    if kept.len() > MAX_KEPT {
        return Ok(());
    }
    let n_added = added.len();
    insert(session, at, added);
    let before_message = at + n_added;
    let is_after = |call: &crate::session::Call| call.context_end >= before_message;
    let call = session.calls.iter().position(is_after).unwrap_or(session.calls.len());
    if is_shorter(session, at, before) && call > 1 {
        let text = format!(
            "the file keeps only the last compaction, and an earlier one took place: the contexts of calls 2 to {call} are not known"
        );
        log.notes.add(state.start, text);
    }
    session.compactions.push(RecordedCompaction {
        before_message,
        call,
        trigger: String::new(),
        tokens_before: before,
        tokens_after: None,
        request: None,
        kept,
    });
    Ok(())
}

/// Returns the messages of the context after the compaction, and those of them that the history does not hold. They are
/// inserted at `at`.
fn new_context(
    session: &Session,
    at: usize,
    rows: &[Row],
    log: &mut ReadLog,
) -> (Vec<usize>, Vec<Draft>) {
    let before = session.messages[..at].iter().enumerate();
    let ids: HashMap<&str, usize> =
        before.clone().filter_map(|(idx, m)| Some((m.id.as_deref()?, idx))).collect();
    let is_same = |idx: usize, draft: &Draft| {
        let bodies = session.parts_of(&session.messages[idx]).iter().map(|part| &part.body);
        bodies.eq(draft.parts.iter().map(|part| &part.body))
    };
    let mut kept: Vec<usize> =
        before.filter(|(_, m)| m.role == Role::System).map(|(idx, _)| idx).collect();
    let mut added = Vec::new();
    for row in rows {
        let draft = message::read_core(&row.value);
        let is_read = draft.as_ref().is_ok_and(|draft| !draft.parts.is_empty());
        log.report.count_record("message of the compaction", is_read);
        let draft = match draft {
            Ok(draft) if !draft.parts.is_empty() => draft,
            Ok(_) => continue,
            Err(why) => {
                log.notes.add(row.span.start, why);
                continue;
            }
        };
        let known = draft.id.as_deref().and_then(|id| ids.get(id).copied());
        if let Some(known) = known.filter(|idx| is_same(*idx, &draft)) {
            kept.push(known);
            continue;
        }
        kept.push(at + added.len());
        added.push(Draft { in_history: false, raw: vec![row.span.clone()], ..draft });
    }
    (kept, added)
}

/// Inserts messages that are not part of the history.
fn insert(session: &mut Session, at: usize, drafts: Vec<Draft>) {
    let n = drafts.len();
    let start = session.messages.get(at).map_or(session.parts.len(), |m| m.parts.start);
    let turn = at.checked_sub(1).map_or(0, |last| session.messages[last].turn);
    let mut parts: Vec<Part> = Vec::new();
    let mut messages = Vec::with_capacity(n);
    for draft in drafts {
        let first = start + parts.len();
        parts.extend(draft.parts);
        messages.push(Message {
            id: draft.id,
            role: draft.role,
            turn,
            time: draft.time,
            is_injected: draft.is_injected,
            is_summary: draft.is_summary,
            in_history: false,
            call: None,
            parts: first..start + parts.len(),
            empty: draft.empty,
            raw: draft.raw,
        });
    }
    for message in &mut session.messages[at..] {
        message.parts.start += parts.len();
        message.parts.end += parts.len();
    }
    for call in session.calls.iter_mut().filter(|call| call.context_end >= at) {
        call.context_end += n;
    }
    session.parts.splice(start..start, parts);
    session.messages.splice(at..at, messages);
}

/// Returns whether the program counted less before the compaction than the history before it takes: an earlier
/// compaction had removed some of it.
fn is_shorter(session: &Session, at: usize, before: Option<Tokens>) -> bool {
    let Some(before) = before else {
        return false;
    };
    let messages = session.messages[..at].iter().filter(|m| m.role != Role::System);
    let parts = messages.flat_map(|m| session.parts_of(m));
    let chars: usize = parts.map(|part| chars_of(&part.body)).sum();
    Tokens((chars / CHARS_PER_TOKEN) as u64) > before
}

/// Returns the number of characters of a body that the program counts in any case.
fn chars_of(body: &Body) -> usize {
    match body {
        Body::ToolCall { arguments, .. } => arguments.chars().count(),
        Body::Text(text) | Body::ToolResult { text, .. } => text.chars().count(),
        _ => 0,
    }
}
