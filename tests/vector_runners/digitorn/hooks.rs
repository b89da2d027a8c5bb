//! Cases of hooks: the automatic one on one event, and any hooks on a list of events.

use super::{Case, Setting, messages_from_json, messages_to_json, number, or_error};
use plimsoll::chat::{SummaryReply, SummaryRequest, message_to_json, run_with_replies};
use plimsoll::json::{Map, Value, json};
use plimsoll::languages::python::python_str;
use plimsoll::systems::digitorn::clock::Clock;
use plimsoll::systems::digitorn::hook::HookEvent;
use plimsoll::systems::digitorn::hook::{Hook, in_order};
use plimsoll::systems::digitorn::runner::HookRunner;
use plimsoll::systems::digitorn::turn_state::{MAX_TURNS, NEVER_COMPACTED, ToolContext, TurnState};

/// Returns the answer of the case's model: a text, the content of a dict, or a failure.
pub(super) fn stub(config: &Value) -> SummaryReply {
    let kind = match &config["summary_llm"] {
        Value::Null => "ok",
        Value::String(kind) => kind,
        Value::Object(answer) => return dict(answer),
        other => return SummaryReply::Text(other.to_string().into()),
    };
    if is_failure(kind) {
        return SummaryReply::Failed(kind.to_owned());
    }
    SummaryReply::Text(match kind {
        "ok" | "dict" => "SUMMARY".into(),
        "empty" => "".into(),
        "null" => "None".into(),
        other => other.into(),
    })
}

fn is_failure(kind: &str) -> bool {
    let fails = ["fail", "error", "raise", "exception", "timeout"];
    fails.iter().any(|word| kind.contains(word))
}

fn dict(answer: &Map<String, Value>) -> SummaryReply {
    if let Some((kind, why)) = answer.iter().find(|(key, _)| is_failure(key)) {
        return SummaryReply::Failed(why.as_str().unwrap_or(kind).to_owned());
    }
    let content = ["content", "text", "answer", "summary"].map(|key| answer.get(key));
    let content = content.into_iter().flatten().next();
    SummaryReply::Text(content.map_or_else(String::new, python_str).into())
}

pub(super) fn request_json(request: &SummaryRequest) -> Value {
    json!({
        "messages": request.messages.iter().map(message_to_json).collect::<Value>(),
        "tools": Value::Null,
        "max_tokens": request.max_tokens,
    })
}

pub(super) fn clock(value: &Value) -> Option<Clock> {
    let readings = match value {
        Value::Array(readings) => readings.iter().filter_map(Value::as_f64).collect(),
        other => vec![other.as_f64()?],
    };
    Some(Clock::new(readings))
}

fn events_to_json(events: &[HookEvent]) -> Value {
    events.iter().map(HookEvent::to_json).collect()
}

/// Returns the hooks of the application, and the automatic one if the case enables it.
pub(super) fn hooks_of(config: &Value) -> Vec<Hook> {
    let own: Vec<Hook> =
        config["hooks"].as_array().into_iter().flatten().map(Hook::from_json).collect();
    let is_auto = !config["hooks"].is_array() && config["auto_compact"] != false;
    let auto = is_auto.then(|| {
        Hook::auto_compact(
            config.get("compression_trigger").unwrap_or(&json!(0.75)),
            config["strategy"].as_str().unwrap_or("summarize"),
            number(config, "keep_recent", 10),
            config["summary_max_tokens"].as_u64().unwrap_or(1_024),
        )
    });
    in_order(own, auto)
}

pub(super) fn state_of(config: &Value, input: &Value, setting: &Setting) -> TurnState {
    let reserved = number(config, "output_reserved", 4_096);
    let max_tokens = number(config, "max_tokens", 128_000);
    let mut state = TurnState::new(messages_from_json(&input["messages"]), max_tokens, reserved);
    state.turn = number(config, "turn", 0);
    state.max_turns = number(config, "max_turns", MAX_TURNS);
    state.last_compact_turn = number(config, "last_compact_turn", NEVER_COMPACTED);
    state.trigger = config["compression_trigger"].as_f64().unwrap_or(0.75);
    state.tool_injection = setting.mode;
    config["agent_id"].as_str().unwrap_or("main").clone_into(&mut state.agent_id);
    state
}

pub(super) fn auto_compact(case: &Case) -> Value {
    let config = &case.config;
    let setting = Setting::new(config);
    let hooks = hooks_of(config);
    let first = state_of(config, &case.input, &setting);
    let mut fresh = first.clone();
    let (before, pressure) = (fresh.estimated_tokens(), fresh.token_pressure());
    let clock = clock(&config["monotonic_clock"]).unwrap_or(Clock::at(1_000.0));
    let mut requests = Vec::new();
    let (state, runner, fired) = run_with_replies(
        |replies| {
            let mut state = first.clone();
            let mut runner = HookRunner::new(&hooks, Vec::new(), clock.clone());
            let fired = runner.run("turn_start", &mut state, setting.around(), replies)?;
            Ok((state, runner, fired))
        },
        |request| {
            requests.push(request_json(request));
            stub(config)
        },
    );
    let by_brain = config["summary_brain"] == true;
    let (llm, brain) = if by_brain { (vec![], requests) } else { (requests, vec![]) };
    let mut after = TurnState::new(state.messages.clone(), 1, 0);
    json!({
        "messages": messages_to_json(&after.messages),
        "fired": fired,
        "events": events_to_json(&runner.events),
        "tokens_before": or_error(before),
        "pressure_before": or_error(pressure),
        "tokens_after": or_error(after.estimated_tokens()),
        "last_compact_turn_after": state.last_compact_turn,
        "summary_llm_calls": llm,
        "summary_brain_calls": brain,
    })
}

pub(super) fn hooks(case: &Case) -> Value {
    let config = &case.config;
    let setting = Setting::new(config);
    let hooks = hooks_of(config);
    let first = state_of(config, &case.input, &setting);
    let steps: Vec<&Value> = case.input["steps"].as_array().into_iter().flatten().collect();
    let default_event = config["hooks"][0]["on"].as_str().unwrap_or("turn_end");
    let mut n_requests = 0;
    let (state, lines) = run_with_replies(
        |replies| {
            let mut state = first.clone();
            let mut runner = HookRunner::new(&hooks, Vec::new(), Clock::at(1_000.0));
            let mut lines = Vec::new();
            for step in &steps {
                state.start_event(number(step, "turn", 0), number(step, "tools", 0));
                state.max_turns = number(step, "max_turns", state.max_turns);
                let agent = step["agent_id"].as_str().unwrap_or(&first.agent_id);
                agent.clone_into(&mut state.agent_id);
                state.tool = tool_of(step);
                state.messages.extend(messages_from_json(&step["append"]));
                runner.clock = clock(&step["clock"]).unwrap_or(runner.clock);
                runner.events.clear();
                let event = step["event"].as_str().unwrap_or(default_event);
                let fired = runner.run(event, &mut state, setting.around(), replies)?;
                lines.push(json!({
                    "step": step,
                    "fired": fired,
                    "events": events_to_json(&runner.events),
                    "n_messages": state.messages.len(),
                    "last_compact_turn": state.last_compact_turn,
                }));
            }
            Ok((state, lines))
        },
        |_| {
            n_requests += 1;
            stub(config)
        },
    );
    json!({"messages": messages_to_json(&state.messages), "steps": lines, "summary_llm_calls": n_requests})
}

fn tool_of(step: &Value) -> Option<ToolContext> {
    let tool = step.get("tool").filter(|tool| tool.is_object())?;
    Some(ToolContext {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        params: tool["params"].clone(),
        result: tool["result"].clone(),
        error: tool["error"].as_str().map(str::to_owned),
    })
}
