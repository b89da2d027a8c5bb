//! `compact_context`: replaces old messages with a note or a summary.
//!
//! Source: `_exec_compact_context` of `runtime/hooks.py`, mbathe/digitorn-bridge @8d8eb4a6.

use super::notes::{Wording, rebuild};
use super::reminder::{ReminderInputs, context_reminder};
use super::safe_split::{safe_keep_behind_system, split_system};
use super::stop::Stop;
use super::transcript::summary_request;
use super::turn_state::TurnState;
use crate::chat::{ChatMessage, Replies, SummaryReply};
use crate::json::{Map, Value, json};
use crate::languages::python::python_str;
use crate::languages::python::{
    PythonError, as_integer, as_number, class_of, first_chars, signed, with_commas,
};

/// Turns between two compactions (default of a hook).
const COOLDOWN_TURNS: i64 = 3;

/// Messages to keep (default of a hook).
const KEEP_RECENT: i64 = 10;

/// Maximum number of tokens of a summary (default of a hook).
const SUMMARY_MAX_TOKENS: u64 = 1_024;

/// Characters that a kept message may always have.
const MIN_CAP_CHARS: i64 = 4_000;

/// Characters of a capped message reserved for its marker.
const MARKER_CHARS: usize = 300;

/// Inputs of a compaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// Whether a model is available for a summary.
    pub has_provider: bool,
    /// Inputs of the reminder.
    pub reminder: ReminderInputs<'a>,
    /// The wording of notes.
    pub wording: Wording,
}

/// Returns the number of newest messages that a hook keeps; `None` if it is not time to compact.
///
/// # Errors
/// As the original raises, on parameters of another type.
pub fn messages_to_keep(
    state: &TurnState,
    params: &Map<String, Value>,
) -> Result<Option<i64>, PythonError> {
    let rests = params.get("cooldown_turns").map_or(Ok(COOLDOWN_TURNS as f64), |turns| {
        let mismatch = || {
            let class = class_of(turns);
            format!("'<' not supported between instances of 'int' and '{class}'")
        };
        as_number(turns).ok_or_else(|| PythonError::of_type(mismatch()))
    })?;
    if ((state.turn - state.last_compact_turn) as f64) < rests {
        return Ok(None);
    }
    let keep = params.get("keep_recent").or_else(|| params.get("keep_last"));
    let keep =
        keep.map_or(Ok(KEEP_RECENT), |keep| as_integer(keep).ok_or_else(|| no_count(keep)))?;
    Ok((signed(state.messages.len()) > keep.saturating_add(1)).then_some(keep))
}

fn no_count(value: &Value) -> PythonError {
    PythonError::of_type(match value {
        Value::String(_) => "can only concatenate str (not \"int\") to str".to_owned(),
        Value::Number(_) => "list indices must be integers or slices, not float".to_owned(),
        other => format!("unsupported operand type(s) for +: '{}' and 'int'", class_of(other)),
    })
}

/// Compacts after the checks of [`messages_to_keep`]. One pass: the pressure may still be high afterwards.
///
/// # Errors
/// [`Stop`] if a summary is needed first, or as the original raises.
pub fn compact(
    state: &mut TurnState,
    params: &Map<String, Value>,
    keep_recent: i64,
    around: Surroundings<'_>,
    replies: &mut Replies<'_>,
    log: &mut Vec<String>,
) -> Result<(), Stop> {
    let messages = state.messages.clone();
    let (system, conversation) = split_system(&messages);
    if signed(conversation.len()) <= keep_recent {
        return Ok(());
    }
    let n_kept = safe_keep_behind_system(&messages, keep_recent)?;
    let (old, kept) = conversation.split_at(conversation.len() - n_kept);
    if old.is_empty() {
        return Ok(());
    }
    let reminder = context_reminder(around.reminder, state.tool_injection, kept)?;
    let strategy = params.get("strategy").cloned();
    let strategy = strategy.unwrap_or_else(|| json!("summarize"));
    let note = match strategy.as_str() {
        Some("truncate") => Some(around.wording.dropped(old.len(), &reminder)),
        Some("summarize") => Some(summarize(old, params, &reminder, around, replies, log)?),
        // Any other strategy removes nothing, but has all other effects.
        _ => None,
    };
    if let Some(note) = note {
        state.replace(rebuild(system, note, kept));
    }
    cap_messages(state);
    state.forget_estimate();
    state.last_compact_turn = state.turn;
    let pressure = state.token_pressure()? * 100.0;
    log.push(format!(
        "hook_compact: {} — {} msgs compacted, {} kept, pressure: {pressure:.1}%",
        python_str(&strategy),
        old.len(),
        kept.len()
    ));
    Ok(())
}

/// Returns a summary, or the note of a truncation if there is no model or the request fails. An empty answer is a
/// summary.
fn summarize(
    old: &[ChatMessage],
    params: &Map<String, Value>,
    reminder: &str,
    around: Surroundings<'_>,
    replies: &mut Replies<'_>,
    log: &mut Vec<String>,
) -> Result<ChatMessage, Stop> {
    if !around.has_provider {
        log.push("hook_compact: no provider for summarize, falling back to truncate".to_owned());
        return Ok(around.wording.dropped(old.len(), reminder));
    }
    let prompt = params.get("summary_prompt").and_then(Value::as_str);
    let most = params.get("summary_max_tokens").and_then(Value::as_u64);
    let request = summary_request(old, prompt, most.unwrap_or(SUMMARY_MAX_TOKENS))?;
    Ok(match replies.reply_to(request)? {
        SummaryReply::Text(summary) => around.wording.summarized(old.len(), &summary, reminder),
        SummaryReply::ToolCall => around.wording.summarized(old.len(), "", reminder),
        SummaryReply::Failed(why) => {
            log.push(format!("hook_compact: summarize failed ({why}), falling back to truncate"));
            around.wording.dropped(old.len(), reminder)
        }
    })
}

/// Shortens messages longer than a tenth of the window. Never changes the first message.
fn cap_messages(state: &mut TurnState) {
    let cap = (state.max_tokens.div_euclid(10).saturating_mul(4)).max(MIN_CAP_CHARS) as usize;
    let mut is_changed = false;
    for message in state.messages.iter_mut().skip(1) {
        let Some(text) = message.text() else { continue };
        let chars = text.chars().count();
        if chars <= cap {
            continue;
        }
        let cut = cap - MARKER_CHARS;
        let capped = format!(
            "{}\n\n[TRUNCATED: this {} message was {} chars, only first {} shown. The full content was too large for \
             the context window. Use start_line/end_line to read specific sections of large files instead of reading \
             the entire file.]",
            first_chars(text, cut),
            message.role,
            with_commas(chars),
            with_commas(cut)
        );
        *message = message.with_text(capped);
        is_changed = true;
    }
    state.is_changed |= is_changed;
}
