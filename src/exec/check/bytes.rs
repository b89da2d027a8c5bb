//! Checks that untouched messages are read back byte for byte and in order.
//!
//! Some formats store several messages in one record (a call and its result). If one of them changed, the others must
//! have the same text. Some rewrite the fields around a message (the id of the previous record);
//! [`crate::formats::Format::kept`] names those that are kept.

use super::outcome::Check;
use super::promise::{Promise, context_messages};
use crate::figure::counted;
use crate::session::{Body, ManagedEntry, Message, Part, Session, Span};
use std::collections::HashSet;

const NAME: &str = "kept bytes";

/// Compares the records of untouched messages with those of the source, in the order of the managed conversation.
pub(super) fn check(promise: &Promise<'_>, read: &Session) -> Check {
    let source = &promise.case.session;
    let _held = (source.source.bytes.whole(), read.source.bytes.whole());
    let context: Vec<&Message> =
        context_messages(read).into_iter().map(|idx| &read.messages[idx]).collect();
    let changed = changed_records(promise);
    let match_of = |message: &Message, there: &Message, is_joined: bool| {
        let is_changed = message.raw.iter().any(|span| changed.contains(&span.start));
        byte_match(promise, message, read, there).or_else(|| {
            let has_parts = is_changed && has_same_parts(source, message, read, there)
                || is_joined && is_joined_with_texts(source, message, read, there);
            (message.role == there.role && has_parts).then_some(Match::Parts)
        })
    };
    let mut rest = context.iter();
    let (mut kept, mut reframed, mut in_changed) = (0, 0, 0);
    let entries = &promise.managed.entries;
    let is_written = |nth: usize| matches!(entries.get(nth), Some(ManagedEntry::Written { .. }));
    for (nth, entry) in entries.iter().enumerate() {
        // A written text beside a message may be joined with it.
        let joins = is_written(nth + 1) || nth.checked_sub(1).is_some_and(is_written);
        let ManagedEntry::Kept { message: idx } = entry else {
            continue;
        };
        let message = &source.messages[*idx];
        if let Some(found) = rest.find_map(|there| match_of(message, there, joins)) {
            let has_bytes = usize::from(!message.raw.is_empty());
            match found {
                Match::Bytes => kept += has_bytes,
                Match::KeptFields => reframed += has_bytes,
                Match::Parts => in_changed += 1,
            }
            continue;
        }
        let is_there = context.iter().any(|there| match_of(message, there, joins).is_some());
        let fault = if is_there { "its position changed" } else { "its bytes changed" };
        return Check::failed(NAME, format!("message {} was not edited, but {fault}", idx + 1));
    }
    passed(kept, reframed, in_changed)
}

/// Creates the passed check with the number of messages by kind of match.
fn passed(kept: usize, reframed: usize, in_changed: usize) -> Check {
    let some = |n: usize, text: &str| match n {
        0 => String::new(),
        n => format!("; {n} {text}"),
    };
    Check::passed(
        NAME,
        format!(
            "{} byte for byte, in the order of the source{}{}",
            counted(kept + reframed, "untouched message"),
            some(reframed, "of them with changed surrounding fields"),
            some(in_changed, "more verbatim in a changed record"),
        ),
    )
}

/// How an untouched message matches a written one.
enum Match {
    /// The records are equal byte for byte.
    Bytes,
    /// The kept fields of the records are equal byte for byte.
    KeptFields,
    /// The parts are equal.
    Parts,
}

/// Returns the offsets of source records of which a message was changed or left out.
fn changed_records(promise: &Promise<'_>) -> HashSet<usize> {
    let session = &promise.case.session;
    let mut is_kept = vec![false; session.messages.len()];
    for entry in &promise.managed.entries {
        if let ManagedEntry::Kept { message } = entry {
            is_kept[*message] = true;
        }
    }
    let others = session.messages.iter().zip(is_kept);
    let others = others.filter(|(_, is_kept)| !is_kept);
    others.flat_map(|(message, _)| message.raw.iter().map(|span| span.start)).collect()
}

/// Compares the records of an untouched message. A message without a record (the tools of a request), or of which the
/// format keeps nothing byte for byte, must have the same parts.
fn byte_match(promise: &Promise<'_>, a: &Message, read: &Session, b: &Message) -> Option<Match> {
    let source = &promise.case.session;
    let same_parts = |found: Match| has_same_parts(source, a, read, b).then_some(found);
    if a.raw.is_empty() && b.raw.is_empty() {
        return same_parts(Match::Bytes);
    }
    let (before, after) = (source.source.bytes.whole(), read.source.bytes.whole());
    let here = a.raw.iter().map(|span| &before[span.clone()]);
    let there = b.raw.iter().map(|span| &after[span.clone()]);
    if here.clone().eq(there.clone()) {
        return Some(Match::Bytes);
    }
    let kept = promise.format.kept?;
    let kept = |record| {
        let spans: Vec<Span> = kept(record);
        spans.into_iter().map(|span| &record[span]).collect()
    };
    let here: Vec<Vec<&[u8]>> = here.map(kept).collect();
    if here.iter().any(Vec::is_empty) {
        return same_parts(Match::KeptFields).filter(|_| a.role == b.role);
    }
    here.into_iter().eq(there.map(kept)).then_some(Match::KeptFields)
}

/// Returns true if two messages have the same parts.
fn has_same_parts(source: &Session, a: &Message, read: &Session, b: &Message) -> bool {
    are_same(source.parts_of(a), read.parts_of(b))
}

/// Returns true if a message has the parts of another one, and written texts around them.
fn is_joined_with_texts(source: &Session, a: &Message, read: &Session, b: &Message) -> bool {
    let (a, b) = (source.parts_of(a), read.parts_of(b));
    let is_text = |part: &Part| matches!(part.body, Body::Text(_));
    let mut starts = 0..(b.len() + 1).saturating_sub(a.len());
    starts.any(|start| {
        let end = start + a.len();
        let mut around = b[..start].iter().chain(&b[end..]);
        are_same(a, &b[start..end]) && around.all(is_text)
    })
}

/// Compares the contents of parts, except for the reported tokens of reasoning.
fn are_same(a: &[Part], b: &[Part]) -> bool {
    let is_same = |(a, b): (&Part, &Part)| match (&a.body, &b.body) {
        (
            Body::Thinking { text, sealed_bytes, .. },
            Body::Thinking { text: there, sealed_bytes: sealed, .. },
        ) => text == there && sealed_bytes == sealed,
        (a, b) => a == b,
    };
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}
