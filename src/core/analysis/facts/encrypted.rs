//! Encrypted summaries.

use crate::session::{Body, Session};

/// Returns whether the text of a summary among these messages is unknown.
pub fn is_encrypted(session: &Session, kept: &[usize]) -> bool {
    let summaries = kept.iter().filter_map(|idx| session.messages.get(*idx));
    let mut bodies = summaries
        .filter(|message| message.is_summary)
        .flat_map(|message| session.parts_of(message))
        .map(|part| &part.body);
    bodies.any(|body| match body {
        Body::Thinking { text, sealed_bytes, .. } => text.is_empty() && *sealed_bytes > 0,
        Body::Opaque { .. } => true,
        _ => false,
    })
}
