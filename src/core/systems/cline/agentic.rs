//! Compaction with a summary.

use super::activity::FileLists;
use super::budget::Budget;
use super::stored::{Stored, StoredKind, tokens};
use crate::chat::{ChatMessage, PendingRequest, Replies, SummaryRequest};
use crate::json::{Value, json};
use crate::languages::javascript::{first_units, length, named_arguments};

/// Maximum UTF-16 units of a result or thought in a request.
// The limits of this file are those of Cline at 21cb8d25, `agentic-compaction.ts`.
const PART_CHARS: usize = 2_000;
/// Least limit for the request.
const LEAST_INPUT: usize = 1_024;
const SYSTEM: &str = "Summarize the provided coding session into a concise continuation note with detailed next steps.";
const FORM: &str = "Summarize this session for continuation. Be concise and factual.

## Goal
One sentence: what is being built or fixed.

## State
- Done: completed steps
- In Progress: current work
- Blocked: blockers or open questions

## Highlights
Key technical choices or notable findings (omit if none).

## Next
Immediate next steps.

## Files
";
const PREFIX: &str = "Context summary:\n\n";

/// The result of a compaction.
pub(super) enum Summarized {
    /// There is nothing to summarize.
    Nothing,
    /// The summary is empty.
    Empty,
    Failed,
    Done {
        /// The first kept message.
        first_kept: usize,
        /// The message with the summary.
        summary: ChatMessage,
        /// Its metadata.
        metadata: Value,
    },
}

/// Settings of a compaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct SummaryLimits {
    /// Tokens of the newest messages to keep.
    pub(super) keep: usize,
    /// Limit for prompts.
    pub(super) max_input: usize,
    /// Maximum tokens of the summary.
    pub(super) max_tokens: u64,
}

/// `runAgenticCompaction`: summarizes everything before the cut.
pub(super) fn summarize(
    all: &[ChatMessage],
    budget: &Budget,
    limits: SummaryLimits,
    replies: &mut Replies<'_>,
) -> Result<Summarized, PendingRequest> {
    let list = &budget.messages;
    let cut = cut(list, limits.keep.min(budget.target));
    if cut == 0 || cut >= list.len() {
        return Ok(Summarized::Nothing);
    }
    let last_summary = list[..cut].iter().rposition(|m| m.kind == StoredKind::Summary);
    let first_new = last_summary.map_or(0, |last| last + 1);
    let new = &list[first_new..cut];
    if new.is_empty() {
        return Ok(Summarized::Nothing);
    }
    let previous = last_summary.and_then(|last| all[list[last].range.start].text());
    let previous = previous.and_then(|text| text.strip_prefix(PREFIX));
    let messages: Vec<ChatMessage> =
        new.iter().flat_map(|m| all[m.range.clone()].to_vec()).collect();
    let files = FileLists::of(&messages);
    let overhead = tokens(length(&request_text(previous, "", &files)));
    let available = limits.max_input.max(LEAST_INPUT).saturating_sub(overhead);
    if available == 0 {
        return Ok(Summarized::Nothing);
    }
    let texts = within(all, new, available);
    let text = request_text(previous, texts.join("\n\n").trim(), &files);
    let ask = SummaryRequest {
        messages: vec![ChatMessage::new("system", SYSTEM), ChatMessage::new("user", text)],
        with_tools: false,
        max_tokens: Some(limits.max_tokens),
    };
    let Ok(summary) = replies.reply_to(ask)?.into_text() else {
        return Ok(Summarized::Failed);
    };
    let summary = summary.trim().to_owned();
    if summary.is_empty() {
        return Ok(Summarized::Empty);
    }
    let has_files = summary.lines().any(|line| line.eq_ignore_ascii_case("## Files"));
    let summary =
        if has_files { summary } else { format!("{summary}\n\n{}", files_section(&files)) };
    let runs = list[..cut].iter().filter(|m| m.kind == StoredKind::Typed).count() as u64;
    let runs = runs + budget.state.summary["userRunSpan"].as_u64().unwrap_or(0);
    let before: usize = list.iter().map(Stored::estimate).sum();
    let metadata = json!({"kind": "compaction_summary", "displayRole": "system",
        "userRunSpan": runs, "summary": summary,
        "details": {"readFiles": files.read, "modifiedFiles": files.modified},
        "tokensBefore": before, "generatedAt": 1_234_567_890_123_u64});
    let message = ChatMessage::summary("user", format!("{PREFIX}{summary}"));
    Ok(Summarized::Done { first_kept: list[cut].range.start, summary: message, metadata })
}

/// `findCutIndex`: returns the first kept message, the one that reaches the limit, but not behind the newest typed message, then back
/// to an answer or a typed message.
fn cut(list: &[Stored], keep: usize) -> usize {
    let (mut cut, mut sum) = (list.len(), 0);
    while cut > 0 && sum < keep.max(1) {
        cut -= 1;
        sum += list[cut].estimate();
    }
    let newest = list.iter().rposition(|m| m.kind == StoredKind::Typed).unwrap_or(0);
    if newest > 0 {
        cut = cut.min(newest);
    }
    let is_safe = |m: &Stored| matches!(m.kind, StoredKind::Typed | StoredKind::Answer);
    while cut > 0 && !list.get(cut).is_some_and(is_safe) {
        cut -= 1;
    }
    cut
}

/// Returns the texts of messages, shortened from the newest back until they are within a limit.
fn within(all: &[ChatMessage], new: &[Stored], limit: usize) -> Vec<String> {
    let mut sum: usize = new.iter().map(Stored::estimate).sum();
    let newest = new.iter().rposition(|m| m.kind == StoredKind::Typed);
    let mut shortened = vec![None; new.len()];
    for idx in (0..new.len()).rev() {
        if sum <= limit {
            break;
        }
        let message = &all[new[idx].range.start];
        let text = message.joined_text("\n");
        if Some(idx) == newest || text.is_empty() {
            continue;
        }
        // About three characters a token, shared by all messages.
        let max_chars = (limit * 3 / new.len()).max(16);
        let short = truncated(&text, max_chars);
        // A short text becomes longer if the notice is longer than what is cut.
        let chars = |text: &str| length(&Value::from(text).to_string()).cast_signed();
        let saved = (chars(&text) - chars(&short)) / 3;
        sum = sum.saturating_add_signed(-saved);
        shortened[idx] = Some(message.with_text(short));
    }
    let messages = new.iter().zip(shortened);
    messages
        .map(|(message, shortened)| {
            let range = message.range.clone();
            let own = shortened.unwrap_or_else(|| all[range.start].clone());
            let lines = lines(&own).into_iter();
            let additions = all[range.start + 1..range.end].iter();
            let additions = additions.map(|m| format!("[User]: {}", m.joined_text("\n")));
            lines.chain(additions).collect::<Vec<_>>().join("\n")
        })
        .collect()
}

fn truncated(text: &str, max_chars: usize) -> String {
    let n = length(text);
    if n <= max_chars {
        return text.to_owned();
    }
    if max_chars <= 16 {
        return first_units(text, max_chars).to_owned();
    }
    let marker = |removed: usize| format!("\n...[truncated {removed} chars]");
    let kept = max_chars.saturating_sub(marker(n - max_chars).len()).max(1);
    format!("{}{}", first_units(text, kept), marker(n - kept))
}

/// Returns the lines of a message in a request.
fn lines(message: &ChatMessage) -> Vec<String> {
    let text = message.joined_text("\n");
    if message.is("tool") {
        return vec![format!("[Tool result]: {}", part(&text))];
    }
    let author = if message.is("assistant") { "Bot" } else { "User" };
    let mut lines = Vec::new();
    if !text.is_empty() {
        lines.push(format!("[{author}]: {text}"));
    }
    for call in message.calls() {
        let arguments = named_arguments(&call.arguments_as_value());
        lines.push(format!("[Bot tool calls]: {}({arguments})", call.tool()));
    }
    lines
}

fn part(text: &str) -> String {
    let more = length(text).saturating_sub(PART_CHARS);
    if more == 0 {
        return text.to_owned();
    }
    format!("{}\n...[truncated {more} chars]", first_units(text, PART_CHARS))
}

fn request_text(previous: Option<&str>, conversation: &str, files: &FileLists) -> String {
    let listed = |list: &[String]| match list {
        [] => "none".to_owned(),
        list => list.join(", "),
    };
    let (read, edited) = (listed(&files.read), listed(&files.modified));
    let previous = previous.map(str::trim).filter(|text| !text.is_empty());
    let previous = previous.map(|text| format!("\n\nPrevious summary:\n{text}"));
    let conversation = if conversation.is_empty() { "(empty)" } else { conversation };
    format!(
        "{FORM}Read: {read}\nEdited: {edited}{}\n\nConversation:\n{conversation}",
        previous.unwrap_or_default()
    )
}

fn files_section(files: &FileLists) -> String {
    let listed = |list: &[String]| match list {
        [] => "- none".to_owned(),
        list => list.iter().map(|path| format!("- {path}")).collect::<Vec<_>>().join("\n"),
    };
    let (read, modified) = (listed(&files.read), listed(&files.modified));
    format!("## Files\nRead:\n{read}\nModified:\n{modified}")
}
