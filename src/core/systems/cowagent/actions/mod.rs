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
    NamedAction {
        name: "cowagent.cut_result",
        kind: ActionKind::Cut,
        help: "Keeps the head of a new tool result that is longer than the limit.",
        shape: Shape::Anthropic,
        numbers: &["result_chars"],
        make: |settings| numbers_only(settings, cut::cut_new_results),
    },
    NamedAction {
        name: "cowagent.cut_thinking",
        kind: ActionKind::Cut,
        help: "Stores head and tail of long thinking.",
        shape: Shape::Anthropic,
        numbers: &["thinking_chars"],
        make: |settings| numbers_only(settings, cut::cut_newest_thinking),
    },
    NamedAction {
        name: "cowagent.cut_history",
        kind: ActionKind::Cut,
        help: "Keeps the head of tool results of earlier turns; a result cut earlier is cut again.",
        shape: Shape::Anthropic,
        numbers: &["result_chars"],
        make: |settings| Ok(Arc::new(cut::CutHistory::new(settings)?)),
    },
    NamedAction {
        name: "cowagent.trim_scheduler",
        kind: ActionKind::Drop,
        help: "Drops all but the last turns of a scheduled task's session.",
        shape: Shape::Anthropic,
        numbers: &["keep_turns"],
        make: |settings| numbers_only(settings, drop::trim_scheduler),
    },
    NamedAction {
        name: "cowagent.remember",
        kind: ActionKind::Summarize,
        help: "Summarizes the messages that the trim will drop for the daily memory file, and inserts the summary before the first text kept.",
        shape: Shape::Anthropic,
        numbers: &[
            "max_turns",
            "max_tokens",
            "few_turns",
            "summary_chars",
            "summary_max_tokens",
            "inject",
        ],
        make: |settings| summarizing(settings, remember::remember),
    },
    NamedAction {
        name: "cowagent.limit_turns",
        kind: ActionKind::Drop,
        help: "Drops the oldest half of the turns if there are too many.",
        shape: Shape::Anthropic,
        numbers: &["max_turns"],
        make: |settings| numbers_only(settings, drop::limit_turns),
    },
    NamedAction {
        name: "cowagent.flatten_turns",
        kind: ActionKind::Drop,
        help: "Over budget with few turns: keeps the first question and the last answer of each turn, including the current one.",
        shape: Shape::Anthropic,
        numbers: &["max_tokens", "few_turns"],
        make: |settings| numbers_only(settings, drop::flatten_turns),
    },
    NamedAction {
        name: "cowagent.halve_turns",
        kind: ActionKind::Drop,
        help: "Over budget with many turns: drops the oldest half, once.",
        shape: Shape::Anthropic,
        numbers: &["max_tokens", "few_turns"],
        make: |settings| numbers_only(settings, drop::halve_turns),
    },
    NamedAction {
        name: "cowagent.validate",
        kind: ActionKind::Repair,
        help: "Inserts missing results and removes mismatches.",
        shape: Shape::Anthropic,
        numbers: &[],
        make: |settings| numbers_only(settings, guard::validate),
    },
    NamedAction {
        name: "cowagent.ask_for_report",
        kind: ActionKind::Inject,
        help: "After the last step of a run, requests a report instead of more calls.",
        shape: Shape::Anthropic,
        numbers: &["max_steps"],
        make: |settings| numbers_only(settings, guard::ask_at_step_limit),
    },
    NamedAction {
        name: "cowagent.hint_at_repeats",
        kind: ActionKind::Inject,
        help: "Asks the model to answer after the same call succeeded three times; the hint remains and counts as a turn.",
        shape: Shape::Anthropic,
        numbers: &[],
        make: |settings| numbers_only(settings, guard::hint_at_repeats),
    },
    NamedAction {
        name: "cowagent.remember_all",
        kind: ActionKind::Summarize,
        help: "Summarizes the whole conversation for the daily memory file before handling an overflow.",
        shape: Shape::Anthropic,
        numbers: &["summary_chars", "summary_max_tokens"],
        make: |settings| summarizing(settings, remember::remember_all),
    },
    NamedAction {
        name: "cowagent.recover",
        kind: ActionKind::Drop,
        help: "After an overflow, cuts all long contents and keeps the last turns; if that has no effect or was already done for this call, empties the conversation.",
        shape: Shape::Anthropic,
        numbers: &["result_chars", "user_chars", "keep_turns"],
        make: |settings| numbers_only(settings, recover::recover),
    },
    NamedAction {
        name: "cowagent.restore",
        kind: ActionKind::Drop,
        help: "Restores the last turns after a restart, a question and an answer each.",
        shape: Shape::Anthropic,
        numbers: &["max_turns", "is_scheduled"],
        make: |settings| numbers_only(settings, recover::restore_last_turns),
    },
    NamedAction {
        name: "cowagent.context",
        kind: ActionKind::Log,
        help: "Logs the statistics of /context: messages, roles and characters.",
        shape: Shape::Anthropic,
        numbers: &[],
        make: |settings| numbers_only(settings, context::log_statistics),
    },
    NamedAction {
        name: "cowagent.clear",
        kind: ActionKind::Drop,
        help: "Empties the conversation in memory, as /context clear does; the store keeps it.",
        shape: Shape::Anthropic,
        numbers: &[],
        make: |settings| numbers_only(settings, recover::clear),
    },
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
