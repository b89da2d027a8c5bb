//! The summary requests: the history itself, else a transcript of it.

use crate::chat::{Call, ChatMessage, SummaryRequest};
use crate::languages::javascript::{first_units, length};
use crate::session::WrittenKind;
use std::collections::HashMap;

const SYSTEM: &str = include_str!("prompts/system.txt");
const PROMPT: &str = include_str!("prompts/user.txt");
const TRANSCRIPT: &str = "The following is a compressed version of the preceeding history in the current conversation. The first message is kept, some history may be truncated after that:\n";
/// Characters of a call's arguments in a transcript, in UTF-16 units.
// As in GitHub Copilot Chat 0.42.0, `simpleSummarizedHistoryPrompt.tsx`.
const MAX_ARGUMENTS: usize = 200;

/// Returns the request with the history itself.
pub(super) fn full(history: &[ChatMessage]) -> SummaryRequest {
    of_history(history, true)
}

/// Returns the request with a transcript of the history.
pub(super) fn simple(history: &[ChatMessage]) -> SummaryRequest {
    let text = format!("{TRANSCRIPT}{}", transcript(history));
    of_history(&[ChatMessage::new("user", text)], false)
}

fn of_history(history: &[ChatMessage], with_tools: bool) -> SummaryRequest {
    let system = [ChatMessage::new("system", SYSTEM)];
    SummaryRequest {
        messages: [&system, history, &[ChatMessage::new("user", PROMPT)]].concat(),
        with_tools,
        max_tokens: None,
    }
}

/// Writes a history as text.
fn transcript(history: &[ChatMessage]) -> String {
    let results = history.iter().filter(|message| message.is("tool"));
    let results: HashMap<_, _> = results
        .map(|message| (message.call_id.clone(), message.joined_text("").into_owned()))
        .collect();
    let entry = |message: &ChatMessage| {
        let text = message.joined_text("").into_owned();
        match &*message.role {
            "tool" => String::new(),
            "assistant" => {
                let calls = message.calls().iter();
                let calls: String =
                    calls.map(|call| of_call(call, results.get(&call.id))).collect();
                let answer = Some(text).filter(|text| !text.is_empty());
                answer.map_or_else(String::new, |text| tagged("assistant", &text)) + &calls
            }
            // It has its tag.
            _ if message.written == Some(WrittenKind::Summary) => text,
            _ => tagged("user", request_in(&text)),
        }
    };
    history.iter().map(entry).collect()
}

/// Returns the user's own text of a message that Copilot wrapped.
fn request_in(text: &str) -> &str {
    let wrapped = text.split_once("<userRequest>\n");
    let request = wrapped.and_then(|(_, rest)| rest.rsplit_once("\n</userRequest>"));
    request.map_or(text, |(request, _)| request)
}

fn of_call(call: &Call, result: Option<&String>) -> String {
    let arguments = call.arguments_as_text();
    let start = first_units(&arguments, MAX_ARGUMENTS);
    let end = if length(&arguments) > MAX_ARGUMENTS { "…" } else { "" };
    let (tool, result) = (call.tool(), result.map_or("Tool result empty", String::as_str));
    tagged("tool", &format!("Used tool \"{tool}\" with arguments: {start}{end}\n{result}"))
}

fn tagged(tag: &str, text: &str) -> String {
    format!("<{tag}>\n{text}\n</{tag}>\n")
}
