//! Codex rollouts: what counts as context, as a call and as a compaction.
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use plimsoll::formats::{self, Input, Parsed};
use plimsoll::session::{Body, Role, Session, StepsFrom, Usage, issues};
use plimsoll::units::Tokens;
use serde_json::{Value, json};

/// A fork's own id; ids of the parent's turns are older.
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
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    item(&json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
}

/// A person's message with the screen's copy.
fn said(text: &str) -> [String; 2] {
    [
        message("user", text),
        event(&json!({"type": "user_message", "message": text})),
    ]
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
    line(
        "compacted",
        &json!({"message": "", "replacement_history": history}),
    )
}

fn parse(lines: &[String]) -> Parsed {
    let input = Input {
        name: "rollout.txt".to_owned(),
        bytes: lines.join("\n").into_bytes().into(),
    };
    formats::parse(&input).expect("a rollout")
}

fn session(lines: &[String]) -> Session {
    parse(lines).sessions.remove(0)
}

fn texts(session: &Session, messages: &[usize]) -> Vec<String> {
    let text = |idx: &usize| {
        let parts = session.parts_of(&session.messages[*idx]);
        parts
            .iter()
            .map(|p| p.body.text())
            .collect::<Vec<_>>()
            .join("|")
    };
    messages.iter().map(text).collect()
}

fn inputs(session: &Session) -> Vec<Option<u64>> {
    session
        .steps
        .iter()
        .map(|s| s.usage.map(|u| u.input.0))
        .collect()
}

/// One turn with two calls; the results of the first stand before its tokens, which are repeated.
fn two_calls() -> Vec<String> {
    let mut lines = vec![
        meta(),
        started(OLDER_TURN),
        message("developer", "<permissions instructions>"),
        message("user", "<environment_context>"),
        turn_context("gpt-5.5"),
    ];
    lines.extend(said("List the files"));
    lines.extend([
        event(&json!({"type": "token_count", "info": null})),
        reasoning(),
        event(&json!({"type": "agent_message", "message": "Looking."})),
        message("assistant", "Looking."),
        call("c1"),
        call("c2"),
        output(
            "c1",
            "Chunk ID: 1\nProcess exited with code 0\nOutput:\na.txt",
        ),
        output(
            "c2",
            "Chunk ID: 2\nProcess exited with code 2\nOutput:\nno such file",
        ),
        tokens(1000, 50, 1050),
        tokens(1000, 50, 1050),
        message("assistant", "One file."),
        tokens(1200, 10, 2260),
    ]);
    lines
}

#[test]
fn a_call_counts_once_and_holds_its_cached_tokens() {
    let parsed = parse(&two_calls());
    let session = &parsed.sessions[0];
    assert_eq!(session.steps_from, StepsFrom::Recorded);
    assert_eq!(inputs(session), [Some(1000), Some(1200)]);
    let expected = Usage {
        input: Tokens(1000),
        cache_read: Some(Tokens(500)),
        cache_write: None,
        cache_write_hour: None,
        output: Some(Tokens(50)),
        reasoning: Some(Tokens(7)),
    };
    assert_eq!(session.steps[0].usage, Some(expected));
    assert_eq!(session.steps[0].window, Some(Tokens(258_400)));
    assert_eq!(
        session
            .steps
            .iter()
            .map(|s| s.context_end)
            .collect::<Vec<_>>(),
        [4, 10]
    );
    let of_step: Vec<_> = session.messages.iter().map(|m| m.step).collect();
    let mut expected = vec![None; 4];
    expected.extend([Some(0); 4]);
    expected.extend([None, None, Some(1)]);
    assert_eq!(of_step, expected);
    assert_eq!(session.models, ["gpt-5.5"]);
    assert_eq!(parsed.warnings, []);
}

#[test]
fn only_items_are_context_and_only_a_persons_words_open_a_turn() {
    let parsed = parse(&two_calls());
    let session = &parsed.sessions[0];
    assert_eq!(session.turns, 1);
    assert_eq!(session.title, "List the files");
    let roles: Vec<_> = session
        .messages
        .iter()
        .take(4)
        .map(|m| (m.role, m.is_injected, m.turn))
        .collect();
    let expected = [
        (Role::System, false, 0),
        (Role::System, false, 0),
        (Role::User, true, 0),
        (Role::User, false, 1),
    ];
    assert_eq!(roles, expected);
    let in_context = |kind: &str| parsed.report.records[kind].in_context;
    assert_eq!(
        (
            in_context("session_meta"),
            in_context("response_item/message")
        ),
        (1, 5)
    );
    assert_eq!(
        (
            in_context("event_msg/agent_message"),
            in_context("event_msg/token_count")
        ),
        (0, 0)
    );
    assert!(parsed.report.recognized_by.contains("rollout"));
}

#[test]
fn results_know_their_tool_and_whether_it_failed_and_reasoning_what_was_reported() {
    let session = session(&two_calls());
    let results: Vec<_> = session
        .parts
        .iter()
        .filter_map(|p| match &p.body {
            Body::ToolResult {
                call,
                tool,
                is_error,
                ..
            } => Some((&**call, &**tool, *is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(
        results,
        [("c1", "exec_command", false), ("c2", "exec_command", true)]
    );
    let thinking = Body::Thinking {
        text: "".into(),
        sealed_bytes: 8,
        reported: Some(7),
    };
    assert!(session.parts.iter().any(|p| p.body == thinking));
    assert_eq!(issues(&session), []);
}

#[test]
fn words_that_are_redacted_open_a_turn_if_the_screen_shows_them() {
    let mut lines = vec![
        meta(),
        message("user", "[REDACTED]"),
        message("user", "[REDACTED]"),
    ];
    lines.push(event(
        &json!({"type": "user_message", "message": "[ALSO REDACTED]"}),
    ));
    let session = session(&lines);
    assert_eq!(
        session
            .messages
            .iter()
            .map(|m| m.is_injected)
            .collect::<Vec<_>>(),
        [false, true, false]
    );
}

#[test]
fn a_forks_copy_of_its_parent_is_history_but_not_its_calls() {
    let fork = json!({"id": OWN, "forked_from_id": OLDER_TURN, "base_instructions": {"text": "You are a fork."}});
    let mut lines = vec![line("session_meta", &fork)];
    lines.extend(two_calls());
    lines.extend([
        compacted(&json!([{"type": "message", "role": "user", "content": "Kept of the parent"}])),
        message("assistant", "After the compaction"),
        tokens(300, 5, 2565),
        started(YOUNGER_TURN),
    ]);
    lines.extend(said("Review it"));
    // Codex repeats the parent's last numbers when the fork begins.
    lines.extend([
        tokens(300, 5, 2565),
        message("assistant", "Fine."),
        tokens(310, 5, 2880),
    ]);
    let session = session(&lines);
    assert_eq!(inputs(&session), [Some(310)]);
    assert_eq!(session.title, "Review it");
    let [compaction] = &session.compactions[..] else {
        panic!("{:?}", session.compactions)
    };
    assert_eq!(
        (compaction.step, compaction.tokens_before),
        (0, Some(Tokens(1210)))
    );
    assert_eq!(
        texts(&session, &compaction.kept),
        ["You are a fork.", "Kept of the parent"]
    );
    let since: Vec<_> = (compaction.before_message..session.steps[0].context_end).collect();
    assert_eq!(
        texts(&session, &since),
        ["After the compaction", "Review it"]
    );
    assert_eq!(
        session.messages.iter().filter(|m| m.step.is_some()).count(),
        1
    );
}

#[test]
fn a_pause_ends_a_forks_copy_where_turns_have_no_ids() {
    let later = |text: &String| text.replace("20:00:00.000Z", "20:00:02.000Z");
    let mut lines = vec![
        line("session_meta", &json!({"id": "f", "forked_from_id": "p"})),
        message("user", "Old"),
    ];
    lines.extend([message("assistant", "Old answer"), tokens(100, 5, 105)]);
    lines.extend(said("New").iter().map(later));
    lines.extend([
        later(&message("assistant", "New answer")),
        later(&tokens(130, 5, 240)),
    ]);
    assert_eq!(inputs(&session(&lines)), [Some(130)]);
}

#[test]
fn a_count_that_cannot_be_right_is_named_by_its_line_and_spoils_no_other() {
    let mut lines = two_calls();
    let n = lines.len();
    lines.extend([message("assistant", "Absurd."), tokens(u64::MAX / 2, 5, 1)]);
    lines.extend([message("assistant", "Fine."), tokens(1300, 5, 3565)]);
    let parsed = parse(&lines);
    let session = &parsed.sessions[0];
    assert_eq!(inputs(session), [Some(1000), Some(1200), None, Some(1300)]);
    let told: Vec<_> = parsed.warnings.iter().map(|w| w.line).collect();
    assert_eq!(told, [Some(n + 2)], "{:?}", parsed.warnings);
}

#[test]
fn a_resumed_session_is_no_fork() {
    let mut lines = two_calls();
    lines.push(meta());
    lines.extend(said("Go on"));
    lines.extend([message("assistant", "Yes."), tokens(1300, 5, 3565)]);
    let session = session(&lines);
    assert_eq!(inputs(&session), [Some(1000), Some(1200), Some(1300)]);
    assert_eq!(session.messages.iter().filter(|m| m.turn == 0).count(), 3);
}

#[test]
fn a_compaction_keeps_what_the_file_says_and_what_is_set_up_behind_it() {
    let mut lines = two_calls();
    lines.extend([
        started(YOUNGER_TURN),
        compacted(&json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List the files"}]},
            {"type": "compaction", "encrypted_content": "c2VhbGVkIHN1bW1hcnk="},
        ])),
        event(&json!({"type": "context_compacted"})),
        message("developer", "<permissions instructions>"),
        message("user", "<environment_context>"),
    ]);
    lines.extend(said("Next"));
    lines.extend([message("assistant", "Done."), tokens(400, 5, 2665)]);
    let session = session(&lines);
    let [compaction] = &session.compactions[..] else {
        panic!("{:?}", session.compactions)
    };
    assert_eq!((&*compaction.trigger, compaction.step), ("auto", 2));
    assert_eq!(
        (compaction.tokens_before, compaction.tokens_after),
        (Some(Tokens(1210)), None)
    );
    let expected = [
        "You are Codex.",
        "List the files",
        "",
        "<permissions instructions>",
        "<environment_context>",
    ];
    assert_eq!(texts(&session, &compaction.kept), expected);
    let kept: Vec<_> = compaction
        .kept
        .iter()
        .map(|idx| &session.messages[*idx])
        .collect();
    assert_eq!(
        kept.iter().map(|m| m.in_history).collect::<Vec<_>>(),
        [true, true, false, false, false]
    );
    assert_eq!(
        kept.iter().map(|m| m.is_summary).collect::<Vec<_>>(),
        [false, false, true, false, false]
    );
    let summary = &session.parts_of(kept[2])[0].body;
    assert!(
        matches!(
            summary,
            Body::Thinking {
                sealed_bytes: 20,
                reported: None,
                ..
            }
        ),
        "{summary:?}"
    );
    assert_eq!(texts(&session, &[compaction.before_message]), ["Next"]);
    assert_eq!(session.turns, 2);
}

#[test]
fn the_command_to_compact_is_told_from_what_runs_by_itself() {
    let ended = || event(&json!({"type": "task_complete"}));
    let history = json!([{"type": "message", "role": "user", "content": "Kept"}]);
    let mut lines = two_calls();
    lines.push(ended());
    lines.extend([
        started(YOUNGER_TURN),
        compacted(&history),
        ended(),
        started(YOUNGER_TURN),
    ]);
    lines.extend(said("Next"));
    lines.extend([
        call("c3"),
        tokens(400, 5, 2665),
        output("c3", "x"),
        compacted(&history),
    ]);
    lines.extend([message("assistant", "Done."), tokens(300, 5, 2970)]);
    let triggers: Vec<_> = session(&lines)
        .compactions
        .into_iter()
        .map(|c| c.trigger)
        .collect();
    assert_eq!(triggers, ["manual", "auto"]);
}

#[test]
fn a_file_without_turns_does_not_say_why_it_was_compacted() {
    let mut lines = vec![meta(), message("user", "Hello"), message("assistant", "Hi")];
    lines.push(compacted(&json!([])));
    let compactions = session(&lines).compactions;
    assert_eq!(
        compactions.iter().map(|c| &*c.trigger).collect::<Vec<_>>(),
        [""]
    );
    assert_eq!(compactions[0].kept, [0]);
}

#[test]
fn where_only_a_summary_was_written_down_what_people_said_is_carried_over() {
    let mut lines = two_calls();
    lines.push(line("compacted", &json!({"message": "A summary."})));
    lines.extend(said("Next"));
    let session = session(&lines);
    let kept = texts(&session, &session.compactions[0].kept);
    let setup = [
        "You are Codex.",
        "<permissions instructions>",
        "<environment_context>",
    ];
    assert_eq!(
        kept,
        [&setup[..], &["List the files", "A summary."]].concat()
    );
    assert_eq!(session.messages.iter().filter(|m| m.is_summary).count(), 1);
}

#[test]
fn an_estimate_of_the_client_is_a_warning_and_no_call() {
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
fn a_torn_last_line_and_unknown_types_are_warnings_and_all_else_loads() {
    let mut lines = two_calls();
    lines.extend([
        line("new_kind", &json!({})),
        item(&json!({"type": "new_item", "data": "x"})),
        "{\"timestamp\":\"2026-04".to_owned(),
    ]);
    let parsed = parse(&lines);
    assert_eq!(parsed.sessions[0].steps.len(), 2);
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
    lines.extend(said("Next"));
    lines.push(message("assistant", "Done."));
    let session = session(&lines);
    assert_eq!(session.models, ["gpt-5.5", "gpt-5.6"]);
    assert_eq!(
        session.steps.iter().map(|s| s.model).collect::<Vec<_>>(),
        [Some(0), Some(0), Some(1)]
    );
    assert_eq!(
        inputs(&session)[2],
        None,
        "a call that was broken off has no usage"
    );
}

#[test]
fn a_turn_says_its_effort_and_whether_it_was_aborted() {
    let turn = |effort: &str| line("turn_context", &json!({"model": "m", "effort": effort}));
    let mut lines = vec![meta()];
    for (effort, ends) in [
        ("low", "task_complete"),
        ("low", "turn_aborted"),
        ("high", ""),
    ] {
        lines.push(turn(effort));
        lines.extend(said("Go on"));
        lines.push(message("assistant", "Yes."));
        lines.push(event(&json!({"type": ends})));
    }
    let session = session(&lines);
    let calls: Vec<_> = session
        .steps
        .iter()
        .map(|step| (step.effort.as_deref(), step.is_after_abort))
        .collect();
    let (low, high) = (Some("low"), Some("high"));
    assert_eq!(calls, [(low, false), (low, false), (high, true)]);
}

#[test]
fn tools_that_are_deferred_are_no_context() {
    let tools = json!([{"type": "namespace", "tools": [{"name": "now"}, {"name": "later", "deferLoading": true}]}]);
    let session = session(&[
        line("session_meta", &json!({"id": OWN, "dynamic_tools": tools})),
        message("user", "Hi"),
    ]);
    let tools: Vec<_> = session.parts.iter().filter_map(|p| p.body.tool()).collect();
    assert_eq!(tools, ["now"]);
}

#[test]
fn pictures_in_results_stand_behind_them_and_name_their_call() {
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
fn one_line_and_the_oldest_files_are_known_by_what_they_hold() {
    assert_eq!(session(&[message("user", "Only this")]).messages.len(), 1);
    let bare = |role: &str, text: &str| {
        json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
            .to_string()
    };
    let head = json!({"id": "x", "timestamp": "2025-06-01T00:00:00.000Z", "instructions": null})
        .to_string();
    let session = session(&[head, bare("user", "Hello"), bare("assistant", "Hi")]);
    assert_eq!(
        (session.source.format, session.steps.len(), session.turns),
        ("codex_rollout", 1, 1)
    );
}

#[test]
fn a_head_alone_is_no_conversation() {
    let bytes = line("turn_context", &json!({"model": "gpt-5.5"}))
        .into_bytes()
        .into();
    let refused = formats::parse(&Input {
        name: "x".to_owned(),
        bytes,
    })
    .expect_err("no message");
    assert!(
        refused.looks_like.contains("without a message"),
        "{refused}"
    );
}

/// Largest input of each file's own calls. Where a file is a fork it is not the largest number in the file.
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
fn real_files_give_their_own_calls_and_peaks() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/sessions/codex_rollout");
    if !folder.is_dir() {
        eprintln!(
            "SKIPPED: there are no real sessions at {}",
            folder.display()
        );
        return;
    }
    for (name, calls, peak) in PEAKS {
        let bytes = std::fs::read(folder.join(format!("{name}.jsonl"))).expect("a readable file");
        let input = Input {
            name: name.to_owned(),
            bytes: bytes.into(),
        };
        let session = formats::parse(&input)
            .expect("a rollout")
            .sessions
            .remove(0);
        let reported = session.steps.iter().filter(|s| s.usage.is_some()).count();
        assert_eq!(
            (reported, session.largest_reported()),
            (calls, Some(Tokens(peak))),
            "{name}"
        );
        assert!(
            session
                .steps
                .iter()
                .all(|s| s.context_end <= session.messages.len() && s.model.is_some()),
            "{name}"
        );
    }
}
