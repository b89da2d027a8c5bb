//! Builds a conversation from the events of a Kimi log.

use super::cli_events::CliEvent;
use crate::formats::content::{part, tool_definitions};
use crate::formats::notes::Notes;
use crate::formats::rows::Row;
use crate::formats::transcript::Transcript;
use crate::formats::{content, counts, json};
use crate::json::Value;
use crate::session::{Body, CallDraft, Draft, Part, Role, Usage};
use crate::units::Tokens;

/// A model call in progress, which Kimi names a step.
pub(super) struct OpenCall {
    id: Box<str>,
    /// Index of the call in the session; `None` until its answer begins.
    index: Option<usize>,
    message: usize,
}

/// Builds one conversation.
pub(super) struct WireReader {
    pub(super) transcript: Transcript,
    pub(super) notes: Notes,
    pub(super) open_call: Option<OpenCall>,
    model: Option<String>,
    pub(super) trigger: String,
    /// Indices of the messages in context.
    pub(super) context: Vec<usize>,
    has_prompt: bool,
    has_tools: bool,
    /// Number of Kimi CLI steps so far.
    cli_steps: usize,
}

impl WireReader {
    pub(super) fn new(transcript: Transcript) -> Self {
        Self {
            transcript,
            notes: Notes::default(),
            open_call: None,
            model: None,
            trigger: String::new(),
            context: Vec::new(),
            has_prompt: false,
            has_tools: false,
            cli_steps: 0,
        }
    }

    /// Reads an event of Kimi CLI. Returns whether it is part of the context.
    pub(super) fn cli_event(&mut self, event: &CliEvent<'_>, row: &Row) -> bool {
        self.cli_steps += usize::from(event.kind == "StepBegin");
        if event.kind == "CompactionEnd" {
            self.cli_compaction(row);
        }
        let time = row.value.get("timestamp");
        let Some(value) = event.converted(time, self.cli_steps) else {
            let kind = json::shortened(event.kind);
            let text = format!("unknown event type `{kind}`: not counted");
            self.notes.once(row.span.start, text);
            return false;
        };
        let row = Row { span: row.span.clone(), value };
        let kind = json::str_at(&row.value, &["type"]).unwrap_or_default();
        self.row(kind, &row)
    }

    /// Reads a line. Returns whether it is part of the context.
    pub(super) fn row(&mut self, kind: &str, row: &Row) -> bool {
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
            // Some versions name the model only here, after its calls.
            "usage.record" => {
                if let Some(model) = json::str_at(value, &["model"]) {
                    self.transcript.builder.name_unnamed_calls(model);
                }
                false
            }
            "full_compaction.begin" => {
                let source = json::str_at(value, &["source"]);
                source.unwrap_or_default().clone_into(&mut self.trigger);
                false
            }
            _ => {
                if kind.starts_with("context.") {
                    let kind = json::shortened(kind);
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
        let mut parts = message.get("content").map(content::parts).unwrap_or_default();
        let calls = message.get("toolCalls").and_then(Value::as_array);
        parts.extend(calls.into_iter().flatten().enumerate().map(|(idx, c)| tool_call(idx, c)));
        let role = match json::str_at(message, &["role"]) {
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            Some("tool") => {
                let result = message.get("content").unwrap_or(&Value::Null);
                let call = json::str_at(message, &["toolCallId"]);
                parts =
                    content::result(0, (call, None), json::is_true(message, &["isError"]), result);
                Role::Tool
            }
            _ => Role::User,
        };
        if parts.is_empty() {
            return false;
        }
        if role == Role::Assistant && self.is_copy(&parts) {
            let last = self.transcript.len() - 1;
            return self.transcript.extend(last, row.span.clone(), Vec::new());
        }
        let origin = json::str_at(message, &["origin", "kind"]);
        let draft = Draft {
            is_injected: origin.is_some_and(|kind| kind != "user") && role == Role::User,
            ..Draft::new(role, parts)
        };
        self.open_call = None;
        self.say(row, draft);
        true
    }

    /// Returns whether an answer repeats the last message: some versions record an answer by its pieces and then as a
    /// message without its reasoning. The program sends it once.
    fn is_copy(&self, parts: &[Part]) -> bool {
        let session = self.transcript.builder.session();
        let Some(last) = session.messages.last().filter(|m| m.call.is_some()) else {
            return false;
        };
        let shown = |parts: &[Part]| -> Vec<Body> {
            let is_shown = |part: &&Part| !matches!(part.body, Body::Thinking { .. });
            let bodies = parts.iter().filter(is_shown);
            bodies.map(|part| part.body.clone()).collect()
        };
        shown(session.parts_of(last)) == shown(parts)
    }

    fn event(&mut self, row: &Row) -> bool {
        let event = row.value.get("event").unwrap_or(&Value::Null);
        match json::str_at(event, &["type"]) {
            Some("step.begin") => {
                self.open_call = Some(OpenCall {
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
                let kind = json::shortened(other.unwrap_or_default());
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
        if let Some(call) = self.open_call.as_ref().filter(|s| s.index.is_some() && &*s.id == id)
            && self.transcript.is_last(call.message)
        {
            self.transcript.extend(call.message, row.span.clone(), parts);
            return true;
        }
        let draft = CallDraft {
            model: self.model.clone(),
            time: json::millis_at(&row.value, &["time"]),
            ..CallDraft::default()
        };
        let is_new = self.open_call.as_ref().is_none_or(|s| s.index.is_none() || &*s.id != id);
        let answer = with_source(row, Draft::new(Role::Assistant, parts));
        // Output of the model while its tool calls run belongs to the same model call.
        let message = if is_new {
            self.transcript.add_answer(draft, answer)
        } else {
            self.transcript.add_message(answer)
        };
        self.context.push(message);
        let index = self.transcript.builder.session().calls.len().checked_sub(1);
        self.open_call = Some(OpenCall { id: id.into(), index, message });
        true
    }

    /// Ends a call and records its usage.
    fn end(&mut self, row: &Row, event: &Value) {
        let count = |key| counts::tokens_at(event, &["usage", key]);
        let (read, write) = (count("inputCacheRead"), count("inputCacheCreation"));
        let input: Tokens = [count("inputOther"), read, write].into_iter().flatten().sum();
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
        match self.open_call.take().and_then(|s| s.index) {
            Some(index) => {
                if let Some(call) = self.transcript.builder.call_mut(index) {
                    call.usage = usage;
                    call.window = window;
                }
            }
            None if usage.is_some() => {
                self.transcript.builder.call(CallDraft {
                    model: self.model.clone(),
                    usage,
                    time: json::millis_at(&row.value, &["time"]),
                    window,
                    ..CallDraft::default()
                });
            }
            None => {}
        }
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

/// Adds the time and the position of a row.
pub(super) fn with_source(row: &Row, draft: Draft) -> Draft {
    Draft { time: json::millis_at(&row.value, &["time"]), raw: vec![row.span.clone()], ..draft }
}
