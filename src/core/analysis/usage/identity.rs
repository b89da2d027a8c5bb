//! Names of calls that are the same in every file that contains a copy of them.

use crate::session::{Role, Session};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Returns a hash for each call whose answer has an id, by the index of the call. Copies of a call in other files, which
/// programs write when they resume or fork a session, have the same hash. An id counts only together with the text of its
/// answer: some programs number their messages.
pub fn call_identities(session: &Session) -> Vec<Option<u64>> {
    let mut identities = vec![None; session.calls.len()];
    for message in session.messages.iter().filter(|m| m.role == Role::Assistant) {
        let Some(identity) = message.call.and_then(|call| identities.get_mut(call)) else {
            continue;
        };
        let Some(id) = &message.id else {
            continue;
        };
        let mut hasher = DefaultHasher::new();
        identity.hash(&mut hasher);
        id.hash(&mut hasher);
        for part in session.parts_of(message) {
            part.body.text().hash(&mut hasher);
        }
        *identity = Some(hasher.finish());
    }
    identities
}
