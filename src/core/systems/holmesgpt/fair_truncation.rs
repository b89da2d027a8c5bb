//! Cuts tool results until the conversation fits, small ones last (`truncate_messages_to_fit_context`).
//!
//! Allotments are counted in tokens but cut in characters, so results become about four times too short. The legacy
//! version did this if compaction was off or did not suffice.

use super::count::{Llm, uncounted};
use super::event::RunError;
use crate::chat::{ChatMessage, Content, Fields, message_to_json};
use crate::languages::python::first_chars;
use crate::languages::python::python_str;

const NOTICE: &str = "\n\n[TRUNCATED]";
/// `MAX_OUTPUT_TOKEN_RESERVATION`: the maximum number of tokens reserved for the answer here.
const MAX_RESERVED: i64 = 16_384;

/// A truncated result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Its call.
    pub tool_call_id: String,
    /// Its tool.
    pub tool_name: String,
    /// Number of characters kept.
    pub end_index: usize,
    /// Its original tokens.
    pub original_tokens: i64,
}

/// The values of a truncation, for inspection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fair {
    /// Truncated results, the smallest first.
    pub truncations: Vec<Truncation>,
    /// Tokens of everything except tool results.
    pub without_tools: i64,
    /// Tokens reserved for the answer.
    pub reserved: i64,
    /// Tokens available for the results.
    pub available: i64,
}

/// Cuts results in place.
///
/// # Errors
/// [`RunError`] if the conversation overflows even without any result, or a result has no name.
pub fn truncate_fairly(llm: &Llm, messages: &mut [ChatMessage]) -> Result<Fair, RunError> {
    let (window, reserved) = (llm.limits.window, llm.limits.max_output.min(MAX_RESERVED));
    let mut others: Vec<_> = messages.iter().filter(|m| !m.is("tool")).cloned().collect();
    let without_tools = llm.count(&mut others, &[]).total;
    if without_tools >= window - reserved {
        return Err(RunError::plain(format!(
            "The combined size of system_prompt and user_prompt ({without_tools} tokens) exceeds the maximum \
             context size of {} tokens available for input.",
            window - reserved
        )));
    }
    let mut fair = Fair {
        truncations: Vec::new(),
        without_tools,
        reserved,
        available: window - without_tools - reserved,
    };
    let weigh = |message: &ChatMessage| {
        llm.count_message(&mut ChatMessage::from(Fields {
            content: message.content.clone(),
            ..ChatMessage::new("tool", "").into_fields()
        }))
    };
    let results = messages.iter_mut().filter(|m| m.is("tool"));
    let mut results: Vec<(i64, &mut ChatMessage)> = results.map(|m| (weigh(m), m)).collect();
    results.sort_by_key(|(needed, _)| *needed);
    let n_results = results.len();
    let mut remaining = fair.available;
    for (idx, (needed, message)) in results.into_iter().enumerate() {
        let share = remaining.div_euclid((n_results - idx).cast_signed() as i64);
        let allotted = needed.min(share);
        if needed > allotted {
            fair.truncations.push(cut(message, allotted.max(0) as usize, needed)?);
        }
        remaining -= allotted;
    }
    Ok(fair)
}

/// Cuts one result to `allotted` characters, including the notice.
fn cut(message: &mut ChatMessage, allotted: usize, needed: i64) -> Result<Truncation, RunError> {
    let missing = |key: &str| RunError { kind: "KeyError", text: format!("'{key}'") };
    let id = message.call_id.clone().ok_or_else(|| missing("tool_call_id"))?;
    let name = message.name.clone().ok_or_else(|| missing("name"))?;
    let content = match &message.content {
        Content::Text(text) => text.text.to_string(),
        _ => python_str(&message_to_json(message)["content"]),
    };
    let length = NOTICE.chars().count();
    let (text, end_index) = if allotted > length {
        let end = allotted - length;
        (format!("{}{NOTICE}", first_chars(&content, end)), end)
    } else {
        (first_chars(NOTICE, allotted).to_owned(), allotted)
    };
    *message = uncounted(&message.with_text(text));
    Ok(Truncation {
        tool_call_id: id.to_string(),
        tool_name: name.to_string(),
        end_index,
        original_tokens: needed,
    })
}
