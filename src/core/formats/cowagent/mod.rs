//! `CowAgent` sessions, built from its database: the session's data and its `messages` with their `seq`.
//!
//! - Contents are texts or Anthropic's blocks. Tool results are in user messages.
//! - Messages before `context_start_seq` were cleared manually. They are kept but not sent to the model.
//! - System prompt, tools and usage are not recorded. Thoughts are only recorded if that option is enabled.

mod store;

use super::notes::{Notes, unknown_role};
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Role};

pub(super) const FORMAT: Format = Format {
    name: "cowagent",
    label: "CowAgent session",
    detect,
    parse,
    recorded: &[RecordedData::Times, RecordedData::Compactions],
    database: Some(&store::DATABASE),
    ..Format::READ_ONLY
};

/// Prefixes of messages that the program's scheduler added.
const INJECTED: [&str; 2] = ["[SCHEDULED]", "Scheduled task"];

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let list = document.get("messages")?.as_array()?;
    let is_message = |m: &Value| {
        m.get("seq").is_some_and(Value::is_number)
            && m.get("role").is_some_and(Value::is_string)
            && m.get("content").is_some()
    };
    let is_match = document.get("session_id").is_some() && document.get("last_active").is_some();
    (is_match && list.iter().any(is_message))
        .then(|| "a `session_id` with `last_active`, and messages with a `seq`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let head = rows::members_except(bytes, &whole, &["messages"]);
    let messages = rows::rows_at(bytes, &whole, &["messages"], progress, &mut log.notes)?;
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    transcript.title(json::str_at(&head, &["title"]).unwrap_or_default());
    let start = json::u64_at(&head, &["context_start_seq"]).filter(|start| *start > 0);
    let mut cleared = start;
    for row in messages {
        progress.check_cancelled()?;
        let seq = json::u64_at(&row.value, &["seq"]);
        if let Some(at) = cleared
            && seq.is_some_and(|seq| seq >= at)
        {
            clear(&mut transcript);
            cleared = None;
        }
        let (kind, is_context) = message(&row, &mut transcript, &mut log.notes);
        log.report.count_record(kind, is_context && start.is_none_or(|start| seq >= Some(start)));
    }
    if cleared.is_some() {
        clear(&mut transcript);
    }
    let session = transcript.finish();
    log.finish(input, session.into_iter().collect(), "a CowAgent session without a message")
}

/// Adds a compaction that removes all messages so far.
fn clear(transcript: &mut Transcript) {
    if transcript.len() > 0 {
        transcript.builder.compaction("manual", None, None, Vec::new());
    }
}

fn message(row: &Row, transcript: &mut Transcript, notes: &mut Notes) -> (&'static str, bool) {
    let content = row.value.get("content").unwrap_or(&Value::Null);
    let parts = content::parts(content);
    let time = json::millis_at(&row.value, &["created_at"]);
    let role = match json::str_at(&row.value, &["role"]) {
        Some("assistant") => Role::Assistant,
        Some("user") if parts.iter().all(content::is_of_result) => Role::Tool,
        Some("user") => Role::User,
        other => {
            notes.add(row.span.start, unknown_role(other.unwrap_or_default()));
            return ("other", false);
        }
    };
    if parts.is_empty() {
        return (role.name(), false);
    }
    let first = parts.first().map_or("", |part| part.body.text());
    let draft = Draft {
        time,
        is_injected: role == Role::User && INJECTED.iter().any(|mark| first.starts_with(mark)),
        raw: vec![row.span.clone()],
        ..Draft::new(role, parts)
    };
    if role == Role::Assistant {
        let call = CallDraft { time, ..CallDraft::default() };
        transcript.add_answer(call, draft);
    } else {
        transcript.add_message(draft);
    }
    (role.name(), true)
}
