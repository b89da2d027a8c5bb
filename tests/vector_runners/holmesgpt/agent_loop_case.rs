//! The stage `loop`: a whole run. The model and the tools follow a script.

use super::super::{Answer, Case, messages_from_json, object};
use super::agent_loop::{AgentLoop, Completion, Environment};
use super::limit::{event_to_json, threshold};
use super::scripted_answers::{roles, scripted_reply};
use super::small::uncounted_json;
use super::{llm, storage, tools};
use plimsoll::chat::{
    Arguments, Call, Calls, ChatMessage, Content, Fields, Function, Rest, SummaryReply,
    SummaryRequest,
};
use plimsoll::json::{Value, json};
use plimsoll::languages::python::{Layout, python_dumps};
use plimsoll::systems::holmesgpt::{
    Event, Llm, RequestStats, Status, Summarizer, ToolData, ToolResult, V045_INSTRUCTION,
};

/// Prompt and answer tokens of an answer and of a summary.
const ANSWER: (u64, u64) = (100, 10);
const SUMMARY: (u64, u64) = (1000, 50);

/// A model and tools that follow a script.
struct Script<'a> {
    case: &'a Case,
    llm: &'a Llm,
    step: usize,
    requests: Vec<Value>,
    executed: Vec<Value>,
}

impl Script<'_> {
    fn record(&mut self, kind: &str, messages: &[ChatMessage], tools: &[Value]) {
        let tokens = self.llm.count(&mut messages.to_vec(), tools).total;
        self.requests.push(json!({
            "kind": kind,
            "n_messages": messages.len(),
            "roles": roles(messages),
            "with_tools": !tools.is_empty(),
            "tokens": tokens,
        }));
    }
}

impl Environment for Script<'_> {
    fn complete(&mut self, messages: &[ChatMessage], tools: &[Value]) -> Completion {
        self.record("agent", messages, tools);
        let steps = self.case.input["steps"].as_array();
        let step = steps.and_then(|steps| steps.get(self.step).or(steps.last()));
        let message = step
            .map_or_else(|| ChatMessage::new("assistant", ""), |step| scripted(step, self.step));
        self.step += 1;
        Completion { message, usage: RequestStats::of_request(ANSWER.0, ANSWER.1) }
    }

    fn summarize(&mut self, request: &SummaryRequest) -> SummaryReply {
        let tools = if request.with_tools { tools(self.case) } else { &[] };
        self.record("summarize", &request.messages, tools);
        scripted_reply(&self.case.input["fake_summary"], request)
    }

    fn run_tool(&mut self, tool: &str, call_id: &str, params: &Value) -> ToolResult {
        let outputs = self.case.input["tool_outputs"].as_array();
        let output = outputs.and_then(|all| all.get(self.executed.len()).or(all.last()));
        let data = ToolData::from_json(output.unwrap_or(&Value::Null));
        self.executed.push(json!([tool, params]));
        ToolResult {
            tool_name: tool.into(),
            call_id: call_id.into(),
            status: Status::Success,
            error: None,
            data,
            part: None,
            images: Vec::new(),
            params: params.clone(),
            url: None,
        }
    }
}

/// Returns the answer of a step: a text or a list of calls.
fn scripted(step: &Value, idx: usize) -> ChatMessage {
    let Some(calls) = step.as_array() else {
        return ChatMessage::new("assistant", step.as_str().unwrap_or_default());
    };
    let call = |(n, call): (usize, &Value)| Call {
        part: None,
        id: Some(format!("call_{idx}_{n}").into()),
        function: Some(Function {
            name: call[0].as_str().unwrap_or_default().into(),
            arguments: Arguments::Text(python_dumps(&call[1], Layout::ASCII).into()),
            rest: Rest::default(),
        }),
        rest: Rest::of_function_call(),
    };
    ChatMessage::from(Fields {
        content: Content::Missing,
        calls: Calls::List(calls.iter().enumerate().map(call).collect()),
        ..ChatMessage::new("assistant", "").into_fields()
    })
}

pub(super) fn call_stream(case: &Case) -> Answer {
    let llm = llm(case)?;
    let price =
        |_: &SummaryRequest, _: &SummaryReply| RequestStats::of_request(SUMMARY.0, SUMMARY.1);
    let flag = |key: &str| case.config[key].as_bool().unwrap_or(true);
    let agent = AgentLoop {
        summarizer: Summarizer {
            llm: &llm,
            tools: tools(case),
            instruction: V045_INSTRUCTION,
            max_tokens: None,
            price: &price,
        },
        threshold: threshold(&case.config),
        storage: storage(case),
        max_steps: case.config["max_steps"].as_u64().unwrap_or(10) as usize,
        refuses_repeats: flag("tool_call_safeguards_enabled"),
        forgets_at_compaction: flag("reset_repeated_tool_call_check_after_compaction"),
    };
    let mut script =
        Script { case, llm: &llm, step: 0, requests: Vec::new(), executed: Vec::new() };
    let run = agent.call_stream(messages_from_json(&case.input["messages"]), &mut script);
    let error = run.error.map(|error| json!({"type": error.kind, "text": error.text}));
    let content = run.messages.last().and_then(ChatMessage::text);
    let last = json!({
        "messages": uncounted_json(&run.messages),
        "content": content,
        "num_llm_calls": run.n_calls,
        "costs": run.stats.to_json(),
    });
    Ok(object([
        ("requests", script.requests.into()),
        ("events", run.events.iter().map(event_json).collect()),
        ("final", if error.is_some() { Value::Null } else { last }),
        ("error", json!(error)),
        ("executed_tools", script.executed.into()),
    ]))
}

/// Returns an event with its content, or only its name if it has none.
fn event_json(event: &Event) -> Value {
    if event.content.is_some() { event_to_json(event) } else { json!({"event": event.name}) }
}
