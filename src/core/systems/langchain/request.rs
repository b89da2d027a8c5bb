//! The summary request: the conversation as XML, trimmed to its last tokens.

use super::estimate::estimated_tokens;
use super::usage::scaled_backwards;
use crate::chat::{ChatMessage, Content, SummaryRequest};
use crate::languages::python::first_chars;
use crate::languages::python::{Layout, python_dumps};
use std::fmt::Write as _;

/// The prompt, up to the messages.
pub(crate) const PROMPT: &str = include_str!("prompt.txt");
/// Longest id of a call that is written whole, in characters.
// As in langchain-core 1.8.2, `_TOOL_CALL_ID_DISPLAY_LIMIT` (`messages/utils.py`).
const MAX_ID: usize = 64;

/// The trimming of a request.
#[derive(Clone, Copy)]
pub(crate) struct Trim<'a> {
    /// Maximum tokens of the messages; 0 for no limit.
    pub(crate) tokens: u64,
    /// Total that each message reported, if any.
    pub(crate) totals: &'a [Option<u64>],
}

/// Returns the request for a summary of messages; `None` if trimming leaves none.
pub(super) fn summary_request(
    messages: &[ChatMessage],
    limit: Trim<'_>,
    prompt: &str,
) -> Option<SummaryRequest> {
    let trimmed = if limit.tokens == 0 {
        messages.to_vec()
    } else {
        trim(messages, limit.tokens, limit.totals)
    };
    if trimmed.is_empty() {
        return None;
    }
    let text = format!("{prompt}{}\n</messages>", xml_of(&trimmed));
    Some(SummaryRequest::new(vec![ChatMessage::new("user", text)]))
}

/// Keeps the last messages within a limit. The oldest of them may lose its first lines, and the first is a user
/// message.
fn trim(messages: &[ChatMessage], limit: u64, totals: &[Option<u64>]) -> Vec<ChatMessage> {
    let n = messages.len();
    let count = |n_kept: usize| scaled_backwards(&messages[n - n_kept..], &totals[n - n_kept..]);
    let mut kept: Vec<ChatMessage> = Vec::new();
    if count(n) <= limit {
        kept.extend_from_slice(messages);
    } else {
        // A scaled count may shrink with more messages, so the search is that of the library.
        let (mut n_kept, mut most) = (0, n);
        while n_kept < most {
            let middle = (n_kept + most).div_ceil(2);
            if count(middle) <= limit {
                n_kept = middle;
            } else {
                most = middle - 1;
            }
        }
        let start = n - n_kept;
        let oldest = start.checked_sub(1).map(|at| &messages[at]);
        let left = limit.saturating_sub(count(n_kept));
        kept.extend(oldest.and_then(|oldest| last_lines(oldest, left)));
        kept.extend_from_slice(&messages[start..]);
    }
    let first_user = kept.iter().position(|m| m.is("user"));
    kept.split_off(first_user.unwrap_or(kept.len()))
}

/// Returns a message with as many of its last lines as a limit allows; `None` if it allows none. A text that ends with
/// a line break has an empty last line.
fn last_lines(message: &ChatMessage, limit: u64) -> Option<ChatMessage> {
    let Content::Text(text) = &message.content else {
        return None;
    };
    let ends = text.text.match_indices('\n').map(|(at, _)| at + 1);
    let starts = (!text.text.is_empty()).then_some(0).into_iter().chain(ends);
    let mut shortened = starts.map(|start| message.with_text(&text.text[start..]));
    shortened.find(|message| estimated_tokens(message) <= limit)
}

/// Writes messages as XML.
pub(crate) fn xml_of(messages: &[ChatMessage]) -> String {
    let lines: Vec<String> = messages.iter().map(xml).collect();
    lines.join("\n")
}

/// Writes a message as XML.
fn xml(message: &ChatMessage) -> String {
    let text = escaped(&message.joined_text(" "));
    let kind = match &*message.role {
        "user" => "human",
        "assistant" => "ai",
        other => other,
    };
    if message.calls().is_empty() {
        return format!("<message type=\"{kind}\">{text}</message>");
    }
    let mut xml = format!("<message type=\"{kind}\">\n");
    if !text.is_empty() {
        let _ = writeln!(xml, "  <content>{text}</content>");
    }
    for call in message.calls() {
        let arguments = python_dumps(&call.arguments_as_value(), Layout::UNICODE);
        let id = call.id.as_deref().unwrap_or_default();
        let shown = match first_chars(id, MAX_ID) {
            whole if whole == id => id.to_owned(),
            start => format!("{start}..."),
        };
        let _ = writeln!(
            xml,
            "  <tool_call id={} name={}>{}</tool_call>",
            quoted(&shown),
            quoted(call.tool()),
            escaped(&arguments)
        );
    }
    xml + "</message>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Quotes the value of an attribute.
fn quoted(text: &str) -> String {
    let text = escaped(text).replace('\n', "&#10;").replace('\r', "&#13;").replace('\t', "&#9;");
    match (text.contains('"'), text.contains('\'')) {
        (true, false) => format!("'{text}'"),
        (true, true) => format!("\"{}\"", text.replace('"', "&quot;")),
        (false, _) => format!("\"{text}\""),
    }
}
