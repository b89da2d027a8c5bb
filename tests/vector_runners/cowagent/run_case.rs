//! Cases of whole runs: the model and the tools follow a script.

use super::agent_run::{Ended, Environment, Reply, RequestedCall, Run, ToolOutcome};
use super::trim::{flushes, limits};
use super::{Case, count, messages_to_json, object};
use plimsoll::chat::ChatMessage;
use plimsoll::json::{Map, Value, json};
use plimsoll::systems::cowagent::messages_tokens;

/// Runs one case.
pub(super) fn run(case: &Case, messages: Vec<ChatMessage>) -> Map<String, Value> {
    let text = |key: &str| case.input[key].as_str().unwrap_or_default();
    let mut script = Script::new(&case.input);
    let max_steps = count(&case.config["agent_max_steps"]);
    let system = text("system_prompt");
    let ended = Run::new(&mut script, messages, system, limits(&case.config), max_steps)
        .run(text("user_message"));
    let requests: Vec<Value> = script.requests.iter().map(|r| request_to_json(r)).collect();
    let bodies: Value = script.requests.iter().map(|request| messages_to_json(request)).collect();
    // Cases omit long requests.
    let are_omitted = case.expected["request_messages"].is_null();
    object([
        ("response", json!(ended.response.as_ref().ok())),
        ("error", json!(ended.response.as_ref().err())),
        ("messages", messages_to_json(&ended.messages)),
        ("persisted_new_messages_count", json!(ended.stored.as_ref().map(Vec::len))),
        ("persisted_new_messages", stored(&ended, case)),
        ("requests", json!(requests)),
        ("request_messages", if are_omitted { Value::Null } else { bodies }),
        ("flushes", flushes(&ended.flushes)),
        ("log", json!(ended.log)),
    ])
}

fn request_to_json(request: &[ChatMessage]) -> Value {
    let roles: Vec<&str> = request.iter().map(|m| &*m.role).collect();
    json!({"n_messages": request.len(), "tokens": messages_tokens(request), "roles": roles})
}

/// Returns the stored messages. Long cases only state their position.
fn stored(ended: &Ended, case: &Case) -> Value {
    let Some(stored) = &ended.stored else {
        return Value::Null;
    };
    let states_position = case.expected["persisted_new_messages"].is_string();
    if states_position && ended.messages.ends_with(stored) {
        return json!("== last persisted_new_messages_count items of messages");
    }
    messages_to_json(stored)
}

/// Answers and outputs in order.
struct Script<'a> {
    answers: std::slice::Iter<'a, Value>,
    outputs: std::slice::Iter<'a, Value>,
    requests: Vec<Vec<ChatMessage>>,
}

impl<'a> Script<'a> {
    fn new(input: &'a Value) -> Self {
        let list = |key: &str| input[key].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            answers: list("script").iter(),
            outputs: list("tool_outputs").iter(),
            requests: Vec::new(),
        }
    }
}

impl Environment for Script<'_> {
    fn call(&mut self, request: &[ChatMessage]) -> Reply {
        self.requests.push(request.to_vec());
        let Some(answer) = self.answers.next() else {
            return Reply::Raised("the script has ended".to_owned());
        };
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        if answer["raise"].is_string() {
            return Reply::Raised(text("raise"));
        }
        if answer["error"].is_string() {
            return Reply::Refused {
                message: text("error"),
                status: answer["status"].clone(),
                code: text("code"),
                kind: text("type"),
            };
        }
        let calls = answer["tools"].as_array().into_iter().flatten();
        Reply::Answer {
            text: text("text"),
            reasoning: text("reasoning"),
            calls: calls.map(requested).collect(),
            stop_reason: None,
        }
    }

    /// An output that starts with `bad` is a failure.
    fn run_tool(&mut self, _tool: &str, _arguments: &Value) -> ToolOutcome {
        let result = self.outputs.next().cloned().unwrap_or(json!("ok"));
        let failed = result.as_str().is_some_and(|text| text.starts_with("bad"));
        ToolOutcome { status: if failed { "error" } else { "success" }.to_owned(), result }
    }
}

fn requested(call: &Value) -> RequestedCall {
    let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
    RequestedCall {
        id: text("id"),
        tool: text("name"),
        arguments: match &call["args"] {
            Value::String(raw) => raw.clone(),
            other => other.to_string(),
        },
    }
}
