//! Writes a managed conversation as a session file.
//!
//! An unchanged conversation is written as its source file. Kept messages keep the bytes and the order of their records:
//! parallel calls may be recorded as call, result, call, result, but are one message. Records that are not sent to the
//! model (progress, snapshots, titles) are left out. A summary needs a `compact_boundary`. It is
//! the first record, since only records after the boundary are in the context. New records are always `user` records,
//! as the program itself writes summaries and reminders.
//!
//! If the conversation changed, the last record is a mark: an empty `system` record with a custom subtype, like those
//! that fill gaps in the chain. The program sends only known subtypes to the model and continues after any record of
//! the chain, so its own records may follow.

mod chain;
mod edit;
pub(super) mod embedded;
mod instructions;
mod runs;

use crate::formats::CannotExport;
use crate::formats::editing::PartChange;
use crate::formats::{json, mark};
use crate::json::BorrowedValue;
use crate::json::{Map, Value, json};
use crate::session::{
    Body, Calibration, Managed, ManagedEntry, ManagedPart, Part, Role, Session, Span, WrittenKind,
};
use chain::Chain;
use instructions::WrittenInstructions;
use runs::RunRole;
use std::borrow::Cow;

/// Members that new records copy from a neighboring record.
const COPIED: &[&str] = &[
    "isSidechain",
    "agentId",
    "userType",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "timestamp",
];

/// Writes a managed conversation as a session file.
///
/// # Errors
/// Only instructions are left, of which no session file consists.
pub(super) fn export(session: &Session, managed: &Managed) -> Result<Vec<u8>, CannotExport> {
    // Kept in memory until everything is written.
    let bytes = session.source.bytes.whole();
    if managed.is_everything(session) {
        return Ok(bytes.to_vec());
    }
    let (mut items, mut out) = (Vec::new(), Vec::new());
    match instructions::written(session, managed) {
        Some(WrittenInstructions::Record(span)) => {
            items.push(item(span.start, 0, Cow::Borrowed(&bytes[span]), false));
        }
        Some(WrittenInstructions::New(record)) => out = format!("{record}\n").into_bytes(),
        None => {}
    }
    let (n_instructions, has_instructions) = (items.len(), !items.is_empty() || !out.is_empty());
    let mut run = Run::default();
    for (rank, entry) in managed.entries.iter().enumerate() {
        if is_system(session, entry) {
            continue;
        }
        run.continue_with(entry, &mut items);
        match entry {
            ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. }
                if is_recorded(session, &bytes, *message) =>
            {
                run.end(&mut items);
                let edit = match entry {
                    ManagedEntry::Edited { parts, .. } => Some(&parts[..]),
                    _ => None,
                };
                items.extend(recorded(session, &bytes, (rank, *message), edit));
                run.end(&mut items);
            }
            ManagedEntry::Kept { message } => {
                items.extend(records(session, &bytes, (rank, *message), None));
            }
            ManagedEntry::Edited { message, parts } => {
                items.extend(records(session, &bytes, (rank, *message), Some(parts)));
            }
            ManagedEntry::Written { answers: Some(_), .. } => {}
            // Providers reject an empty text.
            ManagedEntry::Written { text, .. } if text.is_empty() => {}
            ManagedEntry::Written { text, kind, .. } => {
                items.push(WrittenLine::Written { text, kind: *kind, rank });
            }
        }
    }
    run.end(&mut items);
    if has_instructions && items.len() == n_instructions {
        let reason = "the instructions alone are not a session".to_owned();
        return Err(CannotExport { reason });
    }
    runs::keep_order(&mut items);
    let is_changed = !is_whole(session, managed);
    let origin = origin(session);
    let calibration = managed.calibration.as_ref();
    out.extend(write(&items, is_changed, calibration, origin.as_ref()));
    Ok(out)
}

/// Returns whether an entry has instructions or tool definitions, which are written apart.
fn is_system(session: &Session, entry: &ManagedEntry) -> bool {
    match entry {
        ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => {
            session.messages[*message].role == Role::System
        }
        ManagedEntry::Written { .. } => false,
    }
}

/// Returns whether a message is that of a request, and no record of the conversation has it.
fn is_recorded(session: &Session, bytes: &[u8], message: usize) -> bool {
    let message = Some(&session.messages[message]).filter(|message| !message.in_history);
    message.and_then(|message| message.raw.first()).is_some_and(|span| is_blob(bytes, span))
}

/// Returns whether a record is a message of a request.
fn is_blob(bytes: &[u8], span: &Span) -> bool {
    let kind = json::member(bytes, span, "type");
    kind.is_some_and(|kind| bytes[kind] == *b"\"api-request-blob\"")
}

/// Returns a message of a request, or its edited version.
fn recorded<'a>(
    session: &Session,
    bytes: &'a [u8],
    (rank, message): (usize, usize),
    edit: Option<&[ManagedPart]>,
) -> Option<WrittenLine<'a>> {
    let text = Cow::Borrowed(&bytes[session.messages[message].raw.first()?.clone()]);
    let left = match edit {
        None => text,
        Some(kept) => edited(session, message, 0, text, kept)?,
    };
    let message = json::parse_lenient(&left).ok()?.get("message")?.clone();
    Some(WrittenLine::Recorded { message, rank })
}

/// Returns whether all messages are kept in order.
fn is_whole(session: &Session, managed: &Managed) -> bool {
    let is_kept = |(idx, entry): (usize, &ManagedEntry)| matches!(entry, ManagedEntry::Kept { message } if *message == idx);
    managed.entries.len() == session.messages.len()
        && managed.entries.iter().enumerate().all(is_kept)
}

/// A run of kept messages in the order of the session, whose records are written in that order, too.
#[derive(Default)]
struct Run {
    /// Index of the first item of the run.
    start: usize,
    /// The last message, if it is kept.
    last: Option<usize>,
}

impl Run {
    /// Ends the run before an entry that does not continue it.
    fn continue_with(&mut self, entry: &ManagedEntry, items: &mut [WrittenLine<'_>]) {
        let message = match entry {
            ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => Some(*message),
            ManagedEntry::Written { .. } => None,
        };
        if message.is_none() || message < self.last {
            self.end(items);
        }
        self.last = message;
    }

    /// Sorts the records of the run.
    fn end(&mut self, items: &mut [WrittenLine<'_>]) {
        let position = |item: &WrittenLine<'_>| match item {
            WrittenLine::Kept(record) => record.start,
            WrittenLine::Recorded { .. } | WrittenLine::Written { .. } => 0,
        };
        // A new record is an item of its own, the first of the next run.
        items[self.start..].sort_by_key(position);
        self.start = items.len();
    }
}

/// A line of the file.
enum WrittenLine<'a> {
    /// A record of the session.
    Kept(Kept<'a>),
    /// A message of a request that becomes a record.
    Recorded { message: Value, rank: usize },
    /// A new record.
    Written { text: &'a str, kind: WrittenKind, rank: usize },
}

impl WrittenLine<'_> {
    /// Returns the position in the conversation.
    fn rank(&self) -> usize {
        match self {
            Self::Kept(record) => record.rank,
            Self::Recorded { rank, .. } | Self::Written { rank, .. } => *rank,
        }
    }
}

/// A record of the session.
struct Kept<'a> {
    text: Cow<'a, [u8]>,
    /// Position in the file of the session.
    start: usize,
    /// Position in the conversation.
    rank: usize,
    uuid: Option<String>,
    parent: Option<String>,
    role: RunRole,
}

impl Kept<'_> {
    /// Returns the members that new records copy.
    fn copied(&self) -> Map<String, Value> {
        fields(&json::parse_lenient(&self.text).unwrap_or_default())
    }
}

/// Returns the records of a message, or their edited versions.
fn records<'a>(
    session: &Session,
    bytes: &'a [u8],
    (rank, message): (usize, usize),
    edit: Option<&[ManagedPart]>,
) -> Vec<WrittenLine<'a>> {
    let all = &session.messages[message].raw;
    let as_sent = all.len() > 1 && all.last().is_some_and(|last| is_blob(bytes, last));
    let sent = as_sent.then(|| as_sent_by_request(session, message, edit));
    let edit = sent.as_deref().or(edit);
    let raw = all[..all.len() - usize::from(as_sent)].iter();
    let left = raw.enumerate().filter_map(|(record, span)| {
        let text = Cow::Borrowed(&bytes[span.clone()]);
        let is_reminder = is_reminder(session, message, record);
        let left = match edit {
            None => text,
            Some(kept) if is_reminder => has_reminders(session, message, kept).then_some(text)?,
            Some(kept) => edited(session, message, record, text, kept)?,
        };
        Some(item(span.start, rank, embedded::completed(session, span, left), is_reminder))
    });
    left.collect()
}

fn edited<'a>(
    session: &Session,
    message: usize,
    record: usize,
    text: Cow<'a, [u8]>,
    kept: &[ManagedPart],
) -> Option<Cow<'a, [u8]>> {
    let message = &session.messages[message];
    let changes = PartChange::of_parts(message, kept);
    let parts = session.parts_of(message).iter().zip(changes);
    let of_record: Vec<_> = parts.filter(|(part, _)| part.record as usize == record).collect();
    edit::record(text, &of_record)
}

/// Returns the changes of a message of which a request has the content that was sent.
fn as_sent_by_request(
    session: &Session,
    message: usize,
    edit: Option<&[ManagedPart]>,
) -> Vec<ManagedPart> {
    let sent = |part: usize| match &session.parts[part].body {
        body @ (Body::Text(_) | Body::ToolCall { .. } | Body::ToolResult { .. }) => {
            ManagedPart::Replaced { part, text: body.text().to_owned() }
        }
        _ => ManagedPart::Kept { part },
    };
    let Some(edit) = edit else {
        return session.messages[message].parts.clone().map(sent).collect();
    };
    let parts = edit.iter().map(|part| match part {
        ManagedPart::Kept { part } => sent(*part),
        replaced @ ManagedPart::Replaced { .. } => replaced.clone(),
    });
    parts.collect()
}

/// Returns whether a record of a message is a reminder in its last tool result.
fn is_reminder(session: &Session, message: usize, record: usize) -> bool {
    let message = &session.messages[message];
    let has_part = |part: &Part| part.record as usize == record;
    record > 0 && message.role == Role::User && !session.parts_of(message).iter().any(has_part)
}

/// Returns whether the tool result with the reminders of a message is unchanged.
fn has_reminders(session: &Session, message: usize, kept: &[ManagedPart]) -> bool {
    let message = &session.messages[message];
    let is_result = |part: &Part| matches!(part.body, Body::ToolResult { .. });
    let last = session.parts_of(message).iter().rposition(is_result);
    let changes = PartChange::of_parts(message, kept);
    last.is_some_and(|last| changes[last] == PartChange::Kept)
}

/// Returns a record as a line. `is_joined` if it is sent as a part of the message before it.
fn item(start: usize, rank: usize, text: Cow<'_, [u8]>, is_joined: bool) -> WrittenLine<'_> {
    const NAMES: [&str; 2] = ["uuid", "parentUuid"];
    let parsed = str::from_utf8(&text).ok().and_then(BorrowedValue::parse);
    let role = parsed.as_ref().filter(|_| !is_joined).map(RunRole::of).unwrap_or_default();
    let [uuid, parent] = if let Some(record) = parsed {
        NAMES.map(|name| record.str_at(&[name]).map(Cow::into_owned))
    } else {
        let record = json::parse_lenient(&text).unwrap_or_default();
        NAMES.map(|name| json::str_at(&record, &[name]).map(ToOwned::to_owned))
    };
    WrittenLine::Kept(Kept { text, start, rank, uuid, parent, role })
}

/// Returns the members of a record that new records copy.
fn fields(record: &Value) -> Map<String, Value> {
    let field = |key: &&str| Some(((*key).to_owned(), record.get(key)?.clone()));
    COPIED.iter().filter_map(field).collect()
}

/// Returns the members of the session's last record, for an export without any kept record.
fn origin(session: &Session) -> Option<Map<String, Value>> {
    let last = session.messages.last()?;
    let span = last.raw.last()?;
    let record = embedded::completed(session, span, session.raw(span));
    Some(fields(&json::parse_lenient(&record).ok()?))
}

fn write(
    items: &[WrittenLine<'_>],
    is_changed: bool,
    calibration: Option<&Calibration>,
    origin: Option<&Map<String, Value>>,
) -> Vec<u8> {
    let copied = |at: usize| copied(items, at).or_else(|| origin.cloned());
    let ids = items.iter().filter_map(|item| match item {
        WrittenLine::Kept(record) => record.uuid.as_deref(),
        WrittenLine::Recorded { .. } | WrittenLine::Written { .. } => None,
    });
    let mut chain = Chain::new(ids);
    if items
        .iter()
        .any(|item| matches!(item, WrittenLine::Written { kind: WrittenKind::Summary, .. }))
    {
        let boundary = json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false,
            "level": "info", "compactMetadata": {"trigger": "manual"},
        });
        chain.boundary(copied(0).as_ref(), &boundary);
    }
    let next = |at: usize| match items.get(at + 1) {
        Some(WrittenLine::Kept(record)) => Some(record),
        _ => None,
    };
    for (at, item) in items.iter().enumerate() {
        match item {
            WrittenLine::Kept(record) => chain.kept(record),
            WrittenLine::Recorded { message, .. } => {
                let own = if json::str_at(message, &["role"]) == Some("assistant") {
                    json!({"type": "assistant", "message": message})
                } else {
                    json!({"type": "user", "message": message, "isMeta": true})
                };
                chain.new_record(next(at), copied(at).as_ref(), &own);
            }
            WrittenLine::Written { text, kind, .. } => {
                chain.new_record(next(at), copied(at).as_ref(), &written(text, *kind));
            }
        }
    }
    if is_changed && !items.is_empty() {
        let mut own =
            json!({"type": "system", "subtype": super::MARK, "content": "", "isMeta": true});
        if let Some(c) = calibration {
            own["calibration"] = mark::written(c);
        }
        chain.boundary(copied(items.len() - 1).as_ref(), &own);
    }
    chain.out
}

fn written(text: &str, kind: WrittenKind) -> Value {
    let message = json!({"role": "user", "content": text});
    match kind {
        WrittenKind::Summary => json!({
            "type": "user", "message": message, "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
        }),
        WrittenKind::Notice | WrittenKind::Addition => {
            json!({"type": "user", "message": message, "isMeta": true})
        }
    }
}

/// Returns the members that the new record at this index copies: from the next kept record, else from the previous one.
fn copied(items: &[WrittenLine<'_>], at: usize) -> Option<Map<String, Value>> {
    // Records of requests have less.
    let copied = |item: &WrittenLine<'_>| match item {
        WrittenLine::Kept(record) if record.uuid.is_some() => Some(record.copied()),
        _ => None,
    };
    items[at..].iter().find_map(copied).or_else(|| items[..at].iter().rev().find_map(copied))
}
