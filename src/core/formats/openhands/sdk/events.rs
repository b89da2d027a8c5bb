//! Applies each event to the conversation: multi-part answers, tool results, usage totals and condensations.

use super::event_content::{action_as_call, call, observation, thoughts};
use crate::formats::content::tool_definitions;
use crate::formats::notes::Notes;
use crate::formats::openhands::totals;
use crate::formats::openhands::view::{Condensation, CondensedView};
use crate::formats::rows::Row;
use crate::formats::transcript::Transcript;
use crate::formats::{content, counts, json};
use crate::json::Value;
use crate::session::{CallDraft, Draft, Part, Role, Usage};
use crate::units::Tokens;
use std::collections::HashMap;

/// Event kinds that are never sent to the model.
const NOT_CONTEXT: [&str; 12] = [
    "ConversationStateUpdateEvent",
    "ConversationErrorEvent",
    "CondensationRequest",
    "CondensationSummaryEvent",
    "PauseEvent",
    "TokenEvent",
    "LLMCompletionLogEvent",
    "StreamingDeltaEvent",
    "HookExecutionEvent",
    "InterruptEvent",
    "ServerErrorEvent",
    "ConversationIterationLimitEvent",
];

/// An answer to which more tool calls may belong.
struct Open {
    response: Box<str>,
    message: usize,
}

/// Builds a conversation from its events.
pub(super) struct SdkReader {
    /// The conversation read so far.
    pub(super) transcript: Transcript,
    view: CondensedView,
    open: Option<Open>,
    /// Token totals of all calls so far, by purpose.
    totals: HashMap<Box<str>, Usage>,
    /// Usage of the next call.
    pending: Option<Usage>,
    model: Option<String>,
    window: Option<Tokens>,
    trigger: &'static str,
}

impl SdkReader {
    /// Creates a reader without events.
    pub(super) fn new(transcript: Transcript) -> Self {
        Self {
            transcript,
            view: CondensedView::default(),
            open: None,
            totals: HashMap::new(),
            pending: None,
            model: None,
            window: None,
            trigger: "auto",
        }
    }

    /// Reads an event. Returns whether it is part of the context.
    pub(super) fn event(&mut self, kind: &str, row: &Row, notes: &mut Notes) -> bool {
        let before = self.transcript.len();
        let was_open = self.open.is_some();
        self.apply(kind, row, notes);
        self.transcript.len() > before || (was_open && kind == "ActionEvent")
    }

    fn apply(&mut self, kind: &str, row: &Row, notes: &mut Notes) {
        let value = &row.value;
        let id = json::str_at(value, &["id"]).unwrap_or_default();
        match kind {
            "ActionEvent" => return self.action(id, row),
            "ConversationStateUpdateEvent" => return self.state(row, notes),
            "TokenEvent" | "LLMCompletionLogEvent" | "StreamingDeltaEvent" => return,
            _ => self.open = None,
        }
        match kind {
            "SystemPromptEvent" => {
                if let Some(tools) = tool_definitions(value, &["tools"]) {
                    self.say(id, row, tools);
                }
                let prompt = ["system_prompt", "dynamic_context"];
                let parts = prompt.iter().filter_map(|key| value.get(key)).flat_map(content::parts);
                self.say(id, row, Draft::new(Role::System, parts.collect()));
            }
            "MessageEvent" => self.message(id, row),
            "ObservationEvent" | "UserRejectObservation" | "AgentErrorEvent" => {
                self.result(kind, id, row);
            }
            "Condensation" => self.condensation(id, row),
            "CondensationRequest" => {
                self.trigger = match json::str_at(value, &["reason"]) {
                    Some("context_limit") => "context_limit",
                    Some("unrecoverable") => "unrecoverable",
                    _ => "manual",
                };
            }
            _ if NOT_CONTEXT.contains(&kind) => {}
            _ => {
                let kind = json::shortened(kind);
                notes.once(row.span.start, format!("unknown event kind `{kind}`: not counted"));
            }
        }
    }

    fn message(&mut self, id: &str, row: &Row) {
        let message = row.value.get("llm_message").unwrap_or(&Value::Null);
        let mut parts = thoughts(message);
        parts.extend(message.get("content").map(content::parts).unwrap_or_default());
        parts.extend(row.value.get("extended_content").map(content::parts).unwrap_or_default());
        let calls = message.get("tool_calls").and_then(Value::as_array);
        parts.extend(calls.into_iter().flatten().map(call));
        match json::str_at(message, &["role"]) {
            Some("assistant") => {
                self.answer(id, row, parts);
            }
            Some("system") => self.say(id, row, Draft::new(Role::System, parts)),
            Some("tool") => self.say(id, row, Draft::new(Role::Tool, parts)),
            _ => {
                let is_injected = json::str_at(&row.value, &["source"]) != Some("user");
                self.say(id, row, Draft { is_injected, ..Draft::new(Role::User, parts) });
            }
        }
    }

    /// Adds a tool call. Tool calls of one response form one answer.
    fn action(&mut self, id: &str, row: &Row) {
        let value = &row.value;
        let response = json::str_at(value, &["llm_response_id"]).unwrap_or_default();
        let call = value.get("tool_call").map_or_else(|| action_as_call(value), call);
        let open = self.open.as_ref().map(|open| (&*open.response, open.message));
        let same = open.filter(|(id, message)| {
            !response.is_empty() && *id == response && self.transcript.is_last(*message)
        });
        if let Some((_, message)) = same {
            self.transcript.extend(message, row.span.clone(), vec![call]);
            self.view.add(id, message);
            return;
        }
        let mut parts = thoughts(value);
        parts.extend(value.get("thought").map(content::parts).unwrap_or_default());
        parts.push(call);
        if let Some(message) = self.answer(id, row, parts) {
            self.open = Some(Open { response: response.into(), message });
        }
    }

    fn answer(&mut self, id: &str, row: &Row, parts: Vec<Part>) -> Option<usize> {
        if parts.is_empty() {
            return None;
        }
        let call = CallDraft {
            model: self.model.clone(),
            window: self.window,
            usage: self.pending.take(),
            time: json::millis_at(&row.value, &["timestamp"]),
            ..CallDraft::default()
        };
        let message =
            self.transcript.add_answer(call, with_source(row, Draft::new(Role::Assistant, parts)));
        self.view.add(id, message);
        Some(message)
    }

    fn result(&mut self, kind: &str, id: &str, row: &Row) {
        let value = &row.value;
        let field = |key| json::str_at(value, &[key]);
        let rejected =
            field("rejection_reason").map(|why| Value::from(format!("Action rejected: {why}")));
        let output = match kind {
            "AgentErrorEvent" => value.get("error").cloned(),
            "UserRejectObservation" => rejected,
            _ => observation(value),
        };
        let is_error =
            kind != "ObservationEvent" || json::is_true(value, &["observation", "is_error"]);
        let names = (field("tool_call_id"), field("tool_name"));
        let parts = content::result(0, names, is_error, &output.unwrap_or_default());
        self.say(id, row, Draft::new(Role::Tool, parts));
    }

    fn condensation(&mut self, id: &str, row: &Row) {
        let value = &row.value;
        let listed = value.get("forgotten_event_ids").and_then(Value::as_array);
        let parts = value.get("summary").map(content::parts).unwrap_or_default();
        let summary = (!parts.is_empty()).then(|| Draft {
            is_summary: true,
            in_history: false,
            ..with_source(row, Draft::new(Role::User, parts))
        });
        let offset = json::u64_at(value, &["summary_offset"]).unwrap_or(0);
        let condensation = Condensation {
            forgotten: listed.into_iter().flatten().map(content::text_or_json).collect(),
            trigger: self.trigger,
            summary,
            offset: usize::try_from(offset).unwrap_or(usize::MAX),
        };
        self.view.condense(id, condensation, &mut self.transcript);
        self.trigger = "auto";
    }

    /// Reads usage totals. Their increase is the usage of the call whose events follow.
    fn state(&mut self, row: &Row, notes: &mut Notes) {
        let all = match json::str_at(&row.value, &["key"]) {
            Some("stats") => json::at(&row.value, &["value", "usage_to_metrics"]),
            _ => json::at(&row.value, &["value", "stats", "usage_to_metrics"]),
        };
        for (purpose, metrics) in all.and_then(Value::as_object).into_iter().flatten() {
            let Some(total) = metrics.get("accumulated_token_usage") else {
                continue;
            };
            let now = totals::read(total).unwrap_or_default();
            let Some(now) = notes.usage(row.span.start, Some(now)) else {
                continue;
            };
            let before = self.totals.insert(purpose.as_str().into(), now).unwrap_or_default();
            // Other purposes (the condenser) have contexts of their own.
            let is_agents = matches!(&**purpose, "default" | "agent");
            if let Some(usage) = totals::increase(&now, &before).filter(|_| is_agents) {
                self.pending = Some(usage);
                self.model = json::str_at(metrics, &["model_name"]).map(str::to_owned);
                let window = counts::window_at(total, &["context_window"]);
                self.window = notes.tokens(row.span.start, window, "the recorded context window");
            }
        }
    }

    /// Adds a message unless it is empty.
    fn say(&mut self, id: &str, row: &Row, draft: Draft) {
        if !draft.parts.is_empty() {
            let message = self.transcript.add_message(with_source(row, draft));
            self.view.add(id, message);
        }
    }
}

fn with_source(row: &Row, draft: Draft) -> Draft {
    Draft {
        time: json::millis_at(&row.value, &["timestamp"]),
        raw: vec![row.span.clone()],
        ..draft
    }
}
