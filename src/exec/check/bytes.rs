//! What was not touched is read back byte for byte and in its order.

use super::{Check, Promise};
use crate::session::{ManagedEntry, Message, Session};

const NAME: &str = "kept bytes";

/// The records of untouched messages follow one another in the file as the messages do in the managed conversation.
pub(super) fn check(promise: &Promise<'_>, read: &Session) -> Check {
    let source = &promise.case.session;
    let mut rest = read.messages.iter();
    let mut kept = 0;
    for entry in &promise.managed.entries {
        let ManagedEntry::Kept { message: idx } = entry else {
            continue;
        };
        let message = &source.messages[*idx];
        if rest.any(|there| is_same(source, message, read, there)) {
            kept += usize::from(!message.raw.is_empty());
            continue;
        }
        let is_there = read
            .messages
            .iter()
            .any(|there| is_same(source, message, read, there));
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
        format!("{kept} untouched messages are byte for byte and in the order of the source"),
    )
}

/// The same records; what has none of its own (a body's tools) says the same.
fn is_same(source: &Session, a: &Message, read: &Session, b: &Message) -> bool {
    let bodies_of = |session, message| {
        let parts = Session::parts_of(session, message).iter();
        parts.map(|part| &part.body)
    };
    if a.raw.is_empty() && b.raw.is_empty() {
        return bodies_of(source, a).eq(bodies_of(read, b));
    }
    let records = a.raw.iter().map(|span| source.raw(span));
    records.eq(b.raw.iter().map(|span| read.raw(span)))
}
