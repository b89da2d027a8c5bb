//! SWE-agent trajectories: a JSON document with the conversation (`history`) and the steps (`trajectory`).
//!
//! - Later versions repeat a whole context in every step, with old observations elided by the agent's history
//!   processors. `query` is the context of the step's own call. `messages`, of version 1.0, was recorded after the
//!   step, including its answer and observation, so that it is the context of the *next* call. If no step has one, only
//!   `history` is read.
//! - `history` holds the answers. A step's `response` is the text of one.
//! - Token counts are recorded as a total only.

use super::content::CallMatcher;
use super::contexts::{Contexts, LoggedCall};
use super::notes::Notes;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{
    Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json, openai_chat,
};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Body, CallDraft, Draft, Role, Session, Usage, UsageTotal};
use crate::units::Tokens;

pub(super) const FORMAT: Format = Format {
    name: "swe_agent",
    label: "SWE-agent trajectory",
    detect,
    parse,
    recorded: &[RecordedData::Compactions, RecordedData::SystemPrompt],
    ..Format::READ_ONLY
};

/// Members of a history message that only this agent writes.
const OWN: [&str; 4] = ["agent", "message_type", "is_demo", "thought"];

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let steps = document.get("trajectory").and_then(Value::as_array);
    let is_step = |s: &Value| s.get("observation").is_some() && s.get("response").is_some();
    if steps.is_some_and(|steps| !steps.is_empty() && steps.iter().all(is_step)) {
        return Some("a document whose `trajectory` holds responses with observations".to_owned());
    }
    let history = document.get("history")?.as_array()?;
    let has_role = |m: &Value| json::str_at(m, &["role"]).is_some();
    let is_own = |m: &Value| OWN.iter().any(|key| m.get(key).is_some());
    (!history.is_empty() && history.iter().all(has_role) && history.iter().any(is_own))
        .then(|| "a document whose `history` holds messages of agents".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let history = rows::rows_at(bytes, &whole, &["history"], progress, &mut log.notes)?;
    let steps = rows::rows_at(bytes, &whole, &["trajectory"], progress, &mut log.notes)?;
    for _ in &steps {
        log.report.count_record("trajectory step", false);
    }
    let history = drafts(&history, |role, read| {
        log.report.count_record(role, read.is_ok());
        if let Err((at, why)) = read {
            log.notes.add(at, why);
        }
    });
    let mut queries = Vec::with_capacity(steps.len());
    for step in &steps {
        progress.check_cancelled()?;
        let query = query(bytes, step, &mut log.notes)?;
        for _ in &query.rows {
            log.report.count_record("message of a query", false);
        }
        queries.push(query);
    }
    let mut sessions = if queries.iter().all(|query| query.rows.is_empty()) {
        let mut transcript = Transcript::new(input, FORMAT.name, None);
        for draft in history {
            if draft.role == Role::Assistant && !draft.is_injected {
                transcript.add_answer(CallDraft::default(), draft);
            } else {
                transcript.add_message(draft);
            }
        }
        transcript.finish().into_iter().collect()
    } else {
        replayed(input, &history, &steps, &queries)
    };
    // Of several conversations, the shares are not recorded.
    if let [session] = &mut sessions[..] {
        let around = rows::members_except(bytes, &whole, &["history", "trajectory"]);
        session.totals.extend(total(&around));
    }
    log.finish(input, sessions, "a SWE-agent trajectory without a message")
}

/// Returns the usage of all calls, which the agent totals. It does not count the cache.
fn total(document: &Value) -> Option<UsageTotal> {
    let count = |key| counts::tokens_at(document, &["info", "model_stats", key]);
    let usage = Usage {
        input: count("tokens_sent").filter(|input| *input > Tokens::ZERO)?,
        output: count("tokens_received"),
        ..Usage::default()
    };
    Some(UsageTotal {
        model: String::new(),
        usage: counts::checked_usage(Some(usage)).ok().flatten()?,
    })
}

/// The context that a step repeats.
#[derive(Default)]
struct Query {
    rows: Vec<Row>,
    /// The context was recorded after the step and includes the step's answer.
    is_after: bool,
}

/// Reads the context that a step repeats, if recorded.
fn query(bytes: &[u8], step: &Row, notes: &mut Notes) -> Result<Query, ParseError> {
    for (key, is_after) in [("query", false), ("messages", true)] {
        // The step's bytes count towards the progress already.
        let rows = rows::rows_at(bytes, &step.span, &[key], &Progress::default(), notes)?;
        if !rows.is_empty() {
            return Ok(Query { rows, is_after });
        }
    }
    Ok(Query::default())
}

/// Returns the context of a step's call: its own, or the previous step's if it was recorded after the step. For the
/// first such step it is the part before the step's answer.
fn context_of_call(queries: &[Query], at: usize, response: &str) -> Vec<Draft> {
    let own = &queries[at];
    let before = at.checked_sub(1).map(|before| &queries[before]);
    if let Some(before) = before.filter(|before| own.is_after && before.is_after) {
        return drafts(&before.rows, |_, _| ());
    }
    let mut context = drafts(&own.rows, |_, _| ());
    let answer = context.iter().rposition(|draft| is_answer(draft, response));
    // An invalid answer was never added.
    if let (true, Some(answer)) = (own.is_after, answer) {
        context.truncate(answer);
    }
    context
}

/// Returns whether a message is an answer with this text.
fn is_answer(draft: &Draft, response: &str) -> bool {
    let texts = draft.parts.iter().filter_map(|part| match &part.body {
        Body::Text(text) => Some(text.trim()),
        _ => None,
    });
    draft.role == Role::Assistant
        && !draft.is_injected
        && texts.collect::<String>() == response.trim()
}

/// Rebuilds the conversation from the contexts of its calls.
fn replayed(input: &Input, history: &[Draft], steps: &[Row], queries: &[Query]) -> Vec<Session> {
    let mut contexts = Contexts::new(input, FORMAT.name);
    let mut messages = history.iter().enumerate();
    let mut last = None;
    for (at, step) in steps.iter().enumerate() {
        if queries[at].rows.is_empty() {
            continue;
        }
        let response = json::str_at(&step.value, &["response"]).unwrap_or_default();
        let mut rest = messages.clone();
        let answer = rest.find(|(_, draft)| is_answer(draft, response));
        if let Some((at, _)) = answer {
            (messages, last) = (rest, Some(at));
        }
        let written = || {
            let parts = content::text_part(0, response);
            let draft = Draft::new(Role::Assistant, parts.into_iter().collect());
            Draft { raw: vec![step.span.clone()], ..draft }
        };
        contexts.add(LoggedCall {
            error: None,
            group: "".into(),
            agent: None,
            context: context_of_call(queries, at, response),
            continues: false,
            recorded: CallDraft::default(),
            answer: Some(answer.map_or_else(written, |(_, draft)| draft.clone())),
        });
    }
    // Messages after the last answer.
    let rest = last.map_or(history.len(), |at| at + 1);
    let rest = history.iter().skip(rest);
    for draft in rest.take_while(|draft| draft.role != Role::Assistant) {
        contexts.add_after(draft.clone());
    }
    contexts.finish()
}

/// Reads the messages of a list. Calls `report` for each with its role and, if it was not read, its position and the
/// reason. If the model has no native tools, actions are texts and observations user messages: only user messages
/// before the first answer are the user's.
fn drafts(rows: &[Row], mut report: impl FnMut(&str, Result<(), (usize, String)>)) -> Vec<Draft> {
    let mut calls = CallMatcher::default();
    let mut is_running = false;
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let role = json::str_at(&row.value, &["role"]).unwrap_or("other");
        match draft(row, &mut calls, is_running) {
            Ok(draft) => {
                report(role, Ok(()));
                is_running |= draft.role == Role::Assistant && !draft.is_injected;
                found.push(draft);
            }
            Err(why) => report(role, Err((row.span.start, why))),
        }
    }
    found
}

fn draft(row: &Row, calls: &mut CallMatcher, is_running: bool) -> Result<Draft, String> {
    let mut draft = openai_chat::message(&row.value, calls)?;
    draft.raw = vec![row.span.clone()];
    let kind = json::str_at(&row.value, &["message_type"]);
    let is_demo = kind == Some("demonstration") || json::is_true(&row.value, &["is_demo"]);
    draft.is_injected = is_demo || draft.role == Role::User && is_running;
    // One observation may belong to several calls. Its record lists all of them.
    let ids = row.value.get("tool_call_ids").and_then(Value::as_array);
    if let (Role::Tool, Some(id)) = (draft.role, ids.and_then(|ids| ids.first()?.as_str())) {
        let content = row.value.get("content").unwrap_or(&Value::Null);
        draft.parts = content::result(0, (Some(id), None), false, content);
    }
    Ok(draft)
}
