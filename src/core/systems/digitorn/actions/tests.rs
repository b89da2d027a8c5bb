use super::ACTIONS;
use super::hooks::{HookMemory, MEMORY_KEY};
use crate::chat::{ChatMessage, Replies, SummaryReply, message_from_json};
use crate::engine::{Hook, Memory, Rewrite, RewriteInput, Rewritten, Storage};
use crate::json::json;
use std::sync::Arc;

/// Numbers of the preset, for a window of 3,000.
const NUMBERS: &[(&str, f64)] = &[
    ("max_tokens", 3_000.0),
    ("output_reserved", 500.0),
    ("strategy", 0.0),
    ("keep_recent", 4.0),
    ("compression_trigger", 0.5),
    ("summary_max_tokens", 256.0),
    ("auto_compact", 1.0),
    ("cooldown", 30.0),
    ("cooldown_turns", 3.0),
    ("max_turns", 50.0),
    ("tool_injection", 0.0),
    ("uptime", 1_000.0),
    ("provider", 0.0),
    ("attempt", 1.0),
    ("limit", 2_000.0),
    ("estimate_ratio", 1.6),
    ("keep_results", 3.0),
    ("min_bytes", 4_096.0),
];

fn action(name: &str, settings: &str) -> Arc<dyn Rewrite> {
    let action = ACTIONS.iter().find(|a| a.name == name).unwrap();
    assert!(action.numbers.iter().all(|n| NUMBERS.iter().any(|(known, _)| known == n)));
    (action.make)(&toml::from_str(settings).unwrap()).unwrap()
}

fn input(
    messages: Vec<ChatMessage>,
    (turn, call_in_turn): (u32, u32),
    now: f64,
    memory: Memory,
) -> RewriteInput<'static> {
    RewriteInput {
        messages: messages.into(),
        tools: &[],
        numbers: NUMBERS,
        at: Hook::BeforeCall,
        call: 7,
        turn,
        call_in_turn,
        now,
        since: None,
        model: "gpt-4o",
        window: 3_000,
        memory,
        error: "",
        storage: &Storage::AsSet,
    }
}

fn chat(n: usize) -> Vec<ChatMessage> {
    let mut messages = vec![ChatMessage::new("system", "s")];
    let role = |idx: usize| {
        if idx.is_multiple_of(2) { "user" } else { "assistant" }
    };
    messages.extend((0..n).map(|idx| ChatMessage::new(role(idx), "x".repeat(2_000))));
    messages
}

fn run(rule: &dyn Rewrite, input: RewriteInput<'_>) -> Rewritten {
    let answers = [SummaryReply::Text("SUMMARY".into())];
    rule.rewrite(input, &mut Replies::new(&answers)).unwrap()
}

#[test]
fn a_chat_without_tools_compacts_once_and_never_again() {
    let hooks = action("digitorn.hooks", "");
    let first = run(&*hooks, input(chat(9), (9, 0), 100.0, Memory::default()));
    assert_eq!(first.messages.as_ref().unwrap().len(), 6);
    assert!(first.fired);
    let again = run(&*hooks, input(chat(9), (10, 0), 200.0, first.memory));
    assert!(again.fired && again.messages.is_none(), "it fires and does nothing");
    let rested = run(&*hooks, input(chat(9), (11, 0), 220.0, again.memory));
    assert!(!rested.fired, "less than 30 seconds later it does not even fire");
}

#[test]
fn own_hooks_keep_their_count_in_the_memory() {
    let once = r#"hooks = [{ id = "note", on = "turn_start", max_fires = 1, action = { type = "inject_message", content = "N" } }]"#;
    let hooks = action("digitorn.hooks", once);
    let short = vec![ChatMessage::new("user", "q")];
    let first = run(&*hooks, input(short.clone(), (1, 0), 0.0, Memory::default()));
    let messages = first.messages.unwrap();
    assert_eq!(messages[0].text(), Some("q\n\n[System note: N]"));
    let kept = first.memory.shared::<HookMemory>(MEMORY_KEY).unwrap();
    assert_eq!(kept.states["note"].fire_count, 1);
    let second = run(&*hooks, input(short, (1, 1), 1.0, first.memory));
    assert!(!second.fired && second.messages.is_none());
}

#[test]
fn the_document_s_example_injects_at_its_turn_only() {
    let example = r#"
        hooks = [{ id = "five", on = "turn_start", condition = { type = "turn_count", count = 8 }, action = { type = "inject_message", role = "system", message = "N" } }]
    "#;
    let shipped = action("digitorn.hooks", example);
    let documented = action("digitorn.hooks", &format!("reading = \"document\"\n{example}"));
    let at = |call: usize| RewriteInput {
        call,
        ..input(vec![ChatMessage::new("system", "s")], (1, 0), 0.0, Memory::default())
    };
    let late = |call: u32| RewriteInput { turn: 1, call_in_turn: call, ..at(7) };
    assert!(!run(&*shipped, late(9)).fired);
    let ignored = run(&*shipped, late(10));
    assert!(ignored.fired && ignored.messages.is_none());
    let logged = "[hook] five inject_message end {\"fire_count\": 1}";
    assert_eq!(ignored.log, ["hook_inject: no content specified", logged]);
    assert!(!run(&*documented, at(6)).fired);
    assert!(!run(&*documented, at(8)).fired);
    let injected = run(&*documented, at(7)).messages.unwrap();
    assert_eq!(injected[0].text(), Some("s\n\nN"));
}

#[test]
fn anthropic_s_refusal_is_not_recognized() {
    let emergency = action("digitorn.emergency", "");
    let recognized = run(&*emergency, input(chat(9), (1, 0), 0.0, Memory::default()));
    assert_eq!(recognized.messages.unwrap().len(), 6);
    let claude =
        RewriteInput { model: "claude-sonnet-4", ..input(chat(9), (1, 0), 0.0, Memory::default()) };
    let missed = run(&*emergency, claude);
    assert!(missed.messages.is_none());
    assert!(missed.halt.unwrap().starts_with("prompt is too long"));
}

#[test]
fn the_rewrite_in_go_recognizes_two_more_phrases() {
    let emergency = action("digitorn.go_emergency", "");
    let emergency_at = |error| {
        let input = input(chat(9), (1, 0), 0.0, Memory::default());
        run(&*emergency, RewriteInput { error, ..input })
    };
    for error in ["Prompt is too long: 9000 tokens", "context length exceeded"] {
        let done = emergency_at(error);
        assert!(done.halt.is_none() && done.messages.is_some(), "{error}");
    }
    assert_eq!(emergency_at("rate limit").halt.as_deref(), Some("rate limit"));
}

#[test]
fn a_result_is_cut_in_place() {
    let cut = action("digitorn.cut_result", "");
    let result =
        json!({"role": "tool", "tool_call_id": "c", "name": "ls", "content": "y".repeat(6_000)});
    let done = run(&*cut, input(vec![message_from_json(&result)], (1, 1), 0.0, Memory::default()));
    let text = done.messages.unwrap()[0].text().unwrap().to_owned();
    assert!(text.contains("showing first 4500 of 6000 characters from ls."));
}

#[test]
fn the_rewrite_in_go_keeps_half_as_many_until_a_request_fits() {
    let fit = action("digitorn.go_fit", "prompt = 'P'");
    let done = run(&*fit, input(chat(9), (5, 0), 0.0, Memory::default()));
    let messages = done.messages.unwrap();
    assert_eq!(messages.len(), 2 + 2, "system prompt and recap, then the least that it keeps");
    let again = run(&*fit, input(messages, (6, 0), 1.0, Memory::default()));
    assert!(again.messages.is_none(), "what it keeps cannot shrink further");
}

#[test]
fn keys_that_an_action_does_not_read_are_refused() {
    for action in ACTIONS {
        assert!((action.make)(&toml::from_str("hoks = []").unwrap()).is_err());
    }
}
