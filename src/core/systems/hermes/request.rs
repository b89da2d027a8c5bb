//! The summary request.

use super::estimate::stored;
use super::summary_text::{is_summary, text_of};
use crate::chat::{Arguments, Block, BlockBody, Call, ChatMessage, SummaryRequest};
use crate::languages::python::{first_chars, is_space, last_chars, strip_end};

const FIRST: &str = include_str!("prompts/first.txt");
const UPDATE: &str = include_str!("prompts/update.txt");
const TEMPLATE: &str = include_str!("prompts/template.txt");
const FOCUS: &str = include_str!("prompts/focus.txt");
/// Minimum tokens that a request asks for.
// The sizes of this file are those of hermes-agent 0.19.0, `agent/context_compressor.py`.
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

/// Returns the request for a summary of `turns` in a history.
pub(super) fn summary_request(
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
        let (start, end) =
            (first_chars(&content, CONTENT_HEAD), last_chars(&content, CONTENT_TAIL));
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

fn image_label(url: &crate::json::Value) -> String {
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
        n if n > ARGUMENTS => (first_chars(&arguments, ARGUMENTS_HEAD), "..."),
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
    format!("{}…", strip_end(first_chars(&text, n - 1)))
}
