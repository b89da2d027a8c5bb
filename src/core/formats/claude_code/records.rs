//! Parses the records of the file.

use super::entry::{
    AgentResult, Boundary, ClaudeAnswer, ClaudeEntry, ClaudeMessage, Embedded, EntryKind,
    EntryNode, MessageOrigin, RequestRecord, Version,
};
use super::hash::Hash;
use super::id::Id;
use super::{attachment, blocks};
use crate::formats::{counts, json, mark};
use crate::json::BorrowedValue;
use crate::json::Value;
use crate::session::{Body, Part, Span, Usage, says_too_long};
use crate::units::Tokens;
use std::borrow::Cow;

impl EntryKind {
    /// Returns the call whose result the record begins with.
    fn answered_call(&self) -> Option<Box<str>> {
        match self {
            Self::Message(message) => answered_call(&message.parts).map(Into::into),
            _ => None,
        }
    }
}

/// First version whose recorded `output_tokens` is always final. Earlier versions record a placeholder written during
/// streaming, and the final count only in the record with the `stop_reason`.
// From recorded sessions: 422 messages of 2.1.17 have 547 output tokens in all, and those of later versions plausible
// numbers.
const OUTPUT_TRUSTED: Version = [2, 1, 90];

/// Prefixes of text that the harness wrote, not the user.
const INJECTED: &[&str] = &[
    "<command-",
    "<local-command-",
    "<task-notification>",
    "<bash-",
    "<ide_",
    "<system-reminder>",
    "Caveat:",
    "[Request interrupted by user",
];

/// Returns whether the program wrote a text of a user message.
pub(crate) fn is_of_program(text: &str) -> bool {
    INJECTED.iter().any(|words| text.trim_start().starts_with(words))
}

/// Returns the first text of a message that the user wrote.
pub(super) fn user_text(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match &part.body {
        Body::Text(text) if !is_of_program(text) => Some(&**text),
        _ => None,
    })
}

/// Returns the call of the first result.
fn answered_call(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match &part.body {
        Body::ToolResult { call, .. } => Some(&**call),
        _ => None,
    })
}

fn has_text(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part.body, Body::Text(_)))
}

/// Parses a record. `text` is its text, `span` its byte range.
pub(super) fn read(
    text: &[u8],
    record: &BorrowedValue<'_>,
    span: &Span,
    line: usize,
) -> ClaudeEntry {
    ClaudeEntry {
        embedded: embedded(text, record, span, line).map(Box::new),
        ..parsed(record, span.clone(), line)
    }
}

/// Returns the sub-agent record inside a `progress` record.
fn embedded(text: &[u8], record: &BorrowedValue<'_>, span: &Span, line: usize) -> Option<Embedded> {
    if !record.is_str_at(&["type"], "progress")
        || !record.is_str_at(&["data", "type"], "agent_progress")
    {
        return None;
    }
    let call = boxed(record, &["parentToolUseID"]);
    let agent = boxed(record, &["data", "agentId"]).or_else(|| call.clone())?;
    let data = json::member(text, &(0..text.len()), "data")?;
    let place = json::member(text, &data, "message")?;
    let place = span.start + place.start..span.start + place.end;
    let message = record.at(&["data", "message"])?;
    Some(Embedded { agent, call, entry: parsed(message, place, line) })
}

/// Returns a string of a record.
fn boxed(record: &BorrowedValue<'_>, path: &[&str]) -> Option<Box<str>> {
    record.str_at(path).map(Into::into)
}

fn parsed(record: &BorrowedValue<'_>, span: Span, line: usize) -> ClaudeEntry {
    let text = |path: &[&str]| record.str_at(path).unwrap_or("?".into());
    let kind = &*text(&["type"]);
    let (sub, content) = match kind {
        "user" => ("".into(), user(record)),
        "assistant" => ("".into(), assistant(record)),
        "attachment" => (text(&["attachment", "type"]), attached(record)),
        "system" => (text(&["subtype"]), system(record)),
        "progress" => (text(&["data", "type"]), EntryKind::Other),
        _ => ("".into(), other(kind, record)),
    };
    let node = node(kind, record);
    let side = if node.as_ref().is_some_and(|n| n.is_sidechain) { " (sub-agent)" } else { "" };
    let slash = if sub.is_empty() { "" } else { "/" };
    let is_unread = matches!(kind, "user" | "assistant")
        && matches!(content, EntryKind::Other | EntryKind::Rejection(_));
    let unread = if is_unread { " (not for the model)" } else { "" };
    let label = match (kind, slash, unread, side) {
        ("user", "", "", "") => "user".into(),
        ("assistant", "", "", "") => "assistant".into(),
        _ => format!("{kind}{slash}{sub}{unread}{side}").into(),
    };
    let agent_result = boxed(record, &["toolUseResult", "agentId"]).zip(content.answered_call());
    ClaudeEntry {
        span,
        line,
        label,
        node,
        time: record.get("timestamp").and_then(json::millis_read),
        names_folder: record.get("cwd").is_some(),
        kind: content,
        agent_result: agent_result.map(|(agent, call)| Box::new(AgentResult { agent, call })),
        embedded: None,
    }
}

/// Returns a record's position in the tree, or `None` for kinds that are not part of it.
fn node(kind: &str, record: &BorrowedValue<'_>) -> Option<EntryNode> {
    let id = |key: &str| record.str_at(&[key]).map(|id| Id::from(&*id));
    matches!(kind, "user" | "assistant" | "attachment" | "system" | "progress").then(|| EntryNode {
        uuid: id("uuid"),
        parent: id("parentUuid").or_else(|| id("logicalParentUuid")),
        is_sidechain: record.is_true(&["isSidechain"]),
        agent: boxed(record, &["agentId"]),
    })
}

fn user(record: &BorrowedValue<'_>) -> EntryKind {
    let Some(content) = record.at(&["message", "content"]) else {
        return EntryKind::Other;
    };
    let is_summary = record.is_true(&["isCompactSummary"]);
    // Only displayed to the user. A summary has the same mark but is sent.
    if record.is_true(&["isVisibleInTranscriptOnly"]) && !is_summary {
        return EntryKind::Other;
    }
    let parts = blocks::parts(content);
    let has_results = answered_call(&parts).is_some();
    let is_meta = record.is_true(&["isMeta"]);
    // Text next to a tool result is the harness's (a rejection, an interruption).
    let is_injected = is_meta || (has_results || user_text(&parts).is_none()) && has_text(&parts);
    let is_of_call = is_meta && record.str_at(&["sourceToolUseID"]).is_some();
    let origin = if is_of_call { MessageOrigin::Call } else { MessageOrigin::Own };
    EntryKind::Message(ClaudeMessage {
        parts,
        is_injected,
        is_summary,
        origin,
        effort: effort(record),
        result_content: blocks::result_content(content),
    })
}

/// Returns the reasoning effort that a prompt requests.
fn effort(record: &BorrowedValue<'_>) -> Option<Box<str>> {
    let thinking = record.get("thinkingMetadata")?;
    if thinking.is_true(&["disabled"]) {
        return Some("none".into());
    }
    let budget = || Some(format!("{} tokens", thinking.number_at(&["maxThinkingTokens"])?));
    let level = thinking.str_at(&["level"]).map(String::from);
    level.or_else(budget).map(Into::into)
}

/// Returns whether the user interrupted a call. (An interruption during tool use has a different text and follows its
/// call.)
pub(super) fn is_abort(parts: &[Part]) -> bool {
    let is_it = |part: &Part| matches!(&part.body, Body::Text(text) if &**text == "[Request interrupted by user]");
    parts.iter().any(is_it)
}

fn attached(record: &BorrowedValue<'_>) -> EntryKind {
    let Some(attachment) = record.get("attachment") else {
        return EntryKind::Other;
    };
    let version = version(record);
    if attachment.is_str_at(&["type"], attachment::SNAPSHOT) {
        return EntryKind::Snapshot(version);
    }
    let (parts, origin) = match record.get("rendered") {
        Some(BorrowedValue::List(rendered)) => {
            let is_beside = record.is_true(&["renderedBesideToolResult"]);
            (attachment::rendered(rendered), MessageOrigin::Rendered { version, is_beside })
        }
        _ => (attachment::parts(attachment), MessageOrigin::Attachment { version }),
    };
    if parts.is_empty() {
        return EntryKind::Other;
    }
    let is_injected = !attachment::is_user_message(attachment) || user_text(&parts).is_none();
    EntryKind::Message(ClaudeMessage { parts, is_injected, origin, ..ClaudeMessage::default() })
}

/// Returns the error message of the program if it says that the context was too long.
fn rejection(record: &BorrowedValue<'_>) -> Option<Box<str>> {
    if !record.is_true(&["isApiErrorMessage"]) {
        return None;
    }
    let parts = blocks::parts(record.at(&["message", "content"])?);
    let text = parts.iter().map(|part| part.body.text());
    let text = text.max_by_key(|text| text.len())?;
    says_too_long(&text.to_lowercase()).then(|| text.into())
}

fn assistant(record: &BorrowedValue<'_>) -> EntryKind {
    // A message of the program instead of a model answer.
    if record.is_str_at(&["message", "model"], "<synthetic>")
        || record.is_true(&["isApiErrorMessage"])
    {
        return rejection(record).map_or(EntryKind::Other, EntryKind::Rejection);
    }
    let Some(content) = record.at(&["message", "content"]) else {
        return EntryKind::Other;
    };
    let text = |path: &[&str]| boxed(record, path);
    EntryKind::Answer(ClaudeAnswer {
        group: text(&["message", "id"])
            .or_else(|| text(&["requestId"]))
            .or_else(|| text(&["uuid"])),
        model: text(&["message", "model"]),
        usage: usage(record),
        is_cut: stop_reason(record).is_some_and(|reason| CUT.contains(&&*reason)),
        parts: blocks::parts(content),
        request: text(&["requestRef"]),
    })
}

/// Stop reasons of answers that reached their maximum length, or filled the context window.
const CUT: [&str; 2] = ["max_tokens", "model_context_window_exceeded"];

/// Returns why the answer stopped; `None` in a record that was written while the answer was streamed.
fn stop_reason<'a>(record: &'a BorrowedValue<'_>) -> Option<Cow<'a, str>> {
    record.str_at(&["message", "stop_reason"])
}

/// Returns the usage of the call. Cache reads and writes are not included in the recorded `input_tokens`.
fn usage(record: &BorrowedValue<'_>) -> Option<Usage> {
    let usage = record.at(&["message", "usage"])?;
    let count = |path: &[&str]| usage.number_at(path).and_then(counts::tokens_written);
    let cache_read = count(&["cache_read_input_tokens"]);
    let cache_write = count(&["cache_creation_input_tokens"]);
    let input = [count(&["input_tokens"]), cache_read, cache_write].into_iter().flatten().sum();
    let is_trusted = version(record) >= OUTPUT_TRUSTED;
    // Some answers stop with a count of 0, which no answer has.
    let is_final = |tokens: &Tokens| stop_reason(record).is_some() && *tokens > Tokens::ZERO;
    let output = count(&["output_tokens"]).filter(|tokens| is_trusted || is_final(tokens));
    (input > Tokens::ZERO).then_some(Usage {
        input,
        cache_read,
        cache_write,
        cache_write_hour: count(&["cache_creation", "ephemeral_1h_input_tokens"]),
        output,
        reasoning: None,
    })
}

/// Returns the version of the program that wrote the record; zeros if it is not recorded.
fn version(record: &BorrowedValue<'_>) -> Version {
    let text = record.str_at(&["version"]).unwrap_or_default();
    let mut numbers = text.split('.').map(|n| n.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

fn system(record: &BorrowedValue<'_>) -> EntryKind {
    match record.str_at(&["subtype"]).as_deref() {
        Some("compact_boundary") => {
            EntryKind::Boundary(boundary(&record.to_value(), version(record)))
        }
        Some("microcompact_boundary") => EntryKind::Microcompaction,
        Some(super::MARK) => EntryKind::Managed(mark::calibration(&record.to_value())),
        // The output of a program command is sent with the next prompt.
        Some("local_command") => EntryKind::Message(ClaudeMessage {
            parts: record.get("content").map(blocks::parts).unwrap_or_default(),
            is_injected: true,
            ..ClaudeMessage::default()
        }),
        _ => EntryKind::Other,
    }
}

fn boundary(value: &Value, version: Version) -> Boundary {
    let at = |path: &[&str]| json::at(value, &[&["compactMetadata"], path].concat());
    let text = |path: &[&str]| at(path).and_then(Value::as_str);
    let tokens = |path: &[&str]| counts::tokens_at(value, &[&["compactMetadata"], path].concat());
    let uuids = |key| at(&["preservedMessages", key]).and_then(Value::as_array);
    let uuids = uuids("allUuids").or_else(|| uuids("uuids"));
    let anchor = text(&["preservedMessages", "anchorUuid"])
        .or_else(|| text(&["preservedSegment", "anchorUuid"]));
    Boundary {
        version,
        trigger: text(&["trigger"]).unwrap_or_default().into(),
        before: tokens(&["preTokens"]),
        after: tokens(&["postTokens"]),
        preserved: uuids.into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect(),
        preserved_range: text(&["preservedSegment", "headUuid"])
            .zip(text(&["preservedSegment", "tailUuid"]))
            .map(|(first, last)| (first.into(), last.into())),
        preserved_first: anchor.is_some() && anchor == json::str_at(value, &["uuid"]),
        anchor: anchor.map(Into::into),
    }
}

fn other(kind: &str, record: &BorrowedValue<'_>) -> EntryKind {
    let text = |key: &str| record.str_at(&[key]).filter(|text| !text.trim().is_empty());
    match kind {
        "last-prompt" => text("leafUuid").map(|id| EntryKind::Leaf(Id::from(&*id))),
        "ai-title" => text("aiTitle").map(|title| EntryKind::Title(title.into(), false)),
        "custom-title" => text("customTitle").map(|title| EntryKind::Title(title.into(), true)),
        "api-request" => request(record).map(|request| EntryKind::Request(Box::new(request))),
        "api-request-blob" => text("hash").and_then(|hash| Hash::parse(&hash)).map(EntryKind::Blob),
        "api-request-shape" => {
            text("shapeHash").map(|key| EntryKind::Shape(key.into(), version(record)))
        }
        _ => None,
    }
    .unwrap_or(EntryKind::Other)
}

/// Returns a recorded request, unless its messages are not named.
fn request(record: &BorrowedValue<'_>) -> Option<RequestRecord> {
    let hash = |hash: &BorrowedValue<'_>| Hash::parse(&hash.as_str()?);
    let is_empty = |value: &BorrowedValue<'_>| {
        matches!(value, BorrowedValue::Null | BorrowedValue::Bool(false))
    };
    // Texts of memory files are cut, and their places are named.
    let mut cuts = ["cut", "withheld"].into_iter().filter_map(|key| record.get(key));
    Some(RequestRecord {
        id: boxed(record, &["id"])?,
        base: boxed(record, &["base"]),
        keep: record.number_at(&["keep"]).map_or(Some(0), |keep| keep.parse().ok())?,
        tail: record.get("tail")?.elements().iter().map(hash).collect::<Option<_>>()?,
        shape: boxed(record, &["shapeHash"]).unwrap_or_default(),
        is_cut: cuts.any(|cut| !is_empty(cut)),
        version: version(record),
    })
}
