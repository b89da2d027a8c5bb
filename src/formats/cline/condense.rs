//! What Roo and Kilo hid from the model: messages name the summary or the truncation that stands for them. All of them
//! stay in the file, so that a person can go back.

use super::super::json;
use crate::session::{MAX_KEPT, RecordedCompaction, Session};
use serde_json::Value;
use std::collections::HashSet;

/// A summary or a marker, and what it hides.
struct Hides {
    /// The message that it is.
    message: usize,
    /// The messages that name it.
    hidden: HashSet<usize>,
}

/// Notes the compactions that the messages tell of.
pub(super) fn apply(session: &mut Session) {
    let all = hiding(session);
    let mut gone: HashSet<usize> = HashSet::new();
    let mut heads: HashSet<usize> = HashSet::new();
    let mut kept_left = MAX_KEPT;
    for hides in all {
        gone.extend(&hides.hidden);
        let at = hides.message;
        // It came to be when the latest message that it hides was there already.
        let after = hides
            .hidden
            .iter()
            .max()
            .map_or(at, |last| last + 1)
            .max(at + 1);
        session.messages[at].in_history = false;
        heads.insert(at);
        if kept_left == 0 {
            continue;
        }
        let is_there = |idx: &usize| heads.contains(idx) || session.messages[*idx].in_history;
        let kept = (0..after).filter(|idx| !gone.contains(idx) && is_there(idx));
        let kept: Vec<usize> = kept.collect();
        kept_left = kept_left.saturating_sub(kept.len());
        let is_seen = |step: &crate::session::Step| step.context_end >= after;
        let step = session
            .steps
            .iter()
            .position(is_seen)
            .unwrap_or(session.steps.len());
        session.compactions.push(RecordedCompaction {
            before_message: after,
            step,
            trigger: String::new(),
            tokens_before: None,
            tokens_after: None,
            kept,
        });
    }
    session.compactions.sort_by_key(|c| c.before_message);
}

/// The messages that hide others, in order.
fn hiding(session: &Session) -> Vec<Hides> {
    let marks: Vec<Value> = session
        .messages
        .iter()
        .map(|m| marks_of(session, m))
        .collect();
    let mut all = Vec::new();
    for (id, parent, is) in [
        ("condenseId", "condenseParent", "isSummary"),
        ("truncationId", "truncationParent", "isTruncationMarker"),
    ] {
        let heads = marks
            .iter()
            .enumerate()
            .filter(|(_, m)| json::is_true(m, &[is]));
        let heads: Vec<(usize, &str)> = heads
            .filter_map(|(at, m)| Some((at, json::str_at(m, &[id])?)))
            .collect();
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
            all.push(Hides { message, hidden });
        }
    }
    all.sort_by_key(|hides| hides.message);
    all
}

/// The members of a message's record, without what it says.
fn marks_of(session: &Session, message: &crate::session::Message) -> Value {
    let Some(span) = message.raw.first() else {
        return Value::Null;
    };
    super::super::rows::around(
        &session.source.bytes.whole(),
        span,
        &["content", "role", "reasoning_details"],
    )
}
