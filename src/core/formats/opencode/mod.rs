//! `OpenCode` sessions: the file that `opencode export` writes, or a session assembled from the files of the storage
//! folder or from the database.
//!
//! - A message has an `info` and `parts`. An answer may contain several model calls, each from a `step-start` to a
//!   `step-finish`, with its tool calls and their results.
//! - A `compaction` part in a user message requests a summary. The answer marked `summary` is that summary. The context
//!   restarts there, with the messages from `tail_start_id` on if the part names them.
//! - A pruned tool output (`time.compacted`) stays in the file, but the program sends a notice instead. The output
//!   counts up to the time of pruning.
//! - A sub-agent's session names its parent (`parentID`). The `task` call that started it names the session of the
//!   sub-agent (`state.metadata.sessionId`).
//! - `input` excludes tokens read from and written to the cache.
//!   <https://github.com/anomalyco/opencode/blob/dev/packages/opencode/src/session/message-v2.ts>

mod export;
mod handoff;
mod identity;
mod message;
mod reader;
mod resume;
mod storage_folder;
mod store;

use super::{
    Format, Input, ParseError, Parsed, Probe, RecordIds, RecordedData, SubAgentFiles, json, rows,
};
use crate::formats::read_log::ReadLog;
use crate::json::Value;
use crate::progress::Progress;
pub(super) use message::{ModelCall, calls_of_parts};

pub(super) const FORMAT: Format = Format {
    name: "opencode",
    label: "OpenCode session",
    detect,
    combine_files: Some(storage_folder::combined),
    parse,
    write_own: Some(|session, managed| Ok(export::export(session, managed))),
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::Compactions],
    kept: Some(export::kept),
    record_ids: Some(RECORD_IDS),
    database: Some(&store::DATABASE),
    identity: Some(identity::read),
    sub_agent_files: Some(SubAgentFiles::ProjectFolder),
    resume: Some(resume::RESUME),
    ..Format::READ_ONLY
};

/// Ids that the program requires to be unique.
const RECORD_IDS: RecordIds =
    RecordIds { list: "messages", path: &["info", "id"], parts: Some("parts") };

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let is_message = |m: &Value| {
        m.get("parts").is_some_and(Value::is_array)
            && matches!(json::str_at(m, &["info", "role"]), Some("user" | "assistant"))
    };
    let listed = document.get("messages").unwrap_or(document).as_array()?;
    let id = json::str_at(document, &["info", "id"]).unwrap_or_default();
    // A damaged record does not change the format.
    let is_opencode =
        listed.iter().any(is_message) && (id.starts_with("ses_") || listed.iter().all(is_message));
    is_opencode.then(|| {
        if id.starts_with("ses_") {
            "an `info` with a session id, and messages with `parts`".to_owned()
        } else {
            "messages with an `info` and `parts`".to_owned()
        }
    })
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let path: &[&str] = if json::elements(bytes, &whole).is_some() { &[] } else { &["messages"] };
    let messages = rows::rows_at(bytes, &whole, path, progress, &mut log.notes)?;
    let head = rows::members_except(bytes, &whole, &["messages"]);
    reader::read(input, &head, messages, progress, log)
}
