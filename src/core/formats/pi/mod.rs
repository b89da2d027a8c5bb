//! Session files of Pi and `OpenClaw`: JSON Lines with a header followed by entries.
//!
//! - Version 1 is a list. From version 2 on, an entry names the previous one, and going back starts another branch. The
//!   conversation is the path to the last entry. Each other branch is a conversation of its own.
//! - A compaction names the first entry that it keeps. The context after it consists of its summary, the entries from
//!   that one on, and everything that follows. Content that extensions inject (`custom_message`) is part of the
//!   context. State that they store (`custom`) is not.
//! - Interrupted answers are not resent, but their calls were made and count.
//! - `input` excludes tokens read from and written to the cache.
//!   <https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/src/core/session-manager.ts>

mod entry;
mod export;
mod handoff;
mod reader;
mod resume;

use super::jsonl::map_records;
use super::read_log::ReadLog;
use super::{Format, Input, ParseError, Parsed, Probe, RecordIds, RecordedData, json};
use crate::progress::Progress;
pub(super) use entry::{EntryContent, PiCompaction, PiEntry, message, summary_parts};
pub(super) use reader::read;

pub(super) const FORMAT: Format = Format {
    name: "pi",
    label: "Pi session",
    detect,
    parse,
    write_own: Some(export::export),
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::Compactions],
    kept: Some(export::kept),
    record_ids: Some(RECORD_IDS),
    resume: Some(resume::RESUME),
    ..Format::READ_ONLY
};

/// Ids that the program requires to be unique.
const RECORD_IDS: RecordIds = RecordIds { list: "", path: &["id"], parts: None };

fn detect(probe: &Probe) -> Option<String> {
    let mut records = probe.records().iter().map(|r| &r.value);
    let is_head = |v: &crate::json::Value| {
        json::str_at(v, &["type"]) == Some("session")
            && json::str_at(v, &["id"]).is_some()
            && json::str_at(v, &["cwd"]).is_some()
    };
    let head = records.next().filter(|v| is_head(v))?;
    let has_entry = records.any(|v| {
        matches!(json::str_at(v, &["type"]), Some("message" | "custom_message"))
            && (v.get("message").is_some_and(crate::json::Value::is_object)
                || v.get("content").is_some())
    });
    let version = json::u64_at(head, &["version"]).unwrap_or(1);
    has_entry
        .then(|| format!("JSON Lines with a `session` header of version {version}, then messages"))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let entries = map_records(&input.bytes, progress, 1, &mut log.warnings, PiEntry::read)?;
    read(input, FORMAT.name, entries, progress, log)
}
