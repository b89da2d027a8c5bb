//! Sessions of Google's Agent Development Kit (ADK): the JSON that it writes, also built from its databases.
//!
//! - An event holds a Gemini content. An event of the model is a call, whose usage it reports.
//! - A compaction is an event with a summary and a range of times. It replaces the events and the summaries in the range.
//! - A rewind removes the events from the first one of an invocation on.
//! - Events of task agents (`isolation_scope`) and of credentials are not sent to the agent of the session.
//!
//! Newer versions write names in snake case, exports and older versions in camel case. Instructions and tools are not
//! recorded.

mod context;
mod store;

use super::notes::Notes;
use super::read_log::ReadLog;
use super::rows::{self, Row};
use super::transcript::Transcript;
use super::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, counts, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Body, CallDraft, CutAnswer, Draft, Part, Role};
use context::EventContext;
use std::collections::{HashMap, HashSet};

pub(super) const FORMAT: Format = Format {
    name: "google_adk",
    label: "Google ADK session",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::Compactions],
    database: Some(&store::DATABASE),
    ..Format::READ_ONLY
};

const EVENTS: &str = "events";
/// Mark in the document for actions that are stored as a Python pickle and change the context.
const PICKLED_CHANGE: &str = "pickled_change";
/// Warning about changes of the context beyond the limit.
const TOO_MANY_CHANGES: &str =
    "the changes of the context are too many to be read: the last ones are left out";
/// Author of the user's events.
const USER: &str = "user";
/// Tools of the program itself, whose calls and results are not sent to the model.
// As in google-adk 2.13.0, `utils/_function_call_names.py` and `flows/llm_flows/context/_contents.py`.
const OWN_TOOLS: [&str; 3] =
    ["adk_request_credential", "adk_request_confirmation", "adk_framework"];

/// Returns a member with this name in snake case or in camel case.
fn member<'a>(value: &'a Value, snake: &str, camel: &str) -> Option<&'a Value> {
    content::first(value, &[snake, camel])
}

fn detect(probe: &Probe) -> Option<String> {
    let document = probe.document()?;
    member(document, "app_name", "appName")?;
    let is_event = |event: &Value| {
        event.get("author").is_some_and(Value::is_string)
            && member(event, "invocation_id", "invocationId").is_some()
    };
    let events = document.get(EVENTS)?.as_array()?;
    events
        .iter()
        .any(is_event)
        .then(|| "an app name, and `events` with an author and an invocation".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let bytes: &[u8] = &input.bytes.whole();
    let whole = json::document_span(bytes);
    let mut log = ReadLog::default();
    let head = rows::members_except(bytes, &whole, &[EVENTS]);
    let events = rows::rows_at(bytes, &whole, &[EVENTS], progress, &mut log.notes)?;
    let mut first_events = HashMap::new();
    for (idx, event) in events.iter().enumerate() {
        if let Some(invocation) = invocation(&event.value) {
            first_events.entry(invocation.to_owned()).or_insert(idx);
        }
    }
    let mut transcript = Transcript::new(input, FORMAT.name, None);
    transcript.title(json::str_at(&head, &["title"]).unwrap_or_default());
    let mut reader = AdkReader {
        transcript,
        context: EventContext::default(),
        first_events,
        authors: HashSet::new(),
    };
    for (idx, row) in events.iter().enumerate() {
        progress.check_cancelled()?;
        let (kind, is_context) = reader.event(idx, row, &mut log.notes);
        log.report.count_record(kind, is_context);
    }
    if reader.authors.len() > 1 {
        let text = "several agents answer in this session; ADK sends each agent the others' messages as text of the user";
        log.notes.add(whole.start, text);
    }
    let session = reader.transcript.finish();
    log.finish(input, session.into_iter().collect(), "a Google ADK session without a message")
}

fn invocation(event: &Value) -> Option<&str> {
    member(event, "invocation_id", "invocationId")?.as_str().filter(|id| !id.is_empty())
}

struct AdkReader {
    transcript: Transcript,
    context: EventContext,
    /// Index of the first event of each invocation.
    first_events: HashMap<String, usize>,
    /// Names of the agents that answered.
    authors: HashSet<String>,
}

impl AdkReader {
    /// Adds an event. Returns its kind and whether it is sent to the model.
    fn event(&mut self, idx: usize, row: &Row, notes: &mut Notes) -> (&'static str, bool) {
        let (event, at) = (&row.value, row.span.start);
        let actions = event.get("actions").unwrap_or(&Value::Null);
        if json::is_true(actions, &[PICKLED_CHANGE]) {
            let text = "a compaction or a rewind is stored as a Python pickle, which is not read; the messages that it removed are still counted";
            notes.once(at, text);
            return ("compaction or rewind", false);
        }
        if let Some(compaction) = actions.get("compaction").filter(|c| c.is_object()) {
            return ("compaction", self.compaction(idx, row, compaction, notes));
        }
        let before = member(actions, "rewind_before_invocation_id", "rewindBeforeInvocationId");
        if let Some(invocation) = before.and_then(Value::as_str) {
            return ("rewind", self.rewind(idx, row, invocation, notes));
        }
        if member(event, "isolation_scope", "isolationScope").is_some() {
            notes.once(at, "events of task agents are not read: the agent of the session does not receive them");
            return ("task agent", false);
        }
        let content = event.get("content").unwrap_or(&Value::Null);
        let parts = content.get("parts").map(content::parts).unwrap_or_default();
        if parts.iter().any(is_own_tool) {
            return ("request to the user", false);
        }
        if json::is_true(event, &["partial"]) {
            return ("partial answer", false);
        }
        let author = json::str_at(event, &["author"]).unwrap_or_default();
        let is_result = parts.first().is_some_and(|p| matches!(p.body, Body::ToolResult { .. }));
        let role = match json::str_at(content, &["role"]) {
            _ if is_result => Role::Tool,
            Some("model") => Role::Assistant,
            None if author != USER => Role::Assistant,
            _ => Role::User,
        };
        let draft = draft(row, role, parts);
        let message = if role == Role::Assistant {
            self.answer(event, draft, at, notes)
        } else {
            (!draft.parts.is_empty()).then(|| self.transcript.add_message(draft))
        };
        if let Some(message) = message {
            self.context.add(message, idx, seconds(event, "timestamp", "timestamp"));
        }
        let kind = match role {
            Role::Assistant if author != USER => "answer",
            Role::Tool => "tool result",
            _ => "user",
        };
        (kind, message.is_some())
    }

    /// Adds an answer with its call. An event without usage and content only changes the state.
    fn answer(
        &mut self,
        event: &Value,
        draft: Draft,
        at: usize,
        notes: &mut Notes,
    ) -> Option<usize> {
        let usage = member(event, "usage_metadata", "usageMetadata");
        let usage = notes.usage(at, usage.and_then(counts::gemini_usage));
        if draft.parts.is_empty() && usage.is_none() {
            return None;
        }
        let reason = member(event, "finish_reason", "finishReason").and_then(Value::as_str);
        let model = member(event, "model_version", "modelVersion").and_then(Value::as_str);
        let call = CallDraft {
            model: model.filter(|model| !model.is_empty()).map(str::to_owned),
            usage,
            time: draft.time,
            cut: (reason == Some("MAX_TOKENS")).then(CutAnswer::default),
            ..CallDraft::default()
        };
        self.authors.extend(json::str_at(event, &["author"]).map(str::to_owned));
        if draft.parts.is_empty() {
            self.transcript.builder.call(call);
            return None;
        }
        Some(self.transcript.add_answer(call, draft))
    }

    /// Adds a compaction. Returns whether it has a summary.
    fn compaction(&mut self, idx: usize, row: &Row, value: &Value, notes: &mut Notes) -> bool {
        let summary = member(value, "compacted_content", "compactedContent");
        let summary = summary.unwrap_or(&Value::Null);
        let parts = summary.get("parts").map(content::parts).unwrap_or_default();
        let start = seconds(value, "start_timestamp", "startTimestamp");
        let end = seconds(value, "end_timestamp", "endTimestamp");
        let (Some(start), Some(end), false) = (start, end, parts.is_empty()) else {
            notes.add(
                row.span.start,
                "a compaction without a summary or a range of times is left out",
            );
            return false;
        };
        let role = match json::str_at(summary, &["role"]) {
            Some(USER) => Role::User,
            _ => Role::Assistant,
        };
        let draft = Draft { is_summary: true, in_history: false, ..draft(row, role, parts) };
        self.transcript.builder.end_answer();
        let message = self.transcript.add_message(draft);
        let Some(kept) = self.context.compact(message, idx, (start, end)) else {
            notes.once(row.span.start, TOO_MANY_CHANGES);
            return true;
        };
        self.transcript.builder.compaction("", None, None, kept);
        let usage = member(&row.value, "usage_metadata", "usageMetadata");
        let usage = notes.usage(row.span.start, usage.and_then(counts::gemini_usage));
        if let Some(usage) = usage {
            self.transcript.builder.summary_usage(None, usage);
        }
        true
    }

    /// Removes the events from the first one of an invocation on.
    fn rewind(&mut self, idx: usize, row: &Row, invocation: &str, notes: &mut Notes) -> bool {
        let first = self.first_events.get(invocation).filter(|first| **first < idx);
        match first.map(|first| self.context.rewind(*first)) {
            Some(Some(kept)) => self.transcript.builder.revision(kept),
            Some(None) => notes.once(row.span.start, TOO_MANY_CHANGES),
            None => {}
        }
        false
    }
}

fn draft(row: &Row, role: Role, parts: Vec<Part>) -> Draft {
    Draft {
        id: json::str_at(&row.value, &["id"]).map(Into::into),
        time: json::millis_at(&row.value, &["timestamp"]),
        raw: vec![row.span.clone()],
        ..Draft::new(role, parts)
    }
}

fn seconds(value: &Value, snake: &str, camel: &str) -> Option<f64> {
    member(value, snake, camel)?.as_f64()
}

fn is_own_tool(part: &Part) -> bool {
    match &part.body {
        Body::ToolCall { tool, .. } | Body::ToolResult { tool, .. } => OWN_TOOLS.contains(&&**tool),
        _ => false,
    }
}
