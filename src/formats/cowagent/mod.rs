//! `CowAgent`'s sessions, put together of its database: what it says of a session, and its `messages` with their `seq`.
//!
//! - Contents are texts or Anthropic's blocks; results of tools stand in messages of the user.
//! - What stands before `context_start_seq` was cleared by hand: it is kept, but not sent any more.
//! - Neither instructions nor tools nor what single calls took are stored; thoughts only where that is switched on.

mod store;

pub(super) use store::DATABASE;

use super::notes::Notes;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{RecordedData, Format, ImportReport, Input, Parsed, Probe, Refused, ParseError, content, json};
use crate::progress::Progress;
use crate::session::{Body, Draft, Part, Role, StepDraft};
use serde_json::Value;

/// The row of the table.
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

/// How messages begin that the program's own clock put in.
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
        progress.go_on()?;
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

/// Nothing of what was said so far is sent any more.
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
        Some("user") if parts.iter().all(answers) => Role::Tool,
        Some("user") => Role::User,
        other => {
            let other = json::quoted(other.unwrap_or_default());
            let text =
                format!("a message of the unknown role `{other}` is kept, but not sent to the model");
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

/// A part of what a tool answered.
fn answers(part: &Part) -> bool {
    matches!(
        part.body,
        Body::ToolResult { .. }
            | Body::Media {
                within: Some(_),
                ..
            }
    )
}
