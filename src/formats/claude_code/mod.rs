//! Claude Code's session files: JSON Lines, one record an event, of which some are the conversation.
//!
//! An answer of the model is split over several records that share `message.id` and repeat its usage; results of
//! parallel calls stand between them. Here it is one message, placed where its first record stands.

mod attachment;
mod blocks;
mod export;
mod line;
mod records;
mod resume;
mod tree;

use super::{Carried, Format, Input, Parsed, Probe, Refused, Unread, json, jsonl};
use crate::progress::Progress;
use jsonl::Record;

/// This format's row.
pub(super) const FORMAT: Format = Format {
    name: "claude_code",
    label: "Claude Code session",
    detect,
    parse,
    export: Some(export::export),
    carries: &[Carried::Usage, Carried::Times, Carried::Compactions],
    kept: None,
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
    let entries = jsonl::map_records(&input.bytes, progress, 1, &mut warnings, records::read)?;
    let (session, report) = line::session(input, entries, progress, &mut warnings)?;
    if session.messages.is_empty() {
        return Err(Refused {
            looks_like: "this looks like a Claude Code session without a message".to_owned(),
        }
        .into());
    }
    Ok(Parsed {
        sessions: vec![session],
        warnings,
        report,
    })
}
