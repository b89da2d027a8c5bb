//! Reads the messages of a team or an agent as each agent receives them.

use super::message;
use crate::formats::content::{self, part};
use crate::formats::read_log::ReadLog;
use crate::formats::rows::Row;
use crate::formats::transcript::Transcript;
use crate::formats::{Input, json};
use crate::json::Value;
use crate::session::{Draft, Part, Role, Session};
use std::collections::HashSet;

/// Maximum number of agents.
// Chosen: far more than a team has. Every agent repeats the messages of all others.
const MAX_AGENTS: usize = 64;
/// Maximum length of the messages that all agents repeat, in bytes.
// Chosen: ten agents of a thread of 50 MB.
const MAX_REPEATED: usize = 512 << 20;

/// Returns whether a value is a message or an event of a thread.
pub(super) fn is_message(value: &Value) -> bool {
    let kind = json::str_at(value, &["type"]).unwrap_or_default();
    (kind.ends_with("Message") || kind.ends_with("Event"))
        && json::str_at(value, &["source"]).is_some()
        && value.get("models_usage").is_some()
}

/// The messages of a thread.
pub(super) struct Thread<'a> {
    rows: &'a [Row],
    /// Names of the agents in the order of their first answers.
    agents: Vec<&'a str>,
    /// Agents are left out.
    is_incomplete: bool,
}

impl<'a> Thread<'a> {
    /// Finds the agents of a thread: the sources of calls or, if none reports usage, all sources but the user.
    pub(super) fn new(rows: &'a [Row]) -> Self {
        let (mut agents, mut known): (Vec<&str>, HashSet<&str>) = (Vec::new(), HashSet::new());
        let n_bytes = rows.iter().map(|row| row.span.len()).sum::<usize>();
        let most = (MAX_REPEATED / n_bytes.max(1)).clamp(1, MAX_AGENTS);
        let has_usage = |row: &Row| row.value.get("models_usage").is_some_and(Value::is_object);
        let any_usage = rows.iter().any(has_usage);
        for row in rows {
            let source = json::str_at(&row.value, &["source"]).unwrap_or_default();
            let is_agent = if any_usage { has_usage(row) } else { source != "user" };
            if is_agent && known.insert(source) {
                agents.push(source);
            }
        }
        let is_incomplete = agents.len() > most;
        agents.truncate(most);
        Self { rows, agents, is_incomplete }
    }

    /// Returns the conversation of each agent.
    pub(super) fn sessions(&self, input: &Input, log: &mut ReadLog) -> Vec<Session> {
        for row in self.rows {
            let kind = json::str_at(&row.value, &["type"]).unwrap_or("other");
            log.report.count_record(kind, is_message(&row.value));
        }
        if self.is_incomplete {
            let n = self.agents.len();
            let text = format!(
                "the thread is too large to be read for all agents: only the first {n} are read"
            );
            log.notes.add(self.rows.first().map_or(0, |row| row.span.start), text);
        }
        let is_many = self.agents.len() > 1;
        let conversation = |(idx, agent): (usize, &&str)| {
            let number = is_many.then_some(idx + 1);
            let mut transcript = Transcript::new(input, super::FORMAT.name, number);
            if is_many {
                transcript.title(agent);
            }
            self.view(agent, &mut transcript, log);
            transcript.finish()
        };
        self.agents.iter().enumerate().filter_map(conversation).collect()
    }

    /// Adds the messages that an agent receives and its own.
    fn view(&self, agent: &str, transcript: &mut Transcript, log: &mut ReadLog) {
        let mut thought: Option<Part> = None;
        for row in self.rows {
            let value = &row.value;
            let content = value.get("content").unwrap_or(&Value::Null);
            let kind = json::str_at(value, &["type"]).unwrap_or_default();
            let draft = |role, parts| Draft {
                id: json::str_at(value, &["id"]).map(Into::into),
                time: json::millis_at(value, &["created_at"]),
                raw: vec![row.span.clone()],
                ..Draft::new(role, parts)
            };
            let is_own = json::str_at(value, &["source"]) == Some(agent);
            match kind {
                "ThoughtEvent" if is_own => {
                    let text = content.as_str().unwrap_or_default();
                    thought = content::thought(text, 0).map(|body| part(0, body));
                }
                "ToolCallExecutionEvent" if is_own => {
                    transcript.add_message(draft(Role::Tool, message::results(content)));
                }
                // The agent's own summary of results is not sent to it again.
                "ToolCallSummaryMessage" | "HandoffMessage" if is_own => {}
                "ToolCallRequestEvent" | "TextMessage" | "StopMessage" | "StructuredMessage"
                    if is_own =>
                {
                    let parts = thought.take().into_iter().chain(message::answer(content));
                    let draft = draft(Role::Assistant, parts.collect());
                    let call = message::call_of(row, log);
                    transcript.add_answer(call, draft);
                }
                kind if !is_own && kind.ends_with("Message") => {
                    let parts = match content {
                        Value::Object(_) => message::answer(content),
                        _ => message::texts(content),
                    };
                    if !parts.is_empty() {
                        transcript.add_message(draft(Role::User, parts));
                    }
                }
                _ => {}
            }
        }
    }
}
