//! Names of calls that are the same in every file that contains a copy of them.

use crate::session::{Message, Role, Session};
use std::hash::Hasher as _;
use twox_hash::XxHash64;

/// Length in bytes below which an id may be a counter: ids that providers and UUID libraries make have 20 and more.
const UNIQUE_LEN: usize = 16;

/// Returns a hash for each call whose answer has an id, by the index of the call. Copies of a call in other files, which
/// programs write when they resume or fork a session, have the same hash. An id counts only together with the text of its
/// answer, and one that may be a counter only with the message before it, too: some programs number their messages.
///
/// The hash is the same on every machine and in every version, since tables store it.
pub fn call_identities(session: &Session) -> Vec<Option<u64>> {
    let mut identities = vec![None; session.calls.len()];
    let mut before: Option<&Message> = None;
    for message in &session.messages {
        if message.role != Role::Assistant {
            before = Some(message);
            continue;
        }
        let Some(identity) = message.call.and_then(|call| identities.get_mut(call)) else {
            continue;
        };
        let Some(id) = &message.id else {
            continue;
        };
        // Several messages of a call are hashed one after the other.
        let mut hasher = XxHash64::with_seed(identity.unwrap_or_default());
        let mut add = |text: &str| {
            // The length separates texts.
            hasher.write(&(text.len() as u64).to_le_bytes());
            hasher.write(text.as_bytes());
        };
        add(id);
        let asked = before.filter(|_| id.len() < UNIQUE_LEN);
        for message in [Some(message), asked].into_iter().flatten() {
            session.parts_of(message).iter().for_each(|part| add(part.body.text()));
        }
        *identity = Some(hasher.finish());
    }
    identities
}
