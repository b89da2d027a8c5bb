//! Puts the messages together: calls, compactions, and outputs that were pruned on the way.

use super::message::{self, CLEARED, Pruned};
use super::{FORMAT, kin};
use crate::formats::message_list::MARK;
use crate::formats::notes::Notes;
use crate::formats::rows::Row;
use crate::formats::transcript::Transcript;
use crate::formats::{ImportReport, Input, ParseError, Parsed, Refused, json, mark};
use crate::progress::Progress;
use crate::session::{Body, Draft, Role, SubAgent, Track};
use crate::units::Millis;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The session of these messages; `head` is what the file says beside them.
pub(super) fn read(
    input: &Input,
    head: &Value,
    rows: Vec<Row>,
    progress: &Progress,
    mut notes: Notes,
) -> Result<Parsed, ParseError> {
    let mut report = ImportReport::default();
    let mut reader = Reader::new(Transcript::new(input, FORMAT.name, None));
    let info = head.get("info").unwrap_or(&Value::Null);
    let n_managed = json::u64_at(head, &[MARK, "messages"]).unwrap_or(0);
    let calibration = head.get(MARK).and_then(mark::calibration);
    reader.transcript.builder.calibration(calibration);
    let says = |key| json::str_at(info, &[key]).unwrap_or_default();
    reader.transcript.title(says("title"));
    if !says("directory").is_empty() {
        reader.transcript.builder.project(says("directory"));
    }
    let kin = kin::of(info).unwrap_or_default();
    report.parent = kin.parent.clone().map(String::from);
    for (at, row) in rows.into_iter().enumerate() {
        progress.go_on()?;
        reader.is_managed = (at as u64) < n_managed;
        reader.prune_until(json::millis_at(&row.value, &["info", "time", "created"]));
        let role = json::str_at(&row.value, &["info", "role"]).unwrap_or("other");
        let in_context = match role {
            "user" => reader.user(&row),
            "assistant" => reader.assistant(&row, &mut notes),
            other => {
                let other = json::quoted(other);
                notes.add(
                    row.span.start,
                    format!(
                        "a message of the unknown role `{other}` is kept, but not sent to the model"
                    ),
                );
                false
            }
        };
        report.note(role, in_context);
        for (_, value) in message::listed(&row) {
            let agent = json::str_at(value, &["state", "metadata", "sessionId"]);
            if let Some((agent, call)) = agent.zip(json::str_at(value, &["callID"])) {
                report.sub_agents.insert(agent.to_owned(), call.into());
            }
            report.note(
                &format!("part/{}", json::str_at(value, &["type"]).unwrap_or("other")),
                in_context,
            );
        }
    }
    reader.prune_until(Some(Millis(i64::MAX)));
    let mut session = reader.transcript.finish().ok_or_else(|| Refused {
        looks_like: "this looks like an OpenCode session without a message".to_owned(),
    })?;
    if kin.parent.is_some() {
        session.track = Track::SubAgent(SubAgent {
            id: Some(kin.id),
            ..SubAgent::default()
        });
    }
    Ok(Parsed {
        sessions: vec![session],
        warnings: notes.warnings(&input.bytes),
        report,
    })
}

/// A compaction that was asked for.
struct Asked {
    id: Box<str>,
    message: usize,
    trigger: &'static str,
    tail: Option<Box<str>>,
}

struct Reader {
    transcript: Transcript,
    /// The messages in context.
    context: Vec<usize>,
    /// The first message of each message of the file.
    by_id: HashMap<Box<str>, usize>,
    asked: Option<Asked>,
    /// Messages of a person that start a sub-agent.
    subtasks: HashSet<Box<str>>,
    pruned: Pruned,
    /// What the messages now report belongs to contexts that the file does not hold any more.
    is_managed: bool,
}

impl Reader {
    fn new(transcript: Transcript) -> Self {
        Self {
            transcript,
            context: Vec::new(),
            by_id: HashMap::new(),
            asked: None,
            subtasks: HashSet::new(),
            pruned: Vec::new(),
            is_managed: false,
        }
    }

    fn say(&mut self, id: Option<&str>, draft: Draft) -> usize {
        let message = self.transcript.add_message(draft);
        self.seen(id, message);
        message
    }

    fn seen(&mut self, id: Option<&str>, message: usize) {
        self.context.push(message);
        if let Some(id) = id {
            self.by_id.entry(id.into()).or_insert(message);
        }
    }

    fn user(&mut self, row: &Row) -> bool {
        let (parts, is_injected) = message::asked(row);
        let id = json::str_at(&row.value, &["info", "id"]);
        if parts.is_empty() {
            return false;
        }
        let is_of = |part: &Value, kind| json::str_at(part, &["type"]) == Some(kind);
        let compaction = message::listed(row).find(|(_, part)| is_of(part, "compaction"));
        if message::listed(row).any(|(_, part)| is_of(part, "subtask")) {
            self.subtasks.extend(id.map(Into::into));
        }
        let draft = message::draft(row, Role::User, parts);
        let message = self.say(
            id,
            Draft {
                is_injected: is_injected || compaction.is_some(),
                ..draft
            },
        );
        if let Some((_, part)) = compaction {
            self.asked = Some(Asked {
                id: id.unwrap_or_default().into(),
                message,
                trigger: if json::is_true(part, &["auto"]) {
                    "auto"
                } else {
                    "manual"
                },
                tail: json::str_at(part, &["tail_start_id"]).map(Into::into),
            });
        }
        true
    }

    fn assistant(&mut self, row: &Row, notes: &mut Notes) -> bool {
        let info = row.value.get("info").unwrap_or(&Value::Null);
        let id = json::str_at(info, &["id"]);
        let is_summary = json::is_true(info, &["summary"]);
        let broke_off = info.get("error").is_some_and(|e| !e.is_null());
        let aborted = json::str_at(info, &["error", "name"]) == Some("MessageAbortedError");
        let calls = message::answered(row, &mut self.pruned);
        let mut told = Vec::new();
        // The program writes the call of a sub-agent that a person started: no model was asked.
        let parent = json::str_at(info, &["parentID"]);
        let is_programs = parent.is_some_and(|parent| self.subtasks.contains(parent))
            && message::listed(row).all(|(_, p)| json::str_at(p, &["type"]) != Some("step-start"));
        for call in calls {
            let usage = notes.usage(row.span.start, call.usage);
            let step = message::step(row, usage);
            // An answer that failed is not sent again; one that was interrupted is, with what it had said.
            let is_sent = !broke_off || aborted;
            if call.said.is_empty() || !is_sent {
                if usage.is_some() && !self.is_managed {
                    self.transcript.builder.step(step);
                }
                continue;
            }
            let draft = Draft {
                is_summary,
                ..message::draft(row, Role::Assistant, call.said)
            };
            // What asks for a summary and the summary exist because of the compaction alone.
            let message = if is_programs && usage.is_none() {
                self.transcript.add_message(draft)
            } else if is_summary && !broke_off {
                self.transcript.add_message(Draft {
                    in_history: false,
                    ..draft
                })
            } else {
                let message = self.transcript.add_answer(step, draft);
                if self.is_managed {
                    self.transcript.forget_usage();
                }
                message
            };
            self.seen(id, message);
            told.push(message);
            if !call.results.is_empty() {
                let results = message::draft(row, Role::Tool, call.results);
                told.push(self.say(id, results));
            }
        }
        if broke_off {
            self.transcript.builder.aborted();
        }
        if is_summary && !broke_off {
            self.compacted(info, &told);
        }
        !told.is_empty()
    }

    /// A summary was written: the context begins with the question for it, or with the tail it names.
    fn compacted(&mut self, info: &Value, summary: &[usize]) {
        let parent = json::str_at(info, &["parentID"]);
        let asked = self
            .asked
            .take()
            .filter(|asked| parent.is_none_or(|parent| *asked.id == *parent));
        let tail = asked.as_ref().and_then(|asked| {
            let from = *self.by_id.get(asked.tail.as_deref()?)?;
            Some((from, asked.message))
        });
        let mut kept: Vec<usize> = tail.map_or_else(Vec::new, |(from, to)| {
            self.context
                .iter()
                .copied()
                .filter(|idx| (from..to).contains(idx))
                .collect()
        });
        kept.extend(asked.as_ref().map(|asked| asked.message));
        kept.extend(summary);
        let question = asked.as_ref().map(|asked| asked.message);
        if let Some(message) = question.and_then(|idx| self.transcript.builder.message_mut(idx)) {
            message.in_history = false;
        }
        let trigger = asked.map_or("", |asked| asked.trigger);
        self.context.clone_from(&kept);
        self.transcript
            .builder
            .compaction(trigger, None, None, kept);
    }

    /// Carries out what was pruned up to this time.
    fn prune_until(&mut self, time: Option<Millis>) {
        let Some(time) = time else {
            return;
        };
        let (now, later): (Pruned, Pruned) = std::mem::take(&mut self.pruned)
            .into_iter()
            .partition(|(at, _)| at.0 <= time.0);
        self.pruned = later;
        if now.is_empty() {
            return;
        }
        let calls: HashSet<Box<str>> = now.into_iter().map(|(_, call)| call).collect();
        let mut kept = Vec::with_capacity(self.context.len());
        let mut is_changed = false;
        for idx in std::mem::take(&mut self.context) {
            let cleared = self.cleared(idx, &calls);
            is_changed |= cleared.is_some();
            kept.push(cleared.map_or(idx, |draft| self.transcript.add_message(draft)));
        }
        self.context.clone_from(&kept);
        if is_changed {
            self.transcript
                .builder
                .compaction("prune", None, None, kept);
        }
    }

    /// A message with the outputs of these calls cleared; none where it holds none.
    fn cleared(&self, idx: usize, calls: &HashSet<Box<str>>) -> Option<Draft> {
        let session = self.transcript.builder.session();
        let message = &session.messages[idx];
        let is_its = |body: &Body| match body {
            Body::ToolResult { call, .. } => calls.contains(call),
            _ => false,
        };
        let parts = session.parts_of(message);
        if !parts.iter().any(|part| is_its(&part.body)) {
            return None;
        }
        let mut parts = parts.to_vec();
        parts.retain(|part| !matches!(&part.body, Body::Media { within: Some(call), .. } if calls.contains(call)));
        for part in &mut parts {
            if is_its(&part.body)
                && let Body::ToolResult { text, .. } = &mut part.body
            {
                *text = CLEARED.into();
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
