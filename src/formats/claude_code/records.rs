//! Takes a record of the file apart.

use super::entry::{Answer, Beside, Boundary, Embedded, Entry, Node, Reports, Said, What};
use super::id::Id;
use super::{attachment, blocks};
use crate::formats::borrowed::Json;
use crate::formats::{counts, json, mark, time};
use crate::session::{Body, Part, Span, Usage};
use crate::units::Tokens;
use serde_json::Value;

impl What {
    /// The call whose result it begins with.
    fn answered_call(&self) -> Option<Box<str>> {
        match self {
            Self::Said(said) => answered_call(&said.parts).map(Into::into),
            _ => None,
        }
    }
}

/// From this version on a recorded `output_tokens` is the answer's, not a placeholder written while it streamed.
const OUTPUT_TRUSTED: [u64; 3] = [2, 1, 90];

/// Words with which the harness, not a person, begins.
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

/// The first words of a person in a message.
pub(super) fn own_words(parts: &[Part]) -> Option<&str> {
    let is_harness = |text: &str| {
        INJECTED
            .iter()
            .any(|words| text.trim_start().starts_with(words))
    };
    parts.iter().find_map(|part| match &part.body {
        Body::Text(text) if !is_harness(text) => Some(&**text),
        _ => None,
    })
}

/// The call whose result comes first.
fn answered_call(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match &part.body {
        Body::ToolResult { call, .. } => Some(&**call),
        _ => None,
    })
}

fn has_text(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part.body, Body::Text(_)))
}

/// Takes a record of the file apart, whose text stands at this place.
pub(super) fn read(text: &[u8], record: &Json<'_>, span: &Span, line: usize) -> Entry {
    Entry {
        embedded: embedded(text, record, span, line).map(Box::new),
        ..taken_apart(record, span.clone(), line)
    }
}

/// What a sub-agent said, as the program tells of it while it waits.
fn embedded(text: &[u8], record: &Json<'_>, span: &Span, line: usize) -> Option<Embedded> {
    if !record.says(&["type"], "progress") || !record.says(&["data", "type"], "agent_progress") {
        return None;
    }
    let call = boxed(record, &["parentToolUseID"]);
    let agent = boxed(record, &["data", "agentId"]).or_else(|| call.clone())?;
    let data = json::member(text, &(0..text.len()), "data")?;
    let place = json::member(text, &data, "message")?;
    let place = span.start + place.start..span.start + place.end;
    let message = record.at(&["data", "message"])?;
    Some(Embedded {
        agent,
        call,
        entry: taken_apart(message, place, line),
    })
}

/// A text of a record, to keep.
fn boxed(record: &Json<'_>, path: &[&str]) -> Option<Box<str>> {
    record.str_at(path).map(Into::into)
}

fn taken_apart(record: &Json<'_>, span: Span, line: usize) -> Entry {
    let text = |path: &[&str]| record.str_at(path).unwrap_or("?".into());
    let kind = &*text(&["type"]);
    let (sub, what) = match kind {
        "user" => ("".into(), user(record)),
        "assistant" => ("".into(), assistant(record)),
        "attachment" => (text(&["attachment", "type"]), attached(record)),
        "system" => (text(&["subtype"]), system(record)),
        "progress" => (text(&["data", "type"]), What::Aside),
        _ => ("".into(), other(kind, record)),
    };
    let node = node(kind, record);
    let side = if node.as_ref().is_some_and(|n| n.is_sidechain) {
        " (sub-agent)"
    } else {
        ""
    };
    let slash = if sub.is_empty() { "" } else { "/" };
    let is_unread = matches!(kind, "user" | "assistant") && matches!(what, What::Aside);
    let unread = if is_unread {
        " (not for the model)"
    } else {
        ""
    };
    let label = match (kind, slash, unread, side) {
        ("user", "", "", "") => "user".into(),
        ("assistant", "", "", "") => "assistant".into(),
        _ => format!("{kind}{slash}{sub}{unread}{side}").into(),
    };
    let reports = boxed(record, &["toolUseResult", "agentId"]).zip(what.answered_call());
    Entry {
        span,
        line,
        label,
        node,
        time: record.get("timestamp").and_then(time::millis_read),
        names_folder: record.get("cwd").is_some(),
        what,
        reports: reports.map(|(agent, call)| Box::new(Reports { agent, call })),
        embedded: None,
    }
}

/// What kinds of records follow one another; the rest stands beside.
fn node(kind: &str, record: &Json<'_>) -> Option<Node> {
    let id = |key: &str| record.str_at(&[key]).map(|id| Id::from(&*id));
    matches!(
        kind,
        "user" | "assistant" | "attachment" | "system" | "progress"
    )
    .then(|| Node {
        uuid: id("uuid"),
        parent: id("parentUuid").or_else(|| id("logicalParentUuid")),
        is_sidechain: record.is_true(&["isSidechain"]),
        agent: boxed(record, &["agentId"]),
    })
}

fn user(record: &Json<'_>) -> What {
    let Some(content) = record.at(&["message", "content"]) else {
        return What::Aside;
    };
    let is_summary = record.is_true(&["isCompactSummary"]);
    // Shown to the person only; a summary bears the mark as well, but is sent.
    if record.is_true(&["isVisibleInTranscriptOnly"]) && !is_summary {
        return What::Aside;
    }
    let parts = blocks::parts(content);
    let has_results = answered_call(&parts).is_some();
    let is_meta = record.is_true(&["isMeta"]);
    // Words beside a tool's result are the harness's (a refusal, an interruption).
    let is_injected = is_meta || (has_results || own_words(&parts).is_none()) && has_text(&parts);
    let is_of_call = is_meta && record.str_at(&["sourceToolUseID"]).is_some();
    let beside = if is_of_call {
        Beside::Call
    } else {
        Beside::Nothing
    };
    What::Said(Said {
        parts,
        is_injected,
        is_summary,
        beside,
        effort: effort(record),
    })
}

/// The thinking that a prompt asks for.
fn effort(record: &Json<'_>) -> Option<Box<str>> {
    let thinking = record.get("thinkingMetadata")?;
    if thinking.is_true(&["disabled"]) {
        return Some("none".into());
    }
    let most = || {
        Some(format!(
            "{} tokens",
            thinking.number_at(&["maxThinkingTokens"])?
        ))
    };
    let level = thinking.str_at(&["level"]).map(String::from);
    level.or_else(most).map(Into::into)
}

/// A call was broken off by a person. (Another interruption, of a tool's use, comes after its call.)
pub(super) fn is_abort(parts: &[Part]) -> bool {
    let is_it = |part: &Part| matches!(&part.body, Body::Text(text) if &**text == "[Request interrupted by user]");
    parts.iter().any(is_it)
}

fn attached(record: &Json<'_>) -> What {
    let Some(attachment) = record.get("attachment") else {
        return What::Aside;
    };
    let parts = attachment::parts(attachment);
    if parts.is_empty() {
        return What::Aside;
    }
    let is_injected = !attachment::is_of_a_person(attachment) || own_words(&parts).is_none();
    What::Said(Said {
        parts,
        is_injected,
        beside: Beside::Attachment,
        ..Said::default()
    })
}

fn assistant(record: &Json<'_>) -> What {
    // The program's own words in the model's place.
    if record.says(&["message", "model"], "<synthetic>") || record.is_true(&["isApiErrorMessage"]) {
        return What::Aside;
    }
    let Some(content) = record.at(&["message", "content"]) else {
        return What::Aside;
    };
    let text = |path: &[&str]| boxed(record, path);
    What::Answered(Answer {
        group: text(&["message", "id"])
            .or_else(|| text(&["requestId"]))
            .or_else(|| text(&["uuid"])),
        model: text(&["message", "model"]),
        usage: usage(record),
        parts: blocks::parts(content),
    })
}

/// Tokens of the call. What was read from the cache and written to it adds to `input_tokens` here.
fn usage(record: &Json<'_>) -> Option<Usage> {
    let usage = record.at(&["message", "usage"])?;
    let count = |path: &[&str]| usage.number_at(path).and_then(counts::tokens_written);
    let cache_read = count(&["cache_read_input_tokens"]);
    let cache_write = count(&["cache_creation_input_tokens"]);
    let input = [count(&["input_tokens"]), cache_read, cache_write]
        .into_iter()
        .flatten()
        .sum();
    let is_trusted = record
        .str_at(&["version"])
        .is_some_and(|v| version(&v) >= OUTPUT_TRUSTED);
    let output = count(&["output_tokens"]).filter(|_| is_trusted);
    (input > Tokens::ZERO).then_some(Usage {
        input,
        cache_read,
        cache_write,
        cache_write_hour: count(&["cache_creation", "ephemeral_1h_input_tokens"]),
        output,
        reasoning: None,
    })
}

fn version(text: &str) -> [u64; 3] {
    let mut numbers = text.split('.').map(|n| n.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

fn system(record: &Json<'_>) -> What {
    match record.str_at(&["subtype"]).as_deref() {
        Some("compact_boundary") => What::Boundary(boundary(&record.to_value())),
        Some("microcompact_boundary") => What::Microcompaction,
        Some(super::MARK) => What::Managed(mark::calibration(&record.to_value())),
        // What a command of the program printed is sent along with the next prompt.
        Some("local_command") => What::Said(Said {
            parts: record.get("content").map(blocks::parts).unwrap_or_default(),
            is_injected: true,
            ..Said::default()
        }),
        _ => What::Aside,
    }
}

fn boundary(value: &Value) -> Boundary {
    let at = |path: &[&str]| json::at(value, &[&["compactMetadata"], path].concat());
    let text = |path: &[&str]| at(path).and_then(Value::as_str);
    let tokens = |path: &[&str]| counts::tokens_at(value, &[&["compactMetadata"], path].concat());
    let uuids = at(&["preservedMessages", "uuids"]).and_then(Value::as_array);
    let anchor = text(&["preservedMessages", "anchorUuid"])
        .or_else(|| text(&["preservedSegment", "anchorUuid"]));
    Boundary {
        trigger: text(&["trigger"]).unwrap_or_default().into(),
        before: tokens(&["preTokens"]),
        after: tokens(&["postTokens"]),
        preserved: uuids
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(Into::into)
            .collect(),
        preserved_range: text(&["preservedSegment", "headUuid"])
            .zip(text(&["preservedSegment", "tailUuid"]))
            .map(|(first, last)| (first.into(), last.into())),
        preserved_first: anchor.is_some() && anchor == json::str_at(value, &["uuid"]),
    }
}

fn other(kind: &str, record: &Json<'_>) -> What {
    let text = |key: &str| record.str_at(&[key]).filter(|text| !text.trim().is_empty());
    match kind {
        "last-prompt" => text("leafUuid").map(|id| What::Leaf(Id::from(&*id))),
        "ai-title" => text("aiTitle").map(|title| What::Title(title.into(), false)),
        "custom-title" => text("customTitle").map(|title| What::Title(title.into(), true)),
        _ => None,
    }
    .unwrap_or(What::Aside)
}
