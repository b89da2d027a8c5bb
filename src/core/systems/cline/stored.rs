//! Messages as the program stores them, each with an envelope, and their token estimate: a third of their JSON.

use super::shape::shortened_result;
use crate::chat::{ChatMessage, Rule};
use crate::json::{Value, json};
use crate::languages::javascript::length;
use crate::session::WrittenKind;
use std::ops::Range;

/// Envelope of a message besides its role and content: an id of 12 characters and a time in milliseconds.
const ENVELOPE: usize = r#","id":"msg_12345678","ts":1234567890123"#.len();
const FROZEN: usize = r#","metadata":{"compaction":"preserved"}"#.len();
/// Metadata of an answer without the names of model and provider and without the digits of its usage.
const ANSWER: usize = r#","modelInfo":{"id":"","provider":""},"metrics":{"inputTokens":,"outputTokens":,"cacheReadTokens":0,"cacheWriteTokens":0}"#.len();
/// Metadata of an answer without usage.
const ANSWER_WITHOUT_USAGE: usize = r#","modelInfo":{"id":"","provider":""}"#.len();

/// Kind of a stored message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredKind {
    /// Text that the user typed.
    Typed,
    /// The result of a call.
    Result,
    Answer,
    /// A summary of earlier messages.
    Summary,
}

/// A stored message.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    /// Its messages in the conversation: additions follow the message that they are added to.
    pub(super) range: Range<usize>,
    pub(super) kind: StoredKind,
    /// Whether an earlier compaction without a request kept it.
    pub(super) is_frozen: bool,
    /// Length of its content as JSON.
    content: usize,
    /// Length of its content as JSON, with results as they are sent.
    shaped_content: usize,
    /// Length of its metadata, model and usage as JSON.
    rest: usize,
}

/// Metadata of stored messages.
#[derive(Debug)]
pub(super) struct Envelopes<'a> {
    /// Digits of the usage of each answer that still has one, as characters from `0` on; the newest last.
    pub(super) digits: &'a str,
    /// End of the messages that the last compaction without a request left.
    pub(super) frozen_end: usize,
    /// Metadata of the first message after such a compaction.
    pub(super) first: &'a Value,
    /// Metadata of the last summary.
    pub(super) summary: &'a Value,
    /// Characters of the names of model and provider.
    pub(super) model_chars: usize,
}

impl Stored {
    /// Returns the estimated tokens.
    pub(super) fn estimate(&self) -> usize {
        tokens(self.length(self.content))
    }

    /// Returns the length as JSON in a request.
    fn length(&self, content: usize) -> usize {
        let role = if self.kind == StoredKind::Answer { "assistant" } else { "user" };
        let envelope = if self.kind == StoredKind::Summary { 0 } else { ENVELOPE };
        r#"{"role":"","content":}"#.len() + role.len() + content + envelope + self.rest
    }
}

/// Returns a third of a number of characters, rounded up.
pub(super) fn tokens(chars: usize) -> usize {
    chars.div_ceil(3).max(1)
}

/// Returns the stored messages from `start` on.
pub(super) fn stored(all: &[ChatMessage], start: usize, known: &Envelopes<'_>) -> Vec<Stored> {
    let is_stripped = |at: usize| at < known.frozen_end;
    let with_usage = (start..all.len()).filter(|at| all[*at].is("assistant") && !is_stripped(*at));
    let n_with_usage = with_usage.count();
    let skipped = known.digits.len().saturating_sub(n_with_usage);
    let mut digits = known.digits.bytes().skip(skipped);
    let mut list: Vec<Stored> = Vec::new();
    for (at, message) in all.iter().enumerate().skip(start) {
        if message.written == Some(WrittenKind::Addition)
            && let Some(last) = list.last_mut()
        {
            last.range.end = at + 1;
            let block = ",".len() + content_length(message) - "[]".len();
            last.content += block;
            last.shaped_content += block;
            continue;
        }
        let kind = match &*message.role {
            _ if message.written == Some(WrittenKind::Summary) => StoredKind::Summary,
            "assistant" => StoredKind::Answer,
            "tool" => StoredKind::Result,
            _ => StoredKind::Typed,
        };
        let is_frozen = is_stripped(at) && !matches!(kind, StoredKind::Typed | StoredKind::Summary);
        let content = content_length(message);
        let mut rest = if is_frozen { FROZEN } else { 0 };
        rest += match kind {
            StoredKind::Answer if is_stripped(at) => ANSWER_WITHOUT_USAGE + known.model_chars,
            StoredKind::Answer => match digits.next().map(|digits| usize::from(digits - b'0')) {
                Some(n_digits) if n_digits > 0 => ANSWER + known.model_chars + n_digits,
                _ => ANSWER_WITHOUT_USAGE + known.model_chars,
            },
            StoredKind::Typed if at == start && known.first.is_object() => {
                metadata_length(known.first)
            }
            StoredKind::Summary => metadata_length(known.summary),
            StoredKind::Typed | StoredKind::Result => 0,
        };
        list.push(Stored {
            range: at..at + 1,
            kind,
            is_frozen,
            content,
            shaped_content: shaped_content_length(message, content),
            rest,
        });
    }
    list
}

fn metadata_length(metadata: &Value) -> usize {
    if metadata.is_null() {
        return 0;
    }
    r#","metadata":"#.len() + length(&metadata.to_string())
}

/// Returns the estimated tokens of a request, and those of its messages alone. Without a compaction so far, results
/// count as they are sent, and those of one answer are one message.
pub(super) fn request_tokens(
    system: &[ChatMessage],
    list: &[Stored],
    is_shaped: bool,
) -> (usize, usize) {
    let mut lengths: Vec<usize> = Vec::with_capacity(list.len());
    let mut last_kind = None;
    for message in list {
        let content = if is_shaped { message.shaped_content } else { message.content };
        let joins = is_shaped
            && message.kind == StoredKind::Result
            && last_kind == Some(StoredKind::Result);
        match lengths.last_mut() {
            Some(length) if joins => *length += ",".len() + content - "[]".len(),
            _ => lengths.push(message.length(content)),
        }
        last_kind = Some(message.kind);
    }
    let frame = r#"{"systemPrompt":"","messages":[],"tools":[]}"#.len() + system_length(system);
    let commas = lengths.len().saturating_sub(1);
    let request = tokens(frame + commas + lengths.iter().sum::<usize>());
    (request, lengths.into_iter().map(tokens).sum())
}

/// Returns the length of the system prompt within JSON. Instructions are joined by a line break, which is escaped.
fn system_length(system: &[ChatMessage]) -> usize {
    let breaks = r"\n".len() * system.len().saturating_sub(1);
    let lengths = system.iter().map(|message| {
        let length = |message: &ChatMessage| {
            let text = Value::from(message.joined_text("\n"));
            (length(&text.to_string()) - r#""""#.len()) as u64
        };
        message.weigh(SYSTEM, length) as usize
    });
    breaks + lengths.sum::<usize>()
}

const SYSTEM: Rule = Rule::new("cline: system prompt");
const CONTENT: Rule = Rule::new("cline: content");
const SHAPED: Rule = Rule::new("cline: shaped content");

/// Returns the length of a message's content as JSON.
fn content_length(message: &ChatMessage) -> usize {
    message.weigh(CONTENT, |message| length(&content(message, None).to_string()) as u64) as usize
}

fn shaped_content_length(message: &ChatMessage, plain: usize) -> usize {
    if !message.is("tool") {
        return plain;
    }
    message.weigh(SHAPED, |message| {
        let short = shortened_result(&message.joined_text("\n"));
        let shaped = short.map(|short| length(&content(message, Some(short.as_str())).to_string()));
        shaped.unwrap_or(plain) as u64
    }) as usize
}

/// Returns the content of a message as blocks, possibly with another text of a result.
fn content(message: &ChatMessage, result: Option<&str>) -> Value {
    let text = message.joined_text("\n");
    if message.is("tool") {
        return json!([{"type": "tool_result", "tool_use_id": message.call_id.as_deref(),
            "name": message.name.as_deref(), "content": result.unwrap_or(&text)}]);
    }
    let mut blocks = Vec::new();
    if let Some(thinking) = &message.reasoning {
        blocks.push(json!({"type": "thinking", "thinking": &*thinking.text}));
    }
    if !text.is_empty() {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for call in message.calls() {
        blocks.push(json!({"type": "tool_use", "id": call.id.as_deref(), "name": call.tool(),
            "input": call.arguments_as_value()}));
    }
    blocks.into()
}
