//! Sessions of the `OpenAI` Agents SDK, built from its database: items of the Responses API, each with its time.
//!
//! - Consecutive items of the model are one answer.
//! - `provider_data` names the model of a Chat Completions model. Instructions and tools are not recorded.
//! - A compaction replaces all stored items by a `compaction` item and the user messages that it keeps. A compaction by
//!   the server is an item among others and replaces those before it.
//! - Usage is recorded per turn, on request. It is the usage of a call only if the turn has one call.

mod store;

use super::notes::Notes;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{
    Format, Input, ParseError, Parsed, Probe, RecordedData, counts, json, openai_responses,
};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Role, Usage};
use std::collections::HashMap;

pub(super) const FORMAT: Format = Format {
    name: "openai_agents",
    label: "OpenAI Agents SDK session",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times],
    database: Some(&store::DATABASE),
    ..Format::READ_ONLY
};

const ITEMS: &str = "items";
const USAGE: &str = "turn_usage";

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    document.get("session_id")?;
    let items = document.get(ITEMS)?.as_array()?;
    items
        .iter()
        .any(|item| item.get("message_data").is_some())
        .then(|| "a `session_id`, and `items` with `message_data`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let head = rows::members_except(bytes, &whole, &[ITEMS]);
    let others = json::u64_at(&head, &["branches"]).unwrap_or(0).saturating_sub(1);
    if others > 0 {
        let (s, are) = if others == 1 { ("", "is") } else { ("es", "are") };
        let text = format!("{others} other branch{s} of this session {are} not read");
        log.notes.add(whole.start, text);
    }
    let mut reader = AgentsReader {
        transcript: Transcript::new(input, FORMAT.name, None),
        answer: None,
        first_calls: HashMap::new(),
    };
    for row in rows::rows_at(bytes, &whole, &[ITEMS], progress, &mut log.notes)? {
        progress.check_cancelled()?;
        let (kind, is_read) = reader.item(&row, &mut log.notes);
        log.report.count_record(&kind, is_read);
    }
    reader.add_usage(&head, whole.start, &mut log.notes);
    let session = reader.transcript.finish();
    let what = "an OpenAI Agents SDK session without a message";
    log.finish(input, session.into_iter().collect(), what)
}

struct AgentsReader {
    transcript: Transcript,
    /// Id of the response whose answer is being read; empty if not recorded.
    answer: Option<String>,
    /// Index of the first call of each turn.
    first_calls: HashMap<u64, usize>,
}

impl AgentsReader {
    /// Adds an item. Returns its kind and whether it is sent to the model.
    fn item(&mut self, row: &Row, notes: &mut Notes) -> (String, bool) {
        let value = row.value.get("message_data").unwrap_or(&Value::Null);
        let at = row.span.start;
        if json::u64_at(value, &["__enc__"]) == Some(1) {
            notes.once(at, "encrypted items are not read: the key is not in the file");
            return ("encrypted".to_owned(), false);
        }
        if !value.is_object() {
            notes.add(at, "an item that is not JSON is not sent to the model");
            return ("other".to_owned(), false);
        }
        let kind = json::str_at(value, &["type"]).unwrap_or("message");
        let drafts = match openai_responses::drafts(value) {
            Ok(drafts) => drafts,
            Err(why) => {
                notes.add(at, why);
                return (kind.to_owned(), false);
            }
        };
        let is_read = !drafts.is_empty();
        for draft in drafts {
            let draft = Draft {
                time: json::millis_at(&row.value, &["created_at"]),
                raw: vec![row.span.clone()],
                ..draft
            };
            if draft.is_summary {
                self.compaction(draft, at, notes);
            } else {
                self.add(draft, row, value);
            }
        }
        (kind.to_owned(), is_read)
    }

    fn add(&mut self, draft: Draft, row: &Row, value: &Value) {
        if draft.role != Role::Assistant {
            self.answer = None;
            self.transcript.add_message(draft);
            return;
        }
        let response = json::str_at(value, &["provider_data", "response_id"]).unwrap_or_default();
        if self.answer.as_deref() == Some(response) {
            self.transcript.add_message(draft);
            return;
        }
        self.answer = Some(response.to_owned());
        let model = json::str_at(value, &["provider_data", "model"]).map(str::to_owned);
        let call = CallDraft { model, time: draft.time, ..CallDraft::default() };
        self.transcript.add_answer(call, draft);
        if let Some(turn) = json::u64_at(&row.value, &["turn"]) {
            let call = self.transcript.builder.session().calls.len() - 1;
            self.first_calls.entry(turn).or_insert(call);
        }
    }

    fn compaction(&mut self, draft: Draft, at: usize, notes: &mut Notes) {
        self.answer = None;
        let before = &self.transcript.builder.session().messages;
        let is_kept = before.iter().all(|message| message.role == Role::User);
        let mut kept: Vec<usize> = if is_kept { (0..before.len()).collect() } else { Vec::new() };
        if is_kept {
            let text = "the stored items begin with the result of a compaction; what was sent before it is not recorded";
            notes.add(at, text);
        }
        self.transcript.builder.end_answer();
        kept.push(self.transcript.add_message(Draft { in_history: is_kept, ..draft }));
        self.transcript.builder.compaction("", None, None, kept);
    }

    /// Adds the usage of the turns: their totals, and the usage of the calls that are alone in their turn.
    fn add_usage(&mut self, head: &Value, at: usize, notes: &mut Notes) {
        let turns = head.get(USAGE).and_then(Value::as_array);
        for turn in turns.into_iter().flatten() {
            let Some(usage) = notes.usage(at, turn_usage(turn)) else {
                continue;
            };
            self.transcript.builder.total("", &usage);
            if json::u64_at(turn, &["requests"]) != Some(1) {
                let text = "usage is recorded per turn; for turns with several calls, the usage of each call is unknown";
                notes.once(at, text);
                continue;
            }
            let number = json::u64_at(turn, &["turn"]);
            let call = number.and_then(|number| self.first_calls.get(&number));
            let call = call.and_then(|call| self.transcript.builder.call_mut(*call));
            if let Some(call) = call {
                call.usage = Some(usage);
            }
        }
    }
}

fn turn_usage(turn: &Value) -> Option<Usage> {
    let count = |path: &[&str]| counts::tokens_at(turn, path);
    Some(Usage {
        input: count(&["input_tokens"])?,
        cache_read: count(&["input_tokens_details", "cached_tokens"]),
        output: count(&["output_tokens"]),
        reasoning: count(&["output_tokens_details", "reasoning_tokens"]),
        ..Usage::default()
    })
}
