//! What was not touched is read back byte for byte and in its order.

use super::{Check, Promise, context_messages};
use crate::exec::counted;
use crate::session::{Body, ManagedEntry, Message, Session};

const NAME: &str = "kept bytes";

/// The records of untouched messages follow one another in the file as the messages do in the managed conversation.
pub(super) fn check(promise: &Promise<'_>, read: &Session) -> Check {
    let source = &promise.case.session;
    let context: Vec<&Message> = context_messages(read)
        .into_iter()
        .map(|idx| &read.messages[idx])
        .collect();
    let mut rest = context.iter();
    let mut kept = 0;
    for entry in &promise.managed.entries {
        let ManagedEntry::Kept { message: idx } = entry else {
            continue;
        };
        let message = &source.messages[*idx];
        if rest.any(|there| is_same(promise, message, read, there)) {
            kept += usize::from(!message.raw.is_empty());
            continue;
        }
        let is_there = context
            .iter()
            .any(|there| is_same(promise, message, read, there));
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
    Check::passed(
        NAME,
        format!(
            "{} byte for byte, in the order of the source",
            counted(kept, "untouched message")
        ),
    )
}

/// The same records; what has none of its own (a body's tools) says the same.
fn is_same(promise: &Promise<'_>, a: &Message, read: &Session, b: &Message) -> bool {
    let source = &promise.case.session;
    if a.raw.is_empty() && b.raw.is_empty() {
        return bodies(source, a).eq(bodies(read, b));
    }
    let kept = |record| {
        promise
            .format
            .kept
            .map_or(record, |kept| &record[kept(record)])
    };
    let records = a.raw.iter().map(|span| source.raw(span)).map(kept);
    records.eq(b.raw.iter().map(|span| read.raw(span)).map(kept))
}

fn bodies<'a>(session: &'a Session, message: &Message) -> impl Iterator<Item = &'a Body> {
    session.parts_of(message).iter().map(|part| &part.body)
}
