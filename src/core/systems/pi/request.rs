//! Summary requests.

use crate::chat::{ChatMessage, SummaryRequest};
use crate::languages::javascript::{first_units, length, named_arguments};

/// Maximum UTF-16 units of a tool result in a request.
// As in pi 0.73.1, `TOOL_RESULT_MAX_CHARS` (`core/compaction/utils.js`).
const RESULT_CHARS: usize = 2_000;

const SYSTEM: &str = include_str!("prompts/system.txt");
const NEW_SUMMARY: &str = include_str!("prompts/new_summary.txt");
const UPDATED_SUMMARY: &str = include_str!("prompts/updated_summary.txt");
const TURN_PREFIX: &str = include_str!("prompts/turn_prefix.txt");

/// `generateSummary`: returns the request for a summary of messages, which updates the previous summary if there is one.
pub(super) fn history(
    messages: &[ChatMessage],
    previous: Option<&str>,
    reserve: f64,
) -> SummaryRequest {
    let previous = previous.map(|text| {
        format!("<previous-summary>\n{text}\n</previous-summary>\n\n{UPDATED_SUMMARY}")
    });
    let instruction = previous.unwrap_or_else(|| NEW_SUMMARY.to_owned());
    ask(messages, &instruction, 0.8 * reserve)
}

/// Returns the request for a summary of the beginning of a split turn.
pub(super) fn turn_prefix(messages: &[ChatMessage], reserve: f64) -> SummaryRequest {
    ask(messages, TURN_PREFIX, 0.5 * reserve)
}

fn ask(messages: &[ChatMessage], instruction: &str, max_tokens: f64) -> SummaryRequest {
    let conversation = conversation(messages);
    let text = format!("<conversation>\n{conversation}\n</conversation>\n\n{instruction}");
    SummaryRequest {
        messages: vec![ChatMessage::new("system", SYSTEM), ChatMessage::new("user", text)],
        with_tools: false,
        max_tokens: Some(max_tokens.floor() as u64),
    }
}

/// `serializeConversation`: writes messages as one text.
fn conversation(messages: &[ChatMessage]) -> String {
    let mut parts = Vec::new();
    for message in messages {
        match &*message.role {
            "user" => add(&mut parts, "[User]", &message.joined_text("")),
            "assistant" => {
                let thinking = message.reasoning.as_ref();
                let thinking = thinking.map_or(String::new(), |r| r.text.to_string());
                add(&mut parts, "[Assistant thinking]", &thinking);
                add(&mut parts, "[Assistant]", &message.joined_text("\n"));
                let calls = message.calls().iter().map(|call| {
                    format!("{}({})", call.tool(), named_arguments(&call.arguments_as_value()))
                });
                let calls: Vec<String> = calls.collect();
                add(&mut parts, "[Assistant tool calls]", &calls.join("; "));
            }
            "tool" => {
                add(&mut parts, "[Tool result]", &shortened(message.joined_text("").into_owned()));
            }
            _ => {}
        }
    }
    parts.join("\n\n")
}

fn add(parts: &mut Vec<String>, label: &str, text: &str) {
    if !text.is_empty() {
        parts.push(format!("{label}: {text}"));
    }
}

fn shortened(text: String) -> String {
    let more = length(&text).saturating_sub(RESULT_CHARS);
    if more == 0 {
        return text;
    }
    let start = first_units(&text, RESULT_CHARS);
    format!("{start}\n\n[... {more} more characters truncated]")
}
