//! PicoClaw's mechanisms as actions of presets.

mod compact;
mod refuse;
mod sanitize;
mod summarize;
#[cfg(test)]
mod tests;
mod trim;
mod turn;

use super::budget::Budget;
use super::estimate::{content_chars, message_tokens, tokens_of_chars, tool_tokens};
use super::force_compression::Compressed;
use super::{Edition, Settings};
use crate::chat::{ChatMessage, Shape};
use crate::engine::{ActionKind, NamedAction, NamedMeter, Rewrite, RewriteInput};
use crate::systems::stage_settings::{check_keys, choice_setting, numbers_only};
use std::sync::Arc;

/// Every PicoClaw action that a preset may name.
pub static ACTIONS: &[NamedAction] = &[
    NamedAction::new(
        "picoclaw.summarize_session",
        ActionKind::Summarize,
        "Replaces all but the newest messages with a summary of the texts of user and assistant; the summarizer never receives tool results.",
        summarize::make,
    )
    .with_numbers(&[
        "context_window",
        "max_tokens",
        "message_threshold",
        "token_percent",
        "kept_messages",
    ]),
    NamedAction::new(
        "picoclaw.force_compression",
        ActionKind::Drop,
        "After a rejected request, drops the older half of the messages without a summary, and adds a note to the first message.",
        refuse::make,
    ),
    NamedAction::new(
        "picoclaw.compact_before_turn",
        ActionKind::Drop,
        "Drops the older half of the turns if the turn's first request would overflow, and adds a note to the summary.",
        |settings| numbers_only(settings, compact::compact_before_turn),
    )
    .with_numbers(&["context_window", "max_tokens"]),
    NamedAction::new(
        "picoclaw.rebuild_after_refusal",
        ActionKind::Drop,
        "After a rejected request, drops the older half of the turns; gives up if the current turn alone overflows.",
        |settings| numbers_only(settings, refuse::rebuild_request),
    )
    .with_numbers(&["context_window", "max_tokens"]),
    NamedAction::new(
        "picoclaw.trim_to_fit",
        ActionKind::Drop,
        "Leaves the oldest turns out of a turn's requests until the first request fits; the store keeps them.",
        |settings| numbers_only(settings, trim::trim_request),
    )
    .with_numbers(&["context_window", "max_tokens"]),
    NamedAction::new(
        "picoclaw.sanitize",
        ActionKind::Repair,
        "Leaves messages that a provider would reject out of a request: calls without all their results, results without their call, system messages in between. The store keeps them.",
        sanitize::make,
    ),
];

/// PicoClaw's estimates of a history for its own triggers, before and as built.
pub static METERS: &[NamedMeter] = &[
    NamedMeter {
        name: "picoclaw.before",
        help: "Two tokens for every five characters of message texts; no calls, no tools, no system prompt.",
        shape: Shape::OpenAi,
        units: |message| of_history(message, content_chars),
        tokens: tokens_of_chars,
        tools: |_| 0,
    },
    NamedMeter {
        name: "picoclaw.after",
        help: "Two tokens for every five characters, message by message, with calls, reasoning and 256 for each picture; no system prompt.",
        shape: Shape::OpenAi,
        units: |message| of_history(message, message_tokens),
        tokens: |tokens| tokens,
        tools: tool_tokens,
    },
];

/// Counts a message of the history; the system prompt and its summary count 0.
fn of_history(message: &ChatMessage, count: fn(&ChatMessage) -> u64) -> u64 {
    if message.is("system") { 0 } else { count(message) }
}

type MakeResult = Result<Arc<dyn Rewrite>, String>;

/// Returns the edition that a preset selects. Rejects other options.
fn edition(options: &toml::Table) -> Result<Edition, String> {
    check_keys(options, &["edition"])?;
    let editions =
        [("before", Edition::Before), ("proposed", Edition::Proposed), ("after", Edition::After)];
    choice_setting(options, "edition", &editions)?.ok_or_else(|| "`edition` is missing".to_owned())
}

/// Returns the settings given by a stage's numbers.
fn settings(input: &RewriteInput<'_>, edition: Edition) -> Settings {
    let number = |name| input.number(name) as i64;
    Settings::new(edition, number("context_window"), number("max_tokens"))
}

/// Makes a term of an event.
fn term(name: &str, value: f64) -> (String, f64) {
    (name.to_owned(), value)
}

/// Returns the terms of a budget.
fn budget_terms(budget: &Budget) -> [(String, f64); 4] {
    [
        term("message_tokens", budget.message_tokens as f64),
        term("tool_tokens", budget.tool_tokens as f64),
        term("max_tokens", budget.max_tokens as f64),
        term("context_window", budget.context_window as f64),
    ]
}

/// Returns the terms of a compression.
fn compression_terms(compressed: &Compressed) -> [(String, f64); 2] {
    [
        term("dropped", compressed.dropped as f64),
        term("remaining", compressed.stored.history.len() as f64),
    ]
}
