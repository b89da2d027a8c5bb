//! Builds the session from its messages: calls, compactions and pruned outputs.

use super::message::{self, CLEARED_OUTPUT, PrunedOutput, UserParts};
use super::{FORMAT, identity};
use crate::formats::mark::MARK;
use crate::formats::notes::{Notes, unknown_role};
use crate::formats::read_log::ReadLog;
use crate::formats::rows::Row;
use crate::formats::transcript::Transcript;
use crate::formats::{Input, ParseError, Parsed, json, mark};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{Body, Draft, Role, SubAgent, Track, Usage, says_too_long};
use crate::units::Millis;
use std::collections::{HashMap, HashSet};

/// Reads the session of these messages. `head` holds the members of the document except the messages.
pub(super) fn read(
    input: &Input,
    head: &Value,
    rows: Vec<Row>,
    progress: &Progress,
    mut log: ReadLog,
) -> Result<Parsed, ParseError> {
    let mut reader = OpenCodeReader::new(Transcript::new(input, FORMAT.name, None));
    let info = head.get("info").unwrap_or(&Value::Null);
    let n_managed = json::u64_at(head, &[MARK, "messages"]).unwrap_or(0);
    let calibration = head.get(MARK).and_then(mark::calibration);
    reader.transcript.builder.calibration(calibration);
    let field = |key| json::str_at(info, &[key]).unwrap_or_default();
    reader.transcript.title(field("title"));
    if !field("directory").is_empty() {
        reader.transcript.builder.project(field("directory"));
    }
    if !field("version").is_empty() {
        reader.transcript.builder.agent_version(field("version"));
    }
    let identity = identity::of_info(info).unwrap_or_default();
    log.report.parent = identity.parent.clone().map(String::from);
    for (at, row) in rows.into_iter().enumerate() {
        progress.check_cancelled()?;
        reader.is_managed = (at as u64) < n_managed;
        reader.prune_until(json::millis_at(&row.value, &["info", "time", "created"]));
        let role = json::str_at(&row.value, &["info", "role"]).unwrap_or("other");
        let in_context = match role {
            "user" => reader.user(&row),
            "assistant" => reader.assistant(&row, &mut log.notes),
            other => {
                log.notes.add(row.span.start, unknown_role(other));
                false
            }
        };
        log.report.count_record(role, in_context);
        for (_, value) in message::raw_parts(&row) {
            let agent = json::str_at(value, &["state", "metadata", "sessionId"]);
            if let Some((agent, call)) = agent.zip(json::str_at(value, &["callID"])) {
                log.report.sub_agents.insert(agent.to_owned(), call.into());
            }
            log.report.count_record(
                &format!("part/{}", json::str_at(value, &["type"]).unwrap_or("other")),
                in_context,
            );
        }
    }
    reader.prune_until(Some(Millis(i64::MAX)));
    let mut session = reader.transcript.finish();
    if let (Some(session), true) = (&mut session, identity.parent.is_some()) {
        session.track = Track::SubAgent(SubAgent { id: Some(identity.id), ..SubAgent::default() });
    }
    let sessions = session.into_iter().collect();
    log.finish(input, sessions, "an OpenCode session without a message")
}

/// A requested compaction.
struct CompactionRequest {
    id: Box<str>,
    message: usize,
    trigger: &'static str,
    tail: Option<Box<str>>,
}

struct OpenCodeReader {
    transcript: Transcript,
    /// Indices of the messages in context.
    context: Vec<usize>,
    /// Index of the first message that each record became, by the record's id.
    by_id: HashMap<Box<str>, usize>,
    request: Option<CompactionRequest>,
    /// Ids of user messages that start a sub-agent.
    subtasks: HashSet<Box<str>>,
    /// Tool outputs of the messages so far that are pruned later.
    pruned: Vec<PrunedOutput>,
    /// Whether the usage of the following messages belongs to contexts that are no longer in the file.
    is_managed: bool,
}

impl OpenCodeReader {
    fn new(transcript: Transcript) -> Self {
        Self {
            transcript,
            context: Vec::new(),
            by_id: HashMap::new(),
            request: None,
            subtasks: HashSet::new(),
            pruned: Vec::new(),
            is_managed: false,
        }
    }

    fn say(&mut self, id: Option<&str>, draft: Draft) -> usize {
        let message = self.transcript.add_message(draft);
        self.add_to_context(id, message);
        message
    }

    fn add_to_context(&mut self, id: Option<&str>, message: usize) {
        self.context.push(message);
        if let Some(id) = id {
            self.by_id.entry(id.into()).or_insert(message);
        }
    }

    fn user(&mut self, row: &Row) -> bool {
        let UserParts { parts, is_injected } = message::user_parts(row);
        let id = json::str_at(&row.value, &["info", "id"]);
        if parts.is_empty() {
            return false;
        }
        let is_of = |part: &Value, kind| json::str_at(part, &["type"]) == Some(kind);
        let compaction = message::raw_parts(row).find(|(_, part)| is_of(part, "compaction"));
        if message::raw_parts(row).any(|(_, part)| is_of(part, "subtask")) {
            self.subtasks.extend(id.map(Into::into));
        }
        // The program asks the model to go on after a compaction.
        let goes_on = |part: &Value| json::is_true(part, &["metadata", "compaction_continue"]);
        let in_history = !message::raw_parts(row).any(|(_, part)| goes_on(part));
        let draft = message::draft(row, Role::User, parts);
        let is_injected = is_injected || compaction.is_some();
        let message = self.say(id, Draft { is_injected, in_history, ..draft });
        if !in_history {
            self.transcript.builder.keep_in_last_compaction(message);
        }
        if let Some((_, part)) = compaction {
            self.request = Some(CompactionRequest {
                id: id.unwrap_or_default().into(),
                message,
                trigger: if json::is_true(part, &["auto"]) { "auto" } else { "manual" },
                tail: json::str_at(part, &["tail_start_id"]).map(Into::into),
            });
        }
        true
    }

    /// Adds the call of an answer that failed without usage if the provider rejected its context as too long.
    fn failed_call(&mut self, row: &Row, error: &str) {
        let call = message::call_draft(row, None, false);
        if says_too_long(&error.to_lowercase()) && !self.is_managed {
            self.transcript.builder.call(call);
            self.transcript.builder.fail_last_call(error);
        }
    }

    fn assistant(&mut self, row: &Row, notes: &mut Notes) -> bool {
        let info = row.value.get("info").unwrap_or(&Value::Null);
        let id = json::str_at(info, &["id"]);
        let is_summary = json::is_true(info, &["summary"]);
        let has_failed = info.get("error").is_some_and(|e| !e.is_null());
        let aborted = json::str_at(info, &["error", "name"]) == Some("MessageAbortedError");
        let calls = message::calls(row, &mut self.pruned);
        let mut added = Vec::new();
        let mut summary_usage: Option<Usage> = None;
        // The program writes the call of a sub-agent that the user started, without a model call.
        let parent = json::str_at(info, &["parentID"]);
        let is_programs_own = parent.is_some_and(|parent| self.subtasks.contains(parent))
            && message::raw_parts(row)
                .all(|(_, p)| json::str_at(p, &["type"]) != Some("step-start"));
        for call in calls {
            let usage = notes.usage(row.span.start, call.usage);
            let reported = message::call_draft(row, usage, call.is_cut);
            // A failed answer is not resent. An interrupted answer is resent as far as it was received.
            let is_sent = !has_failed || aborted;
            if call.output.is_empty() || !is_sent {
                if usage.is_some() && !self.is_managed {
                    self.transcript.builder.call(reported);
                }
                continue;
            }
            let draft = Draft { is_summary, ..message::draft(row, Role::Assistant, call.output) };
            // The summary request and the summary exist only because of the compaction.
            let message = if is_programs_own && usage.is_none() {
                self.transcript.add_message(draft)
            } else if is_summary && !has_failed {
                if let Some(usage) = usage.filter(|_| !self.is_managed) {
                    summary_usage.get_or_insert_default().add(&usage);
                }
                self.transcript.add_message(Draft { in_history: false, ..draft })
            } else {
                let message = self.transcript.add_answer(reported, draft);
                if self.is_managed {
                    self.transcript.forget_usage();
                }
                message
            };
            self.add_to_context(id, message);
            added.push(message);
            if !call.results.is_empty() {
                let results = message::draft(row, Role::Tool, call.results);
                added.push(self.say(id, results));
            }
        }
        if has_failed {
            let error = json::str_at(info, &["error", "data", "message"]);
            self.failed_call(row, error.unwrap_or_default());
            self.transcript.builder.aborted();
        }
        if is_summary && !has_failed {
            self.apply_compaction(info, &added);
            if let Some(usage) = summary_usage {
                let model = json::str_at(info, &["modelID"]);
                self.transcript.builder.summary_usage(model, usage);
            }
        }
        !added.is_empty()
    }

    /// Applies a compaction after its summary: the request, the summary, the messages from the tail that it names up to the
    /// request, and what followed the request. If the first summary failed, another is made under the next prompt; it
    /// stays where it was written.
    fn apply_compaction(&mut self, info: &Value, summary: &[usize]) {
        let parent = json::str_at(info, &["parentID"]);
        let request = self.request.take();
        let is_of_request = request
            .as_ref()
            .is_none_or(|request| parent.is_none_or(|parent| *request.id == *parent));
        let tail = request.as_ref().and_then(|request| {
            let from = *self.by_id.get(request.tail.as_deref()?)?;
            Some((from, request.message))
        });
        let question = request.as_ref().map(|request| request.message);
        let in_context = |from: usize, to: usize| {
            self.context.iter().copied().filter(move |idx| (from..to).contains(idx))
        };
        let mut kept: Vec<usize> = question.into_iter().collect();
        if is_of_request {
            kept.extend(summary);
        }
        kept.extend(tail.into_iter().flat_map(|(from, to)| in_context(from, to)));
        if !is_of_request {
            kept.extend(question.into_iter().flat_map(|at| in_context(at + 1, usize::MAX)));
        }
        if let Some(message) = question.and_then(|idx| self.transcript.builder.message_mut(idx)) {
            message.in_history = false;
        }
        let trigger = request.map_or("", |request| request.trigger);
        self.context.clone_from(&kept);
        self.transcript.builder.compaction(trigger, None, None, kept);
    }

    /// Applies the prunings up to a time.
    fn prune_until(&mut self, time: Option<Millis>) {
        let Some(time) = time else {
            return;
        };
        let (now, later): (Vec<PrunedOutput>, Vec<PrunedOutput>) = std::mem::take(&mut self.pruned)
            .into_iter()
            .partition(|output| output.time.0 <= time.0);
        self.pruned = later;
        if now.is_empty() {
            return;
        }
        let calls: HashSet<Box<str>> = now.into_iter().map(|output| output.call).collect();
        let mut kept = Vec::with_capacity(self.context.len());
        let mut is_changed = false;
        for idx in std::mem::take(&mut self.context) {
            let with_cleared_outputs = self.with_cleared_outputs(idx, &calls);
            is_changed |= with_cleared_outputs.is_some();
            kept.push(with_cleared_outputs.map_or(idx, |draft| self.transcript.add_message(draft)));
        }
        self.context.clone_from(&kept);
        if is_changed {
            self.transcript.builder.compaction("prune", None, None, kept);
        }
    }

    /// Returns a message with the outputs of these calls cleared, or `None` if it contains none of them.
    fn with_cleared_outputs(&self, idx: usize, calls: &HashSet<Box<str>>) -> Option<Draft> {
        let session = self.transcript.builder.session();
        let message = &session.messages[idx];
        let is_pruned = |body: &Body| match body {
            Body::ToolResult { call, .. } => calls.contains(call),
            _ => false,
        };
        let parts = session.parts_of(message);
        if !parts.iter().any(|part| is_pruned(&part.body)) {
            return None;
        }
        let mut parts = parts.to_vec();
        parts.retain(|part| !matches!(&part.body, Body::Media { within: Some(call), .. } if calls.contains(call)));
        for part in &mut parts {
            if is_pruned(&part.body)
                && let Body::ToolResult { text, .. } = &mut part.body
            {
                *text = CLEARED_OUTPUT.into();
            }
        }
        Some(Draft {
            id: message.id.clone(),
            time: message.time,
            raw: message.raw.clone(),
            in_history: false,
            ..Draft::new(message.role, parts)
        })
    }
}
