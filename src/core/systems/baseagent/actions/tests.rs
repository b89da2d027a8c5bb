//! Tests of the actions on a session's conversation.

use super::*;
use crate::chat::{Content, Fields, PendingRequest, Replies, SummaryReply, Text};
use crate::engine::{Hook, Memory, Storage};
use crate::systems::baseagent::MARKER;

/// Makes a message whose content is a part of a session.
fn message(role: &str, text: &str, part: u32) -> ChatMessage {
    ChatMessage::from(Fields {
        content: Content::Text(Text { text: text.into(), part: Some(part) }),
        ..ChatMessage::new(role, "").into_fields()
    })
}

fn run(
    action: &NamedAction,
    settings: &str,
    numbers: &[(&'static str, f64)],
    messages: Vec<ChatMessage>,
    answers: &[SummaryReply],
) -> Result<Rewritten, PendingRequest> {
    let rewrite = (action.make)(&toml::from_str(settings).unwrap()).unwrap();
    let input = RewriteInput {
        messages: messages.into(),
        tools: &[],
        numbers,
        at: Hook::BeforeCall,
        call: 0,
        turn: 1,
        call_in_turn: 0,
        now: 0.0,
        since: None,
        model: "",
        window: 200_000,
        memory: Memory::default(),
        error: "",
        storage: &Storage::AsSet,
    };
    rewrite.rewrite(input, &mut Replies::new(answers))
}

const LIMITS: &[(&str, f64)] = &[
    ("usable", 100.0),
    ("threshold", 0.5),
    ("protect", 0.0),
    ("minimum", 0.0),
    ("protect_turns", 1.0),
    ("max_tokens", 4096.0),
];

fn conversation() -> Vec<ChatMessage> {
    vec![
        message("system", "S", 0),
        message("tool", &"x".repeat(400), 1),
        message("user", "go on", 2),
    ]
}

#[test]
fn a_cut_output_keeps_its_part() {
    let messages = vec![message("tool", &"x".repeat(100), 7)];
    let cut = run(&middle_out::ACTION, "", &[("max_tokens", 2.0)], messages, &[]).unwrap();
    let text = "xxxx\n\n...23 tokens truncated...\n\nxxxx";
    assert_eq!(cut.messages, Some(vec![message("tool", text, 7)]));
    assert!(cut.fired);
}

#[test]
fn a_short_output_is_unchanged() {
    let messages = vec![message("tool", "x", 7)];
    let cut = run(&middle_out::ACTION, "", &[("max_tokens", 2.0)], messages, &[]).unwrap();
    assert_eq!(cut.messages, None);
    assert!(!cut.fired);
}

#[test]
fn clearing_reports_its_terms_and_log_lines() {
    let pruned = run(&prune::ACTION, "", LIMITS, conversation(), &[]).unwrap();
    let cleared = pruned.after(&conversation()).unwrap();
    assert_eq!(cleared[1], message("tool", MARKER, 1));
    assert_eq!(
        pruned.log,
        [
            "[compaction] Context: 113 tokens (113.0% of 100)",
            "[compaction] Context overflow detected, managing...",
            "[compaction] Prune scan: 100 total tokens, 100 prunable",
            "[compaction] Pruning 1 tool outputs, recovering ~100 tokens",
            "[compaction] Pruning sufficient: 113 -> 21 tokens",
        ]
    );
    let used_after = pruned.terms.iter().find(|(name, _)| name == "used_after");
    assert_eq!(used_after.map(|(_, value)| *value), Some(21.0));
}

#[test]
fn a_summary_leaves_the_instructions_and_itself() {
    let request = run(&compact::ACTION, "", LIMITS, conversation(), &[]).unwrap_err();
    assert_eq!(request.0.messages.len(), 4);
    assert_eq!((request.0.with_tools, request.0.max_tokens), (false, Some(4096)));
    let replies = [SummaryReply::Text("done".into())];
    let settings = "result = 'shorter'\nprefix = 'So far: '";
    let compacted = run(&compact::ACTION, settings, LIMITS, conversation(), &replies).unwrap();
    assert_eq!(
        compacted.messages.unwrap(),
        [message("system", "S", 0), ChatMessage::summary("user", "So far: done")]
    );
}

#[test]
fn a_storing_stage_ignores_a_list_that_would_not_get_shorter() {
    let short = || conversation().split_off(2);
    let stored = run(&compact::ACTION, "result = 'shorter'", LIMITS, short(), &[]).unwrap();
    assert_eq!((stored.messages, stored.fired), (None, false));
    let sent = run(&compact::ACTION, "result = 'not_shorter'", LIMITS, short(), &[]);
    assert!(sent.is_err(), "a summary is requested");
}

#[test]
fn a_failed_summary_is_an_attempt_that_changes_nothing() {
    let replies = [SummaryReply::Failed("boom".to_owned())];
    let compacted = run(&compact::ACTION, "", LIMITS, conversation(), &replies).unwrap();
    assert_eq!((compacted.messages, compacted.fired), (None, true));
    assert_eq!(compacted.log[2], "[compaction] Compaction failed: boom");
}

#[test]
fn a_prompt_that_does_not_fit_halts() {
    let failed = run(&fail::ACTION, "", &[], conversation(), &[]).unwrap();
    assert_eq!(
        failed.halt.unwrap(),
        "LLM error (fatal): api_error - HTTP 400: the prompt does not fit into 200000 tokens"
    );
}

#[test]
fn an_unknown_choice_is_rejected() {
    let settings = toml::from_str("marker = 'ignored'").unwrap();
    let refused = (prune::ACTION.make)(&settings).unwrap_err();
    assert_eq!(refused, "`marker` must be one of stops, counts");
}
