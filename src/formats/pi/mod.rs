//! Pi's session files, which `OpenClaw` writes too: JSON Lines, a header and then entries.
//!
//! - Version 1 is a list; from version 2 on an entry names the one before it, and a person who goes back starts another
//!   branch. The conversation is the way to the last entry; the other branches are conversations of their own.
//! - A compaction names the first entry that it keeps: the context after it is its summary, what stands from that entry
//!   on, and what follows. What extensions inject (`custom_message`) is context, what they remember (`custom`) is not.
//! - Answers that broke off are not sent again, though their call was made and counts.
//! - `input` excludes what was read from the cache and written to it.
//!   <https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/src/core/session-manager.ts>

mod entry;
mod export;
mod reader;

use super::jsonl::map_records;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::progress::Progress;
use entry::Entry;

/// The row of the table.
pub(super) const FORMAT: Format = Format {
    name: "pi",
    label: "Pi session",
    detect,
    in_pieces: false,
    parse,
    export: Some(export::export),
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
    ],
    kept: Some(export::kept),
    resume: None,
};

fn detect(probe: &Probe) -> Option<String> {
    let mut records = probe.records().iter().map(|r| &r.value);
    let is_head = |v: &serde_json::Value| {
        json::str_at(v, &["type"]) == Some("session")
            && json::str_at(v, &["id"]).is_some()
            && json::str_at(v, &["cwd"]).is_some()
    };
    let head = records.next().filter(|v| is_head(v))?;
    let has_entry = records.any(|v| {
        matches!(
            json::str_at(v, &["type"]),
            Some("message" | "custom_message")
        ) && (v.get("message").is_some_and(serde_json::Value::is_object)
            || v.get("content").is_some())
    });
    let version = json::u64_at(head, &["version"]).unwrap_or(1);
    has_entry.then(|| {
        format!("JSON Lines that begin with a `session` of version {version}, then messages")
    })
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut warnings = Vec::new();
    let entries = map_records(&input.bytes, progress, 1, &mut warnings, Entry::read)?;
    reader::read(input, entries, progress, warnings)
}
