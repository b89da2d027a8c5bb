//! Position of the cut: no kept result may lose its call.

use super::message_text;
use crate::chat::ChatMessage;
use std::collections::HashMap;

/// Bytes per token for deciding the cut.
// As in digitornai/digitorn 51fe8f4a, `contextcompact/budget.go`.
const BYTES_PER_TOKEN: usize = 3;

/// Returns the number of oldest messages to drop. The cut moves back until each kept result has its call among the
/// kept.
pub fn safe_split(messages: &[ChatMessage], keep_recent: i64) -> usize {
    let keep = keep_recent.max(1) as usize;
    let wanted = messages.len().saturating_sub(keep);
    without_orphans(messages, wanted)
}

/// Like [`safe_split`], with a token budget for the kept messages. Always keeps the newest message; pairs take
/// precedence over the budget. Drops at least as many messages as the count requires.
pub fn safe_split_budget(messages: &[ChatMessage], keep_recent: i64, budget: i64) -> usize {
    let by_count = safe_split(messages, keep_recent);
    let Ok(budget) = usize::try_from(budget) else {
        return by_count;
    };
    if budget == 0 {
        return by_count;
    }
    let mut used = 0;
    let fits = messages.iter().rev().enumerate().take_while(|(idx, m)| {
        used += (message_text(m).len() + m.role.len() + 4) / BYTES_PER_TOKEN;
        used <= budget || *idx == 0
    });
    let by_budget = messages.len() - fits.count();
    without_orphans(messages, by_budget.max(by_count))
}

/// Returns the cut at `wanted` or before it that leaves no result without its call.
fn without_orphans(messages: &[ChatMessage], wanted: usize) -> usize {
    let mut last_call: HashMap<&str, usize> = HashMap::new();
    for (idx, message) in messages.iter().enumerate() {
        let ids = message.calls().iter().filter_map(|call| call.id.as_deref());
        last_call.extend(ids.map(|id| (id, idx)));
    }
    // The earliest message that the kept ones need, as the cut moves back; `None` for a result without a call.
    let mut needed = Some(messages.len());
    for (idx, message) in messages.iter().enumerate().rev() {
        let id = message.call_id.as_deref().filter(|id| !id.is_empty());
        if let Some(id) = id.filter(|_| message.is("tool")) {
            let call = last_call.get(id).copied();
            needed = needed.zip(call).map(|(needed, call)| needed.min(call));
        }
        if idx <= wanted && needed.is_some_and(|needed| needed >= idx) {
            return idx;
        }
    }
    // Drop nothing, or the conversation is empty.
    0
}
