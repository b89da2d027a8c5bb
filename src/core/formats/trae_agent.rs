//! trae-agent trajectories: a JSON document whose `llm_interactions` are the model calls in order.
//!
//! A call's `input_messages` are only the messages added since the previous call. The last of the `agent_steps` holds
//! the messages of a failed call with the provider's error. Anthropic's usage excludes cached tokens.

use super::content::part;
use super::notes::{Notes, unknown_role};
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{
    Format, ImportReport, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json,
};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Part, Role, Usage};
use crate::units::Tokens;

pub(super) const FORMAT: Format = Format {
    name: "trae_agent",
    label: "trae-agent trajectory",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::SystemPrompt],
    ..Format::READ_ONLY
};

/// Providers whose `input_tokens` exclude cache reads and writes.
const EXCLUDING: [&str; 3] = ["anthropic", "bedrock", "claude"];
/// Lists of records in the document.
const LISTS: [&str; 2] = ["llm_interactions", "agent_steps"];
/// Maximum length of a quoted error in characters.
// Chosen: the first sentence of an error. A stack trace may follow.
const ERROR_CHARS: usize = 200;

fn detect(probe: &Probe) -> Option<String> {
    let calls = probe.document()?.get("llm_interactions")?.as_array()?;
    let is_call = |c: &Value| c.get("input_messages").is_some() && c.get("response").is_some();
    calls.iter().all(is_call).then(|| "a document with `llm_interactions`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    let around = rows::members_except(bytes, &whole, &LISTS);
    transcript.title(json::str_at(&around, &["task"]).unwrap_or_default());
    if let Some(model) = json::str_at(&around, &["model"]) {
        transcript.builder.usual_model(model);
    }
    let provider = json::str_at(&around, &["provider"]).unwrap_or_default().to_owned();
    for call in rows::rows_at(bytes, &whole, &["llm_interactions"], progress, &mut log.notes)? {
        progress.check_cancelled()?;
        for row in rows::rows_at(
            bytes,
            &call.span,
            &["input_messages"],
            &Progress::default(),
            &mut log.notes,
        )? {
            message(&row, &mut transcript, &mut log.report, &mut log.notes);
        }
        answer(&call, &provider, &mut transcript, &mut log.report, &mut log.notes);
    }
    let steps = rows::rows_at(bytes, &whole, &["agent_steps"], progress, &mut log.notes)?;
    for _ in &steps {
        log.report.count_record("agent step", false);
    }
    if let Some(last) = steps.last() {
        failed_call(bytes, last, &mut transcript, &mut log.report, &mut log.notes)?;
    }
    let session = transcript.finish();
    log.finish(input, session.into_iter().collect(), "a trae-agent trajectory without a message")
}

/// Adds the failed call that ended the run.
fn failed_call(
    bytes: &[u8],
    step: &Row,
    transcript: &mut Transcript,
    report: &mut ImportReport,
    notes: &mut Notes,
) -> Result<(), ParseError> {
    let error = json::str_at(&step.value, &["error"]).filter(|error| !error.is_empty());
    let is_answered = step.value.get("llm_response").is_some_and(|r| !r.is_null());
    let (Some(error), false) = (error, is_answered) else {
        return Ok(());
    };
    for row in rows::rows_at(bytes, &step.span, &["llm_messages"], &Progress::default(), notes)? {
        message(&row, transcript, report, notes);
    }
    transcript.builder.call(CallDraft {
        time: json::millis_at(&step.value, &["timestamp"]),
        ..CallDraft::default()
    });
    transcript.builder.fail_last_call(error);
    let error: String = error.chars().take(ERROR_CHARS).collect();
    notes.add(step.span.start, format!("the last call failed: {error}"));
    Ok(())
}

fn message(row: &Row, transcript: &mut Transcript, report: &mut ImportReport, notes: &mut Notes) {
    let value = &row.value;
    let kind = json::str_at(value, &["role"]).unwrap_or("other");
    let mut parts = value.get("content").map(content::parts).unwrap_or_default();
    parts.extend(value.get("tool_call").filter(|c| c.is_object()).map(|c| part(0, call(c))));
    let result = value.get("tool_result").filter(|r| r.is_object());
    let role = match kind {
        _ if result.is_some() => {
            parts.extend(result.map(tool_result).unwrap_or_default());
            Role::Tool
        }
        "system" | "developer" => Role::System,
        "assistant" => Role::Assistant,
        "user" | "tool" => Role::User,
        other => {
            notes.add(row.span.start, unknown_role(other));
            report.count_record(kind, false);
            return;
        }
    };
    report.count_record(if result.is_some() { "tool result" } else { kind }, !parts.is_empty());
    if parts.is_empty() {
        return;
    }
    // User messages after the task are the program's.
    let is_injected = role == Role::User && transcript.builder.session().turns > 0;
    transcript.add_message(Draft {
        is_injected,
        raw: vec![row.span.clone()],
        ..Draft::new(role, parts)
    });
}

fn answer(
    row: &Row,
    provider: &str,
    transcript: &mut Transcript,
    report: &mut ImportReport,
    notes: &mut Notes,
) {
    let response = row.value.get("response").unwrap_or(&Value::Null);
    let str_of = |key| json::str_at(&row.value, &[key]).or_else(|| json::str_at(response, &[key]));
    let mut parts: Vec<Part> = response.get("content").map(content::parts).unwrap_or_default();
    let calls = response.get("tool_calls").and_then(Value::as_array);
    parts.extend(calls.into_iter().flatten().enumerate().map(|(idx, c)| part(idx, call(c))));
    let own = str_of("provider").unwrap_or(provider);
    let call = CallDraft {
        model: str_of("model").map(str::to_owned),
        usage: notes.usage(row.span.start, usage(response, own)),
        time: json::millis_at(&row.value, &["timestamp"]),
        ..CallDraft::default()
    };
    report.count_record("answer", !parts.is_empty());
    if parts.is_empty() {
        transcript.builder.call(call);
        return;
    }
    let draft = Draft {
        time: call.time,
        raw: vec![row.span.clone()],
        ..Draft::new(Role::Assistant, parts)
    };
    transcript.add_answer(call, draft);
}

fn call(value: &Value) -> crate::session::Body {
    let str_of = |key| json::str_at(value, &[key]);
    let id = str_of("call_id").or_else(|| str_of("id"));
    content::call(id, str_of("name").unwrap_or_default(), value.get("arguments"))
}

/// Returns a tool's result with its error in the program's notation.
fn tool_result(result: &Value) -> Vec<Part> {
    let str_of = |key| json::str_at(result, &[key]);
    let mut text =
        result.get("result").map(content::text_or_json).unwrap_or_default().into_string();
    if let Some(error) = str_of("error").filter(|error| !error.is_empty()) {
        text.push_str(if text.is_empty() { "Error: " } else { "\nError: " });
        text.push_str(error);
    }
    let failed_call = result.get("success").and_then(Value::as_bool) == Some(false);
    content::result(0, (str_of("call_id"), str_of("name")), failed_call, &text.into())
}

fn usage(response: &Value, provider: &str) -> Option<Usage> {
    let count = |key| counts::tokens_at(response, &["usage", key]);
    let (read, write) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    let is_excluding = EXCLUDING.iter().any(|name| provider.contains(name));
    let cached = [read, write].into_iter().flatten().filter(|_| is_excluding);
    let input: Tokens = count("input_tokens").into_iter().chain(cached).sum();
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count("output_tokens"),
        reasoning: count("reasoning_tokens"),
        ..Usage::default()
    })
}
