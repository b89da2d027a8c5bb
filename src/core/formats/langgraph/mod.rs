//! Threads of `LangGraph`, built from the checkpoints of its database.
//!
//! - A checkpoint holds the whole state of a thread. The conversation is the list of messages in its channel `messages`,
//!   along the ancestors of the latest checkpoint. Other channels and subgraphs are not read.
//! - If a checkpoint lacks messages of the one before it, the program removed them. A message that it added in their place
//!   is a summary.
//! - The time of a message is that of the first checkpoint with it.
//! - The system prompt and the tools are not part of the state.

mod checkpoint;
mod history;
mod msgpack;
mod store;

use super::langchain;
use super::notes::Notes;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, json};
use crate::json::{Value, json};
use crate::progress::Progress;
use crate::session::{CallDraft, CutAnswer, Draft, Role};

pub(super) const FORMAT: Format = Format {
    name: "langgraph",
    label: "LangGraph thread",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::Compactions],
    database: Some(&store::DATABASE),
    ..Format::READ_ONLY
};

const RECORDS: &str = "records";

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    document.get("thread_id")?;
    document.get("channel")?;
    let is_record =
        |record: &Value| record.get("message").is_some() || record.get("context").is_some();
    let records = document.get(RECORDS)?.as_array()?;
    (!records.is_empty() && records.iter().all(is_record))
        .then(|| "a `thread_id`, and `records` with messages".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let head = rows::members_except(bytes, &whole, &[RECORDS]);
    note_unread(&head, whole.start, &mut log.notes);
    let mut reader =
        ThreadReader { transcript: Transcript::new(input, FORMAT.name, None), numbers: Vec::new() };
    for row in rows::rows_at(bytes, &whole, &[RECORDS], progress, &mut log.notes)? {
        progress.check_cancelled()?;
        if let Some(context) = row.value.get("context").and_then(Value::as_array) {
            let numbers = context.iter().filter_map(Value::as_u64);
            let numbers = numbers.filter_map(|number| usize::try_from(number).ok());
            let kept = numbers.filter_map(|number| *reader.numbers.get(number)?);
            let kept = kept.collect();
            reader.transcript.builder.compaction("", None, None, kept);
            log.report.count_record("change of the context", false);
            continue;
        }
        let message = reader.message(&row, &mut log.notes);
        log.report.count_record("message", message.is_some());
        reader.numbers.push(message);
    }
    let session = reader.transcript.finish();
    log.finish(input, session.into_iter().collect(), "a LangGraph thread without a message")
}

fn note_unread(head: &Value, at: usize, notes: &mut Notes) {
    let others = head.get("other_channels").and_then(Value::as_array).into_iter().flatten();
    for channel in others.filter_map(Value::as_str) {
        let channel = json::shortened(channel);
        notes.add(at, format!("the messages of the channel `{channel}` are not read"));
    }
    if json::u64_at(head, &["checkpoints_of_subgraphs"]).is_some_and(|n| n > 0) {
        notes.add(at, "checkpoints of subgraphs are not read");
    }
    if json::is_true(head, &["has_summary"]) {
        let text = "the state has a `summary` outside of the messages; whether the program sends it is not recorded";
        notes.add(at, text);
    }
    if json::is_true(head, &["incomplete"]) {
        notes.add(
            at,
            "the thread is too long to be read whole: the last changes of its context are left out",
        );
    }
    if let Some(encoding) = json::str_at(head, &["unread"]).filter(|name| !name.is_empty()) {
        let encoding = json::shortened(encoding);
        notes.add(at, format!("checkpoints in the encoding `{encoding}` are not read"));
    }
}

struct ThreadReader {
    transcript: Transcript,
    /// Index of each message of the records.
    numbers: Vec<Option<usize>>,
}

impl ThreadReader {
    /// Adds a message and returns its index.
    fn message(&mut self, row: &Row, notes: &mut Notes) -> Option<usize> {
        let value = row.value.get("message").unwrap_or(&Value::Null);
        let plain = plain_message(value);
        let value = plain.as_ref().unwrap_or(value);
        let Some(draft) = content::any_message::read(value, &row.span) else {
            notes.add(row.span.start, "a message without content for the model is left out");
            return None;
        };
        let is_inserted = json::is_true(&row.value, &["is_inserted"]);
        let draft = Draft {
            time: json::millis_at(&row.value, &["time"]),
            in_history: !is_inserted,
            is_summary: is_inserted && matches!(draft.role, Role::User | Role::System),
            ..draft
        };
        if is_inserted || draft.role != Role::Assistant {
            self.transcript.builder.end_answer();
            return Some(self.transcript.add_message(draft));
        }
        let inner = value.get("kwargs").unwrap_or(value);
        let model = ["model_name", "model", "model_id"]
            .iter()
            .find_map(|key| json::str_at(inner, &["response_metadata", key]));
        let reported = langchain::call(value).and_then(|call| call.usage);
        let finish = json::str_at(inner, &["response_metadata", "finish_reason"])
            .or_else(|| json::str_at(inner, &["response_metadata", "stop_reason"]));
        let call = CallDraft {
            model: model.map(str::to_owned),
            usage: notes.usage(row.span.start, reported),
            time: draft.time,
            cut: matches!(finish, Some("length" | "max_tokens")).then(CutAnswer::default),
            ..CallDraft::default()
        };
        Some(self.transcript.add_answer(call, draft))
    }
}

/// Returns a message that the program wrote in short: a text, or a role and a text.
fn plain_message(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Some(json!({"role": "user", "content": text})),
        Value::Array(pair) => match &pair[..] {
            [Value::String(role), content] => Some(json!({"role": role, "content": content})),
            _ => None,
        },
        _ => None,
    }
}
