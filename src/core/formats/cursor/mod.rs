//! Cursor conversations, built from its database: the conversation's data and its messages (bubbles) in the listed
//! order.
//!
//! - An answer is written in pieces: thoughts, texts and tool calls with their results. Pieces up to a result belong to
//!   one call. The file does not record whether calls were made in parallel.
//! - Arguments and results are JSON strings and are kept unchanged.
//! - A compaction leaves only a mark, without the remaining context. Few messages record token counts.

mod bubble;
mod store;

use super::notes::Notes;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Role};
use crate::units::Tokens;

pub(super) const FORMAT: Format = Format {
    name: "cursor",
    label: "Cursor conversation",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times],
    database: Some(&store::DATABASE),
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    json::str_at(document, &["composerId"])?;
    let list = document.get("conversation")?.as_array()?;
    list.iter()
        .any(|bubble| bubble::role(bubble).is_some())
        .then(|| "a `composerId` and a `conversation` of bubbles".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let head = rows::members_except(bytes, &whole, &["conversation"]);
    let bubbles = rows::rows_at(bytes, &whole, &["conversation"], progress, &mut log.notes)?;
    let mut reader = CursorReader::new(input, &head);
    for row in bubbles {
        progress.check_cancelled()?;
        let (kind, in_context) = reader.row(&row, &mut log.notes);
        log.report.count_record(kind, in_context);
    }
    let session = reader.transcript.finish();
    log.finish(input, session.into_iter().collect(), "a Cursor conversation without a message")
}

struct CursorReader {
    transcript: Transcript,
    window: Option<Tokens>,
    /// Indices of the current answer and its call.
    answer: Option<(usize, usize)>,
}

impl CursorReader {
    fn new(input: &Input, head: &Value) -> Self {
        let mut transcript = Transcript::new(input, FORMAT.name, None);
        let title = json::str_at(head, &["name"])
            .or_else(|| json::str_at(head, &["latestConversationSummary", "title"]));
        transcript.title(title.unwrap_or_default());
        if let Some(model) = json::str_at(head, &["modelConfig", "modelName"]) {
            transcript.builder.usual_model(model);
        }
        let folder = ["fsPath", "path"]
            .iter()
            .find_map(|key| json::str_at(head, &["workspaceIdentifier", "uri", key]));
        if let Some(folder) = folder {
            transcript.builder.project(folder);
        }
        let window = json::u64_at(head, &["contextTokenLimit"]).filter(|limit| *limit > 0);
        Self { transcript, window: window.map(Tokens), answer: None }
    }

    fn row(&mut self, row: &Row, notes: &mut Notes) -> (&'static str, bool) {
        let at = row.span.start;
        if let Some(id) = row.value.as_str() {
            let id = json::shortened(id);
            notes.add(at, format!("message `{id}` is listed but missing"));
            return ("missing", false);
        }
        if bubble::is_compaction(&row.value) {
            notes.add(
                at,
                "Cursor compacted the context here; the remaining context is not recorded",
            );
            return ("compaction", false);
        }
        if bubble::has_images(&row.value) {
            notes.once(
                at,
                "images in messages are left out: their location in Cursor's data is unknown",
            );
        }
        match bubble::role(&row.value) {
            Some(Role::User) => ("user", self.user(row)),
            Some(_) => ("assistant", self.assistant(row, notes)),
            None => {
                notes.add(at, "a message of an unknown type is kept, but not sent to the model");
                ("other", false)
            }
        }
    }

    fn user(&mut self, row: &Row) -> bool {
        let parts = bubble::parts(&row.value);
        if parts.is_empty() {
            return false;
        }
        self.answer = None;
        self.transcript.add_message(draft(row, Role::User, parts));
        true
    }

    fn assistant(&mut self, row: &Row, notes: &mut Notes) -> bool {
        let parts = bubble::parts(&row.value);
        if parts.is_empty() {
            return false;
        }
        let usage = notes.usage(row.span.start, bubble::usage(&row.value));
        let current = self.answer.filter(|(message, _)| self.transcript.is_last(*message));
        if let Some((message, call)) = current {
            self.transcript.extend(message, row.span.clone(), parts);
            if let Some(call) = self.transcript.builder.call_mut(call) {
                call.usage = call.usage.or(usage);
            }
        } else {
            let call = CallDraft {
                window: self.window,
                usage,
                time: bubble::time(&row.value),
                ..CallDraft::default()
            };
            let message = self.transcript.add_answer(call, draft(row, Role::Assistant, parts));
            let call = self.transcript.builder.session().calls.len() - 1;
            self.answer = Some((message, call));
        }
        if let Some(result) = bubble::result(&row.value) {
            self.answer = None;
            self.transcript.add_message(draft(row, Role::Tool, vec![result]));
        }
        true
    }
}

fn draft(row: &Row, role: Role, parts: Vec<crate::session::Part>) -> Draft {
    Draft {
        id: json::str_at(&row.value, &["bubbleId"]).map(Into::into),
        time: bubble::time(&row.value),
        raw: vec![row.span.clone()],
        ..Draft::new(role, parts)
    }
}
