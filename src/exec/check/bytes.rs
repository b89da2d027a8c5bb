//! What was not touched is read back byte for byte and in its order.
//!
//! Some formats keep several messages in one record (a call and its result). Where one of them changed, so did the
//! record: then the others must say the same. Some write the fields around a message anew (the id of the record
//! before it): [`crate::formats::Format::kept`] names what stays.

use super::{Check, Promise, context_messages};
use crate::exec::counted;
use crate::session::{Body, ManagedEntry, Message, Part, Session, Span};
use std::collections::HashSet;

const NAME: &str = "kept bytes";

/// The records of untouched messages follow one another in the file as the messages do in the managed conversation.
pub(super) fn check(promise: &Promise<'_>, read: &Session) -> Check {
    let source = &promise.case.session;
    let _held = (source.source.bytes.whole(), read.source.bytes.whole());
    let context: Vec<&Message> = context_messages(read)
        .into_iter()
        .map(|idx| &read.messages[idx])
        .collect();
    let changed = changed_records(promise);
    let how = |message: &Message, there: &Message| {
        let is_changed = message.raw.iter().any(|span| changed.contains(&span.start));
        if let Some(how) = in_bytes(promise, message, read, there) {
            Some(how)
        } else if is_changed
            && message.role == there.role
            && says_same(source, message, read, there)
        {
            Some(How::WordForWord)
        } else {
            None
        }
    };
    let mut rest = context.iter();
    let (mut kept, mut reframed, mut beside) = (0, 0, 0);
    for entry in &promise.managed.entries {
        let ManagedEntry::Kept { message: idx } = entry else {
            continue;
        };
        let message = &source.messages[*idx];
        if let Some(how) = rest.find_map(|there| how(message, there)) {
            let has_bytes = usize::from(!message.raw.is_empty());
            match how {
                How::ToTheByte => kept += has_bytes,
                How::Reframed => reframed += has_bytes,
                How::WordForWord => beside += 1,
            }
            continue;
        }
        let is_there = context.iter().any(|there| how(message, there).is_some());
        let what = if is_there {
            "its position changed"
        } else {
            "its bytes changed"
        };
        return Check::failed(
            NAME,
            format!("message {} was not edited, but {what}", idx + 1),
        );
    }
    passed(kept, reframed, beside)
}

/// How many messages are there in which way.
fn passed(kept: usize, reframed: usize, beside: usize) -> Check {
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
            some(beside, "more verbatim in a changed record"),
        ),
    )
}

/// How an untouched message is there.
enum How {
    /// Its whole records.
    ToTheByte,
    /// What its records say, with other fields around it.
    Reframed,
    /// What it says.
    WordForWord,
}

/// Where records begin in the source of whose messages one was changed or left out.
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
    others
        .flat_map(|(message, _)| message.raw.iter().map(|span| span.start))
        .collect()
}

/// How the records of an untouched message are there. A message without any of its own (a body's tools), or of which a
/// copy keeps nothing byte for byte, must say the same.
fn in_bytes(promise: &Promise<'_>, a: &Message, read: &Session, b: &Message) -> Option<How> {
    let source = &promise.case.session;
    let same_words = |how: How| says_same(source, a, read, b).then_some(how);
    if a.raw.is_empty() && b.raw.is_empty() {
        return same_words(How::ToTheByte);
    }
    let (before, after) = (source.source.bytes.whole(), read.source.bytes.whole());
    let here = a.raw.iter().map(|span| &before[span.clone()]);
    let there = b.raw.iter().map(|span| &after[span.clone()]);
    if here.clone().eq(there.clone()) {
        return Some(How::ToTheByte);
    }
    let kept = promise.format.kept?;
    let kept = |record| {
        let spans: Vec<Span> = kept(record);
        spans.into_iter().map(|span| &record[span]).collect()
    };
    let here: Vec<Vec<&[u8]>> = here.map(kept).collect();
    if here.iter().any(Vec::is_empty) {
        let is_same = a.raw.len() == b.raw.len() && a.role == b.role;
        return same_words(How::Reframed).filter(|_| is_same);
    }
    here.into_iter()
        .eq(there.map(kept))
        .then_some(How::Reframed)
}

/// The same parts, but for what a provider counted of a thought.
fn says_same(source: &Session, a: &Message, read: &Session, b: &Message) -> bool {
    let (a, b) = (source.parts_of(a), read.parts_of(b));
    let is_same = |(a, b): (&Part, &Part)| match (&a.body, &b.body) {
        (
            Body::Thinking {
                text, sealed_bytes, ..
            },
            Body::Thinking {
                text: there,
                sealed_bytes: sealed,
                ..
            },
        ) => text == there && sealed_bytes == sealed,
        (a, b) => a == b,
    };
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}
