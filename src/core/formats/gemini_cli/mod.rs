//! Gemini CLI session files: a JSON document, or JSON Lines in newer versions.
//!
//! - A record is a user message, or an answer with its calls and their results. Notices, errors and summaries of
//!   thoughts are for display only and not resent to the model.
//! - In JSON Lines, a record replaces an earlier one with the same id. `$rewindTo` rewinds to before a record. `$set`
//!   with `messages` is the whole history: written at the start, when a session resumes, after a compaction and after
//!   results were masked. It is a compaction only if it lacks content. Rewound messages form separate conversations.
//! - Later versions write results into the history as separate messages and also keep them in the records of their
//!   calls. Each result counts once.
//! - A sub-agent has a separate file in a folder named after its parent. The call that started it names it (`agentId`).
//! - `input` includes cached tokens.
//!
//! <https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/services/chatRecordingService.ts>

mod export;
mod handoff;
mod identity;
mod line;
mod record;
mod replay;
mod resume;

use super::mark::MARK;
use super::read_log::ReadLog;
use super::{
    Format, Input, ParseError, Parsed, Probe, RecordIds, RecordedData, SubAgentFiles, json, jsonl,
    mark, rows,
};
use crate::json::Value;
use crate::progress::Progress;
use line::GeminiLine;
use record::GeminiRecord;

pub(super) const FORMAT: Format = Format {
    name: "gemini_cli",
    label: "Gemini CLI session",
    detect,
    parse,
    write_own: Some(export::export),
    kept: Some(export::kept),
    record_ids: Some(RECORD_IDS),
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::Compactions],
    identity: Some(identity::read),
    sub_agent_files: Some(SubAgentFiles::ParentFolder),
    resume: Some(resume::RESUME),
    ..Format::READ_ONLY
};

/// Ids that the program requires to be unique.
const RECORD_IDS: RecordIds = RecordIds { list: "messages", path: &["id"], parts: None };

fn detect(probe: &Probe) -> Option<String> {
    if let Some(list) = probe.document().and_then(document) {
        let n = list.iter().filter(|m| is_message(m)).count();
        return (n * 2 > list.len()).then(|| {
            "a document with `sessionId` and `messages` of the types user and gemini".to_owned()
        });
    }
    let mut records = probe.records().iter().map(|r| &r.value);
    let is_head = |v: &Value| {
        json::str_at(v, &["sessionId"]).is_some() && json::str_at(v, &["projectHash"]).is_some()
    };
    let has_head = records.clone().any(is_head);
    let has_message = records.any(|v| is_message(v) || line::history(v).is_some());
    (has_head && has_message)
        .then(|| "JSON Lines with `sessionId` and `projectHash`, then messages".to_owned())
}

/// Returns the messages of a session document.
fn document(value: &Value) -> Option<&Vec<Value>> {
    json::str_at(value, &["sessionId"])?;
    let is_match = value.get("projectHash").is_some() || value.get("startTime").is_some();
    value.get("messages")?.as_array().filter(|_| is_match)
}

fn is_message(value: &Value) -> bool {
    let kind = json::str_at(value, &["type"]);
    kind.is_some_and(|kind| record::KINDS.contains(&kind)) && value.get("content").is_some()
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut parsed = read(input, progress)?;
    if let Some(main) = parsed.sessions.first() {
        parsed.report.sub_agents = identity::started(main);
    }
    Ok(parsed)
}

fn read(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut log = ReadLog::default();
    let whole = json::document_span(bytes);
    if json::member(bytes, &whole, "messages").is_some()
        && json::is_one_value(&bytes[whole.clone()])
    {
        let head = rows::members_except(bytes, &whole, &["messages"]);
        let rows = rows::rows_at(bytes, &whole, &["messages"], progress, &mut log.notes)?;
        let managed = json::u64_at(&head, &[MARK, "messages"]).unwrap_or(0);
        let managed = usize::try_from(managed).unwrap_or(usize::MAX).min(rows.len());
        let messages = rows
            .into_iter()
            .map(|row| GeminiLine::Message(GeminiRecord::read(&row.value, row.span)));
        let mut lines: Vec<GeminiLine> = messages.collect();
        let calibration = head.get(MARK).and_then(mark::calibration);
        lines.insert(managed, GeminiLine::Managed(calibration));
        lines.insert(0, GeminiLine::head(&head));
        return replay::read(input, lines, progress, log);
    }
    let read = |r: jsonl::Record| line::read(bytes, r);
    let lines = jsonl::map_records(bytes, progress, 1, &mut log.warnings, read)?;
    replay::read(input, lines, progress, log)
}
