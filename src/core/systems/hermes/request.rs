//! The summary request, and summaries in the history.

use super::estimate::stored;
use crate::chat::{Arguments, Block, BlockBody, Call, ChatMessage, SummaryRequest};
use crate::systems::python::{head, is_space, strip, strip_end, tail};

const FIRST: &str = include_str!("prompts/first.txt");
const UPDATE: &str = include_str!("prompts/update.txt");
const TEMPLATE: &str = include_str!("prompts/template.txt");
const FOCUS: &str = include_str!("prompts/focus.txt");
/// Text before a summary.
pub(super) const PREFIX: &str = include_str!("prompts/prefix.txt");
/// Text behind a summary.
pub(super) const END: &str =
    "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---";
/// Text before the own text of a message with a summary.
pub(super) const PRIOR: &str = "[PRIOR CONTEXT — for reference only; not a new message]";
/// Text between them.
pub(super) const BELOW: &str = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]";

/// Minimum tokens that a request asks for.
const MIN_BUDGET: u64 = 2000;
const MAX_BUDGET: u64 = 10_000;
/// Characters of a message, and what is kept of a longer one.
const CONTENT: usize = 6000;
const CONTENT_HEAD: usize = 4000;
const CONTENT_TAIL: usize = 1500;
const ARGUMENTS: usize = 1500;
const ARGUMENTS_HEAD: usize = 1200;
/// Number of messages of the user in the focus, and characters of one and of all.
const FOCUS_MESSAGES: usize = 3;
const FOCUS_MESSAGE: usize = 260;
const FOCUS_ALL: usize = 700;

/// Returns the text of a message; texts of several parts are lines.
pub(super) fn text_of(message: &ChatMessage) -> String {
    let blocks = message.blocks().iter().filter_map(Block::as_text);
    let texts: Vec<&str> = blocks.filter(|text| !text.is_empty()).collect();
    message.text().map_or_else(|| texts.join("\n"), str::to_owned)
}

/// Returns whether a message has a summary.
pub(super) fn is_summary(message: &ChatMessage) -> bool {
    let text = text_of(message);
    let summary = text.split_once(BELOW).map_or(&*text, |(_, summary)| summary);
    summary.trim_start_matches(is_space).starts_with(PREFIX)
}

/// Returns the summary in a text without what is around it.
pub(super) fn without_prefix(text: &str) -> &str {
    let text = strip(text);
    let text = text.split_once(BELOW).map_or(text, |(_, summary)| strip(summary));
    let text = text.strip_prefix(PREFIX).map_or(text, |text| text.trim_start_matches(is_space));
    text.strip_suffix(END).map_or(text, strip_end)
}

/// Returns the request for a summary of `turns` in a history.
pub(super) fn request(
    all: &[ChatMessage],
    turns: &[ChatMessage],
    previous: Option<&str>,
    window: u64,
) -> SummaryRequest {
    let limit = ((window as f64 * 0.05) as u64).min(MAX_BUDGET);
    let budget = ((stored(turns) as f64 * 0.2) as u64).min(limit).max(MIN_BUDGET);
    let content: Vec<String> = turns.iter().map(serialized).collect();
    let start = match previous {
        Some(previous) => {
            let (before, after) = UPDATE.split_once("{previous}").unwrap_or_default();
            format!("{before}{previous}{}", with_turns(after, &content))
        }
        None => with_turns(FIRST, &content),
    };
    let mut prompt = start + &TEMPLATE.replace("{budget}", &budget.to_string());
    if let Some(focus) = focus(all) {
        prompt.push_str(&FOCUS.replace("{focus}", &focus));
    }
    SummaryRequest::new(vec![ChatMessage::new("user", prompt)])
}

fn with_turns(prompt: &str, turns: &[String]) -> String {
    let (before, after) = prompt.split_once("{turns}").unwrap_or_default();
    format!("{before}{}{after}", turns.join("\n\n"))
}

fn serialized(message: &ChatMessage) -> String {
    let part = |block: &Block| match &block.body {
        BlockBody::Text(text) => text.to_string(),
        BlockBody::Image(image) => image_label(&image.json["image_url"]["url"]),
        _ => "[attachment]".to_owned(),
    };
    let parts: Vec<String> = message.blocks().iter().map(part).collect();
    let mut content = message.text().map_or_else(|| parts.join("\n"), str::to_owned);
    if content.chars().count() > CONTENT {
        let (start, end) = (head(&content, CONTENT_HEAD), tail(&content, CONTENT_TAIL));
        content = format!("{start}\n...[truncated]...\n{end}");
    }
    if message.is("tool") {
        let id = message.call_id.as_deref().unwrap_or_default();
        return format!("[TOOL RESULT {id}]: {content}");
    }
    if !message.calls().is_empty() {
        let calls: Vec<String> = message.calls().iter().map(call).collect();
        content = format!("{content}\n[Tool calls:\n{}\n]", calls.join("\n"));
    }
    format!("[{}]: {content}", message.role.to_uppercase())
}

fn image_label(url: &serde_json::Value) -> String {
    match url.as_str().filter(|url| url.starts_with("http://") || url.starts_with("https://")) {
        Some(url) => format!("[image: {url}]"),
        None => "[image]".to_owned(),
    }
}

fn call(call: &Call) -> String {
    let arguments = match call.function.as_ref().map(|f| &f.arguments) {
        Some(Arguments::Text(text)) => text.to_string(),
        _ => call.arguments_as_value().to_string(),
    };
    let (short, more) = match arguments.chars().count() {
        n if n > ARGUMENTS => (head(&arguments, ARGUMENTS_HEAD), "..."),
        _ => (&*arguments, ""),
    };
    format!("  {}({short}{more})", call.tool())
}

/// Returns the newest messages of the user.
fn focus(all: &[ChatMessage]) -> Option<String> {
    let users = all.iter().rev().filter(|m| m.is("user") && !is_summary(m));
    let texts = users.map(|message| {
        let text = text_of(message);
        let words: Vec<&str> = text.split(is_space).filter(|word| !word.is_empty()).collect();
        words.join(" ")
    });
    let texts = texts.filter(|text| !text.is_empty()).take(FOCUS_MESSAGES);
    let texts: Vec<String> = texts.map(|text| format!("- {}", cut(text, FOCUS_MESSAGE))).collect();
    if texts.is_empty() {
        return None;
    }
    let texts: Vec<String> = texts.into_iter().rev().collect();
    Some(cut(format!("Recent user focus:\n{}", texts.join("\n")), FOCUS_ALL))
}

fn cut(text: String, n: usize) -> String {
    if text.chars().count() <= n {
        return text;
    }
    format!("{}…", strip_end(head(&text, n - 1)))
}
