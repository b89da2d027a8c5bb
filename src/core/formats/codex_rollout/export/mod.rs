//! Writes a managed conversation as a rollout: the source file, followed by a compaction with the managed context in
//! Codex's notation.
//!
//! Codex reads the last `compacted` line as the whole context and continues after it. Earlier lines stay in the file
//! for display, with the reported usage. Codex skips lines of unknown types, but an invalid item invalidates the whole
//! compaction. Kept items are therefore copied byte for byte, and edited items keep their structure.
//!
//! The compaction is followed by the lines that Codex itself writes there. If Codex's instructions are still in the
//! context, these are the settings from which they were made, so that it does not add them again. The size of the
//! context prevents another compaction.

mod edit;
mod head;
mod source_lines;

use super::items::{ItemKind, ResponseItem};
use super::record::{Record, message_item};
use crate::formats::editing::PartChange;
use crate::formats::{CannotExport, json};
use crate::json::{Value, json};
use crate::session::{Managed, ManagedEntry, ManagedPart, Role, Session, WrittenKind};
use source_lines::SourceLines;
use std::collections::HashSet;

/// Writes a managed conversation as a rollout.
pub(super) fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    let bytes = session.source.bytes.whole();
    if managed.is_everything(session) {
        return Ok(bytes.to_vec());
    }
    let covered_messages = covered_messages(managed).unwrap_or(session.messages.len());
    let source = SourceLines::of(session, &bytes, covered_messages)?;
    let context = session.real_context(covered_messages);
    let mut out = head::written(session, managed, &source);
    if is_untouched(managed, &context) {
        return Ok(out);
    }
    if !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    let mut tail = Tail {
        out,
        time: source.time(),
        ordinal: source.last_ordinal().map(|last| last.saturating_add(1)),
    };
    tail.line("compacted", &compacted(session, managed, &source));
    if keeps_setup(session, managed, &context) {
        source.baseline().for_each(|line| tail.repeat(line));
    }
    if let Some(count) = size(managed, &source) {
        tail.line("event_msg", count.to_string().as_bytes());
    }
    tail.line("event_msg", br#"{"type":"context_compacted"}"#);
    Ok(tail.out)
}

/// Returns the number of messages that the managed context covers.
fn covered_messages(managed: &Managed) -> Option<usize> {
    let end = |entry: &ManagedEntry| match entry {
        ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => message + 1,
        ManagedEntry::Written { before_message, .. } => *before_message,
    };
    managed.entries.iter().map(end).max()
}

fn is_untouched(managed: &Managed, context: &[usize]) -> bool {
    let is_kept = |(entry, idx): (&ManagedEntry, &usize)| matches!(entry, ManagedEntry::Kept { message } if message == idx);
    managed.entries.len() == context.len() && managed.entries.iter().zip(context).all(is_kept)
}

/// Returns the payload of the compaction.
fn compacted(session: &Session, managed: &Managed, source: &SourceLines<'_>) -> Vec<u8> {
    let summary = managed.entries.iter().find_map(|entry| match entry {
        ManagedEntry::Written { text, kind: WrittenKind::Summary, .. } => Some(text.as_str()),
        _ => None,
    });
    let mut payload = br#"{"message":"#.to_vec();
    payload.extend_from_slice(Value::from(summary.unwrap_or_default()).to_string().as_bytes());
    payload.extend_from_slice(br#","replacement_history":["#);
    let items = managed.entries.iter().filter_map(|entry| item(session, entry, source));
    for (idx, item) in items.enumerate() {
        if idx > 0 {
            payload.push(b',');
        }
        payload.extend_from_slice(&item);
    }
    payload.extend_from_slice(b"]}");
    payload
}

/// Returns an entry as an item of the new context, or `None` if it is in the file's head or all its parts are removed.
fn item(session: &Session, entry: &ManagedEntry, source: &SourceLines<'_>) -> Option<Vec<u8>> {
    let (message, parts) = match entry {
        ManagedEntry::Kept { message } => (*message, None),
        ManagedEntry::Edited { message, parts } => (*message, Some(parts.as_slice())),
        ManagedEntry::Written { answers: Some(_), .. } => return None,
        ManagedEntry::Written { role, text, .. } => {
            return Some(message_item(*role, text).to_string().into_bytes());
        }
    };
    let span = session.messages[message].raw.first()?;
    if source.is_head(span) {
        return None;
    }
    let record = Record::at(&session.source.bytes.whole(), span);
    let text = record.text(session);
    match parts {
        None => Some(text.to_vec()),
        Some(parts) => edit::item(&text, &part_changes(session, message, parts)),
    }
}

/// Returns the change of each part of an edited message.
fn part_changes<'a>(
    session: &'a Session,
    message: usize,
    kept: &'a [ManagedPart],
) -> Vec<edit::ChangedPart<'a>> {
    let message = &session.messages[message];
    let changes = PartChange::of_parts(message, kept);
    session.parts_of(message).iter().zip(changes).collect()
}

/// Returns whether all instructions that Codex added to the real context are kept verbatim.
fn keeps_setup(session: &Session, managed: &Managed, context: &[usize]) -> bool {
    let kept: HashSet<usize> = managed
        .entries
        .iter()
        .filter_map(|entry| match entry {
            ManagedEntry::Kept { message } => Some(*message),
            _ => None,
        })
        .collect();
    let mut setup = context.iter().filter(|message| is_setup(session, **message)).peekable();
    setup.peek().is_some() && setup.all(|message| kept.contains(message))
}

fn is_setup(session: &Session, message: usize) -> bool {
    let message = &session.messages[message];
    let can_be = message.role == Role::System || message.role == Role::User && message.is_injected;
    let Some(span) = message.raw.first().filter(|_| can_be) else {
        return false;
    };
    let record = Record::at(&session.source.bytes.whole(), span);
    let value = json::parse_lenient(&record.text(session)).unwrap_or_default();
    // A head has instructions but no type.
    json::str_at(&value, &["type"]) == Some("message")
        && ResponseItem::read(&value).sort == ItemKind::Setup
}

/// Returns the size of the new context as Codex records it after a compaction: a call without input.
fn size(managed: &Managed, source: &SourceLines<'_>) -> Option<Value> {
    let (tokens, mut info) = (managed.tokens?, source.last_count()?.clone());
    let last = json!({
        "input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "reasoning_output_tokens": 0,
        "total_tokens": tokens.0,
    });
    info.as_object_mut()?.insert("last_token_usage".into(), last);
    Some(json!({"type": "token_count", "info": info, "rate_limits": null}))
}

/// Lines that are appended to the file.
struct Tail {
    out: Vec<u8>,
    /// Time of the last line, as JSON.
    time: String,
    /// Number of the next line, if lines are numbered.
    ordinal: Option<u64>,
}

impl Tail {
    fn line(&mut self, kind: &str, payload: &[u8]) {
        let ordinal = self.next_ordinal();
        let ordinal = ordinal.map_or_else(String::new, |n| format!(r#""ordinal":{n},"#));
        let head = format!(r#"{{"timestamp":{},{ordinal}"type":"{kind}","payload":"#, self.time);
        self.out.extend_from_slice(head.as_bytes());
        self.out.extend_from_slice(payload);
        self.out.extend_from_slice(b"}\n");
    }

    /// Repeats a line of the source.
    fn repeat(&mut self, line: &[u8]) {
        let number = json::member(line, &(0..line.len()), "ordinal");
        match (number, self.next_ordinal()) {
            (Some(place), Some(n)) => {
                self.out.extend_from_slice(&line[..place.start]);
                self.out.extend_from_slice(n.to_string().as_bytes());
                self.out.extend_from_slice(&line[place.end..]);
            }
            _ => self.out.extend_from_slice(line),
        }
        self.out.push(b'\n');
    }

    fn next_ordinal(&mut self) -> Option<u64> {
        let next = self.ordinal?;
        self.ordinal = Some(next.saturating_add(1));
        Some(next)
    }
}
