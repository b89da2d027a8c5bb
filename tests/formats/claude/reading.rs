//! Reading records, branches, compactions and sub-agents.

use super::{File, answered, call, compacted, parse, result, summaries, text, user_record};
use plimsoll::formats::{self, Input};
use plimsoll::json::{Value, json};
use plimsoll::session::{RecordedCompaction, Usage};
use plimsoll::units::Tokens;

#[test]
fn an_answer_split_over_records_is_one_message_and_one_call() {
    let mut file = File::default();
    file.user("go");
    file.assistant("m1", &json!({"type": "thinking", "thinking": "hm", "signature": "sig"}), 1);
    let first = file.assistant("m1", &call("a"), 1);
    file.add("progress", &json!({"data": {"type": "bash_progress"}}));
    file.user(result("a", &json!("A")));
    file.add_at(Some(&first), "assistant", &answered("m1", &call("b"), 50));
    file.user(result("b", &json!([text("B")])));
    file.assistant("m2", &text("done"), 7);
    let parsed = file.parse();
    let session = &parsed.sessions[0];
    assert_eq!(
        summaries(session),
        [
            "user: go",
            "assistant: hm | Read{\"path\":\"a\"} | Read{\"path\":\"b\"}",
            "user: Read=A",
            "user: Read=B",
            "assistant: done",
        ]
    );
    assert_eq!(session.calls.len(), 2);
    let usage = Usage {
        input: Tokens(1203),
        cache_read: Some(Tokens(1000)),
        cache_write: Some(Tokens(200)),
        cache_write_hour: None,
        output: Some(Tokens(50)),
        reasoning: None,
    };
    assert_eq!(session.calls[0].usage, Some(usage));
    assert_eq!((session.calls[0].context_end, session.calls[1].context_end), (1, 4));
    assert_eq!(session.messages[1].raw.len(), 3);
    let places: Vec<_> =
        session.parts_of(&session.messages[1]).iter().map(|p| (p.record, p.block)).collect();
    assert_eq!(places, [(0, 0), (1, 0), (2, 0)]);
    assert_eq!(
        (session.models.as_slice(), session.turns, session.title.as_str()),
        (&["claude-test".to_owned()][..], 1, "go")
    );
    assert_eq!(parsed.report.records["progress/bash_progress"].in_context, 0);
    assert_eq!(parsed.report.records["assistant"].in_context, 4);
    assert_eq!(parsed.warnings, []);
}

#[test]
fn messages_of_the_program_are_injected_or_left_out() {
    let mut file = File::default();
    file.user("<command-name>/model</command-name>");
    file.user("<local-command-stdout>Set</local-command-stdout>");
    file.user(json!([text("<ide_opened_file>a.rs</ide_opened_file>"), text("fix it")]));
    file.add("attachment", &json!({"attachment": {"type": "hook_success", "hookEvent": "PostToolUse", "content": "x"}}));
    file.add("attachment", &json!({"attachment": {"type": "queued_command", "prompt": "and quickly", "commandMode": "prompt"}}));
    file.add(
        "attachment",
        &json!({"attachment": {"type": "date_change", "newDate": "2026-01-03"}}),
    );
    file.add("system", &json!({"subtype": "turn_duration", "durationMs": 5}));
    file.add("system", &json!({"subtype": "local_command", "content": "<local-command-stdout>2</local-command-stdout>"}));
    let mut error = answered("m0", &text("API Error"), 0);
    error["isApiErrorMessage"] = json!(true);
    file.add("assistant", &error);
    let mut hidden = user_record("for the screen");
    hidden["isVisibleInTranscriptOnly"] = json!(true);
    file.add("user", &hidden);
    file.assistant("m1", &text("ok"), 1);
    let parsed = file.parse();
    assert_eq!(
        summaries(&parsed.sessions[0]),
        [
            "user~: <command-name>/model</command-name>",
            "user~: <local-command-stdout>Set</local-command-stdout>",
            "user: <ide_opened_file>a.rs</ide_opened_file> | fix it",
            "user: and quickly",
            "user~: {\"type\":\"date_change\",\"newDate\":\"2026-01-03\"}",
            "user~: <local-command-stdout>2</local-command-stdout>",
            "assistant: ok",
        ]
    );
    assert_eq!((parsed.sessions[0].calls.len(), parsed.sessions[0].turns), (1, 2));
    assert_eq!(parsed.sessions[0].title, "fix it");
    assert_eq!(parsed.report.records["assistant (not for the model)"].count, 1);
}

#[test]
fn parallel_calls_are_in_the_conversation_and_abandoned_branches_are_not() {
    let mut file = File::default();
    file.user("go");
    let a = file.assistant("m1", &call("a"), 1);
    let b = file.assistant("m1", &call("b"), 1);
    let result_b = file.add_at(Some(&b), "user", &user_record(result("b", &json!("B"))));
    file.add_at(
        Some(&result_b),
        "attachment",
        &json!({"attachment": {"type": "task_reminder", "content": []}}),
    );
    let result_a = file.add_at(Some(&a), "user", &user_record(result("a", &json!("A"))));
    let end = file.add_at(Some(&result_a), "assistant", &answered("m2", &text("both"), 1));
    file.add_at(Some(&end), "user", &user_record("wrong way"));
    file.assistant("m3", &text("going wrong"), 1);
    file.add_at(Some(&end), "user", &user_record("right way"));
    file.assistant("m4", &text("going right"), 1);
    let parsed = file.parse();
    let summaries = summaries(&parsed.sessions[0]);
    assert_eq!(summaries.len(), 8, "{summaries:?}");
    assert_eq!(summaries[2], "user: Read=B");
    assert_eq!(summaries[3], "user~: {\"type\":\"task_reminder\",\"content\":[]}");
    assert_eq!(summaries[6..], ["user: right way", "assistant: going right"]);
    assert_eq!(parsed.warnings.len(), 1);
    assert!(
        parsed.warnings[0].text.starts_with("2 messages are on rewound branches"),
        "{:?}",
        parsed.warnings
    );
    assert_eq!(parsed.report.records["user (abandoned branch)"].in_context, 0);
}

#[test]
fn the_last_record_can_select_another_branch() {
    let mut file = File::default();
    let first = file.user("go");
    let here = file.assistant("m1", &text("here"), 1);
    file.add_at(Some(&first), "assistant", &answered("m2", &text("there"), 1));
    file.lines.push(json!({"type": "last-prompt", "leafUuid": here, "sessionId": "s"}).to_string());
    assert_eq!(summaries(&file.parse().sessions[0]), ["user: go", "assistant: here"]);
}

#[test]
fn a_recorded_compaction_keeps_its_summary_and_preserved_messages() {
    let parsed = compacted().parse();
    let session = &parsed.sessions[0];
    assert_eq!(
        summaries(session)[4..],
        ["userΣ!: What happened so far", "user~!: a\ntext", "user: and now", "assistant: three"]
    );
    let compaction = RecordedCompaction {
        before_message: 6,
        call: 2,
        trigger: "auto".into(),
        tokens_before: Some(Tokens(150_000)),
        tokens_after: Some(Tokens(9000)),
        request: None,
        kept: vec![4, 3, 5],
    };
    assert_eq!(session.compactions, [compaction]);
    assert_eq!(session.turns, 3);
}

#[test]
fn a_compaction_at_the_start_has_its_summary_in_the_history() {
    let file = compacted();
    let parsed = parse(&file.lines[4..].join("\n"));
    let session = &parsed.sessions[0];
    assert_eq!(summaries(session)[0], "userΣ: What happened so far");
    let compaction = RecordedCompaction {
        before_message: 2,
        call: 0,
        trigger: "auto".into(),
        tokens_before: Some(Tokens(150_000)),
        tokens_after: Some(Tokens(9000)),
        request: None,
        kept: vec![0, 1],
    };
    assert_eq!(session.compactions, [compaction]);
}

#[test]
fn copies_of_records_count_once() {
    let mut file = compacted();
    let copies = file.lines[..4].to_vec();
    file.lines.extend(copies);
    let parsed = file.parse();
    assert_eq!(parsed.sessions[0].calls.len(), 3);
    assert_eq!(parsed.report.records["assistant (copy)"].count, 2);
}

#[test]
fn a_sub_agents_file_can_be_opened_and_its_records_are_separate_elsewhere() {
    let mut file = File::default();
    file.add("user", &json!({"isSidechain": true, "message": {"role": "user", "content": "look"}}));
    let alone = file.parse();
    assert_eq!(summaries(&alone.sessions[0]), ["user: look"]);
    file.add_at(None, "user", &user_record("go"));
    let mixed = file.parse();
    assert_eq!(summaries(&mixed.sessions[0]), ["user: go"]);
    assert_eq!(mixed.report.records["user (sub-agent)"].in_context, 0);
}

#[test]
fn output_tokens_of_old_versions_are_ignored() {
    let mut file = File::default();
    file.user("go");
    let old = file.lines[0].replace("2.1.100", "2.1.89");
    file.assistant("m1", &text("one"), 9);
    let answer = file.lines[1].replace("2.1.100", "2.1.89");
    let parsed = parse(&format!("{old}\n{answer}"));
    let usage = parsed.sessions[0].calls[0].usage.expect("it is recorded");
    assert_eq!((usage.input, usage.output), (Tokens(1203), None));
}

#[test]
fn records_without_a_message_are_rejected() {
    let line = json!({"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user"}})
        .to_string();
    let input = Input { name: "x".into(), bytes: line.as_bytes().to_vec().into() };
    let refused = formats::parse(&input).expect_err("there is nothing in it");
    assert!(
        refused
            .to_string()
            .starts_with("this looks like a Claude Code session without a message. Supported are"),
        "{refused}"
    );
}

#[test]
fn reads_the_effort_of_a_prompt_and_the_abort_of_a_call() {
    let mut file = File::default();
    let thinking = |file: &mut File, thinking: Value| {
        let mut prompt = user_record("go");
        prompt["thinkingMetadata"] = thinking;
        file.add("user", &prompt);
    };
    thinking(&mut file, json!({"level": "high", "disabled": false}));
    file.assistant("m1", &text("one"), 5);
    file.user(json!([{"type": "text", "text": "[Request interrupted by user]"}]));
    thinking(&mut file, json!({"maxThinkingTokens": 31999}));
    file.assistant("m2", &text("two"), 5);
    thinking(&mut file, json!({"level": "high", "disabled": true}));
    file.assistant("m3", &text("three"), 5);
    let session = file.parse().sessions.remove(0);
    let calls: Vec<_> =
        session.calls.iter().map(|call| (call.effort.as_deref(), call.is_after_abort)).collect();
    let expected = [(Some("high"), false), (Some("31999 tokens"), true), (Some("none"), false)];
    assert_eq!(calls, expected);
}
