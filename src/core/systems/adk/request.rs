//! The summary request: the events as lines of a prompt.

use super::estimate::{response, tool_name, tools};
use super::event::{AdkEvent, AdkEventKind};
use crate::chat::{ChatMessage, SummaryRequest};
use crate::languages::python::first_chars;
use crate::languages::python::python_str;

const PROMPT: &str = include_str!("prompt.txt");
/// Maximum characters of arguments, and of a response.
// As in google-adk 2.13.0, `_MAX_TOOL_CONTENT_CHARS` (`apps/llm_event_summarizer.py`).
const TOOL_CHARS: usize = 2000;

/// `LlmEventSummarizer`: returns the request for a summary of the last summary, if any, and events.
pub(super) fn summary_request(
    events: &[AdkEvent],
    seed: Option<usize>,
    chosen: &[usize],
    agent: &str,
) -> SummaryRequest {
    let tools = tools(events);
    let mut lines: Vec<String> = Vec::new();
    for at in seed.iter().chain(chosen) {
        let event = &events[*at];
        let author = match event.kind {
            AdkEventKind::User => "user",
            AdkEventKind::Model | AdkEventKind::Responses => agent,
            AdkEventKind::Compaction { .. } => "model",
        };
        for message in event.messages.iter() {
            if message.is("tool") {
                let (tool, text) = (tool_name(message, &tools), python_str(&response(message)));
                lines.push(format!("Tool response from {tool}: {}", shortened(&text)));
                continue;
            }
            let text = message.joined_text("");
            if !text.is_empty() {
                lines.push(format!("{author}: {text}"));
            }
            lines.extend(message.calls().iter().map(|call| {
                let (tool, arguments) = (call.tool(), python_str(&call.arguments_as_value()));
                format!("{author} called tool: {tool}({})", shortened(&arguments))
            }));
        }
    }
    SummaryRequest::new(vec![ChatMessage::new("user", format!("{PROMPT}{}", lines.join("\n")))])
}

fn shortened(text: &str) -> String {
    let n_removed = text.chars().count().saturating_sub(TOOL_CHARS);
    if n_removed == 0 {
        return text.to_owned();
    }
    let kept = first_chars(text, TOOL_CHARS);
    format!("{kept}... [truncated {n_removed} chars]")
}
