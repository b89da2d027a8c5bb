//! Goose sessions. Before its database, Goose wrote JSON Lines with a head and one message per line. Its export is a
//! document with a `conversation`, which is also built from its database.
//!
//! - A call's arguments and a tool's output are wrapped in a result object, which may be an error.
//! - Messages with `agentVisible: false` are only displayed to the user: summarized messages and notices.
//! - Old files record an answer in pieces, as it was streamed. Consecutive answers belong together.

mod export;
mod store;

use super::content::part;
use super::mark::MARK;
use super::notes::{Notes, unknown_role};
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json, jsonl};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Body, CallDraft, Draft, Part, Role, Usage};
use crate::units::Tokens;

pub(super) const FORMAT: Format = Format {
    name: "goose",
    label: "Goose session",
    detect,
    parse,
    write_own: Some(export::export),
    recorded: &[RecordedData::Times, RecordedData::Compactions],
    kept: Some(export::kept),
    database: Some(&store::DATABASE),
    ..Format::READ_ONLY
};

/// Key in the mark on a message of a managed conversation: it begins a new answer instead of continuing the previous
/// one.
const BEGINS: &str = "begins";

/// Blocks that only Goose writes.
const OWN: [&str; 6] = [
    "toolRequest",
    "toolResponse",
    "toolConfirmationRequest",
    "frontendToolRequest",
    "redactedThinking",
    "contextLengthExceeded",
];

fn detect(probe: &Probe) -> Option<String> {
    let is_message = |m: &Value| {
        matches!(json::str_at(m, &["role"]), Some("user" | "assistant"))
            && m.get("content").is_some_and(Value::is_array)
            && (m.get("created").is_some_and(Value::is_number) || has_own(m))
    };
    let document = probe.document();
    if let Some(list) = document.and_then(|d| d.get("conversation")?.as_array()) {
        // A damaged record does not change the format.
        let has_folder = document.is_some_and(|d| d.get("working_dir").is_some());
        let is_match = list.iter().any(is_message) && (has_folder || list.iter().all(is_message));
        return is_match.then(|| "a document whose `conversation` holds Goose messages".to_owned());
    }
    let (head, rest) = probe.records().split_first()?;
    let is_head = |v: &Value| v.get("role").is_none() && v.get("working_dir").is_some();
    let messages = if is_head(&head.value) { rest } else { probe.records() };
    let n = messages.iter().filter(|r| is_message(&r.value)).count();
    let is_match = is_head(&head.value) || messages.iter().any(|r| has_own(&r.value));
    (is_match && n > 0 && n * 5 >= messages.len() * 4)
        .then(|| "JSON Lines with a `working_dir`, then Goose messages".to_owned())
}

fn has_own(message: &Value) -> bool {
    let blocks = message.get("content").and_then(Value::as_array);
    let mut kinds = blocks.into_iter().flatten().filter_map(|b| json::str_at(b, &["type"]));
    kinds.any(|kind| OWN.contains(&kind))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let mut log = ReadLog::default();
    let whole = json::document_span(bytes);
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    let rows = if json::member(bytes, &whole, "conversation").is_some() {
        let around = rows::members_except(bytes, &whole, &["conversation"]);
        name(&around, &mut transcript);
        rows::rows_at(bytes, &whole, &["conversation"], progress, &mut log.notes)?
    } else {
        jsonl::map_records(bytes, progress, 1, &mut log.warnings, Row::from)?
    };
    // Messages that only the model sees were written by a compaction. Messages hidden from it were in the context
    // before.
    let last = rows.iter().rposition(|row| !is_visible(&row.value, "userVisible"));
    let mut reader = GooseReader { transcript, answer: None, written: Vec::new() };
    for (at, row) in rows.iter().enumerate() {
        progress.check_cancelled()?;
        let was_context = last.is_some_and(|last| at < last);
        let (kind, in_context) = reader.row(row, was_context, &mut log.notes);
        log.report.count_record(kind, in_context);
    }
    reader.compact();
    let session = reader.transcript.finish();
    log.finish(input, session.into_iter().collect(), "a Goose session without a message")
}

fn name(head: &Value, transcript: &mut Transcript) {
    let name = content::first(head, &["name", "description"]).and_then(Value::as_str);
    transcript.title(name.unwrap_or_default());
    if let Some(model) = json::str_at(head, &["model_config", "model_name"]) {
        transcript.builder.usual_model(model);
    }
    if let Ok(Some(total)) = counts::checked_usage(total(head)) {
        let model = json::str_at(head, &["model_config", "model_name"]);
        transcript.builder.total(model.unwrap_or_default(), &total);
    }
    let folder = json::str_at(head, &["working_dir"]).unwrap_or_default();
    if !folder.is_empty() {
        transcript.builder.project(folder);
    }
}

/// Returns the usage of all calls, which Goose totals. It does not count the cache.
fn total(head: &Value) -> Option<Usage> {
    let input = counts::tokens_at(head, &["accumulated_input_tokens"])?;
    (input > Tokens::ZERO).then(|| Usage {
        input,
        output: counts::tokens_at(head, &["accumulated_output_tokens"]),
        ..Usage::default()
    })
}

/// Returns whether a message is visible to the user or the model (default: true).
fn is_visible(message: &Value, to: &str) -> bool {
    json::at(message, &["metadata", to]).and_then(Value::as_bool) != Some(false)
}

struct GooseReader {
    transcript: Transcript,
    /// Index of the current answer.
    answer: Option<usize>,
    /// Indices of the messages that the current compaction wrote.
    written: Vec<usize>,
}

impl GooseReader {
    fn row(&mut self, row: &Row, was_context: bool, notes: &mut Notes) -> (&'static str, bool) {
        let value = &row.value;
        let role = match json::str_at(value, &["role"]) {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            None => {
                name(value, &mut self.transcript);
                return ("session data", false);
            }
            Some(other) => {
                notes.add(row.span.start, unknown_role(other));
                return ("other", false);
            }
        };
        let parts = parts(value);
        let draft = Draft {
            id: json::str_at(value, &["id"]).map(Into::into),
            time: json::millis_at(value, &["created"]),
            raw: vec![row.span.clone()],
            ..Draft::new(role, parts)
        };
        let (for_user, for_model) =
            (is_visible(value, "userVisible"), is_visible(value, "agentVisible"));
        if draft.parts.is_empty() || (for_user && !for_model && !was_context) {
            return ("not for the model", false);
        }
        if !for_user {
            self.answer = None;
            self.written.push(self.transcript.add_message(Draft {
                in_history: false,
                is_summary: role == Role::User,
                ..draft
            }));
            return ("summary", true);
        }
        self.compact();
        if json::is_true(value, &[MARK, BEGINS]) {
            self.answer = None;
        }
        self.add(draft);
        (if role == Role::User { "user" } else { "assistant" }, true)
    }

    fn add(&mut self, mut draft: Draft) {
        if draft.role == Role::Assistant {
            if let Some(answer) = self.answer.filter(|answer| self.transcript.is_last(*answer)) {
                let raw = draft.raw.pop().unwrap_or_default();
                self.transcript.extend(answer, raw, draft.parts);
                return;
            }
            let call = CallDraft { time: draft.time, ..CallDraft::default() };
            self.answer = Some(self.transcript.add_answer(call, draft));
            return;
        }
        self.answer = None;
        if draft.parts.iter().all(content::is_of_result) {
            draft.role = Role::Tool;
        }
        self.transcript.add_message(draft);
    }

    /// Adds the current compaction, whose messages are the whole context.
    fn compact(&mut self) {
        if !self.written.is_empty() {
            let kept = std::mem::take(&mut self.written);
            self.transcript.builder.compaction("", None, None, kept);
        }
    }
}

fn parts(message: &Value) -> Vec<Part> {
    let blocks = message.get("content").and_then(Value::as_array);
    let of = |(idx, block): (usize, &Value)| match json::str_at(block, &["type"]) {
        Some("toolRequest" | "frontendToolRequest") => vec![part(idx, request(block))],
        Some("toolResponse") => response(idx, block),
        // A question to the user, not to the model.
        Some(
            "toolConfirmationRequest"
            | "actionRequired"
            | "systemNotification"
            | "contextLengthExceeded"
            | "summarizationRequested"
            | "conversationCompacted",
        ) => Vec::new(),
        _ => content::block(idx, block),
    };
    blocks.into_iter().flatten().enumerate().flat_map(of).collect()
}

fn request(block: &Value) -> Body {
    let call = block.pointer("/toolCall/value").or_else(|| block.get("toolCall"));
    let call = call.unwrap_or(&Value::Null);
    let name = json::str_at(call, &["name"]).unwrap_or_default();
    content::call(json::str_at(block, &["id"]), name, call.get("arguments"))
}

fn response(idx: usize, block: &Value) -> Vec<Part> {
    let id = json::str_at(block, &["id"]);
    let result = block.get("toolResult").unwrap_or(&Value::Null);
    let failed = json::str_at(result, &["status"]) == Some("error");
    let output = content::first(result, &["value", "error"]).unwrap_or(result);
    let is_error = failed || json::is_true(output, &["isError"]);
    content::result(idx, (id, None), is_error, output)
}
