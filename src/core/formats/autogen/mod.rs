//! States and messages of `AutoGen`'s `AgentChat`.
//!
//! - The state of an agent holds the messages that it sends (`llm_context`), without its instructions and tools. The
//!   state of a team holds one such list for each agent, and the thread of all messages, with usage.
//! - The messages of a result or a thread are read as each agent receives them: messages of the others are the user's,
//!   and their calls and results are not sent to it.
//!
//! <https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/state.html>

mod message;
mod thread;

use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::{Cancelled, Progress};
use crate::session::{Role, Session, Span};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use thread::Thread;

pub(super) const FORMAT: Format = Format {
    name: "autogen",
    label: "AutoGen messages",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times],
    ..Format::READ_ONLY
};

/// Maximum depth of teams within teams.
const MAX_DEPTH: usize = 8;

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document();
    if let Some(state) = document.filter(|document| is_state(document, 0)) {
        let kind = json::str_at(state, &["type"]).unwrap_or_default();
        return Some(format!("a state of type {}", json::shortened(kind)));
    }
    let listed = document.and_then(|v| v.as_array().or_else(|| v.get("messages")?.as_array()));
    let is_thread = if let Some(list) = listed {
        !list.is_empty() && list.iter().all(thread::is_message)
    } else {
        let records = probe.records();
        !records.is_empty() && records.iter().all(|r| thread::is_message(&r.value))
    };
    is_thread.then(|| "messages with a `type`, a `source` and `models_usage`".to_owned())
}

/// Returns whether a value is the state of an agent or of a team with one.
fn is_state(value: &Value, depth: usize) -> bool {
    if value.get("type").is_none() || depth > MAX_DEPTH {
        return false;
    }
    let is_agent = json::at(value, &["llm_context", "messages"]).is_some_and(Value::is_array);
    let states = value.get("agent_states").and_then(Value::as_object);
    let mut inner = states.into_iter().flat_map(|states| states.iter().map(|(_, state)| state));
    is_agent
        || ["agent_state", "inner_team_state"]
            .iter()
            .any(|key| value.get(key).is_some_and(|inner| is_state(inner, depth + 1)))
        || inner.any(|state| is_state(state, depth + 1))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let mut sessions = Vec::new();
    if json::member(bytes, &whole, "type").is_some() && json::is_one_value(&bytes[whole.clone()]) {
        let mut agents = Vec::new();
        collect(bytes, &whole, "", &mut agents, 0);
        let is_many = agents.len() > 1;
        let mut teams = TeamReports::default();
        for (idx, agent) in agents.iter().enumerate() {
            let transcript = Transcript::new(input, FORMAT.name, is_many.then_some(idx + 1));
            let reports = match &agent.thread {
                Some(span) => teams.of_agent(bytes, span, &agent.name, progress, &mut log)?,
                None => &[],
            };
            sessions.extend(state(bytes, agent, reports, transcript, progress, &mut log)?);
        }
        if !sessions.is_empty() {
            let text = "states do not record the agents' instructions and tools";
            log.notes.once(whole.start, text);
        }
    } else {
        let rows = match json::member(bytes, &whole, "messages") {
            Some(_) => rows::rows_at(bytes, &whole, &["messages"], progress, &mut log.notes)?,
            None => rows::map_rows(&input.bytes, progress, &mut log, |row| row)?,
        };
        sessions = Thread::new(&rows).sessions(input, &mut log);
    }
    log.finish(input, sessions, "AutoGen messages without an answer")
}

/// The state of an agent in a file.
struct AgentState {
    name: String,
    /// Span of the list of messages.
    messages: Span,
    /// Span of the thread of the agent's team.
    thread: Option<Span>,
}

/// Collects the states of agents within a state.
fn collect(bytes: &[u8], span: &Span, name: &str, found: &mut Vec<AgentState>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(context) = json::member(bytes, span, "llm_context")
        && let Some(messages) = json::member(bytes, &context, "messages")
    {
        found.push(AgentState { name: name.to_owned(), messages, thread: None });
    }
    for key in ["agent_state", "inner_team_state"] {
        if let Some(inner) = json::member(bytes, span, key) {
            collect(bytes, &inner, name, found, depth + 1);
        }
    }
    let states = json::member(bytes, span, "agent_states");
    let states = states.and_then(|states| json::members(bytes, &states)).unwrap_or_default();
    let thread = states.iter().find_map(|(_, s)| json::member(bytes, s, "message_thread"));
    let n_before = found.len();
    for (name, state) in &states {
        // Older versions add the id of the team to the name.
        let name = name.split('/').next().unwrap_or(name);
        collect(bytes, state, name, found, depth + 1);
    }
    for agent in &mut found[n_before..] {
        agent.thread = agent.thread.take().or_else(|| thread.clone());
    }
}

/// The messages with usage in the threads of teams: by the position of the thread and by agent.
#[derive(Default)]
struct TeamReports(HashMap<usize, HashMap<String, Vec<Row>>>);

impl TeamReports {
    /// Returns the messages of an agent in the thread at a span, which is parsed once.
    fn of_agent(
        &mut self,
        bytes: &[u8],
        thread: &Span,
        agent: &str,
        progress: &Progress,
        log: &mut ReadLog,
    ) -> Result<&[Row], Cancelled> {
        let by_source = match self.0.entry(thread.start) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let mut by_source: HashMap<String, Vec<Row>> = HashMap::new();
                for row in rows::rows_at(bytes, thread, &[], progress, &mut log.notes)? {
                    let source = json::str_at(&row.value, &["source"]).map(str::to_owned);
                    if let Some(source) = source
                        && row.value.get("models_usage").is_some_and(Value::is_object)
                    {
                        by_source.entry(source).or_default().push(row);
                    }
                }
                new.insert(by_source)
            }
        };
        Ok(by_source.get(agent).map_or(&[], Vec::as_slice))
    }
}

/// Returns the conversation of an agent's state. `reports` are its messages with usage in the thread of its team.
fn state(
    bytes: &[u8],
    agent: &AgentState,
    reports: &[Row],
    mut transcript: Transcript,
    progress: &Progress,
    log: &mut ReadLog,
) -> Result<Option<Session>, Cancelled> {
    let mut reported = reports.iter().peekable();
    for row in rows::rows_at(bytes, &agent.messages, &[], progress, &mut log.notes)? {
        progress.check_cancelled()?;
        let kind = json::str_at(&row.value, &["type"]).unwrap_or("other").to_owned();
        let draft = message::of_context(&row);
        log.report.count_record(&kind, draft.is_some());
        match draft {
            Some(draft) if draft.role == Role::Assistant => {
                let content = row.value.get("content");
                let report = reported.next_if(|report| report.value.get("content") == content);
                let call = report.map(|row| message::call_of(row, log)).unwrap_or_default();
                transcript.add_answer(call, draft);
            }
            Some(draft) => {
                transcript.add_message(draft);
            }
            None => {
                let kind = json::shortened(&kind);
                log.notes.once(row.span.start, format!("a message of type `{kind}` is left out"));
            }
        }
    }
    transcript.title(&agent.name);
    Ok(transcript.finish())
}
