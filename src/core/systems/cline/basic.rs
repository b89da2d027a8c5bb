//! Compaction without a request: typed messages stay, and notices take the place of dropped work.

use super::activity::notice;
use super::budget::Budget;
use super::stored::{Stored, StoredKind};
use crate::chat::ChatMessage;
use crate::json::{Value, json};
use std::collections::BTreeSet;

/// Number of the newest answers whose texts a notice repeats.
// As in Cline at 21cb8d25, `basic-compaction.ts`.
const REPEATED_ANSWERS: usize = 3;

/// The conversation after a compaction, without instructions.
pub(super) struct Kept {
    pub(super) messages: Vec<ChatMessage>,
    /// Metadata of the first message.
    pub(super) first: Value,
}

/// `runBasicCompaction`: drops what does not fit into the target; `None` if nothing changes.
pub(super) fn compact(all: &[ChatMessage], budget: &Budget) -> Option<Kept> {
    let list = &budget.messages;
    let target = budget.target.min(budget.trigger).max(1);
    let kept = selected(all, list, target)?;
    if kept.len() == list.len() {
        return None;
    }
    let answers = newest_answers(all, list);
    let mut messages: Vec<ChatMessage> = Vec::new();
    for (nth, at) in kept.iter().enumerate() {
        messages.extend_from_slice(&all[list[*at].range.clone()]);
        let next = kept.get(nth + 1).copied().unwrap_or(list.len());
        if list[*at].kind == StoredKind::Typed && next > at + 1 {
            let dropped = list[at + 1].range.start..list[next - 1].range.end;
            let repeated = answers.range(at + 1..next).map(|at| text(all, &list[*at]));
            let repeated: Vec<String> = repeated.collect();
            messages.extend(
                notice(&all[dropped], &repeated).map(|text| ChatMessage::addition("user", text)),
            );
        }
    }
    Some(Kept { messages, first: first_metadata(budget, list.len() - kept.len()) })
}

/// Returns the messages that stay: all typed and frozen ones, the newest of the last turn, and the last answers of
/// older turns, while they fit. Frozen messages are the result of an earlier compaction, and nothing before them in
/// their turn is added again.
fn selected(all: &[ChatMessage], list: &[Stored], target: usize) -> Option<Vec<usize>> {
    let typed: Vec<usize> = positions(list, |m| m.kind == StoredKind::Typed);
    let newest = *typed.last()?;
    let mut kept: BTreeSet<usize> = typed.iter().copied().collect();
    kept.extend(positions(list, |m| m.is_frozen));
    let mut sum: usize = kept.iter().map(|at| list[*at].estimate()).sum();
    let (mut start, mut tail) = (list.len(), 0);
    for at in (newest + 1..list.len()).rev() {
        let cost = list[at].estimate();
        if list[at].is_frozen || sum + tail + cost > target {
            break;
        }
        tail += cost;
        start = at;
    }
    while start < list.len() && list[start].kind != StoredKind::Answer {
        start += 1;
    }
    sum += list[start..].iter().map(Stored::estimate).sum::<usize>();
    kept.extend(start..list.len());
    for turn in typed.windows(2).rev() {
        for at in (turn[0] + 1..turn[1]).rev() {
            if list[at].is_frozen {
                break;
            }
            let message = &all[list[at].range.start];
            if list[at].kind != StoredKind::Answer || !message.calls().is_empty() {
                continue;
            }
            let cost = list[at].estimate();
            if !text(all, &list[at]).is_empty() && sum + cost <= target {
                kept.insert(at);
                sum += cost;
            }
            break;
        }
    }
    Some(kept.into_iter().collect())
}

fn positions(list: &[Stored], is_sought: impl Fn(&Stored) -> bool) -> Vec<usize> {
    let found = list.iter().enumerate().filter(|(_, message)| is_sought(message));
    found.map(|(at, _)| at).collect()
}

fn newest_answers(all: &[ChatMessage], list: &[Stored]) -> BTreeSet<usize> {
    let is_text = |m: &Stored| m.kind == StoredKind::Answer && !text(all, m).is_empty();
    let answers = positions(list, is_text).into_iter().rev();
    answers.take(REPEATED_ANSWERS).collect()
}

fn text(all: &[ChatMessage], message: &Stored) -> String {
    all[message.range.start].joined_text("\n").trim().to_owned()
}

/// Returns the metadata that the first message has afterwards. The numbers of earlier compactions add up.
fn first_metadata(budget: &Budget, n_removed: usize) -> Value {
    let before = budget.state.first["messagesRemoved"].as_u64().unwrap_or(0);
    let [input, output] = budget.state.usage;
    let usage = json!({"inputTokens": input, "outputTokens": output, "cacheReadTokens": 0,
        "cacheWriteTokens": 0, "cost": 0});
    json!({"kind": "compaction", "reason": "auto_compaction", "displayRole": "system",
        "messagesRemoved": before + n_removed as u64, "usageBefore": usage, "userRunSpan": 1})
}
