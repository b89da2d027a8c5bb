//! Emergency after the provider rejected a request as too long: a truncation without a model, then one retry.
//!
//! Source: `runtime/compaction.py` of mbathe/digitorn-bridge.

use super::notes::{Wording, rebuild};
use super::reminder::{ReminderInputs, context_reminder};
use super::safe_split::{safe_keep, split_system};
use super::tool_injection::ToolInjection;
use crate::chat::ChatMessage;
use crate::languages::python::{PythonError, first_chars, signed};

/// Phrases of an error that identify an overflow, case-insensitive.
const OVERFLOWS: &[&str] = &[
    "maximum context length",
    "context_length_exceeded",
    "context window",
    "reduce the length of the messages",
    "too many tokens",
    "token limit",
];

/// Messages that an emergency always keeps.
// The numbers of this file are those of the source above.
const MIN_KEPT: i64 = 4;

/// Characters that a message may have in any window.
const MIN_CHARS: i64 = 4_000;

/// Characters of a shortened message reserved for its marker.
const MARKER_CHARS: usize = 500;

/// Returns whether a provider's error is treated as an overflow.
pub fn is_context_overflow(error: &str) -> bool {
    let error = error.to_lowercase();
    OVERFLOWS.iter().any(|words| error.contains(words))
}

/// The result of an emergency.
#[derive(Clone, Debug, PartialEq)]
pub struct Emergency {
    /// The conversation afterwards.
    pub messages: Vec<ChatMessage>,
    /// Its log lines.
    pub log: Vec<String>,
}

/// Reduces the conversation. Changes neither the turn of the last compaction nor any hook.
///
/// # Errors
/// As the reminder raises.
pub fn emergency_compact(
    messages: Vec<ChatMessage>,
    max_tokens: i64,
    keep_recent: i64,
    mode: ToolInjection,
    inputs: ReminderInputs<'_>,
) -> Result<Emergency, PythonError> {
    let keep = keep_recent.div_euclid(2).max(MIN_KEPT);
    let (system, conversation) = split_system(&messages);
    let n = conversation.len();
    if signed(n) <= keep {
        let whole = truncate_oversized(messages, max_tokens);
        let log = format!("emergency_compact: truncated oversized messages ({n} msgs)");
        return Ok(done(whole, [log]));
    }
    let n_kept = safe_keep(conversation, keep)?;
    if n_kept == n {
        return forced(messages, max_tokens, mode, inputs);
    }
    let (old, kept) = conversation.split_at(n - n_kept);
    let reminder = context_reminder(inputs, mode, kept)?;
    let note = Wording::Shipped.dropped(old.len(), &reminder);
    let rebuilt = truncate_oversized(rebuild(system, note, kept), max_tokens);
    let log = format!("emergency_compact: truncated {} messages, kept {n_kept}", old.len());
    Ok(done(rebuilt, [log]))
}

/// Handles a conversation that is one chain: shortens long messages, then drops the older half without regard to pairs.
fn forced(
    messages: Vec<ChatMessage>,
    max_tokens: i64,
    mode: ToolInjection,
    inputs: ReminderInputs<'_>,
) -> Result<Emergency, PythonError> {
    let mut log = vec![
        "emergency_compact: safe split returned empty, forcing aggressive truncation of oversized messages and \
         dropping oldest half"
            .to_owned(),
    ];
    let shortened = truncate_oversized(messages, max_tokens);
    let (system, conversation) = split_system(&shortened);
    if signed(conversation.len()) <= MIN_KEPT {
        return Ok(done(shortened, log));
    }
    let (old, kept) = conversation.split_at(conversation.len() / 2);
    let reminder = context_reminder(inputs, mode, kept)?;
    let note = Wording::Shipped.dropped(old.len(), &reminder);
    log.push(format!("emergency_compact: forced drop of {} oldest messages", old.len()));
    Ok(done(rebuild(system, note, kept), log))
}

fn done(messages: Vec<ChatMessage>, log: impl IntoIterator<Item = String>) -> Emergency {
    let log = log.into_iter().collect();
    Emergency { messages, log }
}

/// Shortens every message whose text has more characters than the window has tokens, including the system prompt.
pub fn truncate_oversized(mut messages: Vec<ChatMessage>, max_tokens: i64) -> Vec<ChatMessage> {
    let most = (max_tokens.div_euclid(4).saturating_mul(4)).max(MIN_CHARS) as usize;
    for message in &mut messages {
        let Some(text) = message.text() else { continue };
        let chars = text.chars().count();
        if chars <= most {
            continue;
        }
        let role = if message.role.is_empty() { "unknown" } else { &message.role };
        let cut = most - MARKER_CHARS;
        let shortened = format!(
            "{}\n\n EMERGENCY TRUNCATION: this {role} message was {chars} characters but exceeded the context window. \
             Only the first {cut} characters are shown.\nIf this was a tool result, the data above is partial. Do NOT \
             guess or invent the missing content. Use a more specific query to get the information you need.",
            first_chars(text, cut)
        );
        *message = message.with_text(shortened);
    }
    messages
}
