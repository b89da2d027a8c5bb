//! The summary request.

use super::units::units;
use crate::chat::{ChatMessage, SummaryRequest, result_of_call};
use crate::languages::javascript::{first_units, length};

/// Maximum UTF-16 units of a tool result in a request.
// As in opencode-ai 1.18.34, `session/compaction`.
const RESULT_CHARS: usize = 2_000;

const SYSTEM: &str = include_str!("prompts/system.txt");
const TEMPLATE: &str = include_str!("prompts/template.txt");
const NEW_SUMMARY: &str = "Create a new anchored summary from the conversation history in the <conversation> tags above so another coding agent can continue the work.";
const COMBINED_SUMMARY: &str = include_str!("prompts/combined.txt");

/// Returns the request for a summary of messages that continues an earlier one.
pub(super) fn summary_request(
    messages: &[ChatMessage],
    prior: Option<&str>,
    max_tokens: u64,
) -> SummaryRequest {
    let conversation = conversation(messages);
    let instruction = match prior {
        None => NEW_SUMMARY.to_owned(),
        Some(prior) => format!(
            "Here is the summary of the conversation before the <conversation> above:\n\n<prior-summary>\n{prior}\n</prior-summary>\n\n{COMBINED_SUMMARY}"
        ),
    };
    let text = format!(
        "Here is the conversation so far:\n\n<conversation>\n{conversation}\n</conversation>\n\n{instruction}\n\n{TEMPLATE}"
    );
    SummaryRequest {
        messages: vec![ChatMessage::new("system", SYSTEM), ChatMessage::new("user", text)],
        with_tools: false,
        max_tokens: Some(max_tokens),
    }
}

/// Writes messages as one text.
fn conversation(messages: &[ChatMessage]) -> String {
    let blocks: Vec<String> = units(messages)
        .into_iter()
        .map(|unit| lines(&messages[unit]).join("\n"))
        .filter(|block| !block.is_empty())
        .collect();
    blocks.join("\n\n")
}

/// `serialize`: returns the lines of a stored message, its texts, then each call followed by its result.
fn lines(unit: &[ChatMessage]) -> Vec<String> {
    let mut lines = Vec::new();
    let Some((message, results)) = unit.split_first() else {
        return lines;
    };
    let text = message.joined_text("\n");
    if message.is("user") {
        lines.extend((!text.is_empty()).then(|| format!("[User]: {text}")));
    }
    if !message.is("assistant") {
        return lines;
    }
    if let Some(thinking) = &message.reasoning {
        lines.push(format!("[Assistant reasoning]: {}", thinking.text));
    }
    lines.extend((!text.is_empty()).then(|| format!("[Assistant]: {text}")));
    for call in message.calls() {
        let (tool, arguments) = (call.tool(), call.arguments_as_value());
        lines.push(format!("[Assistant tool call]: {tool}({arguments})"));
        if let Some(result) = result_of_call(call, results) {
            let text = result.joined_text("\n");
            let is_long = length(&text) > RESULT_CHARS;
            let marker = if is_long { "\n[truncated]" } else { "" };
            let text = first_units(&text, RESULT_CHARS);
            lines.push(format!("[Tool result]: {text}{marker}"));
        }
    }
    lines
}
