//! `codex exec --json`.
//!
//! - A turn consists of items: texts, thoughts, and calls with their results. The calls of a turn to the model cannot be
//!   distinguished: a tool may run before or after the next request. Items count as one answer until the model writes a text
//!   or a thought after a result, so that there are at least as many calls as answers.
//! - `turn.completed` has the usage of the whole thread so far, including earlier runs that it resumes and summaries.
//! - Prompts, the model, times and compactions are not recorded.
//!
//! <https://github.com/openai/codex/blob/main/codex-rs/exec/src/exec_events.rs>

use super::answer::OpenAnswer;
use super::by_id::ById;
use super::prompts::PromptCount;
use super::totals::RunTotals;
use crate::formats::read_log::ReadLog;
use crate::formats::rows::{Row, map_rows};
use crate::formats::transcript::Transcript;
use crate::formats::{Format, Input, ParseError, Parsed, Probe, content, counts, json};
use crate::json::{Map, Value};
use crate::progress::Progress;
use crate::session::{Body, ModelVendor, Part, Span, Usage};
use crate::units::Tokens;
use std::collections::HashSet;

pub(crate) const CODEX: Format = Format {
    name: "codex_stream",
    label: "Codex output stream",
    detect,
    parse,
    vendor: Some(ModelVendor::OpenAi),
    ..Format::READ_ONLY
};

fn detect(probe: &Probe) -> Option<String> {
    let kinds = || probe.records().iter().filter_map(|r| json::str_at(&r.value, &["type"]));
    let is_item = |v: &Value| {
        json::str_at(v, &["type"]).is_some_and(|kind| kind.starts_with("item."))
            && json::str_at(v, &["item", "id"]).is_some()
    };
    (kinds().any(|kind| matches!(kind, "thread.started" | "turn.started"))
        && probe.records().iter().any(|r| is_item(&r.value)))
    .then(|| "events `thread.started`, `turn.started` and `item.completed`".to_owned())
}

/// A parsed event.
struct CodexEvent {
    span: Span,
    label: String,
    kind: CodexEventKind,
}

enum CodexEventKind {
    /// A run of the thread with this id begins.
    Thread(Box<str>),
    TurnStarted,
    /// The usage of the thread so far.
    TurnCompleted(Option<Usage>),
    TurnFailed(String),
    Item(CodexItem),
    Other,
}

/// An item, or a new state of it.
struct CodexItem {
    /// Whether it is a text or a thought, which begins an answer after a result.
    begins_answer: bool,
    is_completed: bool,
    /// Id of a call, unique in its run.
    call: Option<Box<str>>,
    parts: Vec<Part>,
    /// The result of a completed call.
    result: Vec<Part>,
}

fn read(row: Row) -> CodexEvent {
    let value = &row.value;
    let kind = json::str_at(value, &["type"]).unwrap_or("other");
    let item = value.get("item").filter(|item| item.is_object());
    let label = item.and_then(|item| json::str_at(item, &["type"]));
    let event = match kind {
        "thread.started" => {
            let id = json::str_at(value, &["thread_id"]).unwrap_or_default();
            CodexEventKind::Thread(id.into())
        }
        "turn.started" => CodexEventKind::TurnStarted,
        "turn.completed" => CodexEventKind::TurnCompleted(usage(value)),
        "turn.failed" => CodexEventKind::TurnFailed(
            json::str_at(value, &["error", "message"]).unwrap_or_default().to_owned(),
        ),
        _ => item
            .and_then(|item| read_item(item, kind == "item.completed"))
            .map_or(CodexEventKind::Other, CodexEventKind::Item),
    };
    CodexEvent {
        label: label.map_or_else(|| kind.to_owned(), |item| format!("{kind}/{item}")),
        kind: event,
        span: row.span,
    }
}

/// Returns the usage of the thread. `input_tokens` include cached ones.
fn usage(value: &Value) -> Option<Usage> {
    let count = |key| counts::tokens_at(value, &["usage", key]);
    let input = count("input_tokens")?;
    (input > Tokens::ZERO).then(|| Usage {
        input,
        cache_read: count("cached_input_tokens"),
        cache_write: count("cache_write_input_tokens").filter(|n| *n > Tokens::ZERO),
        output: count("output_tokens"),
        reasoning: count("reasoning_output_tokens"),
        ..Usage::default()
    })
}

/// Reads an item. Returns `None` for states that say nothing new and for errors, which are not sent.
fn read_item(item: &Value, is_completed: bool) -> Option<CodexItem> {
    let field = |key| json::str_at(item, &[key]);
    let block = |parts: Vec<Part>| CodexItem {
        begins_answer: false,
        is_completed,
        call: None,
        parts,
        result: Vec::new(),
    };
    // A text may be reported several times while it grows.
    let text = |parts: Vec<Part>| CodexItem {
        begins_answer: is_completed,
        ..block(if is_completed { parts } else { Vec::new() })
    };
    let status = field("status").unwrap_or_default();
    let is_error = matches!(status, "failed" | "declined");
    // The stream numbers the items of each run from zero.
    let call = |tool: &str, arguments: &[&str], output: Option<&Value>| {
        let id = field("id").unwrap_or_default();
        let arguments = arguments.iter().filter_map(|key| {
            let value = item.get(*key).filter(|value| !value.is_null())?;
            Some(((*key).to_owned(), value.clone()))
        });
        let arguments = Value::Object(arguments.collect::<Map<_, _>>());
        let call = content::call(Some(id), tool, Some(&arguments));
        let status = Value::from(status);
        let output = output.filter(|output| !output.is_null()).unwrap_or(&status);
        CodexItem {
            begins_answer: false,
            is_completed,
            call: Some(id.into()),
            parts: vec![content::part(0, call)],
            result: if is_completed {
                content::result(0, (Some(id), Some(tool)), is_error, output)
            } else {
                Vec::new()
            },
        }
    };
    Some(match field("type")? {
        "agent_message" => {
            text(content::text_part(0, field("text").unwrap_or_default()).into_iter().collect())
        }
        "reasoning" => {
            let thought = content::thought(field("text").unwrap_or_default(), 0);
            text(thought.map(|body| content::part(0, body)).into_iter().collect())
        }
        "command_execution" => {
            call("command_execution", &["command"], item.get("aggregated_output"))
        }
        "file_change" => call("file_change", &["changes"], None),
        "mcp_tool_call" => {
            let (server, tool) = (field("server"), field("tool").unwrap_or_default());
            let name = server.map(|server| format!("mcp__{server}__{tool}"));
            let output = item.get("result").filter(|result| !result.is_null());
            let output = output.or_else(|| json::at(item, &["error", "message"]));
            let mut call = call(name.as_deref().unwrap_or(tool), &[], output);
            let arguments = item.get("arguments").map(content::text_or_json);
            if let Some(Part { body: Body::ToolCall { arguments: own, .. }, .. }) =
                call.parts.first_mut()
            {
                *own = arguments.unwrap_or_default();
            }
            call
        }
        "collab_tool_call" => {
            let tool = field("tool").unwrap_or("collab_tool_call");
            call(tool, &["prompt", "receiver_thread_ids"], item.get("agents_states"))
        }
        // The end of the turn repeats the plan.
        "todo_list" if is_completed => return None,
        "todo_list" => block(vec![content::part(0, content::opaque(item))]),
        "error" => return None,
        // Searches of the provider, and items that are unknown.
        _ if is_completed => block(vec![content::part(0, content::opaque(item))]),
        _ => return None,
    })
}

/// The conversation of a thread.
struct CodexConversation {
    transcript: Transcript,
    answer: OpenAnswer,
    /// Calls of the run that are in the answer.
    calls: HashSet<Box<str>>,
    totals: RunTotals,
    /// Number of runs before, which makes the ids of calls unique.
    n_runs: usize,
}

fn parse(input: &Input, progress: &Progress) -> Result<Parsed, ParseError> {
    let mut log = ReadLog::default();
    let mut prompts = PromptCount::default();
    let events = map_rows(&input.bytes, progress, &mut log, read)?;
    let mut conversations = ById::new();
    let mut thread: Box<str> = "".into();
    for event in events {
        progress.check_cancelled()?;
        if let CodexEventKind::Thread(new) = &event.kind {
            thread.clone_from(new);
        }
        let conversation = conversations.get(&thread, |number| CodexConversation {
            transcript: Transcript::new(input, CODEX.name, number),
            answer: OpenAnswer::default(),
            calls: HashSet::new(),
            totals: RunTotals::default(),
            n_runs: 0,
        });
        let in_context = conversation.add(event.kind, &event.span, &mut prompts, &mut log);
        log.report.count_record(&event.label, in_context);
    }
    prompts.report("", &mut log);
    let finish = |mut conversation: CodexConversation| {
        conversation.answer.close(&mut conversation.transcript);
        conversation.totals.finish(&mut conversation.transcript.builder);
        conversation.transcript.finish()
    };
    let sessions: Vec<_> = conversations.finish().into_iter().filter_map(finish).collect();
    if !sessions.is_empty() {
        log.notes.once(0, "the stream does not separate the model calls of a turn: there may be more than are shown");
    }
    log.finish(input, sessions, "an output stream of Codex without a message")
}

impl CodexConversation {
    /// Adds an event. Returns false if it is not part of a message.
    fn add(
        &mut self,
        event: CodexEventKind,
        span: &Span,
        prompts: &mut PromptCount,
        log: &mut ReadLog,
    ) -> bool {
        match event {
            CodexEventKind::Thread(_) => {
                self.calls.clear();
                self.n_runs += 1;
                false
            }
            CodexEventKind::TurnStarted => {
                self.answer.close(&mut self.transcript);
                self.transcript.builder.begin_turn();
                prompts.begin_run();
                false
            }
            CodexEventKind::TurnCompleted(usage) => {
                self.answer.close(&mut self.transcript);
                if let Some(usage) = log.notes.usage(span.start, usage) {
                    self.totals.add(vec![(String::new(), usage)], None);
                }
                false
            }
            CodexEventKind::TurnFailed(error) => {
                self.answer.close(&mut self.transcript);
                let error = json::shortened(&error);
                log.notes.add(span.start, format!("this turn failed: {error}"));
                false
            }
            CodexEventKind::Item(item) => {
                self.add_item(item, span, prompts);
                true
            }
            CodexEventKind::Other => false,
        }
    }

    fn add_item(&mut self, mut item: CodexItem, span: &Span, prompts: &mut PromptCount) {
        prompts.answer();
        if item.begins_answer && !item.parts.is_empty() && self.answer.has_results() {
            self.answer.close(&mut self.transcript);
        }
        let is_known = item.call.as_ref().is_some_and(|call| self.calls.contains(call));
        self.calls.extend(item.call.take());
        let unique = |part: &mut Part| {
            if let Body::ToolCall { call, .. } | Body::ToolResult { call, .. } = &mut part.body {
                *call = format!("{}.{call}", self.n_runs).into();
            }
        };
        item.parts.iter_mut().chain(&mut item.result).for_each(unique);
        if !is_known {
            self.answer.add(span, None, item.parts);
        }
        if item.is_completed && !item.result.is_empty() {
            self.answer.add_result(span, None, item.result);
        }
    }
}
