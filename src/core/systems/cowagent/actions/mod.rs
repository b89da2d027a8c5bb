//! Actions of presets. Each is one stage with its own event.

mod context;
mod cut;
mod drop;
mod guard;
mod recover;
mod remember;

use super::estimate::messages_tokens;
use crate::chat::{ChatMessage, Shape, n_system};
use crate::engine::{ActionKind, NamedAction, Rewritten};
use crate::systems::stage_settings::{numbers_only, summarizing};
use std::sync::Arc;

/// Actions of presets.
pub static ACTIONS: &[NamedAction] = &[
    NamedAction::new(
        "cowagent.cut_result",
        ActionKind::Cut,
        "Keeps the head of a new tool result that is longer than the limit.",
        |settings| numbers_only(settings, cut::cut_new_results),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["result_chars"]),
    NamedAction::new(
        "cowagent.cut_thinking",
        ActionKind::Cut,
        "Stores head and tail of long thinking.",
        |settings| numbers_only(settings, cut::cut_newest_thinking),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["thinking_chars"]),
    NamedAction::new(
        "cowagent.cut_history",
        ActionKind::Cut,
        "Keeps the head of tool results of earlier turns; a result cut earlier is cut again.",
        |settings| Ok(Arc::new(cut::CutHistory::new(settings)?)),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["result_chars"]),
    NamedAction::new(
        "cowagent.trim_scheduler",
        ActionKind::Drop,
        "Drops all but the last turns of a scheduled task's session.",
        |settings| numbers_only(settings, drop::trim_scheduler),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["keep_turns"]),
    NamedAction::new(
        "cowagent.remember",
        ActionKind::Summarize,
        "Summarizes the messages that the trim will drop for the daily memory file, and inserts the summary before the first text kept.",
        |settings| summarizing(settings, remember::remember),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&[
        "max_turns",
        "max_tokens",
        "few_turns",
        "summary_chars",
        "summary_max_tokens",
        "inject",
    ]),
    NamedAction::new(
        "cowagent.limit_turns",
        ActionKind::Drop,
        "Drops the oldest half of the turns if there are too many.",
        |settings| numbers_only(settings, drop::limit_turns),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["max_turns"]),
    NamedAction::new(
        "cowagent.flatten_turns",
        ActionKind::Drop,
        "Over budget with few turns: keeps the first question and the last answer of each turn, including the current one.",
        |settings| numbers_only(settings, drop::flatten_turns),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["max_tokens", "few_turns"]),
    NamedAction::new(
        "cowagent.halve_turns",
        ActionKind::Drop,
        "Over budget with many turns: drops the oldest half, once.",
        |settings| numbers_only(settings, drop::halve_turns),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["max_tokens", "few_turns"]),
    NamedAction::new(
        "cowagent.validate",
        ActionKind::Repair,
        "Inserts missing results and removes mismatches.",
        |settings| numbers_only(settings, guard::validate),
    )
    .with_shape(Shape::Anthropic),
    NamedAction::new(
        "cowagent.ask_for_report",
        ActionKind::Inject,
        "After the last step of a run, requests a report instead of more calls.",
        |settings| numbers_only(settings, guard::ask_at_step_limit),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["max_steps"]),
    NamedAction::new(
        "cowagent.hint_at_repeats",
        ActionKind::Inject,
        "Asks the model to answer after the same call succeeded three times; the hint remains and counts as a turn.",
        |settings| numbers_only(settings, guard::hint_at_repeats),
    )
    .with_shape(Shape::Anthropic),
    NamedAction::new(
        "cowagent.remember_all",
        ActionKind::Summarize,
        "Summarizes the whole conversation for the daily memory file before handling an overflow.",
        |settings| summarizing(settings, remember::remember_all),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["summary_chars", "summary_max_tokens"]),
    NamedAction::new(
        "cowagent.recover",
        ActionKind::Drop,
        "After an overflow, cuts all long contents and keeps the last turns; if that has no effect or was already done for this call, empties the conversation.",
        |settings| numbers_only(settings, recover::recover),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["result_chars", "user_chars", "keep_turns"]),
    NamedAction::new(
        "cowagent.restore",
        ActionKind::Drop,
        "Restores the last turns after a restart, a question and an answer each.",
        |settings| numbers_only(settings, recover::restore_last_turns),
    )
    .with_shape(Shape::Anthropic)
    .with_numbers(&["max_turns", "is_scheduled"]),
    NamedAction::new(
        "cowagent.context",
        ActionKind::Log,
        "Logs the statistics of /context: messages, roles and characters.",
        |settings| numbers_only(settings, context::log_statistics),
    )
    .with_shape(Shape::Anthropic),
    NamedAction::new(
        "cowagent.clear",
        ActionKind::Drop,
        "Empties the conversation in memory, as /context clear does; the store keeps it.",
        |settings| numbers_only(settings, recover::clear),
    )
    .with_shape(Shape::Anthropic),
];

/// Splits off the leading instructions.
fn split_instructions(messages: &[ChatMessage]) -> (&[ChatMessage], &[ChatMessage]) {
    messages.split_at(n_system(messages))
}

/// Returns the tokens of the instructions: one if there are none.
fn instructions_tokens(system: &[ChatMessage]) -> u64 {
    messages_tokens(system).max(1)
}

/// Joins instructions and conversation.
fn with_instructions(system: &[ChatMessage], conversation: &[ChatMessage]) -> Vec<ChatMessage> {
    [system, conversation].concat()
}

fn term(name: &str, value: usize) -> (String, f64) {
    (name.to_owned(), value as f64)
}

/// Returns the result of a check that changed nothing.
fn idle(terms: Vec<(String, f64)>) -> Rewritten {
    Rewritten { terms, ..Rewritten::default() }
}

/// Returns the result of an action that changed `n` messages or contents after the instructions.
fn changed(
    n: usize,
    [system, conversation]: [&[ChatMessage]; 2],
    terms: Vec<(String, f64)>,
    log: Vec<String>,
) -> Rewritten {
    if n == 0 {
        return idle(terms);
    }
    Rewritten {
        messages: Some(with_instructions(system, conversation)),
        fired: true,
        terms,
        log,
        ..Rewritten::default()
    }
}

#[cfg(test)]
mod tests;
