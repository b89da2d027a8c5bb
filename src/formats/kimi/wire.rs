//! Kimi Code's `wire.jsonl`: one event per line, including events that only update the screen.
//!
//! - `context.append_message` and `context.append_loop_event` make up the context. Prompt, request and usage records
//!   repeat it.
//! - A Kimi step is one model call. Its parts and tool calls form one answer, and its end event reports the usage.
//! - `inputOther` excludes tokens read from and written to the cache.
//! - A compaction keeps the latest user messages and appends a summary.
//!
//! The log of the older Kimi CLI has the same file name but different events ([`cli_events`]).

use super::super::message_list::{part, tool_definitions};
use super::super::notes::Notes;
use super::super::rows::Row;
use super::super::transcript::Transcript;
use super::super::{
    Format, ImportReport, Input, ParseError, Parsed, Probe, RecordedData, Refused, content, counts,
    json, jsonl,
};
use super::cli_events::{self, CliEvent};
use crate::progress::Progress;
use crate::session::{Draft, Part, Role, Session, StepDraft, SubAgent, Track, Usage};
use crate::units::Tokens;
use serde_json::Value;

/// The Kimi wire log format.
pub(in crate::formats) const WIRE: Format = Format {
    name: "kimi_wire",
    label: "Kimi wire log",
    detect,
    in_pieces: false,
    parse,
    export: None,
    recorded: &[
        RecordedData::Usage,
        RecordedData::Times,
        RecordedData::Compactions,
        RecordedData::SystemPrompt,
        RecordedData::Tools,
        RecordedData::SubAgents,
    ],
    kept: None,
    resume: None,
};

fn detect(probe: &Probe) -> Option<String> {
    let kind = |v: &Value| json::str_at(v, &["type"]).unwrap_or_default().to_owned();
    let mut records = probe.records().iter().map(|r| &r.value);
    let event = |v: &Value| CliEvent::of(v).map(|event| event.kind.to_owned());
    let is_begun = |v: &Value| {
        let kind = event(v).filter(|_| v.get("timestamp").is_some());
        kind.is_some_and(|kind| ["TurnBegin", "StepBegin"].contains(&&*kind))
    };
    let others = records
        .clone()
        .filter(|v| event(v).is_none() && kind(v) != "metadata");
    if records.clone().any(is_begun) && others.count() * 4 <= records.len() {
        return Some("JSON Lines of `message`s with a `type` and a `payload`".to_owned());
    }
    let has_head = records
        .clone()
        .any(|v| kind(v) == "metadata" && v.get("protocol_version").is_some());
    let has_context = records.any(|v| kind(v).starts_with("context."));
    (has_head && has_context)
        .then(|| "JSON Lines with a `protocol_version` and `context.` events".to_owned())
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut warnings = Vec::new();
    let row = |r: jsonl::Record| Row {
        span: r.span,
        value: r.value,
    };
    let rows = jsonl::map_records(&input.bytes, progress, 1, &mut warnings, row)?;
    let mut reader = WireReader::new(Transcript::new(input, WIRE.name, None));
    let mut agents: Vec<Agent> = Vec::new();
    let mut report = ImportReport::default();
    for row in rows {
        progress.check_cancelled()?;
        if let Some(event) = CliEvent::of(&row.value) {
            let n = agents.len() + 2;
            let transcript = || Transcript::new(input, WIRE.name, Some(n));
            let (target, branch) = match event.agent {
                None => (&mut reader, ""),
                Some(call) => (agent(&mut agents, call, &event, transcript), " (sub-agent)"),
            };
            let in_context = target.cli_event(&event, &row);
            report.note(
                &format!("{}{branch}", event.kind),
                in_context && branch.is_empty(),
            );
            continue;
        }
        let kind = json::str_at(&row.value, &["type"]).unwrap_or("other");
        let sub = json::str_at(&row.value, &["event", "type"]);
        let label = sub.map_or_else(|| kind.to_owned(), |sub| format!("{kind}/{sub}"));
        let in_context = reader.row(kind, &row);
        report.note(&label, in_context);
    }
    let mut sessions: Vec<Session> = reader.transcript.finish().into_iter().collect();
    warnings.extend(reader.notes.warnings(&input.bytes));
    for agent in agents {
        warnings.extend(agent.reader.notes.warnings(&input.bytes));
        sessions.extend(agent.reader.transcript.finish().map(|session| Session {
            track: Track::SubAgent(agent.info),
            ..session
        }));
    }
    if sessions.is_empty() {
        let looks_like = "this looks like a Kimi log without a message".to_owned();
        return Err(Refused { looks_like }.into());
    }
    warnings.sort_by_key(|w| w.line);
    Ok(Parsed {
        sessions,
        warnings,
        report,
    })
}

/// A sub-agent whose events are interleaved with those of the main conversation.
struct Agent {
    info: SubAgent,
    reader: WireReader,
}

/// Returns the reader of the sub-agent that `call` started and adds it if it is new.
fn agent<'a>(
    agents: &'a mut Vec<Agent>,
    call: &str,
    event: &CliEvent<'_>,
    transcript: impl FnOnce() -> Transcript,
) -> &'a mut WireReader {
    let is_started_by_call = |agent: &Agent| agent.info.call.as_deref() == Some(call);
    let index = agents
        .iter()
        .position(is_started_by_call)
        .unwrap_or_else(|| {
            agents.push(Agent {
                info: SubAgent {
                    id: None,
                    kind: event.agent_type.map(Into::into),
                    call: Some(call.into()),
                },
                reader: WireReader::new(transcript()),
            });
            agents.len() - 1
        });
    &mut agents[index].reader
}

/// A model call in progress.
struct Step {
    id: Box<str>,
    /// Index of the call in the session; `None` until its answer begins.
    index: Option<usize>,
    message: usize,
}

struct WireReader {
    transcript: Transcript,
    notes: Notes,
    step: Option<Step>,
    model: Option<String>,
    trigger: String,
    /// Indices of the messages in context.
    context: Vec<usize>,
    has_prompt: bool,
    has_tools: bool,
    /// Number of Kimi CLI steps so far.
    cli_steps: usize,
}

impl WireReader {
    fn new(transcript: Transcript) -> Self {
        Self {
            transcript,
            notes: Notes::default(),
            step: None,
            model: None,
            trigger: String::new(),
            context: Vec::new(),
            has_prompt: false,
            has_tools: false,
            cli_steps: 0,
        }
    }

    /// Reads an event of Kimi CLI. Returns whether it is part of the context.
    fn cli_event(&mut self, event: &CliEvent<'_>, row: &Row) -> bool {
        self.cli_steps += usize::from(event.kind == "StepBegin");
        if event.kind == "CompactionEnd" {
            self.cli_compaction(row);
        }
        let time = row.value.get("timestamp");
        let Some(value) = event.converted(time, self.cli_steps) else {
            let kind = json::quoted(event.kind);
            let text = format!("unknown event type `{kind}`: not counted");
            self.notes.once(row.span.start, text);
            return false;
        };
        let row = Row {
            span: row.span.clone(),
            value,
        };
        let kind = json::str_at(&row.value, &["type"]).unwrap_or_default();
        self.row(kind, &row)
    }

    /// Adds a compaction of Kimi CLI. The log records only that it took place.
    fn cli_compaction(&mut self, row: &Row) {
        let text =
            "the summary of a compaction is not recorded; the context after it lacks the summary";
        self.notes.once(row.span.start, text);
        let messages = &self.transcript.builder.session().messages;
        let is_counted = |idx: &usize| matches!(messages[*idx].role, Role::User | Role::Assistant);
        let positions = self.context.iter().enumerate().rev();
        let mut counted = positions.filter(|(_, idx)| is_counted(idx));
        let first = counted.nth(cli_events::KEPT_BY_COMPACTION - 1);
        let first = first.map_or(0, |(position, _)| position);
        let kept = self.context.split_off(first);
        self.transcript
            .builder
            .compaction("auto", None, None, kept.clone());
        self.context = kept;
        self.step = None;
    }

    /// Reads a line. Returns whether it is part of the context.
    fn row(&mut self, kind: &str, row: &Row) -> bool {
        let value = &row.value;
        match kind {
            "context.append_message" => self.message(row),
            "context.append_loop_event" => self.event(row),
            "context.apply_compaction" => self.compaction(row),
            "config.update" => self.prompt(row),
            "llm.tools_snapshot" => self.tools(row),
            "llm.request" => {
                let model = json::str_at(value, &["model"]);
                self.model = model.map(str::to_owned).or(self.model.take());
                false
            }
            "full_compaction.begin" => {
                let source = json::str_at(value, &["source"]);
                source.unwrap_or_default().clone_into(&mut self.trigger);
                false
            }
            _ => {
                if kind.starts_with("context.") {
                    let kind = json::quoted(kind);
                    let text = format!(
                        "unknown event type `{kind}`: its effect on the context is not shown"
                    );
                    self.notes.once(row.span.start, text);
                }
                false
            }
        }
    }

    fn prompt(&mut self, row: &Row) -> bool {
        let text = json::str_at(&row.value, &["systemPrompt"]).unwrap_or_default();
        if self.has_prompt || text.is_empty() {
            return false;
        }
        self.has_prompt = true;
        let parts = content::text_part(0, text).into_iter().collect();
        self.say(row, Draft::new(Role::System, parts));
        true
    }

    fn tools(&mut self, row: &Row) -> bool {
        match tool_definitions(&row.value, &["tools"]).filter(|_| !self.has_tools) {
            Some(draft) => {
                self.has_tools = true;
                self.say(row, draft);
                true
            }
            None => false,
        }
    }

    fn message(&mut self, row: &Row) -> bool {
        let message = row.value.get("message").unwrap_or(&Value::Null);
        let mut parts = message
            .get("content")
            .map(content::parts)
            .unwrap_or_default();
        let calls = message.get("toolCalls").and_then(Value::as_array);
        parts.extend(
            calls
                .into_iter()
                .flatten()
                .enumerate()
                .map(|(idx, c)| tool_call(idx, c)),
        );
        let role = match json::str_at(message, &["role"]) {
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            Some("tool") => {
                let result = message.get("content").unwrap_or(&Value::Null);
                let call = json::str_at(message, &["toolCallId"]);
                parts = content::result(
                    0,
                    (call, None),
                    json::is_true(message, &["isError"]),
                    result,
                );
                Role::Tool
            }
            _ => Role::User,
        };
        if parts.is_empty() {
            return false;
        }
        let origin = json::str_at(message, &["origin", "kind"]);
        let draft = Draft {
            is_injected: origin.is_some_and(|kind| kind != "user") && role == Role::User,
            ..Draft::new(role, parts)
        };
        self.step = None;
        self.say(row, draft);
        true
    }

    fn event(&mut self, row: &Row) -> bool {
        let event = row.value.get("event").unwrap_or(&Value::Null);
        match json::str_at(event, &["type"]) {
            Some("step.begin") => {
                self.step = Some(Step {
                    id: json::str_at(event, &["uuid"]).unwrap_or_default().into(),
                    index: None,
                    message: 0,
                });
                false
            }
            Some("content.part") => {
                let parts = event.get("part").map(content::parts).unwrap_or_default();
                self.answer(row, event, parts)
            }
            Some("tool.call") => {
                let field = |key| json::str_at(event, &[key]);
                let name = field("name").unwrap_or_default();
                let body = content::call(field("toolCallId"), name, event.get("args"));
                self.answer(row, event, vec![part(0, body)])
            }
            Some("tool.result") => {
                let result = event.get("result").unwrap_or(&Value::Null);
                let output = content::first(result, &["output", "error"]).unwrap_or(&Value::Null);
                let call = json::str_at(event, &["toolCallId"]);
                let is_error = json::is_true(result, &["isError"]);
                let parts = content::result(0, (call, None), is_error, output);
                self.say(row, Draft::new(Role::Tool, parts));
                true
            }
            Some("step.end") => {
                self.end(row, event);
                false
            }
            other => {
                let kind = json::quoted(other.unwrap_or_default());
                let text = format!("unknown loop event type `{kind}`: not counted");
                self.notes.once(row.span.start, text);
                false
            }
        }
    }

    /// Adds a piece of the call's answer.
    fn answer(&mut self, row: &Row, event: &Value, parts: Vec<Part>) -> bool {
        if parts.is_empty() {
            return false;
        }
        let id = json::str_at(event, &["stepUuid"]).unwrap_or_default();
        if let Some(step) = self
            .step
            .as_ref()
            .filter(|s| s.index.is_some() && &*s.id == id)
            && self.transcript.is_last(step.message)
        {
            self.transcript
                .extend(step.message, row.span.clone(), parts);
            return true;
        }
        let draft = StepDraft {
            model: self.model.clone(),
            time: json::millis_at(&row.value, &["time"]),
            ..StepDraft::default()
        };
        let is_new = self
            .step
            .as_ref()
            .is_none_or(|s| s.index.is_none() || &*s.id != id);
        let answer = with_source(row, Draft::new(Role::Assistant, parts));
        // Output of the model while its tool calls run belongs to the same model call.
        let message = if is_new {
            self.transcript.add_answer(draft, answer)
        } else {
            self.transcript.add_message(answer)
        };
        self.context.push(message);
        let index = self.transcript.builder.session().steps.len().checked_sub(1);
        self.step = Some(Step {
            id: id.into(),
            index,
            message,
        });
        true
    }

    /// Ends a call and records its usage.
    fn end(&mut self, row: &Row, event: &Value) {
        let count = |key| counts::tokens_at(event, &["usage", key]);
        let (read, write) = (count("inputCacheRead"), count("inputCacheCreation"));
        let input: Tokens = [count("inputOther"), read, write]
            .into_iter()
            .flatten()
            .sum();
        let usage = (input > Tokens::ZERO).then(|| Usage {
            input,
            cache_read: read,
            cache_write: write,
            output: count("output"),
            ..Usage::default()
        });
        let at = row.span.start;
        let usage = self.notes.usage(at, usage);
        let window = counts::window_at(event, &["window"]);
        let window = self.notes.tokens(at, window, "the recorded context window");
        match self.step.take().and_then(|s| s.index) {
            Some(index) => {
                if let Some(step) = self.transcript.builder.step_mut(index) {
                    step.usage = usage;
                    step.window = window;
                }
            }
            None if usage.is_some() => {
                self.transcript.builder.step(StepDraft {
                    model: self.model.clone(),
                    usage,
                    time: json::millis_at(&row.value, &["time"]),
                    window,
                });
            }
            None => {}
        }
    }

    fn compaction(&mut self, row: &Row) -> bool {
        let value = &row.value;
        let at = row.span.start;
        let n_kept = json::u64_at(value, &["keptUserMessageCount"]).unwrap_or(0);
        let n_kept = usize::try_from(n_kept).unwrap_or(usize::MAX);
        let messages = &self.transcript.builder.session().messages;
        let is_user =
            |idx: &&usize| messages[**idx].role == Role::User && !messages[**idx].is_injected;
        let mut kept: Vec<usize> = self
            .context
            .iter()
            .rev()
            .filter(is_user)
            .take(n_kept)
            .copied()
            .collect();
        let is_system = |idx: &&usize| messages[**idx].role == Role::System;
        kept.extend(self.context.iter().filter(is_system));
        kept.sort_unstable();
        let text = content::first(value, &["contextSummary", "summary"]);
        let summary = Draft {
            is_summary: true,
            in_history: false,
            ..Draft::new(Role::User, text.map(content::parts).unwrap_or_default())
        };
        kept.push(self.transcript.add_message(with_source(row, summary)));
        let mut tokens = |key| {
            self.notes.tokens(
                at,
                counts::tokens_at(value, &[key]),
                "a count of this compaction",
            )
        };
        let (before, after) = (tokens("tokensBefore"), tokens("tokensAfter"));
        self.context.clone_from(&kept);
        let trigger = std::mem::take(&mut self.trigger);
        self.transcript
            .builder
            .compaction(trigger, before, after, kept);
        self.step = None;
        true
    }

    fn say(&mut self, row: &Row, draft: Draft) {
        let message = self.transcript.add_message(with_source(row, draft));
        self.context.push(message);
    }
}

fn tool_call(idx: usize, call: &Value) -> Part {
    let function = call.get("function").unwrap_or(call);
    let name = json::str_at(function, &["name"]).unwrap_or_default();
    let arguments = content::first(function, &["arguments", "args"]);
    let id = json::str_at(call, &["id"]).or_else(|| json::str_at(call, &["toolCallId"]));
    part(idx, content::call(id, name, arguments))
}

fn with_source(row: &Row, draft: Draft) -> Draft {
    Draft {
        time: json::millis_at(&row.value, &["time"]),
        raw: vec![row.span.clone()],
        ..draft
    }
}
