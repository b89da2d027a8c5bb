//! Checks that ids are unique.

use super::outcome::Check;
use super::promise::{Promise, context_messages};
use crate::session::{Body, Session};
use std::collections::HashSet;
use std::fmt;

/// An id of a message or of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id<'a> {
    Message(&'a str),
    Call(&'a str),
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(id) => write!(f, "message {id}"),
            Self::Call(id) => write!(f, "call {id}"),
        }
    }
}

/// Checks that no two messages and no two calls share an id, unless they do in the source.
pub(super) fn check(promise: &Promise<'_>, read: &Session) -> Check {
    const NAME: &str = "ids unique";
    let repeated = repeated_ids(read, context_messages(read));
    if repeated.is_empty() {
        return Check::passed(NAME, "no two messages and no two calls share an id");
    }
    let source = &promise.case.session;
    let known = repeated_ids(source, 0..source.messages.len());
    let known: HashSet<Id<'_>> = known.into_iter().collect();
    if let Some(id) = repeated.iter().find(|id| !known.contains(*id)) {
        return Check::failed(NAME, format!("{id} is not unique"));
    }
    // Providers do not see the ids of messages.
    match repeated.iter().find(|id| matches!(id, Id::Call(_))) {
        Some(id) => Check::warned(
            NAME,
            format!("{id} is not unique, as in the source; providers may reject this"),
        ),
        None => Check::passed(NAME, "no two messages and no two calls share an id"),
    }
}

/// Returns the repeated ids of messages, then those of calls.
fn repeated_ids(session: &Session, messages: impl IntoIterator<Item = usize>) -> Vec<Id<'_>> {
    let (mut of_messages, mut of_calls) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for idx in messages {
        let message = &session.messages[idx];
        let id = message.id.as_deref().map(Id::Message);
        of_messages.extend(id.filter(|id| !seen.insert(*id)));
        for part in session.parts_of(message) {
            if let Body::ToolCall { call, .. } = &part.body
                && !seen.insert(Id::Call(call))
            {
                of_calls.push(Id::Call(call));
            }
        }
    }
    of_messages.append(&mut of_calls);
    of_messages
}
