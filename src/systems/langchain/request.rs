//! The summary request: the conversation as XML, trimmed to its last tokens.

use super::estimate::{estimate, total};
use crate::chat::{ChatMessage, Content, Layout, SummaryRequest, python_dumps};
use crate::systems::javascript::{arguments_of, text_of, tool_of};
use crate::systems::python::head;
use std::fmt::Write as _;

/// The prompt, up to the messages.
pub(in crate::systems) const PROMPT: &str = include_str!("prompt.txt");
/// Longest id of a call that is written whole, in characters.
const MAX_ID: usize = 64;

/// Returns the request for a summary of messages; `None` if trimming leaves none.
pub(super) fn request(
    messages: &[ChatMessage],
    trim_tokens: u64,
    prompt: &str,
) -> Option<SummaryRequest> {
    let trimmed = if trim_tokens == 0 {
        messages.to_vec()
    } else {
        trim(messages, trim_tokens)
    };
    if trimmed.is_empty() {
        return None;
    }
    let text = format!("{prompt}{}\n</messages>", xml_of(&trimmed));
    Some(SummaryRequest {
        messages: vec![ChatMessage::new("user", text)],
        with_tools: false,
        max_tokens: None,
    })
}

/// Keeps the last messages within a limit. The oldest of them may lose its first lines, and the first is a user
/// message.
fn trim(messages: &[ChatMessage], limit: u64) -> Vec<ChatMessage> {
    let mut kept: Vec<ChatMessage> = Vec::new();
    if total(messages) <= limit {
        kept.extend_from_slice(messages);
    } else {
        let (mut start, mut sum) = (messages.len(), 0);
        while start > 0 && sum + estimate(&messages[start - 1]) <= limit {
            start -= 1;
            sum += estimate(&messages[start]);
        }
        let oldest = start.checked_sub(1).map(|at| &messages[at]);
        kept.extend(oldest.and_then(|oldest| last_lines(oldest, limit - sum)));
        kept.extend_from_slice(&messages[start..]);
    }
    let first_user = kept.iter().position(|m| m.is("user"));
    kept.split_off(first_user.unwrap_or(kept.len()))
}

/// Returns a message with as many of its last lines as a limit allows; `None` if it allows none.
fn last_lines(message: &ChatMessage, limit: u64) -> Option<ChatMessage> {
    let Content::Text(text) = &message.content else {
        return None;
    };
    let lines: Vec<&str> = text.text.split_inclusive('\n').collect();
    let starts = (0..lines.len()).map(|first| lines[first..].concat());
    let mut shortened = starts.map(|text| message.with_text(text));
    shortened.find(|message| estimate(message) <= limit)
}

/// Writes messages as XML.
pub(in crate::systems) fn xml_of(messages: &[ChatMessage]) -> String {
    let lines: Vec<String> = messages.iter().map(xml).collect();
    lines.join("\n")
}

/// Writes a message as XML.
fn xml(message: &ChatMessage) -> String {
    let text = escaped(&text_of(message, " "));
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
        let arguments = python_dumps(&arguments_of(call), Layout::UNICODE);
        let id = call.id.as_deref().unwrap_or_default();
        let shown = match head(id, MAX_ID) {
            whole if whole == id => id.to_owned(),
            start => format!("{start}..."),
        };
        let _ = writeln!(
            xml,
            "  <tool_call id={} name={}>{}</tool_call>",
            quoted(&shown),
            quoted(tool_of(call)),
            escaped(&arguments)
        );
    }
    xml + "</message>"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Quotes the value of an attribute.
fn quoted(text: &str) -> String {
    let text = escaped(text)
        .replace('\n', "&#10;")
        .replace('\r', "&#13;")
        .replace('\t', "&#9;");
    match (text.contains('"'), text.contains('\'')) {
        (true, false) => format!("'{text}'"),
        (true, true) => format!("\"{}\"", text.replace('"', "&quot;")),
        (false, _) => format!("\"{text}\""),
    }
}
