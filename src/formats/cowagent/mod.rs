//! `CowAgent` sessions, built from its database: the session's data and its `messages` with their `seq`.
//!
//! - Contents are texts or Anthropic's blocks. Tool results are in user messages.
//! - Messages before `context_start_seq` were cleared manually. They are kept but not sent to the model.
//! - System prompt, tools and usage are not recorded. Thoughts are only recorded if that option is enabled.

mod store;

pub(super) use store::DATABASE;

use super::notes::Notes;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{
    Format, ImportReport, Input, ParseError, Parsed, Probe, RecordedData, Refused, content, json,
};
use crate::progress::Progress;
use crate::session::{Body, Draft, Part, Role, StepDraft};
use serde_json::Value;

/// Descriptor of this format.
pub(super) const FORMAT: Format = Format {
    name: "cowagent",
    label: "CowAgent session",
    detect,
    in_pieces: false,
    parse,
    export: None,
    recorded: &[RecordedData::Times, RecordedData::Compactions],
    kept: None,
    resume: None,
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
    let is_its = document.get("session_id").is_some() && document.get("last_active").is_some();
    (is_its && list.iter().any(is_message))
        .then(|| "a `session_id` with `last_active`, and messages with a `seq`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let (mut notes, mut report) = (Notes::default(), ImportReport::default());
    let head = rows::around(bytes, &whole, &["messages"]);
    let messages = rows::listed(bytes, &whole, &["messages"], progress, &mut notes)?;
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
        let (kind, is_context) = message(&row, &mut transcript, &mut notes);
        report.note(
            kind,
            is_context && start.is_none_or(|start| seq >= Some(start)),
        );
    }
    if cleared.is_some() {
        clear(&mut transcript);
    }
    let session = transcript.finish().ok_or_else(|| Refused {
        looks_like: "this looks like a CowAgent session without a message".to_owned(),
    })?;
    Ok(Parsed {
        sessions: vec![session],
        warnings: notes.warnings(&input.bytes),
        report,
    })
}

/// Adds a compaction that removes all messages so far.
fn clear(transcript: &mut Transcript) {
    if transcript.len() > 0 {
        transcript
            .builder
            .compaction("manual", None, None, Vec::new());
    }
}

fn message(row: &Row, transcript: &mut Transcript, notes: &mut Notes) -> (&'static str, bool) {
    let content = row.value.get("content").unwrap_or(&Value::Null);
    let parts = content::parts(content);
    let time = json::millis_at(&row.value, &["created_at"]);
    let role = match json::str_at(&row.value, &["role"]) {
        Some("assistant") => Role::Assistant,
        Some("user") if parts.iter().all(is_result) => Role::Tool,
        Some("user") => Role::User,
        other => {
            let other = json::quoted(other.unwrap_or_default());
            let text = format!(
                "a message with the unknown role `{other}` is kept, but not sent to the model"
            );
            notes.add(row.span.start, text);
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
        let step = StepDraft {
            time,
            ..StepDraft::default()
        };
        transcript.add_answer(step, draft);
    } else {
        transcript.add_message(draft);
    }
    (role.name(), true)
}

/// Whether a part belongs to a tool result.
fn is_result(part: &Part) -> bool {
    matches!(
        part.body,
        Body::ToolResult { .. }
            | Body::Media {
                within: Some(_),
                ..
            }
    )
}
