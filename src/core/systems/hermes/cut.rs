//! The boundaries of the part that is summarized.

use super::estimate::budget;
use super::summary_text::{is_summary, text_of};
use crate::chat::ChatMessage;
use crate::languages::python::strip;

/// Maximum number of newest messages that are kept whatever their size.
// The numbers of this file are those of hermes-agent 0.19.0, `_find_tail_cut_by_tokens`
// (`agent/context_compressor.py`).
const MAX_FLOOR: usize = 8;
const MIN_FLOOR: usize = 3;

/// Returns the first message that is no result, from `at` on.
pub(super) fn forward(all: &[ChatMessage], mut at: usize) -> usize {
    while all.get(at).is_some_and(|m| m.is("tool")) {
        at += 1;
    }
    at
}

/// Returns the call of a boundary between a call and its results, or behind them.
fn backward(all: &[ChatMessage], at: usize) -> usize {
    if at == 0 || at >= all.len() {
        return at;
    }
    let parent = all[..at].iter().rposition(|m| !m.is("tool"));
    let parent = parent.filter(|at| all[*at].is("assistant") && !all[*at].calls().is_empty());
    parent.unwrap_or(at)
}

/// `_find_tail_cut_by_tokens`: returns the start of the tail.
pub(super) fn tail_start(all: &[ChatMessage], head: usize, tokens: u64, keep: usize) -> usize {
    let n = all.len();
    let available = n.saturating_sub(head + 1);
    let floor = match available {
        0 | 1 => 0,
        _ => {
            keep.clamp(MIN_FLOOR, MAX_FLOOR).min(available.saturating_sub(2).max(3)).min(available)
        }
    };
    let ceiling = (tokens as f64 * 1.5) as u64;
    let (mut cut, total) = walk(all, head, ceiling, floor, false);
    if cut <= head && total <= ceiling && total > 0 {
        (cut, _) = walk(all, head, tokens, floor, true);
    }
    let fallback = n - floor;
    cut = cut.min(fallback);
    if cut <= head {
        cut = fallback.max(head + 1);
    }
    cut = backward(all, cut);
    cut = with_last_user(all, cut, head);
    cut = with_last_answer(all, cut, head);
    forward(all, cut.max(head + 1))
}

/// Returns the start of the newest messages within a limit, and their tokens. `stops_in` includes the message at which
/// the limit is exceeded.
fn walk(
    all: &[ChatMessage],
    head: usize,
    limit: u64,
    floor: usize,
    stops_in: bool,
) -> (usize, u64) {
    let n = all.len();
    let (mut cut, mut total) = (n, 0);
    for at in (head..n).rev() {
        let tokens = budget(&all[at]);
        if total + tokens > limit && n - at >= floor {
            return (if stops_in { at } else { cut }, total);
        }
        total += tokens;
        cut = at;
    }
    (cut, total)
}

fn with_last_user(all: &[ChatMessage], cut: usize, head: usize) -> usize {
    let is_user = |at: &usize| all[*at].is("user") && !is_summary(&all[*at]);
    let Some(last) = (head..all.len()).rev().find(is_user).filter(|last| *last < cut) else {
        return cut;
    };
    if last > head {
        return last;
    }
    // A message at the start of the summarized part goes with its answer.
    let end = match all.get(last + 1) {
        Some(next) if next.is("assistant") => forward(all, last + 2),
        _ => last + 1,
    };
    end.max(head + 1)
}

fn with_last_answer(all: &[ChatMessage], cut: usize, head: usize) -> usize {
    let mut answers = (head..all.len()).rev().filter(|at| all[*at].is("assistant"));
    let Some(newest) = answers.clone().next() else {
        return cut;
    };
    let last = answers.find(|at| !strip(&text_of(&all[*at])).is_empty()).unwrap_or(newest);
    if last >= cut {
        return cut;
    }
    backward(all, last).max(head + 1)
}
