//! Transcripts of Cursor's agent (`agent-transcripts/ID.jsonl`): a message per line, with the role outside of it.
//!
//! Results of tools, usage, times and models are not recorded.

use super::content::any_message;
use super::jsonl::map_records;
use super::notes::unknown_role;
use super::read_log::ReadLog;
use super::rows::Row;
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Body, CallDraft, Role};

pub(super) const FORMAT: Format = Format {
    name: "cursor_transcript",
    label: "Cursor agent transcript",
    detect,
    parse,
    ..Format::READ_ONLY
};

/// Kind of records without a message.
const OTHER: &str = "other";

fn detect(probe: &Probe) -> Option<String> {
    let records = probe.records();
    // Other programs name the kind of the record, or have the role in the message, too.
    let is_line = |v: &Value| {
        matches!(json::str_at(v, &["role"]), Some("user" | "assistant"))
            && v.get("type").is_none()
            && v.get("content").is_none()
            && json::at(v, &["message", "content"]).is_some_and(Value::is_array)
            && json::at(v, &["message", "role"]).is_none()
    };
    let n = records.iter().filter(|r| is_line(&r.value)).count();
    (n > 0 && n * 4 >= records.len() * 3)
        .then(|| "JSON Lines with a `role` and the `content` of a `message`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let rows = map_records(&input.bytes, progress, 1, &mut log.warnings, Row::from)?;
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    for row in rows {
        progress.check_cancelled()?;
        let role = json::str_at(&row.value, &["role"]).unwrap_or(OTHER);
        let draft = any_message::read(&row.value, &row.span);
        log.report.count_record(role, draft.is_some());
        let Some(draft) = draft else {
            if role != OTHER && !["user", "assistant"].contains(&role) {
                log.notes.add(row.span.start, unknown_role(role));
            }
            continue;
        };
        if draft.role != Role::Assistant {
            transcript.add_message(draft);
            continue;
        }
        if draft.parts.iter().any(|part| matches!(part.body, Body::ToolCall { .. })) {
            log.notes.once(row.span.start, "the program does not record the results of tools");
        }
        transcript.add_answer(CallDraft::default(), draft);
    }
    let session = transcript.finish();
    log.finish(input, session.into_iter().collect(), "a Cursor transcript without a message")
}
