//! `gemini --output-format stream-json`.
//!
//! - The text of an answer is written in pieces (`delta`). The calls of an answer precede their results, so that an
//!   answer begins at the prompt or after results.
//! - The totals of a run, by model, include requests that are not in the stream: titles, summaries, routing.
//! - Thoughts, compactions and the usage of a call are not recorded.

use super::answer::OpenAnswer;
use super::by_id::ById;
use super::totals::RunTotals;
use crate::formats::read_log::ReadLog;
use crate::formats::rows::{Row, map_rows};
use crate::formats::transcript::Transcript;
use crate::formats::{
    Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json,
};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Draft, Part, Role, Span, Usage};
use crate::units::{Millis, Tokens};

pub(crate) const GEMINI: Format = Format {
    name: "gemini_cli_stream",
    label: "Gemini CLI output stream",
    detect,
    parse,
    recorded: &[RecordedData::Times],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let mut records = probe.records().iter().map(|r| &r.value);
    let is_init = |v: &Value| {
        json::str_at(v, &["type"]) == Some("init")
            && json::str_at(v, &["session_id"]).is_some()
            && json::str_at(v, &["model"]).is_some()
    };
    let is_event = |v: &Value| match json::str_at(v, &["type"]) {
        Some("tool_use") => json::str_at(v, &["tool_id"]).is_some(),
        Some("message") => json::str_at(v, &["role"]).is_some() && v.get("content").is_some(),
        _ => false,
    };
    (records.clone().any(is_init) && records.any(is_event))
        .then(|| "events `init`, `message` and `tool_use`".to_owned())
}

/// A parsed event.
struct GeminiEvent {
    span: Span,
    label: String,
    time: Option<Millis>,
    kind: GeminiEventKind,
}

enum GeminiEventKind {
    /// A run begins: the id of its session and its model.
    Init(Box<str>, Option<String>),
    Prompt(Vec<Part>),
    /// A piece of the answer's text.
    Piece(String),
    Call(Part),
    Result(Vec<Part>),
    /// The totals of the run.
    End(Vec<(String, Usage)>),
    Other,
}

fn read(row: Row) -> GeminiEvent {
    let value = &row.value;
    let field = |key| json::str_at(value, &[key]);
    let kind = field("type").unwrap_or("other");
    let role = field("role").filter(|_| kind == "message");
    GeminiEvent {
        label: role.map_or_else(|| kind.to_owned(), |role| format!("{kind}/{role}")),
        time: json::millis_at(value, &["timestamp"]),
        kind: event_kind(kind, value),
        span: row.span,
    }
}

fn event_kind(kind: &str, value: &Value) -> GeminiEventKind {
    let field = |key| json::str_at(value, &[key]);
    let content = value.get("content").unwrap_or(&Value::Null);
    match (kind, field("role")) {
        ("init", _) => {
            let model = field("model").map(str::to_owned);
            GeminiEventKind::Init(field("session_id").unwrap_or_default().into(), model)
        }
        ("message", Some("user")) => GeminiEventKind::Prompt(content::parts(content)),
        ("message", Some("assistant")) => GeminiEventKind::Piece(json::text_of(content)),
        ("tool_use", _) => GeminiEventKind::Call(content::part(
            0,
            content::call(
                field("tool_id"),
                field("tool_name").unwrap_or_default(),
                value.get("parameters"),
            ),
        )),
        ("tool_result", _) => {
            let error = json::at(value, &["error", "message"]);
            let output = value.get("output").or(error).unwrap_or(&Value::Null);
            let names = (field("tool_id"), None);
            let is_error = field("status") == Some("error");
            GeminiEventKind::Result(content::result(0, names, is_error, output))
        }
        ("result", _) => GeminiEventKind::End(totals(value)),
        _ => GeminiEventKind::Other,
    }
}

/// Returns the totals of a run by model. Older versions record only their sum.
fn totals(value: &Value) -> Vec<(String, Usage)> {
    let stats = value.get("stats").unwrap_or(&Value::Null);
    let usage = |counts_of: &Value| {
        let count = |key| counts::tokens_at(counts_of, &[key]);
        let input = count("input_tokens").filter(|input| *input > Tokens::ZERO)?;
        let (cache_read, output) = (count("cached"), count("output_tokens"));
        Some(Usage { input, cache_read, output, ..Usage::default() })
    };
    let models = stats.get("models").and_then(Value::as_object).into_iter().flatten();
    let by_model: Vec<(String, Usage)> =
        models.filter_map(|(model, stats)| Some((model.clone(), usage(stats)?))).collect();
    if by_model.is_empty() {
        return usage(stats).map(|usage| (String::new(), usage)).into_iter().collect();
    }
    by_model
}

/// The conversation of a session.
struct GeminiConversation {
    transcript: Transcript,
    answer: OpenAnswer,
    totals: RunTotals,
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let events = map_rows(&input.bytes, progress, &mut log, read)?;
    let mut conversations = ById::new();
    let mut id: Box<str> = "".into();
    for event in events {
        progress.check_cancelled()?;
        if let GeminiEventKind::Init(new, _) = &event.kind {
            id.clone_from(new);
        }
        let conversation = conversations.get(&id, |number| GeminiConversation {
            transcript: Transcript::new(input, GEMINI.name, number),
            answer: OpenAnswer::default(),
            totals: RunTotals::default(),
        });
        let in_context = conversation.add(&event, &mut log);
        log.report.count_record(&event.label, in_context);
    }
    let finish = |mut conversation: GeminiConversation| {
        conversation.answer.close(&mut conversation.transcript);
        conversation.totals.finish(&mut conversation.transcript.builder);
        conversation.transcript.finish()
    };
    let sessions = conversations.finish().into_iter().filter_map(finish).collect();
    log.finish(input, sessions, "an output stream of Gemini CLI without a message")
}

impl GeminiConversation {
    /// Adds an event. Returns false if it is not a message.
    fn add(&mut self, event: &GeminiEvent, log: &mut ReadLog) -> bool {
        let (span, time) = (&event.span, event.time);
        let is_of_model =
            matches!(event.kind, GeminiEventKind::Piece(_) | GeminiEventKind::Call(_));
        if is_of_model && self.answer.has_results() {
            self.answer.close(&mut self.transcript);
        }
        match &event.kind {
            GeminiEventKind::Init(_, model) => {
                if let Some(model) = model {
                    self.transcript.builder.usual_model(model);
                }
                false
            }
            GeminiEventKind::Prompt(parts) => {
                self.answer.close(&mut self.transcript);
                let draft = Draft::new(Role::User, parts.clone());
                self.transcript.add_message(Draft { time, raw: vec![span.clone()], ..draft });
                true
            }
            GeminiEventKind::Piece(text) => {
                self.answer.add_piece(span, time, text);
                true
            }
            GeminiEventKind::Call(call) => {
                self.answer.add(span, time, vec![call.clone()]);
                true
            }
            GeminiEventKind::Result(parts) => {
                self.answer.add_result(span, time, parts.clone());
                true
            }
            GeminiEventKind::End(totals) => {
                self.answer.close(&mut self.transcript);
                let checked = totals.iter().filter_map(|(model, usage)| {
                    Some((model.clone(), log.notes.usage(span.start, Some(*usage))?))
                });
                // The program counts each run from zero.
                self.totals.add_run(checked.collect());
                false
            }
            GeminiEventKind::Other => false,
        }
    }
}
