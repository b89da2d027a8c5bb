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

use crate::formats::editing::PartChange;
use crate::formats::{json, mark};
use crate::json::BorrowedValue;
use crate::json::{Map, Value, json};
use crate::session::{Calibration, Managed, ManagedEntry, ManagedPart, Session, WrittenKind};
use chain::Chain;
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
pub(super) fn export(session: &Session, managed: &Managed) -> Vec<u8> {
    // Kept in memory until everything is written.
    let bytes = session.source.bytes.whole();
    if managed.is_everything(session) {
        return bytes.to_vec();
    }
    let mut items = Vec::new();
    let mut run = Run::default();
    for entry in &managed.entries {
        run.continue_with(entry, &mut items);
        match entry {
            ManagedEntry::Kept { message } => {
                items.extend(records(session, &bytes, *message, None));
            }
            ManagedEntry::Edited { message, parts } => {
                items.extend(records(session, &bytes, *message, Some(parts)));
            }
            ManagedEntry::Written { answers: Some(_), .. } => {}
            // Providers reject an empty text.
            ManagedEntry::Written { text, .. } if text.is_empty() => {}
            ManagedEntry::Written { text, kind, .. } => {
                items.push(WrittenLine::Written { text, kind: *kind });
            }
        }
    }
    run.end(&mut items);
    let is_changed = !is_whole(session, managed);
    let origin = origin(session);
    let calibration = managed.calibration.as_ref();
    write(&items, is_changed, calibration, origin.as_ref())
}

/// Whether all messages are kept in order.
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
            WrittenLine::Written { .. } => 0,
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
    /// A new record.
    Written { text: &'a str, kind: WrittenKind },
}

/// A record of the session.
struct Kept<'a> {
    text: Cow<'a, [u8]>,
    /// Position in the file of the session.
    start: usize,
    uuid: Option<String>,
    parent: Option<String>,
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
    message: usize,
    edit: Option<&[ManagedPart]>,
) -> Vec<WrittenLine<'a>> {
    let raw = session.messages[message].raw.iter();
    let left = raw.enumerate().filter_map(|(record, span)| {
        let text = Cow::Borrowed(&bytes[span.clone()]);
        let left = match edit {
            None => text,
            Some(kept) => edited(session, message, record, text, kept)?,
        };
        Some(item(span.start, embedded::completed(session, span, left)))
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

fn item(start: usize, text: Cow<'_, [u8]>) -> WrittenLine<'_> {
    let (uuid, parent) = ids(&text);
    WrittenLine::Kept(Kept { text, start, uuid, parent })
}

/// Returns the ids of a record and its parent.
fn ids(record: &[u8]) -> (Option<String>, Option<String>) {
    const NAMES: [&str; 2] = ["uuid", "parentUuid"];
    let parsed = str::from_utf8(record).ok().and_then(BorrowedValue::parse);
    let [uuid, parent] = if let Some(record) = parsed {
        NAMES.map(|name| record.str_at(&[name]).map(Cow::into_owned))
    } else {
        let record = json::parse_lenient(record).unwrap_or_default();
        NAMES.map(|name| json::str_at(&record, &[name]).map(ToOwned::to_owned))
    };
    (uuid, parent)
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
        WrittenLine::Written { .. } => None,
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
    for (at, item) in items.iter().enumerate() {
        match item {
            WrittenLine::Kept(record) => chain.kept(record),
            WrittenLine::Written { text, kind } => {
                let next = if let Some(WrittenLine::Kept(record)) = items.get(at + 1) {
                    Some(record)
                } else {
                    None
                };
                chain.new_record(next, copied(at).as_ref(), &written(text, *kind));
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
    let copied = |item: &WrittenLine<'_>| {
        if let WrittenLine::Kept(record) = item { Some(record.copied()) } else { None }
    };
    items[at..].iter().find_map(copied).or_else(|| items[..at].iter().rev().find_map(copied))
}
