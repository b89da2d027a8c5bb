//! Cases of the agent loop: a script of user messages, tool results and answers.

use super::agent_loop::{AgentLoop, Exchange, ToolTurn, Trace};
use super::hooks::{hooks_of, state_of, stub};
use super::{Case, Setting, messages_to_json};
use plimsoll::chat::{ChatMessage, message_from_json, run_with_replies};
use plimsoll::json::{Value, json};
use plimsoll::systems::digitorn::clock::Clock;
use plimsoll::systems::digitorn::runner::HookRunner;
use plimsoll::systems::digitorn::stop::Stop;

/// The clock before the first turn.
const START: f64 = 1_000.0;

/// The system prompt of every script.
const SYSTEM: &str = "You are a careful operations assistant. You are a careful operations assistant. You are a \
    careful operations assistant. ";

pub(super) fn run_agent_loop(case: &Case) -> Value {
    let config = &case.config;
    let setting = Setting::new(config);
    let hooks = hooks_of(config);
    let mut first = state_of(config, &case.input, &setting);
    if first.messages.is_empty() {
        first.messages.push(ChatMessage::new("system", SYSTEM));
    }
    let script = case.input["script"].as_array().into_iter().flatten();
    let script: Vec<Exchange> = script.map(exchange).collect();
    let mut n_requests = 0;
    let played = run_with_replies(
        |replies| {
            let mut agent = AgentLoop {
                runner: HookRunner::new(&hooks, Vec::new(), Clock::at(START)),
                state: first.clone(),
                clock: config["monotonic_clock"].as_f64().unwrap_or(START),
            };
            let mut traces: Vec<Trace> = Vec::new();
            for exchange in &script {
                match agent.answer(exchange, setting.around(), replies) {
                    Ok(turns) => traces.extend(turns),
                    Err(Stop::Pending(pending)) => return Err(pending),
                    Err(Stop::Raised(error)) => return Ok(Err(error)),
                }
            }
            Ok(Ok((agent.state.messages, traces)))
        },
        |_| {
            n_requests += 1;
            stub(config)
        },
    );
    match played {
        Ok((messages, traces)) => json!({
            "messages": messages_to_json(&messages),
            "trace": traces.iter().map(trace_to_json).collect::<Value>(),
            "summary_llm_calls": n_requests,
        }),
        Err(error) => json!({"error": error.to_string()}),
    }
}

fn trace_to_json(trace: &Trace) -> Value {
    json!({
        "turn": trace.turn,
        "clock": trace.clock,
        "pressure_before": trace.pressure_before,
        "tokens_before": trace.tokens_before,
        "tokens_after": trace.tokens_after,
        "fired": trace.fired,
        "n_messages": trace.n_messages,
        "last_compact_turn": trace.last_compact_turn,
    })
}

fn exchange(value: &Value) -> Exchange {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    Exchange {
        user: text("user"),
        tool_turns: value["steps"].as_array().into_iter().flatten().map(tool_turn).collect(),
        answer: text("answer"),
        seconds: value["dt"].as_f64().unwrap_or(0.0),
    }
}

/// Makes a turn of `n` calls of the reading tool with the same result.
fn tool_turn(value: &Value) -> ToolTurn {
    let id = value["id"].as_str().unwrap_or_default();
    let n = value["n"].as_u64().unwrap_or(1);
    let result = value["result"].as_str().unwrap_or_default();
    let call = |idx| {
        json!({
            "id": format!("{id}_{idx}"),
            "type": "function",
            "function": {"name": "filesystem__read", "arguments": "{\"path\": \"f\"}"},
        })
    };
    let calls: Vec<Value> = (0..n).map(call).collect();
    let assistant = message_from_json(&json!({"role": "assistant", "tool_calls": calls}));
    ToolTurn { calls: assistant.calls().to_vec(), results: vec![result.to_owned(); calls.len()] }
}
