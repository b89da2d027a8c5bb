//! trae-agent's trajectories: a JSON document whose `llm_interactions` are the model calls in order.
//!
//! A call's `input_messages` are only what is new since the one before. What was to be sent in a call that failed
//! stands in the last of the `agent_steps`, with the provider's error. Anthropic's usage excludes what was cached.

use super::message_list::part;
use super::notes::Notes;
use super::rows::{self, Row};
use super::talk::Talk;
use super::{
    Carried, Format, ImportReport, Input, Parsed, Probe, Refused, Unread, content, counts, json,
};
use crate::progress::Progress;
use crate::session::{Draft, Part, Role, StepDraft, Usage, says_too_long};
use crate::units::Tokens;
use serde_json::Value;

/// The row of the table.
pub(super) const FORMAT: Format = Format {
    name: "trae_agent",
    label: "trae-agent trajectory",
    detect,
    in_pieces: false,
    parse,
    export: None,
    carries: &[Carried::Usage, Carried::Times, Carried::SystemPrompt],
    kept: None,
    resume: None,
};

/// Providers whose `input_tokens` exclude what was read from the cache or written to it.
const EXCLUDING: [&str; 3] = ["anthropic", "bedrock", "claude"];
/// The lists of a document.
const LISTS: [&str; 2] = ["llm_interactions", "agent_steps"];
/// An error is quoted as far as this.
const ERROR_CHARS: usize = 200;

fn detect(probe: &Probe) -> Option<String> {
    let calls = probe.document()?.get("llm_interactions")?.as_array()?;
    let is_call = |c: &Value| c.get("input_messages").is_some() && c.get("response").is_some();
    calls
        .iter()
        .all(is_call)
        .then(|| "a document with `llm_interactions`".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, Unread> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut notes = Notes::default();
    let mut report = ImportReport::default();
    let mut talk = Talk::new(input, FORMAT.name, None);
    let around = rows::around(bytes, &whole, &LISTS);
    talk.title(json::str_at(&around, &["task"]).unwrap_or_default());
    if let Some(model) = json::str_at(&around, &["model"]) {
        talk.builder.usual_model(model);
    }
    let provider = json::str_at(&around, &["provider"])
        .unwrap_or_default()
        .to_owned();
    for call in rows::listed(bytes, &whole, &["llm_interactions"], progress, &mut notes)? {
        progress.go_on()?;
        for row in rows::listed(
            bytes,
            &call.span,
            &["input_messages"],
            &Progress::default(),
            &mut notes,
        )? {
            said(&row, &mut talk, &mut report, &mut notes);
        }
        answered(&call, &provider, &mut talk, &mut report, &mut notes);
    }
    let steps = rows::listed(bytes, &whole, &["agent_steps"], progress, &mut notes)?;
    for _ in &steps {
        report.note("agent step", false);
    }
    if let Some(last) = steps.last() {
        failed(bytes, last, &mut talk, &mut report, &mut notes)?;
    }
    let session = talk.finish().ok_or_else(|| Refused {
        looks_like: "this looks like a trae-agent trajectory without a message".to_owned(),
    })?;
    Ok(Parsed {
        sessions: vec![session],
        warnings: notes.warnings(&input.bytes),
        report,
    })
}

/// The call that ended the run with an error.
fn failed(
    bytes: &[u8],
    step: &Row,
    talk: &mut Talk,
    report: &mut ImportReport,
    notes: &mut Notes,
) -> Result<(), Unread> {
    let error = json::str_at(&step.value, &["error"]).filter(|error| !error.is_empty());
    let is_answered = step.value.get("llm_response").is_some_and(|r| !r.is_null());
    let (Some(error), false) = (error, is_answered) else {
        return Ok(());
    };
    for row in rows::listed(
        bytes,
        &step.span,
        &["llm_messages"],
        &Progress::default(),
        notes,
    )? {
        said(&row, talk, report, notes);
    }
    talk.builder.step(StepDraft {
        time: json::millis_at(&step.value, &["timestamp"]),
        ..StepDraft::default()
    });
    if says_too_long(&error.to_lowercase()) {
        talk.builder.refuse();
    }
    let error: String = error.chars().take(ERROR_CHARS).collect();
    notes.add(step.span.start, format!("the last call failed: {error}"));
    Ok(())
}

fn said(row: &Row, talk: &mut Talk, report: &mut ImportReport, notes: &mut Notes) {
    let value = &row.value;
    let kind = json::str_at(value, &["role"]).unwrap_or("other");
    let mut parts = value.get("content").map(content::parts).unwrap_or_default();
    parts.extend(
        value
            .get("tool_call")
            .filter(|c| c.is_object())
            .map(|c| part(0, call(c))),
    );
    let result = value.get("tool_result").filter(|r| r.is_object());
    let role = match kind {
        _ if result.is_some() => {
            parts.extend(result.map(answer).unwrap_or_default());
            Role::Tool
        }
        "system" | "developer" => Role::System,
        "assistant" => Role::Assistant,
        "user" | "tool" => Role::User,
        other => {
            let other = json::quoted(other);
            notes.add(
                row.span.start,
                format!("a message of the unknown role `{other}` is kept, but is no context"),
            );
            report.note(kind, false);
            return;
        }
    };
    report.note(
        if result.is_some() {
            "tool result"
        } else {
            kind
        },
        !parts.is_empty(),
    );
    if parts.is_empty() {
        return;
    }
    // After the task only the program speaks as a user.
    let is_injected = role == Role::User && talk.builder.session().turns > 0;
    talk.say(Draft {
        is_injected,
        raw: vec![row.span.clone()],
        ..Draft::new(role, parts)
    });
}

fn answered(
    row: &Row,
    provider: &str,
    talk: &mut Talk,
    report: &mut ImportReport,
    notes: &mut Notes,
) {
    let response = row.value.get("response").unwrap_or(&Value::Null);
    let says = |key| json::str_at(&row.value, &[key]).or_else(|| json::str_at(response, &[key]));
    let mut parts: Vec<Part> = response
        .get("content")
        .map(content::parts)
        .unwrap_or_default();
    let calls = response.get("tool_calls").and_then(Value::as_array);
    parts.extend(
        calls
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(idx, c)| part(idx, call(c))),
    );
    let own = says("provider").unwrap_or(provider);
    let step = StepDraft {
        model: says("model").map(str::to_owned),
        window: None,
        usage: notes.usage(row.span.start, usage(response, own)),
        time: json::millis_at(&row.value, &["timestamp"]),
    };
    report.note("answer", !parts.is_empty());
    if parts.is_empty() {
        talk.builder.step(step);
        return;
    }
    let draft = Draft {
        time: step.time,
        raw: vec![row.span.clone()],
        ..Draft::new(Role::Assistant, parts)
    };
    talk.answer(step, draft);
}

fn call(value: &Value) -> crate::session::Body {
    let says = |key| json::str_at(value, &[key]);
    let id = says("call_id").or_else(|| says("id"));
    content::call(id, says("name").unwrap_or_default(), value.get("arguments"))
}

/// What a tool answered, with its error in the words in which the program passes it on.
fn answer(result: &Value) -> Vec<Part> {
    let says = |key| json::str_at(result, &[key]);
    let mut text = result
        .get("result")
        .map(content::text_or_json)
        .unwrap_or_default()
        .into_string();
    if let Some(error) = says("error").filter(|error| !error.is_empty()) {
        text.push_str(if text.is_empty() {
            "Error: "
        } else {
            "\nError: "
        });
        text.push_str(error);
    }
    let failed = result.get("success").and_then(Value::as_bool) == Some(false);
    content::result(0, (says("call_id"), says("name")), failed, &text.into())
}

fn usage(response: &Value, provider: &str) -> Option<Usage> {
    let count = |key| counts::tokens_at(response, &["usage", key]);
    let (read, write) = (
        count("cache_read_input_tokens"),
        count("cache_creation_input_tokens"),
    );
    let is_excluding = EXCLUDING.iter().any(|name| provider.contains(name));
    let beside = [read, write].into_iter().flatten().filter(|_| is_excluding);
    let input: Tokens = count("input_tokens").into_iter().chain(beside).sum();
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: read,
        cache_write: write,
        output: count("output_tokens"),
        reasoning: count("reasoning_tokens"),
        ..Usage::default()
    })
}
