//! Cases of the agent loop: the model and the tools follow a script.

use super::super::{Answer, Case, NotCovered, messages_to_json, object, texts, unstated};
use super::agent_loop::{
    Environment, Reply, Request, Settings, Task, ToolCall, ToolOutput, Usage, run_agent_loop,
};
use super::exception::read_failure;
use super::{limits, scripted_reply};
use plimsoll::chat::{
    Block, ChatMessage, Content, SummaryReply, SummaryRequest, message_from_json,
};
use plimsoll::json::{Map, Value, json};
use plimsoll::languages::python::PythonError;
use plimsoll::systems::baseagent::{Failure, total_tokens};

/// Usage of every answer.
const USAGE: Usage = Usage { input: 10, cached: 1, output: 2 };

/// Runs a case of the loop.
pub(super) fn run_loop(case: &Case) -> Answer {
    let given = texts(&case.input);
    let is_unstated_image = |text: &&str| text.starts_with("data:image/") && !given.contains(text);
    if texts(&case.expected).iter().any(is_unstated_image) {
        return Err(unstated("an image that a tool returned"));
    }
    let text = |key: &str| case.input[key].as_str().unwrap_or_default().to_owned();
    let task = Task {
        instruction: text("instruction"),
        system_prompt: text("system_prompt"),
        initial_state: text("initial_state_output"),
    };
    let integer = |key: &str, default| case.config[key].as_i64().unwrap_or(default);
    let settings = Settings {
        limits: limits(&case.config),
        max_output_tokens: integer("max_output_tokens", 2500),
        max_iterations: integer("max_iterations", 200),
        is_caching: case.config["cache_enabled"].as_bool().unwrap_or(true),
    };
    let mut script = Script {
        input: &case.input,
        n_answers: 0,
        n_outputs: 0,
        has_ended: false,
        is_unstated: false,
    };
    let record = run_agent_loop(&task, &settings, &mut script);
    if script.has_ended {
        return Err(NotCovered("the script ends before the run".to_owned()));
    }
    if script.is_unstated {
        return Err(unstated("the code of an exception"));
    }
    Ok(object([
        ("requests", record.requests.iter().map(request).collect()),
        ("events", json!(record.events)),
        ("log", json!(record.log)),
        ("done", json!(record.is_done)),
    ]))
}

/// Returns a request as case files state it.
fn request(request: &Request) -> Value {
    let tokens = total_tokens(&request.messages).ok().map(|tokens| tokens.0);
    if request.is_compaction {
        let roles: Vec<&str> = request.messages.iter().map(|m| &*m.role).collect();
        let n = request.messages.len();
        json!({"kind": "compaction", "n_messages": n, "tokens": tokens, "roles": roles})
    } else {
        json!({"kind": "agent", "messages": messages_to_json(&request.messages), "tokens": tokens})
    }
}

/// Answers from a case file.
struct Script<'a> {
    input: &'a Value,
    /// Number of answers given so far.
    n_answers: usize,
    /// Number of tool outputs given so far.
    n_outputs: usize,
    /// Whether the run asked for more answers than the script has.
    has_ended: bool,
    /// Whether the script names an exception without stating its code.
    is_unstated: bool,
}

impl Environment for Script<'_> {
    fn chat(&mut self, _: &[ChatMessage]) -> Result<Reply, Failure> {
        let answer = &self.input["script"][self.n_answers];
        self.n_answers += 1;
        match answer {
            Value::Null => {
                self.has_ended = true;
                let error = PythonError::new("IndexError", "the script has ended");
                Err(Failure::Other(error))
            }
            Value::String(exception) => Err(read_failure(exception).unwrap_or_else(|| {
                self.is_unstated = true;
                Failure::Other(PythonError::new("LLMError", exception))
            })),
            answer => Ok(Reply {
                text: answer["text"].as_str().unwrap_or_default().to_owned(),
                calls: calls(&answer["tool_calls"], self.n_answers),
                usage: USAGE,
            }),
        }
    }

    fn summarize(&mut self, _: &SummaryRequest) -> SummaryReply {
        scripted_reply(self.input)
    }

    fn execute(&mut self, _: &str, _: &Map<String, Value>) -> ToolOutput {
        let output = &self.input["tool_outputs"][self.n_outputs];
        self.n_outputs += 1;
        if let Value::String(text) = output {
            return ToolOutput { text: text.clone(), image: None };
        }
        let text = ["output", "text", "content"].map(|key| output[key].as_str());
        let image = ["inject_content", "inject", "image"].map(|key| output.get(key));
        ToolOutput {
            text: text.into_iter().flatten().collect(),
            image: image.into_iter().flatten().find_map(image_block),
        }
    }
}

/// Returns the tool calls of the `n`th answer. The default id of a call is `call_N_I`.
fn calls(calls: &Value, n: usize) -> Vec<ToolCall> {
    let calls = calls.as_array().into_iter().flatten().enumerate();
    calls
        .map(|(i, call)| ToolCall {
            id: call["id"].as_str().map_or_else(|| format!("call_{n}_{i}"), str::to_owned),
            tool: call["name"].as_str().unwrap_or_default().to_owned(),
            arguments: call["arguments"].clone(),
        })
        .collect()
}

/// Returns the content block of an image in a tool output.
fn image_block(part: &Value) -> Option<Block> {
    if !part.is_object() {
        return None;
    }
    let message = message_from_json(&json!({"role": "user", "content": [part]}));
    match message.into_fields().content {
        Content::Blocks(blocks) => blocks.into_iter().next(),
        _ => None,
    }
}
