//! ATIF trajectories of Harbor and Terminal-Bench: a JSON document whose `steps` come from the user, the system or the
//! agent. An agent's step includes its tool calls and their results.
//!
//! `prompt_tokens` includes cached tokens.

use super::content::{part, tool_definitions};
use super::notes::Notes;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Part, Role, Usage};
use crate::units::Tokens;

pub(super) const FORMAT: Format = Format {
    name: "atif",
    label: "ATIF trajectory",
    detect,
    parse,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
    ],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let version = json::str_at(document, &["schema_version"])?;
    let steps = document.get("steps")?.as_array()?;
    let is_match = version.starts_with("ATIF") || is_bare(version) && steps.iter().all(is_step);
    is_match.then(|| format!("a document with `steps` and the schema {}", json::shortened(version)))
}

/// Checks for a version without the schema's name, as some programs write it: `1.5`.
fn is_bare(version: &str) -> bool {
    let version = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let digit = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    version.contains('.') && version.split('.').all(digit)
}

fn is_step(step: &Value) -> bool {
    step.get("step_id").is_some() && !source(step).is_empty()
}

/// Returns the source of a step, which some programs write as the role of the message.
fn source(step: &Value) -> &str {
    let own = json::str_at(step, &["source"]);
    match own.or_else(|| json::str_at(step, &["message", "role"])) {
        Some("assistant") => "agent",
        source => source.unwrap_or_default(),
    }
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    let around = rows::members_except(bytes, &whole, &["steps"]);
    let agent = around.get("agent").unwrap_or(&Value::Null);
    if let Some(model) = json::str_at(agent, &["model_name"]) {
        transcript.builder.usual_model(model);
    }
    if let Some(tools) = tool_definitions(agent, &["tool_definitions"]) {
        log.report.count_record("tools", true);
        transcript.add_message(tools);
    }
    for row in rows::rows_at(bytes, &whole, &["steps"], progress, &mut log.notes)? {
        progress.check_cancelled()?;
        let source = Some(source(&row.value)).filter(|source| !source.is_empty());
        let source = source.unwrap_or("other");
        let before = transcript.len();
        step(source, &row, &mut transcript, &mut log.notes);
        log.report.count_record(source, transcript.len() > before);
    }
    let start = bytes.len() - bytes.trim_ascii_start().len();
    if let Some(total) = log.notes.usage(start, total(&around)) {
        let model = json::str_at(agent, &["model_name"]).unwrap_or_default();
        transcript.builder.total(model, &total);
    }
    let session = transcript.finish();
    log.finish(input, session.into_iter().collect(), "an ATIF trajectory without a message")
}

fn step(source: &str, row: &Row, transcript: &mut Transcript, notes: &mut Notes) {
    let value = &row.value;
    let time = json::millis_at(value, &["timestamp"])
        .or_else(|| json::millis_at(value, &["message", "timestamp"]));
    let draft = |role, parts: Vec<Part>| Draft {
        time,
        raw: vec![row.span.clone()],
        ..Draft::new(role, parts)
    };
    let message = value.get("message");
    let message = message.map(|message| {
        message.get("content").filter(|_| message.get("role").is_some()).unwrap_or(message)
    });
    let mut parts = message.map(content::parts).unwrap_or_default();
    match source {
        "user" if !parts.is_empty() => {
            transcript.add_message(draft(Role::User, parts));
        }
        "system" if !parts.is_empty() => {
            transcript.add_message(draft(Role::System, parts));
        }
        "agent" => {
            let call = CallDraft {
                model: json::str_at(value, &["model_name"]).map(str::to_owned),
                usage: notes.usage(row.span.start, usage(value)),
                time,
                ..CallDraft::default()
            };
            let thought = json::str_at(value, &["reasoning_content"]).unwrap_or_default();
            parts.splice(0..0, content::thought(thought, 0).map(|body| part(0, body)));
            parts.extend(calls(value));
            if parts.is_empty() {
                transcript.builder.call(call);
            } else {
                transcript.add_answer(call, draft(Role::Assistant, parts));
            }
            let results = results(value);
            if !results.is_empty() {
                transcript.add_message(draft(Role::Tool, results));
            }
        }
        "user" | "system" => {}
        other => {
            let other = json::shortened(other);
            notes.once(row.span.start, format!("unknown step source `{other}`: not counted"));
        }
    }
}

/// Returns the tool calls of an agent's step.
fn calls(step: &Value) -> impl Iterator<Item = Part> {
    let calls = step.get("tool_calls").and_then(Value::as_array);
    calls.into_iter().flatten().enumerate().map(|(idx, call)| {
        let str_of = |key| json::str_at(call, &[key]);
        let name = str_of("function_name").or_else(|| str_of("name"));
        let id = str_of("tool_call_id").or_else(|| str_of("id"));
        let arguments = call.get("arguments");
        part(idx, content::call(id, name.unwrap_or_default(), arguments))
    })
}

/// Returns the results of the tool calls of an agent's step.
fn results(step: &Value) -> Vec<Part> {
    let results = json::at(step, &["observation", "results"]).and_then(Value::as_array);
    let results = results.into_iter().flatten().enumerate();
    let parts = results.flat_map(|(idx, result)| {
        let call = json::str_at(result, &["source_call_id"]);
        let content = result.get("content").unwrap_or(&Value::Null);
        content::result(idx, (call, None), false, content)
    });
    parts.collect()
}

/// Returns the usage of all steps and of sub-agents, if the trajectory totals it.
fn total(document: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(document, &["final_metrics", key]);
    let input = count("total_prompt_tokens")?;
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: count("total_cached_tokens"),
        output: count("total_completion_tokens"),
        ..Usage::default()
    })
}

fn usage(step: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(step, &["metrics", key]);
    let input = count("prompt_tokens")?;
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: count("cached_tokens"),
        output: count("completion_tokens"),
        ..Usage::default()
    })
}
