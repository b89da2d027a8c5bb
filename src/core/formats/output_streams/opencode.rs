//! `opencode run --format json`.
//!
//! - A step is a model call. Its parts are those of the program's sessions.
//! - The step before a text marked `compaction_continue` is the request for a summary. The messages that the compaction
//!   kept, other than the summary, are not recorded.
//! - Prompts, the model and the steps of sub-agents are not recorded.

use super::by_id::ById;
use super::prompts::PromptCount;
use crate::formats::opencode::{ModelCall, calls_of_parts};
use crate::formats::read_log::ReadLog;
use crate::formats::rows::{Row, map_rows};
use crate::formats::transcript::Transcript;
use crate::formats::{Format, Input, ParseError, Parsed, Probe, RecordedData, content, json};
use crate::json::Value;
use crate::progress::Progress;
use crate::session::{CallDraft, CutAnswer, Draft, Part, Role, Span};
use crate::units::Millis;

pub(crate) const OPENCODE: Format = Format {
    name: "opencode_stream",
    label: "OpenCode output stream",
    detect,
    parse,
    recorded: &[RecordedData::Usage, RecordedData::Times, RecordedData::Compactions],
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let is_event = |v: &Value| {
        json::str_at(v, &["sessionID"]).is_some()
            && json::str_at(v, &["part", "messageID"]).is_some()
            && matches!(
                json::str_at(v, &["type"]),
                Some("step_start" | "step_finish" | "text" | "tool_use")
            )
    };
    let records = probe.records();
    let n = records.iter().filter(|r| is_event(&r.value)).count();
    (n > 0 && n * 2 >= records.len())
        .then(|| "events `step_start` and `step_finish` with a `part`".to_owned())
}

/// A step under construction.
#[derive(Default)]
struct Step {
    message: Box<str>,
    spans: Vec<Span>,
    parts: Vec<Value>,
    time: Option<Millis>,
}

/// The conversation of a session.
struct OpenCodeConversation {
    transcript: Transcript,
    step: Step,
    /// The latest finished step, until it is known whether it is a summary.
    finished: Option<Step>,
    prompts: PromptCount,
    has_compactions: bool,
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let rows = map_rows(&input.bytes, progress, &mut log, |row| row)?;
    let mut conversations = ById::new();
    for row in rows {
        progress.check_cancelled()?;
        let id = json::str_at(&row.value, &["sessionID"]).unwrap_or_default();
        let conversation = conversations.get(id, |number| {
            let mut conversation = OpenCodeConversation {
                transcript: Transcript::new(input, OPENCODE.name, number),
                step: Step::default(),
                finished: None,
                prompts: PromptCount::default(),
                has_compactions: false,
            };
            conversation.begin_run();
            conversation
        });
        let kind = json::str_at(&row.value, &["type"]).unwrap_or("other").to_owned();
        let in_context = conversation.add(row, &mut log);
        log.report.count_record(&kind, in_context);
    }
    let mut sessions = Vec::new();
    for mut conversation in conversations.finish() {
        conversation.end_step(&mut log);
        conversation.add_finished(&mut log);
        conversation.prompts.report("", &mut log);
        if conversation.has_compactions {
            log.notes.once(
                0,
                "the stream does not record which messages a compaction kept besides its summary",
            );
        }
        sessions.extend(conversation.transcript.finish());
    }
    log.finish(input, sessions, "an output stream of OpenCode without a message")
}

impl OpenCodeConversation {
    /// Adds an event. Returns false if it is not part of a message.
    fn add(&mut self, mut row: Row, log: &mut ReadLog) -> bool {
        let time = json::millis_at(&row.value, &["timestamp"]);
        let kind = json::str_at(&row.value, &["type"]).unwrap_or_default().to_owned();
        if kind == "error" {
            let error = json::at(&row.value, &["error"]).map(content::text_or_json);
            let error = json::shortened(&error.unwrap_or_default());
            log.notes.add(row.span.start, format!("this run failed: {error}"));
            return false;
        }
        let Some(part) = row.value.get_mut("part").map(Value::take) else {
            return false;
        };
        if json::is_true(&part, &["synthetic"]) {
            self.add_synthetic(&part, &row.span, time, log);
            return true;
        }
        let message = json::str_at(&part, &["messageID"]).unwrap_or_default();
        if kind == "step_start" || *self.step.message != *message {
            self.end_step(log);
            self.step.message = message.into();
        }
        self.step.time = self.step.time.or(time);
        self.step.spans.push(row.span);
        self.step.parts.push(part);
        if kind == "step_finish" {
            self.end_step(log);
        }
        true
    }

    /// Adds a text that the program wrote for the model.
    fn add_synthetic(
        &mut self,
        part: &Value,
        span: &Span,
        time: Option<Millis>,
        log: &mut ReadLog,
    ) {
        self.end_step(log);
        let summary = if json::is_true(part, &["metadata", "compaction_continue"]) {
            self.finished.take()
        } else {
            self.add_finished(log);
            None
        };
        if let Some(step) = summary {
            self.add_summary(&step, log);
        }
        let parts = content::parts(part);
        self.transcript.add_message(Draft {
            time,
            is_injected: true,
            raw: vec![span.clone()],
            ..Draft::new(Role::User, parts)
        });
    }

    /// Ends the current step. The one before it was an answer.
    fn end_step(&mut self, log: &mut ReadLog) {
        if !self.step.parts.is_empty() {
            self.add_finished(log);
            self.finished = Some(std::mem::take(&mut self.step));
        }
    }

    /// Adds the latest finished step as an answer with its results.
    fn add_finished(&mut self, log: &mut ReadLog) {
        let Some(step) = self.finished.take() else {
            return;
        };
        self.prompts.answer();
        let is_last = step.parts.iter().any(|part| {
            json::str_at(part, &["type"]) == Some("step-finish")
                && json::str_at(part, &["reason"]) != Some("tool-calls")
        });
        for call in step.calls(log) {
            let draft = step.draft(Role::Assistant, call.output);
            let recorded = CallDraft {
                usage: call.usage,
                time: step.time,
                cut: call.is_cut.then(CutAnswer::default),
                ..CallDraft::default()
            };
            if draft.parts.is_empty() {
                self.transcript.builder.call(recorded);
            } else {
                self.transcript.add_answer(recorded, draft);
            }
            if !call.results.is_empty() {
                self.transcript.add_message(step.draft(Role::Tool, call.results));
            }
        }
        // A run ends with a step without calls.
        if is_last {
            self.begin_run();
        }
    }

    fn begin_run(&mut self) {
        self.prompts.begin_run();
        self.transcript.builder.begin_turn();
    }

    /// Adds a step as the summary of a compaction.
    fn add_summary(&mut self, step: &Step, log: &mut ReadLog) {
        self.has_compactions = true;
        let mut kept = Vec::new();
        let mut reported = None;
        for call in step.calls(log) {
            reported = reported.or(call.usage);
            kept.push(self.transcript.add_message(Draft {
                is_summary: true,
                in_history: false,
                ..step.draft(Role::Assistant, call.output)
            }));
        }
        self.transcript.builder.compaction("", None, None, kept);
        if let Some(usage) = reported {
            self.transcript.builder.summary_usage(None, usage);
        }
    }
}

impl Step {
    /// Returns the model calls of the step: one.
    fn calls(&self, log: &mut ReadLog) -> Vec<ModelCall> {
        let start = self.spans.first().map_or(0, |span| span.start);
        let mut calls = calls_of_parts(&self.parts);
        for call in &mut calls {
            call.usage = log.notes.usage(start, call.usage);
        }
        calls
    }

    /// Returns a message of the step. Each of its parts has a record of its own.
    fn draft(&self, role: Role, parts: Vec<Part>) -> Draft {
        let parts = parts.into_iter().map(|part| Part { record: part.block, block: 0, ..part });
        Draft {
            id: Some(self.message.clone()),
            time: self.time,
            raw: self.spans.clone(),
            ..Draft::new(role, parts.collect())
        }
    }
}
