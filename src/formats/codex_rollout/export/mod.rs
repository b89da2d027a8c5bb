//! Writes a managed conversation as a rollout: the file as it was, and behind it the compaction that leaves the managed
//! context, as Codex lays out its own.
//!
//! Codex takes up the last `compacted` line as the whole context and goes on behind it. What was said before stays in
//! the file for people to scroll through, and with it what the calls reported. A line whose type Codex does not know
//! it skips, but an item it cannot read costs it the whole compaction; so kept items are copied byte for byte and
//! edited ones keep their shape.
//!
//! Behind the compaction stands what Codex itself writes there: where its instructions are still in the context, the
//! settings they were made from, lest it sets them up once more; and the size of the context, lest it compacts again.

mod edit;
mod head;
mod past;

use super::items::{Item, Sort};
use super::record::{Record, words};
use crate::formats::{CannotExport, json};
use crate::session::{Managed, ManagedEntry, ManagedPart, Role, Session, WrittenKind};
use edit::Fate;
use past::Past;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The conversation as a rollout.
pub(super) fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    if session.source.format != super::FORMAT.name {
        let reason = format!("only a {} can be written as one", super::FORMAT.label);
        return Err(CannotExport { reason });
    }
    let bytes = session.source.bytes.whole();
    if managed.is_everything(session) {
        return Ok(bytes.to_vec());
    }
    let known = known(managed).unwrap_or(session.messages.len());
    let past = Past::of(session, &bytes, known)?;
    let context = session.real_context(known);
    let mut out = head::written(session, managed, &past);
    if is_untouched(managed, &context) {
        return Ok(out);
    }
    if !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    let mut tail = Tail {
        out,
        time: past.time(),
        ordinal: past.last_ordinal().map(|last| last.saturating_add(1)),
    };
    tail.line("compacted", &compacted(session, managed, &past));
    if keeps_setup(session, managed, &context) {
        past.baseline().for_each(|line| tail.copied(line));
    }
    if let Some(count) = size(managed, &past) {
        tail.line("event_msg", count.to_string().as_bytes());
    }
    tail.line("event_msg", br#"{"type":"context_compacted"}"#);
    Ok(tail.out)
}

/// The managed context speaks of the messages before this index.
fn known(managed: &Managed) -> Option<usize> {
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

/// The payload of the compaction.
fn compacted(session: &Session, managed: &Managed, past: &Past<'_>) -> Vec<u8> {
    let summary = managed.entries.iter().find_map(|entry| match entry {
        ManagedEntry::Written {
            text,
            kind: WrittenKind::Summary,
            ..
        } => Some(text.as_str()),
        _ => None,
    });
    let mut payload = br#"{"message":"#.to_vec();
    payload.extend_from_slice(
        Value::from(summary.unwrap_or_default())
            .to_string()
            .as_bytes(),
    );
    payload.extend_from_slice(br#","replacement_history":["#);
    let items = managed
        .entries
        .iter()
        .filter_map(|entry| item(session, entry, past));
    for (idx, item) in items.enumerate() {
        if idx > 0 {
            payload.push(b',');
        }
        payload.extend_from_slice(&item);
    }
    payload.extend_from_slice(b"]}");
    payload
}

/// An entry as an item of the new context; none where the head of the file holds it or nothing is left of it.
fn item(session: &Session, entry: &ManagedEntry, past: &Past<'_>) -> Option<Vec<u8>> {
    let (message, parts) = match entry {
        ManagedEntry::Kept { message } => (*message, None),
        ManagedEntry::Edited { message, parts } => (*message, Some(parts.as_slice())),
        ManagedEntry::Written { role, text, .. } => {
            return Some(words(*role, text).to_string().into_bytes());
        }
    };
    let span = session.messages[message].raw.first()?;
    if past.is_head(span) {
        return None;
    }
    let record = Record::at(&session.source.bytes.whole(), span);
    let text = record.text(session);
    match parts {
        None => Some(text.to_vec()),
        Some(parts) => edit::item(&text, &fates(session, message, parts)),
    }
}

/// What becomes of each part of an edited message.
fn fates<'a>(
    session: &'a Session,
    message: usize,
    kept: &'a [ManagedPart],
) -> Vec<edit::Fated<'a>> {
    let fate = |idx: usize| {
        let found = kept.iter().find_map(|part| match part {
            ManagedPart::Kept { part } if *part == idx => Some(Fate::Kept),
            ManagedPart::Replaced { part, text } if *part == idx => Some(Fate::Replaced(text)),
            _ => None,
        });
        found.unwrap_or(Fate::Gone)
    };
    let parts = session.messages[message].parts.clone();
    parts.map(|idx| (&session.parts[idx], fate(idx))).collect()
}

/// All that Codex had set up in the real context is still there, word for word.
fn keeps_setup(session: &Session, managed: &Managed, context: &[usize]) -> bool {
    let kept: HashSet<usize> = managed
        .entries
        .iter()
        .filter_map(|entry| match entry {
            ManagedEntry::Kept { message } => Some(*message),
            _ => None,
        })
        .collect();
    let mut setup = context
        .iter()
        .filter(|message| is_setup(session, **message))
        .peekable();
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
    // A head has instructions and no type.
    json::str_at(&value, &["type"]) == Some("message") && Item::read(&value).sort == Sort::Setup
}

/// The size of the new context as Codex notes it behind a compaction: a call without input.
fn size(managed: &Managed, past: &Past<'_>) -> Option<Value> {
    let (tokens, mut info) = (managed.tokens?, past.last_count()?.clone());
    let last = json!({
        "input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0, "reasoning_output_tokens": 0,
        "total_tokens": tokens.0,
    });
    info.as_object_mut()?
        .insert("last_token_usage".into(), last);
    Some(json!({"type": "token_count", "info": info, "rate_limits": null}))
}

/// The lines of ours.
struct Tail {
    out: Vec<u8>,
    /// The time of the last line, as JSON.
    time: String,
    /// The number of the next line, where lines have one.
    ordinal: Option<u64>,
}

impl Tail {
    fn line(&mut self, kind: &str, payload: &[u8]) {
        let ordinal = self.next_ordinal();
        let ordinal = ordinal.map_or_else(String::new, |n| format!(r#""ordinal":{n},"#));
        let head = format!(
            r#"{{"timestamp":{},{ordinal}"type":"{kind}","payload":"#,
            self.time
        );
        self.out.extend_from_slice(head.as_bytes());
        self.out.extend_from_slice(payload);
        self.out.extend_from_slice(b"}\n");
    }

    /// Says a line once more.
    fn copied(&mut self, line: &[u8]) {
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
