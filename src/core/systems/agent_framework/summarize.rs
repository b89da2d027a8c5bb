//! `SummarizationStrategy`: its request, and the summary in place of the oldest messages.

use super::group::{groups, insert};
use super::history::History;
use super::marked::{Kind, Marked, arguments_text, result_text, texts};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryReply, SummaryRequest};
use crate::languages::python::strip;
use std::fmt::Write as _;
use std::sync::Arc;

const PROMPT: &str = include_str!("prompt.txt");

/// Text of an empty result in a request.
const EMPTY: &str = "text content";

/// Arguments of `SummarizationStrategy`.
#[derive(Clone, Debug)]
pub(super) struct Summarization {
    pub(super) target: usize,
    pub(super) threshold: usize,
    /// Maximum tokens of the request; `None` for no limit.
    pub(super) max_input: Option<u64>,
    /// A prompt instead of the default.
    pub(super) prompt: Option<String>,
}

/// Replaces the oldest messages by a summary. Returns whether it did.
pub(super) fn summarize(
    arguments: &Summarization,
    list: &mut History,
    log: &mut Vec<String>,
    replies: &mut Replies<'_>,
) -> Result<bool, PendingRequest> {
    let mut included: Vec<Vec<usize>> = Vec::new();
    let mut starts: Vec<usize> = Vec::new();
    for mut group in groups(list) {
        let start = group.at.first().copied();
        group.at.retain(|at| !list[*at].is_excluded);
        if group.kind != Kind::System && !group.at.is_empty() {
            starts.extend(start);
            included.push(group.at);
        }
    }
    let n_included: usize = included.iter().map(Vec::len).sum();
    if n_included <= arguments.target + arguments.threshold {
        return Ok(false);
    }
    let mut n_kept = 0;
    while let Some(group) = included.pop_if(|_| n_kept < arguments.target) {
        n_kept += group.len();
    }
    let prompt = arguments.prompt.as_deref().unwrap_or(PROMPT);
    let selected = select(&included, list, prompt, arguments.max_input);
    let Some(start) = selected.iter().map(|nth| starts[*nth]).min() else {
        return Ok(false);
    };
    let summarized: Vec<usize> = selected.iter().flat_map(|nth| included[*nth].clone()).collect();
    let lines = summarized.iter().enumerate();
    let lines: Vec<String> = lines.map(|(nth, at)| line(nth + 1, &list[*at])).collect();
    let request = SummaryRequest::new(vec![
        ChatMessage::new("system", prompt),
        ChatMessage::new("user", lines.join("\n")),
    ]);
    let summary = match replies.reply_to(request)? {
        SummaryReply::Text(text) => strip(&text).to_owned(),
        SummaryReply::ToolCall => String::new(),
        SummaryReply::Failed(why) => {
            log.push(format!(
                "Skipping summarization compaction: summary generation failed ({why})."
            ));
            return Ok(false);
        }
    };
    if summary.is_empty() {
        log.push("Skipping summarization compaction: summarizer returned no text.".to_owned());
        return Ok(false);
    }
    let id: Arc<str> = format!("summary_{}", list.len()).into();
    let ids = summarized.iter().filter_map(|at| list[*at].id.clone());
    let ids = ids.collect();
    for at in summarized {
        list[at].is_excluded = true;
        list[at].summarized_by = Some(Arc::clone(&id));
    }
    let summary = ChatMessage::summary("assistant", summary);
    insert(list, start, summary, (id, ids));
    Ok(true)
}

/// Returns the groups that the request contains: whole ones from the first that fits up to the next that does not.
fn select(
    groups: &[Vec<usize>],
    list: &[Marked],
    prompt: &str,
    max_input: Option<u64>,
) -> Vec<usize> {
    let Some(max_input) = max_input else {
        return (0..groups.len()).collect();
    };
    let mut selected = Vec::new();
    let (mut n_messages, mut total) = (0, tokens(prompt));
    for (nth, group) in groups.iter().enumerate() {
        let lines = group.iter().enumerate();
        let lines = lines.map(|(more, at)| line(n_messages + more + 1, &list[*at]));
        let text = lines.collect::<Vec<_>>().join("\n");
        let separator = if selected.is_empty() { 0 } else { tokens("\n") };
        let candidate = total + tokens(&text) + separator;
        if candidate <= max_input {
            selected.push(nth);
            n_messages += group.len();
            total = candidate;
        } else if !selected.is_empty() {
            break;
        }
    }
    selected
}

fn tokens(text: &str) -> u64 {
    (text.chars().count() as u64 / 4).max(1)
}

/// Writes a message for the request.
fn line(number: usize, message: &Marked) -> String {
    let id_of = |id: Option<&Arc<str>>| {
        let id = id.filter(|id| !id.is_empty());
        id.map_or_else(String::new, |id| format!(" [call_id={id}]"))
    };
    let mut parts = Vec::new();
    for part in message.messages.iter() {
        if part.is("tool") {
            let (text, id) = (result_text(part), id_of(part.call_id.as_ref()));
            let text = if text.is_empty() { EMPTY } else { &*text };
            parts.push(format!("function_result: {text}{id}"));
            continue;
        }
        let texts = texts(&part.content).into_iter();
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        if !texts.is_empty() {
            parts.push(texts.join(" "));
        }
        for call in part.calls() {
            let (tool, arguments) = (call.tool(), arguments_text(call));
            let mut text = format!("function_call {tool}({arguments})");
            let _ = write!(text, "{}", id_of(call.id.as_ref()));
            parts.push(text);
        }
        if parts.is_empty() && part.reasoning.is_some() {
            parts.push("text_reasoning".to_owned());
        }
    }
    format!("{number}. [{}] {}", message.role(), parts.join("; "))
}
