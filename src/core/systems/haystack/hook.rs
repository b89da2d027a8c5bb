//! `CompactionHook`: acts once the reported tokens of the newest answer and an estimate of what followed reach a share of
//! the window.

use super::conversation::Conversation;
use super::render::sorted;
use crate::chat::ChatMessage;
use crate::engine::{RewriteInput, Rewritten};
use crate::json::{Value, json};
use crate::languages::python::{Layout, python_dumps};

/// Numbers that all compactors need.
pub(super) const NUMBERS: [&str; 6] =
    ["reported", "tools_tokens", "context_window", "compact_at", "compact_to", "min_keep_steps"];

/// Key of the turn and the tokens that are known of it, in memory.
const CONTEXT: &str = "haystack_context";

/// A due compaction.
pub(super) struct Due {
    /// Tokens to which messages should be reduced.
    pub(super) target: u64,
    /// Tokens known of the turn's calls; 0 if none.
    context: u64,
    /// Tokens besides messages.
    overhead: i64,
}

/// Returns the compaction that is due, if one is, and the result of the hook so far.
pub(super) fn check(input: &RewriteInput<'_>, all: &Conversation) -> (Option<Due>, Rewritten) {
    let known = &input.memory[CONTEXT];
    let is_of_turn = known[0].as_u64() == Some(u64::from(input.turn));
    let reported = input.count("reported") as u64;
    // Each turn is a run, which begins without a count.
    let context = match input.call_in_turn {
        0 => 0,
        _ if reported > 0 => reported,
        _ => known[1].as_u64().filter(|_| is_of_turn).unwrap_or(0),
    };
    let estimated = match last_answer(&all.messages) {
        _ if context == 0 => all.count_all(tools(input)),
        Some(last) => context + all.count(last + 1..all.messages.len()),
        None => context,
    };
    let done = Rewritten { memory: memory(input, context), ..Rewritten::counted(estimated) };
    let window = input.number("context_window");
    if (estimated as f64) < window * input.number("compact_at") {
        return (None, done);
    }
    let overhead = estimated.cast_signed() - all.count_all(0).cast_signed();
    let target = (window * input.number("compact_to")) as i64 - overhead;
    let due = Due { target: target.max(0) as u64, context, overhead };
    (Some(due), done)
}

/// Returns the result with a compacted conversation.
pub(super) fn compacted(
    input: &RewriteInput<'_>,
    due: &Due,
    messages: Vec<ChatMessage>,
    done: Rewritten,
) -> Rewritten {
    let after = Conversation::new(&messages);
    let accounted = last_answer(&messages).map_or(messages.len(), |last| last + 1);
    let context = match due.context {
        0 => 0,
        _ => (after.count(0..accounted).cast_signed() + due.overhead).max(0) as u64,
    };
    Rewritten { memory: memory(input, context), messages: Some(messages), fired: true, ..done }
}

fn memory(input: &RewriteInput<'_>, context: u64) -> crate::engine::Memory {
    json!({CONTEXT: [input.turn, context]}).into()
}

fn last_answer(messages: &[ChatMessage]) -> Option<usize> {
    messages.iter().rposition(|m| m.is("assistant"))
}

/// Returns the characters of the tool definitions.
fn tools(input: &RewriteInput<'_>) -> u64 {
    let recorded: Value = input.tools.iter().map(specification).collect();
    let recorded = match input.tools.len() {
        0 => 0,
        _ => python_dumps(&recorded, Layout::ASCII).len() as u64,
    };
    recorded.max(4 * input.count("tools_tokens") as u64)
}

/// Returns the definition of a tool as Haystack writes it.
fn specification(tool: &Value) -> Value {
    sorted(tool.get("function").unwrap_or(tool).clone())
}
