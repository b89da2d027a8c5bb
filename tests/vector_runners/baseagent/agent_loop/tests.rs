//! Rules of the loop that no visible test vector covers.

use super::*;
use plimsoll::chat::{BlockBody, message_to_json};
use plimsoll::json::json;
use plimsoll::languages::python::PythonError;
use plimsoll::systems::baseagent::Limits;
use std::collections::VecDeque;

/// Returns answers in order, then `ok` forever.
struct Script {
    replies: VecDeque<Result<Reply, Failure>>,
    output: ToolOutput,
}

impl Environment for Script {
    fn chat(&mut self, _: &[ChatMessage]) -> Result<Reply, Failure> {
        let ok = || Ok(says("ok"));
        self.replies.pop_front().unwrap_or_else(ok)
    }
    fn summarize(&mut self, _: &SummaryRequest) -> SummaryReply {
        SummaryReply::Text("S".into())
    }
    fn execute(&mut self, _: &str, _: &Map<String, Value>) -> ToolOutput {
        self.output.clone()
    }
}

fn says(text: &str) -> Reply {
    Reply { text: text.to_owned(), ..Reply::default() }
}

fn calls_tool() -> Reply {
    Reply {
        calls: vec![ToolCall {
            id: "c1".to_owned(),
            tool: "view_image".to_owned(),
            arguments: json!({}),
        }],
        ..Reply::default()
    }
}

fn run(replies: Vec<Result<Reply, Failure>>, limits: Limits, is_caching: bool) -> Record {
    let task = Task {
        instruction: "DO".to_owned(),
        system_prompt: "SYS".to_owned(),
        initial_state: String::new(),
    };
    let settings = Settings { limits, max_output_tokens: 2500, max_iterations: 20, is_caching };
    let image = Block { part: None, body: BlockBody::Other(json!({"type": "image_url"})) };
    let mut script = Script {
        replies: replies.into(),
        output: ToolOutput { text: "shown".to_owned(), image: Some(image) },
    };
    run_agent_loop(&task, &settings, &mut script)
}

fn llm(code: &str, message: &str) -> Result<Reply, Failure> {
    Err(Failure::Llm { code: code.to_owned(), message: message.to_owned() })
}

#[test]
fn a_prompt_that_does_not_fit_ends_the_run_at_once() {
    let record = run(vec![llm("api_error", "HTTP 400: too long")], Limits::SHIPPED, false);
    assert_eq!(record.events, ["ThreadStartedEvent", "TurnStartedEvent", "TurnFailedEvent"]);
    assert_eq!(
        record.log[3..],
        [
            "[loop] LLM error (attempt 1/5): api_error - HTTP 400: too long",
            "[loop] LLM error (fatal): api_error - HTTP 400: too long",
        ]
    );
    assert!(record.is_done);
}

#[test]
fn the_fifth_try_is_the_last_and_a_limit_of_cost_is_tried_once() {
    let record = run(vec![llm("server_error", "Overloaded"); 5], Limits::SHIPPED, false);
    assert_eq!(record.requests.len(), 5);
    let waits = record.log.iter().filter(|line| line.starts_with("sleep"));
    assert_eq!(waits.collect::<Vec<_>>(), ["sleep 10", "sleep 20", "sleep 30", "sleep 40"]);
    let limit = vec![Err(Failure::CostLimit("$10".to_owned()))];
    let record = run(limit, Limits::SHIPPED, false);
    assert_eq!(record.log[3..], ["[loop] Cost limit exceeded: $10"]);
    let refused = vec![llm("authentication_error", "timeout")];
    assert_eq!(run(refused, Limits::SHIPPED, false).requests.len(), 1);
    let other = PythonError::new("RuntimeError", "rate_limit");
    let record = run(vec![Err(Failure::Other(other))], Limits::SHIPPED, false);
    assert_eq!(record.log[4], "[loop] Unexpected error (fatal): RuntimeError: rate_limit");
}

#[test]
fn an_image_stands_between_a_call_and_its_result() {
    let record = run(vec![Ok(calls_tool())], Limits::SHIPPED, false);
    let sent: Vec<Value> = record.requests[1].messages.iter().map(message_to_json).collect();
    assert_eq!(
        sent[4],
        json!({"role": "user", "content": [
            {"type": "text", "text": "Image from view_image:"},
            {"type": "image_url"},
        ]})
    );
    assert_eq!(sent[5], json!({"role": "tool", "content": "shown", "tool_call_id": "c1"}));
}

#[test]
fn the_first_instruction_and_the_last_two_messages_are_marked_for_the_cache() {
    let record = run(vec![], Limits::SHIPPED, true);
    assert_eq!(
        record.log[3],
        "[loop] Prompt caching: 1 system + 2 final messages marked (3 breakpoints)"
    );
    let sent = &record.requests[0].messages;
    assert_eq!(
        message_to_json(&sent[1]),
        json!({"role": "user", "content": [
            {"type": "text", "text": "DO", "cache_control": {"type": "ephemeral"}},
        ]})
    );
}

#[test]
fn every_summary_that_is_shorter_replaces_the_history() {
    let limits = Limits { context: 10, output: 0, ..Limits::SHIPPED };
    let record = run(vec![], limits, false);
    let lengths: Vec<_> = record.requests.iter().map(|r| r.messages.len()).collect();
    assert_eq!(lengths, [4, 2, 5, 2]);
    let lines = |line: &&String| line.starts_with("[loop] Context compacted:");
    let lines: Vec<_> = record.log.iter().filter(lines).collect();
    assert_eq!(
        lines,
        ["[loop] Context compacted: 3 -> 2 messages", "[loop] Context compacted: 4 -> 2 messages",]
    );
}
