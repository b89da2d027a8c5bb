//! Reading calls, items and real files.

use super::{
    OWN, call, event, inputs, item, line, message, meta, parse, session, tokens, turn_context,
    two_calls, user_message,
};
use crate::real_sessions;
use plimsoll::formats::{self, Input};
use plimsoll::json::json;
use plimsoll::session::{Body, CallsFrom, Role, Usage, issues};
use plimsoll::units::Tokens;

#[test]
fn a_call_counts_once_and_holds_its_cached_tokens() {
    let parsed = parse(&two_calls());
    let session = &parsed.sessions[0];
    assert_eq!(session.calls_from, CallsFrom::Recorded);
    assert_eq!(inputs(session), [Some(1000), Some(1200)]);
    let expected = Usage {
        input: Tokens(1000),
        cache_read: Some(Tokens(500)),
        cache_write: None,
        cache_write_hour: None,
        output: Some(Tokens(50)),
        reasoning: Some(Tokens(7)),
    };
    assert_eq!(session.calls[0].usage, Some(expected));
    assert_eq!(session.calls[0].window, Some(Tokens(258_400)));
    assert_eq!(session.calls.iter().map(|s| s.context_end).collect::<Vec<_>>(), [4, 10]);
    let of_call: Vec<_> = session.messages.iter().map(|m| m.call).collect();
    let mut expected = vec![None; 4];
    expected.extend([Some(0); 4]);
    expected.extend([None, None, Some(1)]);
    assert_eq!(of_call, expected);
    assert_eq!(session.models, ["gpt-5.5"]);
    assert_eq!(parsed.warnings, []);
}

#[test]
fn only_items_are_context_and_only_user_messages_open_a_turn() {
    let parsed = parse(&two_calls());
    let session = &parsed.sessions[0];
    assert_eq!(session.turns, 1);
    assert_eq!(session.title, "List the files");
    let roles: Vec<_> =
        session.messages.iter().take(4).map(|m| (m.role, m.is_injected, m.turn)).collect();
    let expected = [
        (Role::System, false, 0),
        (Role::System, false, 0),
        (Role::User, true, 0),
        (Role::User, false, 1),
    ];
    assert_eq!(roles, expected);
    let in_context = |kind: &str| parsed.report.records[kind].in_context;
    assert_eq!((in_context("session_meta"), in_context("response_item/message")), (1, 5));
    assert_eq!(
        (in_context("event_msg/agent_message"), in_context("event_msg/token_count")),
        (0, 0)
    );
    assert!(parsed.report.recognized_by.contains("rollout"));
}

#[test]
fn reads_the_tool_and_failure_of_results_and_reported_reasoning_tokens() {
    let session = session(&two_calls());
    let results: Vec<_> = session
        .parts
        .iter()
        .filter_map(|p| match &p.body {
            Body::ToolResult { call, tool, is_error, .. } => Some((&**call, &**tool, *is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(results, [("c1", "exec_command", false), ("c2", "exec_command", true)]);
    let thinking = Body::Thinking { text: "".into(), sealed_bytes: 8, reported: Some(7) };
    assert!(session.parts.iter().any(|p| p.body == thinking));
    assert_eq!(issues(&session), []);
}

#[test]
fn a_redacted_message_with_a_display_copy_opens_a_turn() {
    let mut lines = vec![meta(), message("user", "[REDACTED]"), message("user", "[REDACTED]")];
    lines.push(event(&json!({"type": "user_message", "message": "[ALSO REDACTED]"})));
    let session = session(&lines);
    assert_eq!(
        session.messages.iter().map(|m| m.is_injected).collect::<Vec<_>>(),
        [false, true, false]
    );
}

#[test]
fn an_impossible_count_is_reported_with_its_line() {
    let mut lines = two_calls();
    let n = lines.len();
    lines.extend([message("assistant", "Absurd."), tokens(u64::MAX / 2, 5, 1)]);
    lines.extend([message("assistant", "Fine."), tokens(1300, 5, 3565)]);
    let parsed = parse(&lines);
    let session = &parsed.sessions[0];
    assert_eq!(inputs(session), [Some(1000), Some(1200), None, Some(1300)]);
    let printed: Vec<_> = parsed.warnings.iter().map(|w| w.line).collect();
    assert_eq!(printed, [Some(n + 2)], "{:?}", parsed.warnings);
}

#[test]
fn an_estimate_by_the_client_is_a_warning() {
    let mut lines = two_calls();
    let estimate = event(&json!({"type": "token_count", "info": {
        "total_token_usage": {"total_tokens": 2260},
        "last_token_usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 940_499},
    }}));
    lines.extend([estimate.clone(), estimate]);
    let parsed = parse(&lines);
    assert_eq!(inputs(&parsed.sessions[0]), [Some(1000), Some(1200)]);
    let warnings: Vec<_> = parsed.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["line 20: 940499 tokens are an estimate by the client, not a model call"]
    );
}

#[test]
fn truncated_lines_and_unknown_types_become_warnings() {
    let mut lines = two_calls();
    lines.extend([
        line("new_kind", &json!({})),
        item(&json!({"type": "new_item", "data": "x"})),
        "{\"timestamp\":\"2026-04".to_owned(),
    ]);
    let parsed = parse(&lines);
    assert_eq!(parsed.sessions[0].calls.len(), 2);
    let warnings: Vec<_> = parsed.warnings.iter().map(ToString::to_string).collect();
    let expected = [
        "line 20: unknown record type `new_kind`: not counted",
        "line 21: unknown item type `new_item`: counted as context",
        "line 22: the last line is truncated; its 21 bytes were left out",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn a_model_may_change_within_a_session() {
    let mut lines = two_calls();
    lines.push(turn_context("gpt-5.6"));
    lines.extend(user_message("Next"));
    lines.push(message("assistant", "Done."));
    let session = session(&lines);
    assert_eq!(session.models, ["gpt-5.5", "gpt-5.6"]);
    assert_eq!(
        session.calls.iter().map(|s| s.model).collect::<Vec<_>>(),
        [Some(0), Some(0), Some(1)]
    );
    assert_eq!(inputs(&session)[2], None, "a call that was broken off has no usage");
}

#[test]
fn reads_the_effort_and_the_abort_of_a_turn() {
    let turn = |effort: &str| line("turn_context", &json!({"model": "m", "effort": effort}));
    let mut lines = vec![meta()];
    for (effort, ends) in [("low", "task_complete"), ("low", "turn_aborted"), ("high", "")] {
        lines.push(turn(effort));
        lines.extend(user_message("Go on"));
        lines.push(message("assistant", "Yes."));
        lines.push(event(&json!({"type": ends})));
    }
    let session = session(&lines);
    let calls: Vec<_> =
        session.calls.iter().map(|call| (call.effort.as_deref(), call.is_after_abort)).collect();
    let (low, high) = (Some("low"), Some("high"));
    assert_eq!(calls, [(low, false), (low, false), (high, true)]);
}

#[test]
fn deferred_tools_are_not_in_the_context() {
    let tools = json!([{"type": "namespace", "tools": [{"name": "now"}, {"name": "later", "deferLoading": true}]}]);
    let session = session(&[
        line("session_meta", &json!({"id": OWN, "dynamic_tools": tools})),
        message("user", "Hi"),
    ]);
    let tools: Vec<_> = session.parts.iter().filter_map(|p| p.body.tool()).collect();
    assert_eq!(tools, ["now"]);
}

#[test]
fn images_in_results_follow_them_and_name_their_call() {
    let shot = json!([{"type": "input_text", "text": "A shot"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8="}]);
    let result = item(&json!({"type": "custom_tool_call_output", "call_id": "c1", "output": shot}));
    let session = session(&[meta(), message("user", "Look"), call("c1"), result]);
    let parts = session.parts_of(&session.messages[3]);
    assert_eq!(parts.iter().map(|p| p.block).collect::<Vec<_>>(), [0, 1]);
    assert!(
        matches!(&parts[1].body, Body::Media { within: Some(call), bytes: 5 | 6, .. } if &**call == "c1")
    );
}

#[test]
fn single_lines_and_the_oldest_files_are_detected() {
    assert_eq!(session(&[message("user", "Only this")]).messages.len(), 1);
    let bare = |role: &str, text: &str| {
        json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
            .to_string()
    };
    let head = json!({"id": "x", "timestamp": "2025-06-01T00:00:00.000Z", "instructions": null})
        .to_string();
    let session = session(&[head, bare("user", "Hello"), bare("assistant", "Hi")]);
    assert_eq!(
        (session.source.format, session.calls.len(), session.turns),
        ("codex_rollout", 1, 1)
    );
}

#[test]
fn a_file_with_a_head_only_is_rejected() {
    let bytes = line("turn_context", &json!({"model": "gpt-5.5"})).into_bytes().into();
    let refused = formats::parse(&Input { name: "x".to_owned(), bytes }).expect_err("no message");
    assert!(refused.looks_like.contains("without a message"), "{refused}");
}

/// Number of calls and largest input of each file. In a fork, the copy of the parent has larger numbers.
const PEAKS: [(&str, usize, u64); 10] = [
    ("cx-0.139-small", 19, 70_227),
    ("cx-0.144-two-models", 28, 88_155),
    ("cx-0.145-196k", 140, 195_781),
    ("cx-1comp-fork-232k", 42, 232_564),
    ("cx-collab-parent-1comp", 421, 235_068),
    ("cx-desktop-redacted-1comp", 286, 209_950),
    ("cx-desktop-redacted-small", 6, 63_441),
    ("cx-gpt55-188k-0.125", 59, 187_440),
    ("cx-image", 110, 58_611),
    ("cx-subagent-fork-2comp-236k", 149, 227_919),
];

#[test]
fn real_files_have_the_expected_calls_and_peaks() {
    let Some(folder) = real_sessions::folder() else {
        return;
    };
    let folder = folder.join("codex_rollout");
    for (name, calls, peak) in PEAKS {
        let bytes = std::fs::read(folder.join(format!("{name}.jsonl"))).expect("a readable file");
        let input = Input { name: name.to_owned(), bytes: bytes.into() };
        let session = formats::parse(&input).expect("a rollout").sessions.remove(0);
        let reported = session.calls.iter().filter(|s| s.usage.is_some()).count();
        assert_eq!((reported, session.largest_reported()), (calls, Some(Tokens(peak))), "{name}");
        assert!(
            session
                .calls
                .iter()
                .all(|s| s.context_end <= session.messages.len() && s.model.is_some()),
            "{name}"
        );
    }
}
