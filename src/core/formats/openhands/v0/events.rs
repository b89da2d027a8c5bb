//! Applies each event to the conversation: actions of the model and of the user, observations and condensations.

use super::observation::{CUT, as_sent, recalled};
use crate::formats::content::{CallMatcher, of_urls, part, tool_definitions};
use crate::formats::message_list::of_usage;
use crate::formats::notes::Notes;
use crate::formats::openhands::totals;
use crate::formats::openhands::view::{Condensation, CondensedView};
use crate::formats::rows::Row;
use crate::formats::transcript::Transcript;
use crate::formats::{content, json, openai_chat};
use crate::json::{Map, Value};
use crate::session::{CallDraft, Draft, Part, Role, Span, Usage};
use std::collections::HashSet;

/// Actions and observations that only concern the program and the screen.
const NOT_CONTEXT: [&str; 12] = [
    "agent_state_changed",
    "change_agent_state",
    "null",
    "recall",
    "pause",
    "resume",
    "stop",
    "start_task",
    "loop_recovery",
    "loop_detection",
    "server_ready",
    "condensation_request",
];

/// Builds a conversation from its events.
pub(super) struct V0Reader {
    /// The conversation read so far.
    pub(super) transcript: Transcript,
    view: CondensedView,
    calls: CallMatcher,
    /// Id of the response that was read last.
    response: Option<Box<str>>,
    /// Events that are themselves tool calls.
    called: HashSet<Box<str>>,
    /// Token totals of all calls so far.
    accumulated: Usage,
}

impl V0Reader {
    /// Creates a reader without events.
    pub(super) fn new(transcript: Transcript) -> Self {
        Self {
            transcript,
            view: CondensedView::default(),
            calls: CallMatcher::default(),
            response: None,
            called: HashSet::new(),
            accumulated: Usage::default(),
        }
    }

    /// Reads an event. Returns its kind and whether it is part of the context.
    pub(super) fn event(&mut self, row: &Row, at: usize, notes: &mut Notes) -> (String, bool) {
        let value = &row.value;
        let field = |key| json::str_at(value, &[key]);
        let id: Box<str> = match value.get("id") {
            Some(Value::Null) | None => at.to_string().into(),
            Some(id) => content::text_or_json(id),
        };
        let before = self.transcript.len();
        let kind = match (field("action"), field("observation")) {
            (Some(action), _) => {
                self.action(&id, action, row, notes);
                format!("action/{action}")
            }
            (None, Some(observation)) => {
                self.observation(&id, observation, row, notes);
                format!("observation/{observation}")
            }
            (None, None) => {
                notes.once(
                    row.span.start,
                    "an event that is neither an action nor an observation; not counted",
                );
                "other".to_owned()
            }
        };
        (kind, self.transcript.len() > before)
    }

    fn action(&mut self, id: &str, action: &str, row: &Row, notes: &mut Notes) {
        let value = &row.value;
        let is_agents = json::str_at(value, &["source"]) == Some("agent");
        match action {
            "system" => {
                let args = value.get("args").unwrap_or(&Value::Null);
                if let Some(tools) = tool_definitions(args, &["tools"]) {
                    self.say(id, row, tools);
                }
                let text = text_at(value, &["args", "content"]);
                self.say(id, row, Draft::new(Role::System, text));
            }
            "message" if !is_agents => {
                let mut parts = text_at(value, &["args", "content"]);
                let urls = ["image_urls", "images_urls"]
                    .iter()
                    .find_map(|key| json::at(value, &["args", key])?.as_array());
                parts.extend(
                    of_urls(urls.map_or(&[][..], Vec::as_slice)).map(|m| part(0, m.body(None))),
                );
                self.say(id, row, Draft::new(Role::User, parts));
            }
            "condensation" => self.condensation(id, row),
            _ if NOT_CONTEXT.contains(&action) => {}
            _ if is_agents => self.answer(id, action, row, notes),
            _ => {
                // An action of the user outside of the conversation.
                let text = ["command", "code", "content", "path", "url"]
                    .iter()
                    .find_map(|key| json::str_at(value, &["args", key]))
                    .or_else(|| json::str_at(value, &["message"]));
                let parts = content::text_part(0, text.unwrap_or_default());
                let draft = Draft {
                    is_injected: true,
                    ..Draft::new(Role::User, parts.into_iter().collect())
                };
                self.say(id, row, draft);
            }
        }
    }

    /// Adds the model's whole response, once for all of its actions.
    fn answer(&mut self, id: &str, action: &str, row: &Row, notes: &mut Notes) {
        let value = &row.value;
        let response = json::at(value, &["tool_call_metadata", "model_response"]);
        let response_id = response.and_then(|r| json::str_at(r, &["id"]));
        if response_id.is_some() && self.response.as_deref() == response_id {
            return;
        }
        self.response = response_id.map(Into::into);
        let message = response
            .and_then(|r| r.get("choices")?.as_array()?.first()?.get("message"))
            .and_then(|message| openai_chat::message(message, &mut self.calls).ok());
        let usage = self.usage(value, response);
        let call = CallDraft {
            model: response.and_then(|r| json::str_at(r, &["model"])).map(str::to_owned),
            usage: notes.usage(row.span.start, usage),
            time: json::millis_at(value, &["timestamp"]),
            ..CallDraft::default()
        };
        let parts = match message {
            Some(draft) if !draft.parts.is_empty() => draft.parts,
            _ => self.event_as_call(id, action, value),
        };
        if parts.is_empty() {
            return;
        }
        let message =
            self.transcript.add_answer(call, with_source(row, Draft::new(Role::Assistant, parts)));
        self.view.add(id, message);
    }

    /// Converts an event without a response to a tool call.
    fn event_as_call(&mut self, id: &str, action: &str, value: &Value) -> Vec<Part> {
        let args = value.get("args");
        let argument = |key| args.and_then(|args| json::str_at(args, &[key])).unwrap_or_default();
        if action == "message" {
            return content::text_part(0, argument("content")).into_iter().collect();
        }
        let mut parts: Vec<Part> = content::text_part(0, argument("thought")).into_iter().collect();
        let metadata = |key| json::str_at(value, &["tool_call_metadata", key]);
        let own = format!("event-{id}");
        let call = metadata("tool_call_id").unwrap_or(&own);
        self.called.insert(id.into());
        let skipped =
            ["thought", "blocking", "is_static", "hidden", "confirmation_state", "security_risk"];
        let members = args.and_then(Value::as_object).into_iter().flatten();
        let members =
            members.filter(|(key, value)| !skipped.contains(&&***key) && !value.is_null());
        let arguments: Map<String, Value> = members.map(|(k, v)| (k.clone(), v.clone())).collect();
        let tool = metadata("function_name").unwrap_or(action);
        parts.push(part(0, content::call(Some(call), tool, Some(&arguments.into()))));
        parts
    }

    /// Returns the usage of the call: the response's own, or the increase of the totals.
    fn usage(&mut self, value: &Value, response: Option<&Value>) -> Option<Usage> {
        let total = json::at(value, &["llm_metrics", "accumulated_token_usage"]);
        let own = response.and_then(|r| of_usage(r.get("usage")?));
        let Some(all) = total.and_then(totals::read) else {
            if let Some(own) = &own {
                self.accumulated = totals::sum(&self.accumulated, own);
            }
            return own;
        };
        let before = std::mem::replace(&mut self.accumulated, all);
        own.or_else(|| totals::increase(&all, &before))
    }

    fn observation(&mut self, id: &str, observation: &str, row: &Row, notes: &mut Notes) {
        let value = &row.value;
        if observation == "recall" {
            let text = recalled(value);
            return self.inject(id, row, &text);
        }
        if NOT_CONTEXT.contains(&observation) {
            return;
        }
        let around = |key| json::str_at(value, &["extras", "metadata", key]).unwrap_or_default();
        let content = json::str_at(value, &["content"]).unwrap_or_default();
        let mut text = format!("{}{content}{}", around("prefix"), around("suffix"));
        // The program shortens file contents by a different rule before it stores them.
        if observation != "read"
            && let Some(sent) = as_sent(&text)
        {
            notes.once(row.span.start, CUT);
            text = sent;
        }
        let cause = value.get("cause").map(content::text_or_json).filter(|c| !c.is_empty());
        let own = cause.filter(|cause| self.called.contains(cause)).map(|c| format!("event-{c}"));
        let call = json::str_at(value, &["tool_call_metadata", "tool_call_id"]).or(own.as_deref());
        let Some(call) = call else {
            return self.inject(id, row, &text);
        };
        let tool = json::str_at(value, &["tool_call_metadata", "function_name"]);
        let is_error =
            observation == "error" || value.get("success").and_then(Value::as_bool) == Some(false);
        let mut parts = content::result(0, (Some(call), tool), is_error, &text.into());
        let shown = ["image_urls", "set_of_marks"]
            .iter()
            .find_map(|key| json::at(value, &["extras", key])?.as_array());
        let within = Some(call);
        parts
            .extend(of_urls(shown.map_or(&[][..], Vec::as_slice)).map(|m| part(0, m.body(within))));
        self.say(id, row, Draft::new(Role::Tool, parts));
    }

    fn inject(&mut self, id: &str, row: &Row, text: &str) {
        let draft = Draft {
            is_injected: true,
            ..Draft::new(Role::User, content::text_part(0, text).into_iter().collect())
        };
        self.say(id, row, draft);
    }

    fn condensation(&mut self, id: &str, row: &Row) {
        let args = row.value.get("args").unwrap_or(&Value::Null);
        let listed = args.get("forgotten_event_ids").and_then(Value::as_array);
        let mut forgotten: HashSet<Box<str>> =
            listed.into_iter().flatten().map(content::text_or_json).collect();
        let bound = |key| json::u64_at(args, &[key]);
        if let (Some(first), Some(last)) =
            (bound("forgotten_events_start_id"), bound("forgotten_events_end_id"))
        {
            // Event ids are consecutive numbers. No file has more than a few ten thousand events.
            forgotten.extend((first..=last).take(MAX_EVENTS).map(|n| n.to_string().into()));
        }
        let parts = text_at(args, &["summary"]);
        let summary = (!parts.is_empty()).then(|| Draft {
            is_summary: true,
            in_history: false,
            ..with_source(row, Draft::new(Role::User, parts))
        });
        let offset = usize::try_from(bound("summary_offset").unwrap_or(0)).unwrap_or(usize::MAX);
        let condensation = Condensation { forgotten, trigger: "auto", summary, offset };
        self.view.condense(id, condensation, &mut self.transcript);
    }

    /// Adds a message unless it is empty.
    fn say(&mut self, id: &str, row: &Row, draft: Draft) {
        if !draft.parts.is_empty() {
            let message = self.transcript.add_message(with_source(row, draft));
            self.view.add(id, message);
        }
    }
}

/// Maximum length of a range of forgotten events.
// Chosen: a range of two numbers could name billions of events, which would be listed in memory.
const MAX_EVENTS: usize = 1_000_000;

fn with_source(row: &Row, draft: Draft) -> Draft {
    let raw: Vec<Span> = vec![row.span.clone()];
    Draft { time: json::millis_at(&row.value, &["timestamp"]), raw, ..draft }
}

fn text_at(value: &Value, path: &[&str]) -> Vec<Part> {
    let text = json::str_at(value, path).unwrap_or_default();
    content::text_part(0, text).into_iter().collect()
}
