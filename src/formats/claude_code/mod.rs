//! Claude Code's session files: JSON Lines, one record an event, of which some are the conversation.
//!
//! An answer of the model is split over several records that share `message.id` and repeat its usage; results of
//! parallel calls stand between them. Here it is one message, placed where its first record stands.
//!
//! Sub-agents and the branches that a person went back from are conversations of their own.

mod agents;
mod answers;
mod attachment;
mod blocks;
mod entry;
mod export;
mod id;
mod line;
mod reader;
mod records;
mod resume;
mod tree;

use super::borrowed::Json;
use super::{Carried, Format, Input, Parsed, Probe, Unread, json, jsonl};
use crate::progress::Progress;
use crate::session::Span;
pub use agents::Starts;
use jsonl::Record;

/// This format's row.
pub(super) const FORMAT: Format = Format {
    name: "claude_code",
    label: "Claude Code session",
    detect,
    in_pieces: true,
    parse,
    export: Some(export::export),
    carries: &[
        Carried::Usage,
        Carried::Times,
        Carried::Compactions,
        Carried::SubAgents,
    ],
    kept: Some(export::embedded::kept),
    resume: Some(resume::RESUME),
};

/// Subtype of the record that ends what we wrote. Calls recorded before it report contexts that the file does not
/// hold any more, so they are not believed; what the program adds later counts.
const MARK: &str = "plimsoll_managed";

/// Types of records, as far as they are known; one unknown among many does no harm.
const TYPES: &[&str] = &[
    "user",
    "assistant",
    "system",
    "attachment",
    "progress",
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "last-prompt",
    "permission-mode",
    "mode",
    "ai-title",
    "custom-title",
    "agent-name",
    "pr-link",
    "bridge-session",
];

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let known = |r: &&Record| json::str_at(&r.value, &["type"]).is_some_and(|t| TYPES.contains(&t));
    let n_known = records.iter().filter(known).count();
    let has_message = records.iter().any(|r| {
        matches!(
            json::str_at(&r.value, &["type"]),
            Some("user" | "assistant")
        ) && r
            .value
            .get("message")
            .is_some_and(serde_json::Value::is_object)
            && ["uuid", "sessionId"]
                .iter()
                .all(|key| json::str_at(&r.value, &[key]).is_some())
    });
    // A quarter may be damaged or new.
    (has_message && n_known * 4 >= records.len() * 3).then(|| {
        "JSON Lines whose `user` and `assistant` records have a `message`, a `uuid` and a `sessionId`".to_owned()
    })
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, Unread> {
    let mut warnings = Vec::new();
    let quick = |text: &[u8], span: &Span, line| {
        let value = Json::parse(std::str::from_utf8(text).ok()?)?;
        Some(records::read(text, &value, span, line))
    };
    let odd = |text: &[u8], record: Record| {
        let mended = record.value.to_string();
        let value = Json::parse(&mended).unwrap_or(Json::Null);
        records::read(text, &value, &record.span, record.line)
    };
    let entries = jsonl::map_texts(&input.bytes, progress, 1, &mut warnings, quick, odd)?;
    reader::read(input, entries, progress, warnings)
}
