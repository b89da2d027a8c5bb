//! Claude Code session files: JSON Lines with one event per record, some of which form the conversation.
//!
//! A model answer is split into several records that share `message.id` and repeat its usage, with results of parallel
//! calls between them. It becomes one message at the position of its first record.
//!
//! Sub-agents and branches that the user rewound are separate conversations.

mod agents;
mod answers;
mod attachment;
mod blocks;
mod conversation;
mod entry;
mod export;
mod file_records;
mod handoff;
mod hash;
mod id;
mod instructions;
mod reader;
mod recorded_order;
mod records;
mod requests;
mod resume;
mod sent_order;
mod tree;

use super::read_log::ReadLog;
use super::{
    Format, Input, ParseError, Parsed, Probe, RecordIds, RecordedData, SubAgentFiles, json, jsonl,
};
use crate::json::BorrowedValue;
use crate::progress::Progress;
use crate::session::{ModelVendor, Span};
pub use agents::AgentCalls;
use jsonl::Record;
pub(super) use records::is_of_program;

pub(super) const FORMAT: Format = Format {
    name: "claude_code",
    label: "Claude Code session",
    detect,
    reads_in_pieces: true,
    parse,
    write_own: Some(export::export),
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SubAgents,
    ],
    vendor: Some(ModelVendor::Anthropic),
    has_anthropic_blocks: true,
    sub_agent_files: Some(SubAgentFiles::SessionFolder),
    extension: Some("jsonl"),
    kept: Some(export::embedded::kept),
    record_ids: Some(RECORD_IDS),
    resume: Some(resume::RESUME),
    ..Format::READ_ONLY
};

/// Subtype of the record at the end of a managed conversation. Calls recorded before it report contexts that the file
/// no longer holds, so their usage is ignored. Later records of the program count normally.
const MARK: &str = "plimsoll_managed";

/// Known record types. A few unknown types do not prevent detection.
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
    "atis-latch",
    "tools-used",
    "cost-state",
    "api-request",
    "api-request-blob",
    "api-request-resumed",
    "api-request-shape",
];

/// Ids that the program requires to be unique.
const RECORD_IDS: RecordIds = RecordIds { list: "", path: &["uuid"], parts: None };

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    let known = |r: &&Record| json::str_at(&r.value, &["type"]).is_some_and(|t| TYPES.contains(&t));
    let n_known = records.iter().filter(known).count();
    let has_message = records.iter().any(|r| {
        matches!(json::str_at(&r.value, &["type"]), Some("user" | "assistant"))
            && r.value.get("message").is_some_and(crate::json::Value::is_object)
            && ["uuid", "sessionId"].iter().all(|key| json::str_at(&r.value, &[key]).is_some())
    });
    // Up to a quarter of the records may be damaged or of new types.
    (has_message && n_known * 4 >= records.len() * 3).then(|| {
        "JSON Lines whose `user` and `assistant` records have a `message`, a `uuid` and a `sessionId`".to_owned()
    })
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let quick = |text: &[u8], span: &Span, line| {
        let value = BorrowedValue::parse(std::str::from_utf8(text).ok()?)?;
        Some(records::read(text, &value, span, line))
    };
    let odd = |text: &[u8], record: Record| {
        let repaired = record.value.to_string();
        let value = BorrowedValue::parse(&repaired).unwrap_or(BorrowedValue::Null);
        records::read(text, &value, &record.span, record.line)
    };
    let entries = jsonl::map_texts(&input.bytes, progress, 1, &mut log.warnings, quick, odd)?;
    reader::read(input, entries, progress, log)
}
