//! What was not touched is read back byte for byte and in its order.
//!
//! Some formats keep several messages in one record (a call and its result). Where one of them changed, so did the
//! record: then the others must say the same.

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
        if is_same(promise, message, read, there) {
            Some(How::ToTheByte)
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
    let (mut kept, mut beside) = (0, 0);
    for entry in &promise.managed.entries {
        let ManagedEntry::Kept { message: idx } = entry else {
            continue;
        };
        let message = &source.messages[*idx];
        match rest.find_map(|there| how(message, there)) {
            Some(How::ToTheByte) => {
                kept += usize::from(!message.raw.is_empty());
                continue;
            }
            Some(How::WordForWord) => {
                beside += 1;
                continue;
            }
            None => {}
        }
        let is_there = context.iter().any(|there| how(message, there).is_some());
        let what = if is_there {
            "it stands in another order"
        } else {
            "its bytes changed"
        };
        return Check::failed(
            NAME,
            format!("message {} was not touched, but {what}", idx + 1),
        );
    }
    passed(kept, beside)
}

/// So many are there to the byte, and so many beside something that changed.
fn passed(kept: usize, beside: usize) -> Check {
    let beside = match beside {
        0 => String::new(),
        n => format!("; {n} more beside something that changed, word for word"),
    };
    Check::passed(
        NAME,
        format!(
            "{} byte for byte, in the order of the source{beside}",
            counted(kept, "untouched message")
        ),
    )
}

/// How an untouched message is there.
enum How {
    /// Its records.
    ToTheByte,
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

/// The same records; what has none of its own (a body's tools), or of which a copy keeps nothing to the byte, says the
/// same.
fn is_same(promise: &Promise<'_>, a: &Message, read: &Session, b: &Message) -> bool {
    let source = &promise.case.session;
    if a.raw.is_empty() && b.raw.is_empty() {
        return says_same(source, a, read, b);
    }
    let (before, after) = (source.source.bytes.whole(), read.source.bytes.whole());
    let kept = |bytes: &[u8], span: &Span| {
        let whole = 0..span.len();
        let kept = promise.format.kept;
        let kept = kept.map_or(whole, |kept| kept(&bytes[span.clone()]));
        span.start + kept.start..span.start + kept.end
    };
    let records = a.raw.iter().map(|span| &before[kept(&before, span)]);
    if records.clone().any(<[u8]>::is_empty) {
        return a.raw.len() == b.raw.len() && a.role == b.role && says_same(source, a, read, b);
    }
    records.eq(b.raw.iter().map(|span| &after[kept(&after, span)]))
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
