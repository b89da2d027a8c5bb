//! Messages of Pydantic AI, as `ModelMessagesTypeAdapter` writes them: requests and responses with typed parts.
//!
//! - A request holds system prompts, prompts, results and feedback in the order in which they are sent.
//! - The `instructions` of the latest request are sent first and replace those of the earlier requests.
//! - The input of a response's usage includes cached tokens.
//!
//! <https://ai.pydantic.dev/message-history/>

mod parts;
mod usage;

use super::content::part;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Body, CallDraft, CutAnswer, Draft, Part, Role};

pub(super) const FORMAT: Format = Format {
    name: "pydantic_ai",
    label: "Pydantic AI messages",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::SystemPrompt],
    ..Format::READ_ONLY
};

/// Members of a document that may hold the list.
const LISTS: [&str; 3] = ["messages", "message_history", "all_messages"];

fn detect(probe: &Probe) -> Option<String> {
    let is_match = match probe.document() {
        Some(document) if document.get("kind").is_none() => {
            let list = document.as_array().or_else(|| listed(document));
            list.is_some_and(|list| list.iter().any(is_message) && list.iter().all(is_message))
        }
        _ => {
            let records = probe.records();
            !records.is_empty() && records.iter().all(|record| is_message(&record.value))
        }
    };
    is_match.then(|| "messages of kind `request` and `response`".to_owned())
}

fn listed(document: &Value) -> Option<&Vec<Value>> {
    LISTS.iter().find_map(|key| document.get(key)?.as_array())
}

fn is_message(value: &Value) -> bool {
    let parts = value.get("parts").and_then(Value::as_array);
    matches!(json::str_at(value, &["kind"]), Some("request" | "response"))
        && parts.is_some_and(|parts| parts.iter().all(|part| part.get("part_kind").is_some()))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let bytes = input.bytes.whole();
    let whole = json::document_span(&bytes);
    let is_document = json::is_one_value(&bytes[whole.clone()])
        && json::member(&bytes, &whole, "kind").is_none()
        && bytes.get(whole.start) == Some(&b'{');
    let rows: Vec<Row> = if is_document {
        let key = LISTS.iter().find(|key| json::member(&bytes, &whole, key).is_some());
        let path: Vec<&str> = key.into_iter().copied().collect();
        rows::rows_at(&bytes, &whole, &path, progress, &mut log.notes)?
    } else {
        rows::map_rows(&input.bytes, progress, &mut log, |row| row)?
    };
    let mut reader = MessageReader {
        transcript: Transcript::new(input, FORMAT.name, None),
        log,
        instructions: None,
    };
    for row in rows {
        progress.check_cancelled()?;
        reader.message(&row);
    }
    let session = reader.transcript.finish();
    let what = "Pydantic AI messages without content";
    reader.log.finish(input, session.into_iter().collect(), what)
}

struct MessageReader {
    transcript: Transcript,
    log: ReadLog,
    /// Instructions of the first request that has some.
    instructions: Option<String>,
}

impl MessageReader {
    fn message(&mut self, row: &Row) {
        let kind = json::str_at(&row.value, &["kind"]).unwrap_or("other");
        let before = self.transcript.len();
        match kind {
            "request" => self.request(row),
            "response" => self.response(row),
            other => {
                let kind = json::shortened(other);
                let text = format!("a message of the unknown kind `{kind}` is left out");
                self.log.notes.once(row.span.start, text);
            }
        }
        self.log.report.count_record(kind, self.transcript.len() > before);
    }

    fn request(&mut self, row: &Row) {
        let mut drafts: Vec<Draft> = Vec::new();
        for (idx, value) in numbered_parts(row) {
            let Some((draft, note)) = parts::of_request(idx, value) else {
                let kind = json::str_at(value, &["part_kind"]).unwrap_or_default();
                let text = format!(
                    "parts of kind `{}` are not shown: what is sent for them depends on the provider",
                    json::shortened(kind)
                );
                if !parts::is_never_sent(kind) {
                    self.log.notes.once(row.span.start, text);
                }
                continue;
            };
            if let Some(note) = note {
                self.log.notes.once(row.span.start, note);
            }
            let time = json::millis_at(value, &["timestamp"])
                .or_else(|| json::millis_at(&row.value, &["timestamp"]));
            match drafts.last_mut() {
                Some(last) if joins(last, &draft) => last.parts.extend(draft.parts),
                _ => drafts.push(Draft { time, raw: vec![row.span.clone()], ..draft }),
            }
        }
        if let Some(system) = self.instructions(row) {
            let n_system = drafts.iter().take_while(|draft| draft.role == Role::System).count();
            drafts.insert(n_system, system);
        }
        for draft in drafts.into_iter().filter(|draft| !draft.parts.is_empty()) {
            self.transcript.add_message(draft);
        }
    }

    /// Returns the instructions of the first request that has some.
    fn instructions(&mut self, row: &Row) -> Option<Draft> {
        let text = json::str_at(&row.value, &["instructions"]).filter(|text| !text.is_empty())?;
        if let Some(first) = &self.instructions {
            if first != text {
                let note = "the instructions change during the conversation: \
                            the first ones are shown for all calls";
                self.log.notes.once(row.span.start, note);
            }
            return None;
        }
        self.instructions = Some(text.to_owned());
        let parts = vec![part(0, Body::Text(text.into()))];
        Some(Draft { raw: vec![row.span.clone()], ..Draft::new(Role::System, parts) })
    }

    fn response(&mut self, row: &Row) {
        let value = &row.value;
        let time = json::millis_at(value, &["timestamp"]);
        let is_cut = json::str_at(value, &["finish_reason"]) == Some("length");
        let usage = value.get("usage").and_then(usage::of_response);
        let call = CallDraft {
            model: json::str_at(value, &["model_name"]).map(str::to_owned),
            usage: self.log.notes.usage(row.span.start, usage),
            time,
            cut: is_cut.then(CutAnswer::default),
            ..CallDraft::default()
        };
        let parts: Vec<Part> =
            numbered_parts(row).flat_map(|(idx, value)| parts::of_response(idx, value)).collect();
        if parts.is_empty() {
            self.transcript.builder.call(call);
            return;
        }
        let draft =
            Draft { time, raw: vec![row.span.clone()], ..Draft::new(Role::Assistant, parts) };
        self.transcript.add_answer(call, draft);
    }
}

/// Returns the parts of a message with their numbers.
fn numbered_parts(row: &Row) -> impl Iterator<Item = (usize, &Value)> {
    row.value.get("parts").and_then(Value::as_array).into_iter().flatten().enumerate()
}

/// Returns whether two neighbors in a request are one message.
fn joins(last: &Draft, next: &Draft) -> bool {
    last.role == next.role
        && last.is_injected == next.is_injected
        && !last.is_summary
        && !next.is_summary
}
