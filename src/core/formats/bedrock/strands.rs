//! Sessions of Strands Agents (`session_ID/agents/agent_ID/messages/message_N.json`): a file per message.
//!
//! - The document is `{"session": …, "agents": [{"agent": …, "messages": […]}]}`. Each agent is a conversation.
//! - A message that a guardrail redacted is sent as its replacement.
//! - The manager of the conversation removes the oldest messages. Only their number and the summary that may replace
//!   them are recorded.
//!
//! <https://strandsagents.com/latest/documentation/docs/user-guide/concepts/agents/session-management/>

use super::message;
use crate::formats::content::CallMatcher;
use crate::formats::folder::{FolderFile, json_list, json_object};
use crate::formats::read_log::ReadLog;
use crate::formats::rows::{self, Row};
use crate::formats::transcript::Transcript;
use crate::formats::{Format, Input, ParseError, Parsed, Probe, RecordedData, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, Draft, Role, Session, Span};
use std::collections::BTreeMap;

pub(crate) const STRANDS: Format = Format {
    name: "strands",
    label: "Strands Agents session",
    detect,
    combine_files: Some(combine),
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::Compactions],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    let is_message = |record: &Value| {
        record.get("message_id").is_some() && record.get("message").is_some_and(message::is_one)
    };
    let agents = document.get("agents").and_then(Value::as_array);
    let listed = |agent: &Value| {
        let messages = agent.get("messages").and_then(Value::as_array);
        messages.is_some_and(|messages| messages.iter().any(is_message))
    };
    let is_session = agents.is_some_and(|agents| agents.iter().any(listed));
    (is_session || is_message(document)).then(|| "messages with a `message_id`".to_owned())
}

/// Contents of the files of an agent.
#[derive(Default)]
struct AgentFiles {
    state: Vec<u8>,
    /// Messages by number.
    messages: BTreeMap<u64, Vec<u8>>,
}

/// Joins the files of a session in the order of their numbers.
fn combine(files: &[FolderFile]) -> Option<Vec<u8>> {
    let mut agents: BTreeMap<&str, AgentFiles> = BTreeMap::new();
    let mut session = b"null".to_vec();
    for file in files {
        let names: Vec<&str> = file.name.split('/').collect();
        match names[..] {
            [.., "session.json"] => session = file.value(),
            [.., agent, "agent.json"] if agent.starts_with("agent_") => {
                agents.entry(agent).or_default().state = file.value();
            }
            [.., agent, "messages", name] if agent.starts_with("agent_") => {
                let number = name.strip_prefix("message_")?.strip_suffix(".json")?;
                let messages = &mut agents.entry(agent).or_default().messages;
                messages.insert(number.parse().ok()?, file.value());
            }
            _ => return None,
        }
    }
    if agents.values().all(|agent| agent.messages.is_empty()) {
        return None;
    }
    let agent = |files: AgentFiles| {
        let state = if files.state.is_empty() { b"null".to_vec() } else { files.state };
        let messages = json_list(files.messages.into_values());
        json_object([("agent", state), ("messages", messages)].into_iter())
    };
    let agents = json_list(agents.into_values().map(agent));
    Some(json_object([("session", session), ("agents", agents)].into_iter()))
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let agents = json::member(bytes, &whole, "agents");
    let agents = agents.and_then(|agents| json::elements(bytes, &agents)).unwrap_or_default();
    let mut sessions = Vec::new();
    for (idx, agent) in agents.iter().enumerate() {
        let number = (agents.len() > 1).then_some(idx + 1);
        let rows = rows::rows_at(bytes, agent, &["messages"], progress, &mut log.notes)?;
        let state = rows::members_except(bytes, agent, &["messages"]);
        sessions.extend(conversation(input, number, rows, (agent, &state), &mut log));
    }
    if agents.is_empty()
        && let Some(value) = json::parse_span(bytes, &whole)
    {
        let text = "this is one message of a session: open its folder to read the others";
        log.notes.add(whole.start, text);
        let rows = vec![Row { span: whole.clone(), value }];
        sessions.extend(conversation(input, None, rows, (&whole, &Value::Null), &mut log));
    }
    log.finish(input, sessions, "a Strands Agents session without a message")
}

/// Reads the conversation of an agent.
fn conversation(
    input: &Input,
    number: Option<usize>,
    rows: Vec<Row>,
    (place, state): (&Span, &Value),
    log: &mut ReadLog,
) -> Option<Session> {
    let mut transcript = Transcript::new(input, STRANDS.name, number);
    let mut added = Vec::with_capacity(rows.len());
    for row in rows {
        let is_redacted = row.value.get("redact_message").is_some_and(Value::is_object);
        let key = if is_redacted { "redact_message" } else { "message" };
        let value = row.value.get(key).unwrap_or(&Value::Null);
        // The transcript matches results with calls.
        let draft = message::read(value, &mut CallMatcher::default());
        log.report.count_record("message", draft.is_ok());
        match draft {
            Ok(draft) => added.push(add(&mut transcript, draft, &row, value, log)),
            Err(why) => log.notes.add(row.span.start, why),
        }
    }
    let state = json::at(state, &["agent", "conversation_manager_state"]).unwrap_or(&Value::Null);
    let removed = json::u64_at(state, &["removed_message_count"]).unwrap_or(0);
    let removed = usize::try_from(removed).unwrap_or(usize::MAX).min(added.len());
    if removed > 0 {
        let text = "the file does not record when the oldest messages were removed from the context: \
                    they are shown as removed after the last message";
        log.notes.add(place.start, text);
        let summary = state.get("summary_message");
        let summary = summary.and_then(|s| message::read(s, &mut CallMatcher::default()).ok());
        let summary = summary.filter(|summary| !summary.parts.is_empty()).map(|draft| {
            transcript.add_message(Draft {
                is_summary: true,
                in_history: false,
                raw: vec![place.clone()],
                ..draft
            })
        });
        let kept = summary.into_iter().chain(added.split_off(removed)).collect();
        transcript.builder.compaction("", None, None, kept);
    }
    transcript.finish()
}

/// Adds a message, and the call of an answer. Returns the index of the message.
fn add(
    transcript: &mut Transcript,
    draft: Draft,
    row: &Row,
    value: &Value,
    log: &mut ReadLog,
) -> usize {
    let time = json::millis_at(&row.value, &["created_at"]);
    let draft = Draft { time, raw: vec![row.span.clone()], ..draft };
    if draft.role != Role::Assistant {
        return transcript.add_message(draft);
    }
    let usage = json::at(value, &["metadata", "usage"]).and_then(message::usage);
    let usage = log.notes.usage(row.span.start, usage);
    transcript.add_answer(CallDraft { usage, time, ..CallDraft::default() }, draft)
}
