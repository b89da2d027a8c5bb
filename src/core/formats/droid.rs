//! Sessions of Factory's Droid (`~/.factory/sessions/**/ID.jsonl`): records with messages in Anthropic's notation.
//!
//! - A message with `visibility: "user_only"` is not sent.
//! - A compaction replaces the messages up to its `anchorMessage` by a summary.
//! - Usage and the model are in another file, as totals of the session.

use super::content::{any_message, text_part};
use super::jsonl::map_records;
use super::read_log::ReadLog;
use super::rows::Row;
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Body, CallDraft, Draft, Role};

pub(super) const FORMAT: Format = Format {
    name: "droid",
    label: "Droid session",
    detect,
    parse,
    recorded: &[RecordedData::Times, RecordedData::Compactions],
    ..Format::READ_ONLY
};

/// Kinds of records that add nothing to the context.
const NOT_CONTEXT: [&str; 4] = ["todo_state", "session_end", "agent_turn_outcome", "session_start"];
/// Titles of sessions that the program did not name.
const UNTITLED: [&str; 2] = ["New Session", ""];
/// Beginning of a text that the program wrote.
const REMINDER: &str = "<system-reminder>";

fn detect(probe: &Probe) -> Option<String> {
    let mut records = probe.records().iter().map(|r| &r.value);
    let is_start = |v: &Value| {
        json::str_at(v, &["type"]) == Some("session_start")
            && (v.get("id").is_some() || v.get("session").is_some())
    };
    let is_message = |v: &Value| {
        json::str_at(v, &["type"]) == Some("message") && json::at(v, &["message", "role"]).is_some()
    };
    let has_start = records.clone().any(is_start);
    (has_start && records.any(is_message))
        .then(|| "JSON Lines with a `session_start` and records of type `message`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let rows = map_records(&input.bytes, progress, 1, &mut log.warnings, Row::from)?;
    let mut reader = DroidReader {
        transcript: Transcript::new(input, FORMAT.name, None),
        log,
        context: Vec::new(),
    };
    for row in rows {
        progress.check_cancelled()?;
        reader.record(&row);
    }
    let session = reader.transcript.finish();
    reader.log.finish(input, session.into_iter().collect(), "a Droid session without a message")
}

struct DroidReader {
    transcript: Transcript,
    log: ReadLog,
    /// Indices of the messages in the context.
    context: Vec<usize>,
}

impl DroidReader {
    fn record(&mut self, row: &Row) {
        let value = &row.value;
        let kind = json::str_at(value, &["type"]).unwrap_or("other");
        match kind {
            "message" => self.message(row),
            "compaction_state" => self.compaction(row),
            _ => {
                self.log.report.count_record(kind, false);
                if kind == "session_start" {
                    self.start(value);
                } else if !NOT_CONTEXT.contains(&kind) {
                    let kind = json::shortened(kind);
                    let text = format!("unknown record type `{kind}`: not counted");
                    self.log.notes.once(row.span.start, text);
                }
            }
        }
    }

    fn start(&mut self, value: &Value) {
        let titles = ["sessionTitle", "title"].iter().filter_map(|key| json::str_at(value, &[key]));
        let title = titles.into_iter().find(|title| !UNTITLED.contains(title));
        self.transcript.title(title.unwrap_or_default());
        if let Some(folder) = json::str_at(value, &["cwd"]) {
            self.transcript.builder.project(folder);
        }
    }

    fn message(&mut self, row: &Row) {
        let value = &row.value;
        let visibility = json::str_at(value, &["message", "visibility"]);
        if visibility.or_else(|| json::str_at(value, &["visibility"])) == Some("user_only") {
            self.log.report.count_record("message (shown to the user only)", false);
            return;
        }
        let draft = any_message::read(value, &row.span);
        self.log.report.count_record("message", draft.is_some());
        let Some(draft) = draft else {
            return;
        };
        let draft = Draft {
            id: json::str_at(value, &["id"]).map(Into::into).or(draft.id.clone()),
            time: json::millis_at(value, &["timestamp"]),
            is_injected: draft.role == Role::User && is_reminder(&draft),
            ..draft
        };
        let model = json::str_at(value, &["message", "model"]).map(str::to_owned);
        let message = if draft.role == Role::Assistant {
            let call = CallDraft { model, time: draft.time, ..CallDraft::default() };
            self.transcript.add_answer(call, draft)
        } else {
            self.transcript.add_message(draft)
        };
        self.context.push(message);
    }

    fn compaction(&mut self, row: &Row) {
        let value = &row.value;
        let text = json::str_at(value, &["summaryText"]).unwrap_or_default();
        self.log.report.count_record("compaction_state", !text.is_empty());
        let anchor = json::str_at(value, &["anchorMessage", "id"]);
        let messages = &self.transcript.builder.session().messages;
        let is_anchor = |idx: &usize| anchor.is_some() && messages[*idx].id.as_deref() == anchor;
        let found = self.context.iter().position(is_anchor).map(|at| at + 1);
        let removed = || json::u64_at(value, &["removedCount"]);
        let n_removed = found.or_else(|| usize::try_from(removed()?).ok()).unwrap_or_else(|| {
            let text =
                "a compaction does not record which messages it kept; none are assumed to be kept";
            self.log.notes.once(row.span.start, text);
            usize::MAX
        });
        let later: Vec<usize> = self.context.iter().skip(n_removed).copied().collect();
        let parts = text_part(0, text).into_iter().collect::<Vec<_>>();
        let mut kept = Vec::new();
        if parts.is_empty() {
            let text = "the summary of a compaction is not recorded; the context after it lacks the summary";
            self.log.notes.once(row.span.start, text);
        } else {
            kept.push(self.transcript.add_message(Draft {
                time: json::millis_at(value, &["timestamp"]),
                is_summary: true,
                in_history: false,
                raw: vec![row.span.clone()],
                ..Draft::new(Role::User, parts)
            }));
        }
        kept.extend(later);
        self.transcript.builder.compaction("", None, None, kept.clone());
        self.context = kept;
    }
}

/// Returns whether the program wrote all texts of a message.
fn is_reminder(draft: &Draft) -> bool {
    draft.parts.iter().all(|part| match &part.body {
        Body::Text(text) => text.trim_start().starts_with(REMINDER),
        _ => false,
    })
}
