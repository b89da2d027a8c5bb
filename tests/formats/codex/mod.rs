//! Codex rollouts: context, calls and compactions.

mod compactions;
mod reading;

use plimsoll::formats::{self, Input, Parsed};
use plimsoll::json::{Value, json};
use plimsoll::session::Session;

/// Id of a fork. Ids of turns in the parent are older.
const OWN: &str = "019d7e48-0000-7000-8000-000000000000";

const OLDER_TURN: &str = "019d7d08-0000-7000-8000-000000000001";

const YOUNGER_TURN: &str = "019d7e49-0000-7000-8000-000000000002";

fn line(kind: &str, payload: &Value) -> String {
    json!({"timestamp": "2026-04-11T20:00:00.000Z", "type": kind, "payload": payload}).to_string()
}

fn item(payload: &Value) -> String {
    line("response_item", payload)
}

fn event(payload: &Value) -> String {
    line("event_msg", payload)
}

fn meta() -> String {
    line(
        "session_meta",
        &json!({"id": OWN, "cli_version": "0.125.0", "base_instructions": {"text": "You are Codex."}}),
    )
}

fn started(turn: &str) -> String {
    event(&json!({"type": "task_started", "turn_id": turn, "model_context_window": 258_400}))
}

fn turn_context(model: &str) -> String {
    line("turn_context", &json!({"model": model, "cwd": "/repo"}))
}

fn message(role: &str, text: &str) -> String {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    item(&json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
}

/// Returns a user message and its display copy.
fn user_message(text: &str) -> [String; 2] {
    [message("user", text), event(&json!({"type": "user_message", "message": text}))]
}

fn reasoning() -> String {
    item(&json!({"type": "reasoning", "summary": [], "encrypted_content": "c2VhbGVk"}))
}

fn call(id: &str) -> String {
    item(
        &json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": id}),
    )
}

fn output(id: &str, text: &str) -> String {
    item(&json!({"type": "function_call_output", "call_id": id, "output": text}))
}

fn tokens(input: u64, output: u64, total: u64) -> String {
    event(&json!({"type": "token_count", "info": {
        "total_token_usage": {"total_tokens": total},
        "last_token_usage": {"input_tokens": input, "cached_input_tokens": input / 2, "output_tokens": output,
            "reasoning_output_tokens": 7, "total_tokens": input + output},
        "model_context_window": 258_400,
    }}))
}

fn compacted(history: &Value) -> String {
    line("compacted", &json!({"message": "", "replacement_history": history}))
}

fn parse(lines: &[String]) -> Parsed {
    let input =
        Input { name: "rollout.txt".to_owned(), bytes: lines.join("\n").into_bytes().into() };
    formats::parse(&input).expect("a rollout")
}

fn session(lines: &[String]) -> Session {
    parse(lines).sessions.remove(0)
}

fn texts(session: &Session, messages: &[usize]) -> Vec<String> {
    let text = |idx: &usize| {
        let parts = session.parts_of(&session.messages[*idx]);
        parts.iter().map(|p| p.body.text()).collect::<Vec<_>>().join("|")
    };
    messages.iter().map(text).collect()
}

fn inputs(session: &Session) -> Vec<Option<u64>> {
    session.calls.iter().map(|s| s.usage.map(|u| u.input.0)).collect()
}

/// Returns a turn with two calls. The results of the first precede its token count, which is repeated.
fn two_calls() -> Vec<String> {
    let mut lines = vec![
        meta(),
        started(OLDER_TURN),
        message("developer", "<permissions instructions>"),
        message("user", "<environment_context>"),
        turn_context("gpt-5.5"),
    ];
    lines.extend(user_message("List the files"));
    lines.extend([
        event(&json!({"type": "token_count", "info": null})),
        reasoning(),
        event(&json!({"type": "agent_message", "message": "Looking."})),
        message("assistant", "Looking."),
        call("c1"),
        call("c2"),
        output("c1", "Chunk ID: 1\nProcess exited with code 0\nOutput:\na.txt"),
        output("c2", "Chunk ID: 2\nProcess exited with code 2\nOutput:\nno such file"),
        tokens(1000, 50, 1050),
        tokens(1000, 50, 1050),
        message("assistant", "One file."),
        tokens(1200, 10, 2260),
    ]);
    lines
}
