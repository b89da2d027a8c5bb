//! What is left of a session record by record, for formats whose files are more than a list of messages.

use super::edit::{Editing, Fate, Fates};
use crate::formats::{Format, Input};
use crate::progress::Progress;
use crate::session::{Managed, ManagedEntry, Role, Session, Span};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// A record to write, in the managed order.
#[derive(Debug)]
pub(in crate::formats) enum Left<'a> {
    /// One of the file, or what an edit left of it.
    Record {
        /// Its text.
        text: Cow<'a, [u8]>,
        /// Index of the first message in it that is left.
        message: usize,
    },
    /// A message of ours.
    Written {
        /// Who it speaks as.
        role: Role,
        /// What it says.
        text: &'a str,
    },
}

/// Everything is there as it was said, in its order, and the file itself says no more: the session is its main one.
pub(in crate::formats) fn is_whole(session: &Session, managed: &Managed, format: &Format) -> bool {
    is_all_kept(session, managed) && is_main(session, format)
}

/// Whether a session is the first that its file holds, rather than a branch that somebody left.
fn is_main(session: &Session, format: &Format) -> bool {
    let input = Input {
        name: session.source.name.clone(),
        bytes: session.source.bytes.clone(),
    };
    let parsed = (format.parse)(&input, &Progress::default());
    let first = parsed
        .ok()
        .and_then(|parsed| parsed.sessions.into_iter().next());
    let records = |session: &Session| -> Vec<Vec<Span>> {
        session
            .messages
            .iter()
            .map(|message| message.raw.clone())
            .collect()
    };
    first.is_some_and(|first| records(&first) == records(session))
}

fn is_all_kept(session: &Session, managed: &Managed) -> bool {
    let is_kept = |(idx, entry): (usize, &ManagedEntry)| matches!(entry, ManagedEntry::Kept { message } if *message == idx);
    managed.entries.len() == session.messages.len()
        && managed.entries.iter().enumerate().all(is_kept)
}

/// The records that are left. One that holds several messages, or that was read more than once, stands where the first
/// of them does.
pub(in crate::formats) fn left<'a>(
    session: &'a Session,
    managed: &'a Managed,
    edit: impl Fn(&Editing<'_>) -> Option<Vec<u8>>,
) -> Vec<Left<'a>> {
    let fates = Fates::new(managed);
    let mut by_record: HashMap<usize, Vec<(usize, u32)>> = HashMap::new();
    for (idx, message) in session.messages.iter().enumerate() {
        for (record, span) in (0_u32..).zip(&message.raw) {
            by_record.entry(span.start).or_default().push((idx, record));
        }
    }
    let mut done: HashSet<usize> = HashSet::new();
    let mut left = Vec::with_capacity(managed.entries.len());
    for entry in &managed.entries {
        let message = match entry {
            ManagedEntry::Written { role, text, .. } => {
                if !text.is_empty() {
                    left.push(Left::Written { role: *role, text });
                }
                continue;
            }
            ManagedEntry::Kept { message } | ManagedEntry::Edited { message, .. } => *message,
        };
        let raw = session.messages.get(message).map_or(&[][..], |m| &m.raw);
        for span in raw.iter().filter(|span| done.insert(span.start)) {
            let held = by_record.get(&span.start).map_or(&[][..], Vec::as_slice);
            let text = record(session, span, held, &fates, &edit);
            left.extend(text.map(|text| Left::Record { text, message }));
        }
    }
    left
}

fn record<'a>(
    session: &'a Session,
    span: &Span,
    held: &[(usize, u32)],
    fates: &Fates<'a>,
    edit: &impl Fn(&Editing<'_>) -> Option<Vec<u8>>,
) -> Option<Cow<'a, [u8]>> {
    let mut parts = Vec::new();
    for (idx, record) in held {
        let message = &session.messages[*idx];
        let of = session
            .parts_of(message)
            .iter()
            .zip(fates.of(*idx, message));
        parts.extend(of.filter(|(part, _)| part.record == *record));
    }
    let editing = Editing {
        bytes: &session.source.bytes.whole(),
        span: span.clone(),
        parts,
    };
    if editing.is_untouched() {
        Some(session.raw(span))
    } else if editing.parts.iter().all(|(_, fate)| *fate == Fate::Gone) {
        None
    } else {
        edit(&editing).map(Cow::Owned)
    }
}
