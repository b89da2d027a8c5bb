//! Compactions of Roo and Kilo. Hidden messages name the summary or truncation that replaces them and stay in the file,
//! so that the user can rewind.

use crate::formats::json;
use crate::json::Value;
use crate::session::{MAX_KEPT, RecordedCompaction, Session};
use std::collections::HashSet;

/// A summary or truncation marker and the messages that it replaces.
struct Replacement {
    /// Index of the summary or marker.
    message: usize,
    /// Indices of the messages that name it.
    hidden: HashSet<usize>,
}

/// Adds the compactions that the messages record.
pub(super) fn apply(session: &mut Session) {
    let all = replacements(session);
    let mut hidden: HashSet<usize> = HashSet::new();
    let mut heads: HashSet<usize> = HashSet::new();
    let mut kept_left = MAX_KEPT;
    for replacement in all {
        hidden.extend(&replacement.hidden);
        let at = replacement.message;
        // It was created after the latest message that it replaces.
        let after = replacement.hidden.iter().max().map_or(at, |last| last + 1).max(at + 1);
        session.messages[at].in_history = false;
        heads.insert(at);
        if kept_left == 0 {
            continue;
        }
        let is_there = |idx: &usize| heads.contains(idx) || session.messages[*idx].in_history;
        let kept = (0..after).filter(|idx| !hidden.contains(idx) && is_there(idx));
        let kept: Vec<usize> = kept.collect();
        kept_left = kept_left.saturating_sub(kept.len());
        let is_later = |call: &crate::session::Call| call.context_end >= after;
        let call = session.calls.iter().position(is_later).unwrap_or(session.calls.len());
        session.compactions.push(RecordedCompaction {
            before_message: after,
            call,
            trigger: String::new(),
            tokens_before: None,
            tokens_after: None,
            request: None,
            kept,
        });
    }
    session.compactions.sort_by_key(|c| c.before_message);
}

/// Returns the messages that hide others, in order.
fn replacements(session: &Session) -> Vec<Replacement> {
    let marks: Vec<Value> = session.messages.iter().map(|m| marks_of(session, m)).collect();
    let mut all = Vec::new();
    for (id, parent, is) in [
        ("condenseId", "condenseParent", "isSummary"),
        ("truncationId", "truncationParent", "isTruncationMarker"),
    ] {
        let heads = marks.iter().enumerate().filter(|(_, m)| json::is_true(m, &[is]));
        let heads: Vec<(usize, &str)> =
            heads.filter_map(|(at, m)| Some((at, json::str_at(m, &[id])?))).collect();
        let mut by_id: std::collections::HashMap<&str, HashSet<usize>> =
            std::collections::HashMap::new();
        if heads.is_empty() {
            continue;
        }
        for (at, mark) in marks.iter().enumerate() {
            if let Some(parent) = json::str_at(mark, &[parent]) {
                by_id.entry(parent).or_default().insert(at);
            }
        }
        for (message, id) in heads {
            let hidden = by_id.remove(id).unwrap_or_default();
            all.push(Replacement { message, hidden });
        }
    }
    all.sort_by_key(|replacement| replacement.message);
    all
}

/// Returns the members of a message's record without its content.
fn marks_of(session: &Session, message: &crate::session::Message) -> Value {
    let Some(span) = message.raw.first() else {
        return Value::Null;
    };
    crate::formats::rows::members_except(
        &session.source.bytes.whole(),
        span,
        &["content", "role", "reasoning_details"],
    )
}
