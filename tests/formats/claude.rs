//! Claude Code sessions, read and written. Their content is invented.
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use plimsoll::formats::{self, Input, Parsed};
use plimsoll::session::{
    Body, Managed, ManagedEntry, ManagedPart, Message, RecordedCompaction, Role, Session, Usage,
    WrittenKind,
};
use plimsoll::units::Tokens;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

/// A file being written: records get an id each and follow one another unless told otherwise.
#[derive(Default)]
struct File {
    lines: Vec<String>,
    last: Option<String>,
}

impl File {
    /// Adds a record and returns its id.
    fn add(&mut self, kind: &str, fields: &Value) -> String {
        let parent = self.last.clone();
        self.add_at(parent.as_deref(), kind, fields)
    }

    /// Adds a record with this parent.
    fn add_at(&mut self, parent: Option<&str>, kind: &str, fields: &Value) -> String {
        let id = format!("id-{}", self.lines.len());
        let mut record = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/w", "sessionId": "s",
            "version": "2.1.100", "gitBranch": "main", "type": kind, "uuid": id, "timestamp": "2026-01-02T03:04:05.000Z",
        });
        for (key, value) in fields.as_object().expect("fields are an object") {
            record[key] = value.clone();
        }
        self.lines.push(record.to_string());
        self.last = Some(id.clone());
        id
    }

    fn user(&mut self, content: impl Into<Value>) -> String {
        self.add("user", &said(content))
    }

    /// One line of an answer: its message, its block and its usage.
    fn assistant(&mut self, message: &str, block: &Value, output: u64) -> String {
        self.add("assistant", &answered(message, block, output))
    }

    fn parse(&self) -> Parsed {
        parse(&self.lines.join("\n"))
    }
}

fn said(content: impl Into<Value>) -> Value {
    json!({"message": {"role": "user", "content": content.into()}})
}

fn answered(message: &str, block: &Value, output: u64) -> Value {
    let usage = json!({
        "input_tokens": 3, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 200, "output_tokens": output,
    });
    json!({"requestId": "r", "message": {
        "id": message, "role": "assistant", "model": "claude-test", "content": [block], "usage": usage,
    }})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {"path": id}})
}

fn result(id: &str, content: &Value) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": content}])
}

fn parse(bytes: &str) -> Parsed {
    let input = Input {
        name: "session.jsonl".into(),
        bytes: bytes.as_bytes().to_vec().into(),
    };
    formats::parse(&input).expect("it is a session")
}

/// What a message says, in short.
fn sketch(session: &Session, message: &Message) -> String {
    let parts = session
        .parts_of(message)
        .iter()
        .map(|part| match &part.body {
            Body::ToolResult { tool, text, .. } => format!("{tool}={text}"),
            Body::ToolCall {
                tool, arguments, ..
            } => format!("{tool}{arguments}"),
            Body::Media { mime, .. } => mime.to_string(),
            body => body.text().to_owned(),
        });
    let marks = [
        (message.is_injected, "~"),
        (message.is_summary, "Σ"),
        (!message.in_history, "!"),
    ];
    let marks: String = marks
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, mark)| *mark)
        .collect();
    format!(
        "{}{marks}: {}",
        message.role.name(),
        parts.collect::<Vec<_>>().join(" | ")
    )
}

fn sketches(session: &Session) -> Vec<String> {
    session
        .messages
        .iter()
        .map(|message| sketch(session, message))
        .collect()
}

#[test]
fn an_answer_split_over_records_is_one_message_and_one_call() {
    let mut file = File::default();
    file.user("go");
    file.assistant(
        "m1",
        &json!({"type": "thinking", "thinking": "hm", "signature": "sig"}),
        1,
    );
    let first = file.assistant("m1", &call("a"), 1);
    file.add("progress", &json!({"data": {"type": "bash_progress"}}));
    file.user(result("a", &json!("A")));
    file.add_at(Some(&first), "assistant", &answered("m1", &call("b"), 50));
    file.user(result("b", &json!([text("B")])));
    file.assistant("m2", &text("done"), 7);
    let parsed = file.parse();
    let session = &parsed.sessions[0];
    assert_eq!(
        sketches(session),
        [
            "user: go",
            "assistant: hm | Read{\"path\":\"a\"} | Read{\"path\":\"b\"}",
            "user: Read=A",
            "user: Read=B",
            "assistant: done",
        ]
    );
    assert_eq!(session.steps.len(), 2);
    let usage = Usage {
        input: Tokens(1203),
        cache_read: Some(Tokens(1000)),
        cache_write: Some(Tokens(200)),
        cache_write_hour: None,
        output: Some(Tokens(50)),
        reasoning: None,
    };
    assert_eq!(session.steps[0].usage, Some(usage));
    assert_eq!(
        (session.steps[0].context_end, session.steps[1].context_end),
        (1, 4)
    );
    assert_eq!(session.messages[1].raw.len(), 3);
    let places: Vec<_> = session
        .parts_of(&session.messages[1])
        .iter()
        .map(|p| (p.record, p.block))
        .collect();
    assert_eq!(places, [(0, 0), (1, 0), (2, 0)]);
    assert_eq!(
        (
            session.models.as_slice(),
            session.turns,
            session.title.as_str()
        ),
        (&["claude-test".to_owned()][..], 1, "go")
    );
    assert_eq!(
        parsed.report.records["progress/bash_progress"].in_context,
        0
    );
    assert_eq!(parsed.report.records["assistant"].in_context, 4);
    assert_eq!(parsed.warnings, []);
}

#[test]
fn what_the_program_says_is_injected_or_left_out() {
    let mut file = File::default();
    file.user("<command-name>/model</command-name>");
    file.user("<local-command-stdout>Set</local-command-stdout>");
    file.user(json!([
        text("<ide_opened_file>a.rs</ide_opened_file>"),
        text("fix it")
    ]));
    file.add("attachment", &json!({"attachment": {"type": "hook_success", "hookEvent": "PostToolUse", "content": "x"}}));
    file.add("attachment", &json!({"attachment": {"type": "queued_command", "prompt": "and quickly", "commandMode": "prompt"}}));
    file.add(
        "attachment",
        &json!({"attachment": {"type": "date_change", "newDate": "2026-01-03"}}),
    );
    file.add(
        "system",
        &json!({"subtype": "turn_duration", "durationMs": 5}),
    );
    file.add("system", &json!({"subtype": "local_command", "content": "<local-command-stdout>2</local-command-stdout>"}));
    let mut error = answered("m0", &text("API Error"), 0);
    error["isApiErrorMessage"] = json!(true);
    file.add("assistant", &error);
    let mut hidden = said("for the screen");
    hidden["isVisibleInTranscriptOnly"] = json!(true);
    file.add("user", &hidden);
    file.assistant("m1", &text("ok"), 1);
    let parsed = file.parse();
    assert_eq!(
        sketches(&parsed.sessions[0]),
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
    assert_eq!(
        (parsed.sessions[0].steps.len(), parsed.sessions[0].turns),
        (1, 2)
    );
    assert_eq!(parsed.sessions[0].title, "fix it");
    assert_eq!(
        parsed.report.records["assistant (not for the model)"].count,
        1
    );
}

#[test]
fn a_branch_somebody_left_is_no_part_of_the_conversation_but_parallel_calls_are() {
    let mut file = File::default();
    file.user("go");
    let a = file.assistant("m1", &call("a"), 1);
    let b = file.assistant("m1", &call("b"), 1);
    let result_b = file.add_at(Some(&b), "user", &said(result("b", &json!("B"))));
    file.add_at(
        Some(&result_b),
        "attachment",
        &json!({"attachment": {"type": "task_reminder", "content": []}}),
    );
    let result_a = file.add_at(Some(&a), "user", &said(result("a", &json!("A"))));
    let end = file.add_at(
        Some(&result_a),
        "assistant",
        &answered("m2", &text("both"), 1),
    );
    file.add_at(Some(&end), "user", &said("wrong way"));
    file.assistant("m3", &text("going wrong"), 1);
    file.add_at(Some(&end), "user", &said("right way"));
    file.assistant("m4", &text("going right"), 1);
    let parsed = file.parse();
    let sketches = sketches(&parsed.sessions[0]);
    assert_eq!(sketches.len(), 8, "{sketches:?}");
    assert_eq!(sketches[2], "user: Read=B");
    assert_eq!(
        sketches[3],
        "user~: {\"type\":\"task_reminder\",\"content\":[]}"
    );
    assert_eq!(sketches[6..], ["user: right way", "assistant: going right"]);
    assert_eq!(parsed.warnings.len(), 1);
    assert!(
        parsed.warnings[0]
            .text
            .starts_with("2 messages are on rewound branches"),
        "{:?}",
        parsed.warnings
    );
    assert_eq!(
        parsed.report.records["user (abandoned branch)"].in_context,
        0
    );
}

#[test]
fn the_file_may_say_at_its_end_that_the_conversation_stands_on_another_branch() {
    let mut file = File::default();
    let first = file.user("go");
    let here = file.assistant("m1", &text("here"), 1);
    file.add_at(
        Some(&first),
        "assistant",
        &answered("m2", &text("there"), 1),
    );
    file.lines
        .push(json!({"type": "last-prompt", "leafUuid": here, "sessionId": "s"}).to_string());
    assert_eq!(
        sketches(&file.parse().sessions[0]),
        ["user: go", "assistant: here"]
    );
}

/// Two turns, a compaction that carries the last answer over, and a turn after it.
fn compacted() -> File {
    let mut file = File::default();
    file.user("go");
    file.assistant("m1", &text("one"), 1);
    file.user("on");
    let kept = file.assistant("m2", &text("two"), 1);
    let metadata = json!({"trigger": "auto", "preTokens": 150_000, "postTokens": 9000, "preservedMessages": {"uuids": [kept]}});
    file.add_at(None, "system", &json!({"subtype": "compact_boundary", "logicalParentUuid": kept, "compactMetadata": metadata}));
    let mut summary = said("What happened so far");
    summary["isCompactSummary"] = json!(true);
    summary["isVisibleInTranscriptOnly"] = json!(true);
    file.add("user", &summary);
    file.add("attachment", &json!({"attachment": {"type": "file", "filename": "a", "content": {"type": "text", "file": {"content": "text"}}}}));
    file.user("and now");
    file.assistant("m3", &text("three"), 1);
    file
}

#[test]
fn a_recorded_compaction_keeps_its_summary_and_what_it_carried_over() {
    let parsed = compacted().parse();
    let session = &parsed.sessions[0];
    assert_eq!(
        sketches(session)[4..],
        [
            "userΣ!: What happened so far",
            "user~!: a\ntext",
            "user: and now",
            "assistant: three"
        ]
    );
    let compaction = RecordedCompaction {
        before_message: 6,
        step: 2,
        trigger: "auto".into(),
        tokens_before: Some(Tokens(150_000)),
        tokens_after: Some(Tokens(9000)),
        kept: vec![4, 3, 5],
    };
    assert_eq!(session.compactions, [compaction]);
    assert_eq!(session.turns, 3);
}

#[test]
fn a_file_that_starts_with_a_compaction_reports_it_and_has_its_summary_in_its_history() {
    let file = compacted();
    let parsed = parse(&file.lines[4..].join("\n"));
    let session = &parsed.sessions[0];
    assert_eq!(sketches(session)[0], "userΣ: What happened so far");
    let compaction = RecordedCompaction {
        before_message: 2,
        step: 0,
        trigger: "auto".into(),
        tokens_before: Some(Tokens(150_000)),
        tokens_after: Some(Tokens(9000)),
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
    assert_eq!(parsed.sessions[0].steps.len(), 3);
    assert_eq!(parsed.report.records["assistant (copy)"].count, 2);
}

#[test]
fn a_sub_agents_own_file_opens_and_its_lines_in_another_file_do_not_mix_in() {
    let mut file = File::default();
    file.add(
        "user",
        &json!({"isSidechain": true, "message": {"role": "user", "content": "look"}}),
    );
    let alone = file.parse();
    assert_eq!(sketches(&alone.sessions[0]), ["user: look"]);
    file.add_at(None, "user", &said("go"));
    let mixed = file.parse();
    assert_eq!(sketches(&mixed.sessions[0]), ["user: go"]);
    assert_eq!(mixed.report.records["user (sub-agent)"].in_context, 0);
}

#[test]
fn output_tokens_of_old_versions_are_not_trusted() {
    let mut file = File::default();
    file.user("go");
    let old = file.lines[0].replace("2.1.100", "2.1.89");
    file.assistant("m1", &text("one"), 9);
    let answer = file.lines[1].replace("2.1.100", "2.1.89");
    let parsed = parse(&format!("{old}\n{answer}"));
    let usage = parsed.sessions[0].steps[0].usage.expect("it is recorded");
    assert_eq!((usage.input, usage.output), (Tokens(1203), None));
}

#[test]
fn records_without_a_message_are_no_session() {
    let line = json!({"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user"}})
        .to_string();
    let input = Input {
        name: "x".into(),
        bytes: line.as_bytes().to_vec().into(),
    };
    let refused = formats::parse(&input).expect_err("there is nothing in it");
    assert!(
        refused
            .to_string()
            .starts_with("this looks like a Claude Code session without a message. Supported are"),
        "{refused}"
    );
}

#[test]
fn a_prompt_says_its_effort_and_an_interruption_that_a_call_was_aborted() {
    let mut file = File::default();
    let thinking = |file: &mut File, thinking: Value| {
        let mut prompt = said("go");
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
    let calls: Vec<_> = session
        .steps
        .iter()
        .map(|step| (step.effort.as_deref(), step.is_after_abort))
        .collect();
    let expected = [
        (Some("high"), false),
        (Some("31999 tokens"), true),
        (Some("none"), false),
    ];
    assert_eq!(calls, expected);
}

/// The entries of everything in the context at the end of the session.
fn whole_context(session: &Session) -> Vec<ManagedEntry> {
    let (kept, from) = match session.compactions.last() {
        Some(last) => (last.kept.clone(), last.before_message),
        None => (Vec::new(), 0),
    };
    let history = (from..session.messages.len()).filter(|idx| session.messages[*idx].in_history);
    kept.into_iter()
        .chain(history)
        .map(|message| ManagedEntry::Kept { message })
        .collect()
}

/// What is written, and the session it reads as.
fn export(session: &Session, entries: Vec<ManagedEntry>) -> (String, Session) {
    let format = formats::by_name(session.source.format).expect("it was read by it");
    let write = format.export.expect("it can be written");
    let bytes = write(
        session,
        &Managed {
            entries,
            ..Managed::default()
        },
    )
    .expect("it is a session of this format");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let input = Input {
        name: "export.jsonl".into(),
        bytes: bytes.into(),
    };
    (
        text,
        formats::parse(&input)
            .expect("it reads again")
            .sessions
            .remove(0),
    )
}

/// The roles and bodies of a session's last context.
fn last_context(session: &Session) -> Vec<(Role, bool, bool, Vec<Body>)> {
    let bodies = |message: &Message| {
        session
            .parts_of(message)
            .iter()
            .map(|p| p.body.clone())
            .collect()
    };
    whole_context(session)
        .iter()
        .filter_map(|entry| {
            if let ManagedEntry::Kept { message } = entry {
                Some(&session.messages[*message])
            } else {
                None
            }
        })
        .map(|message| {
            (
                message.role,
                message.is_injected,
                message.is_summary,
                bodies(message),
            )
        })
        .collect()
}

/// Every parent that a record names is a record before it.
fn has_whole_chain(text: &str) -> bool {
    let mut seen = HashSet::new();
    text.lines().all(|line| {
        let record: Value = serde_json::from_str(line).expect("our lines are JSON");
        let has_parent = record["parentUuid"]
            .as_str()
            .is_none_or(|parent| seen.contains(parent));
        seen.insert(record["uuid"].as_str().unwrap_or_default().to_owned());
        has_parent
    })
}

#[test]
fn an_untouched_context_is_written_with_its_own_bytes_and_reads_the_same() {
    let file = compacted();
    let session = file.parse().sessions.remove(0);
    let (text, again) = export(&session, whole_context(&session));
    let expected: Vec<&str> = [5, 3, 7, 8]
        .iter()
        .map(|idx| file.lines[*idx].as_str())
        .collect();
    let written: Vec<_> = text
        .lines()
        .filter(|line| expected.contains(line))
        .collect();
    assert_eq!(written, expected);
    // What was carried over moved between these two, so the second finds its way by a new parent.
    let adopted = file.lines[6].replacen("\"parentUuid\":\"id-5\"", "\"parentUuid\":\"id-3\"", 1);
    assert!(text.lines().any(|line| line == adopted), "{text}");
    assert_eq!(last_context(&again), last_context(&session));
    assert!(has_whole_chain(&text), "{text}");
    assert_eq!(export(&session, whole_context(&session)).0, text);
}

/// A picture in a result, and a copy of it beside.
fn with_picture() -> File {
    let mut file = File::default();
    file.user("go");
    file.assistant("m1", &text("look"), 1);
    file.assistant("m1", &call("a"), 1);
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let mut seen = said(result("a", &json!([text("long"), image])));
    seen["toolUseResult"] = json!("long");
    file.add("user", &seen);
    file.assistant("m2", &text("done"), 1);
    file
}

#[test]
fn a_cleared_result_loses_its_text_its_pictures_and_their_copy_and_keeps_its_pair() {
    let file = with_picture();
    let session = file.parse().sessions.remove(0);
    let mut entries = whole_context(&session);
    let part = session.messages[2].parts.start;
    entries[2] = ManagedEntry::Edited {
        message: 2,
        parts: vec![ManagedPart::Replaced {
            part,
            text: "[cleared]".into(),
        }],
    };
    let (text, again) = export(&session, entries);
    assert_eq!(sketches(&again)[2], "user: Read=[cleared]");
    assert!(!text.contains("AAAA") && !text.contains("long"), "{text}");
    assert_eq!(text.lines().count(), 6, "the last line is our mark");
    assert_eq!(text.lines().nth(2), Some(file.lines[2].as_str()));
    let keys = |line: &str| {
        serde_json::from_str::<Value>(line)
            .expect("JSON")
            .as_object()
            .expect("object")
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let mut expected = keys(&file.lines[3]);
    expected.retain(|key| key != "toolUseResult");
    assert_eq!(
        keys(text.lines().nth(3).expect("the edited line")),
        expected
    );
}

#[test]
fn a_message_loses_the_parts_that_are_not_listed_and_records_without_any() {
    let session = with_picture().parse().sessions.remove(0);
    let mut entries = whole_context(&session);
    let calls = session.messages[1].parts.start + 1;
    let result = session.messages[2].parts.start;
    entries[1] = ManagedEntry::Edited {
        message: 1,
        parts: vec![ManagedPart::Kept { part: calls }],
    };
    entries[2] = ManagedEntry::Edited {
        message: 2,
        parts: vec![ManagedPart::Kept { part: result }],
    };
    let (text, again) = export(&session, entries);
    assert_eq!(
        sketches(&again)[1..3],
        ["assistant: Read{\"path\":\"a\"}", "user: Read=long"]
    );
    assert!(has_whole_chain(&text), "{text}");
}

#[test]
fn a_notice_and_a_summary_stand_where_they_were_put() {
    let file = compacted();
    let session = file.parse().sessions.remove(0);
    let written = |kind, text: &str| ManagedEntry::Written {
        role: Role::User,
        text: text.into(),
        kind,
        before_message: 6,
    };
    let kept = |message| ManagedEntry::Kept { message };
    let notice = vec![
        kept(0),
        written(WrittenKind::Notice, "3 left out"),
        kept(6),
        kept(7),
    ];
    let (text, again) = export(&session, notice);
    assert_eq!(
        sketches(&again),
        [
            "user: go",
            "user~: 3 left out",
            "user: and now",
            "assistant: three"
        ]
    );
    assert!(has_whole_chain(&text), "{text}");
    assert_eq!(
        text.lines().count(),
        5,
        "the notice is the parent that the next record looks for"
    );
    let record: Value =
        serde_json::from_str(text.lines().nth(1).expect("the notice")).expect("JSON");
    assert_eq!(
        [
            &record["sessionId"],
            &record["timestamp"],
            &record["isMeta"]
        ],
        [
            &json!("s"),
            &json!("2026-01-02T03:04:05.000Z"),
            &json!(true)
        ]
    );

    for first in [vec![], vec![kept(0)]] {
        let n_before = first.len();
        let entries = [
            first,
            vec![written(WrittenKind::Summary, "so far"), kept(6), kept(7)],
        ]
        .concat();
        let (text, again) = export(&session, entries);
        assert_eq!(
            sketches(&again)[n_before..],
            ["userΣ: so far", "user: and now", "assistant: three"]
        );
        assert_eq!(last_context(&again).len(), n_before + 3);
        assert!(has_whole_chain(&text), "{text}");
        assert!(
            text.lines()
                .next()
                .is_some_and(|line| line.contains("compact_boundary")),
            "{text}"
        );
    }
}

#[test]
fn calls_recorded_before_an_export_say_nothing_of_it_and_later_ones_do() {
    let session = with_picture().parse().sessions.remove(0);
    let is_reported = |session: &Session| {
        let reported = session.steps.iter().map(|step| step.usage.is_some());
        reported.collect::<Vec<_>>()
    };
    let (whole, again) = export(&session, whole_context(&session));
    assert_eq!(
        is_reported(&again),
        [true, true],
        "nothing changed: {whole}"
    );

    let mut entries = whole_context(&session);
    entries.remove(0);
    let (text, again) = export(&session, entries.clone());
    assert_eq!(is_reported(&again), [false, false], "{text}");
    assert_eq!(again.models, session.models);

    let mut later = File {
        last: Some("id-4".into()),
        ..File::default()
    };
    later.user("and now");
    later.assistant("m9", &self::text("later"), 7);
    let later = later.lines.join("\n");
    let later = later
        .replace("\"id-0\"", "\"new-0\"")
        .replace("\"id-1\"", "\"new-1\"");
    let continued = parse(&format!("{text}{later}")).sessions.remove(0);
    assert_eq!(
        is_reported(&continued),
        [false, false, true],
        "{text}{later}"
    );
    let (_, again) = export(&continued, whole_context(&continued)[1..].to_vec());
    assert_eq!(is_reported(&again), [false, false]);
}

#[test]
fn only_sessions_of_this_format_can_be_written_in_it() {
    let mut session = compacted().parse().sessions.remove(0);
    session.source.format = "openai_chat";
    let write = formats::by_name("claude_code")
        .and_then(|f| f.export)
        .expect("it can be written");
    assert!(write(&session, &Managed::default()).is_err());
}

/// Prunes, drops and writes, and says what should be read again.
fn manage(session: &Session) -> Vec<ManagedEntry> {
    let entries = whole_context(session);
    let half = entries.len() / 2;
    let prune = |entry: &ManagedEntry| {
        let ManagedEntry::Kept { message } = entry else {
            return entry.clone();
        };
        let is_result = |part: &usize| matches!(session.parts[*part].body, Body::ToolResult { .. });
        let range = session.messages[*message].parts.clone();
        match range.clone().find(is_result) {
            Some(part) => {
                let others = range.filter(|p| {
                    !is_result(p) && !matches!(session.parts[*p].body, Body::Media { .. })
                });
                let cleared = ManagedPart::Replaced {
                    part,
                    text: "[cleared]".into(),
                };
                let parts = std::iter::once(cleared)
                    .chain(others.map(|part| ManagedPart::Kept { part }))
                    .collect();
                ManagedEntry::Edited {
                    message: *message,
                    parts,
                }
            }
            None => entry.clone(),
        }
    };
    let written = |kind| ManagedEntry::Written {
        role: Role::User,
        text: "ours".into(),
        kind,
        before_message: 0,
    };
    let mut managed = vec![
        entries[0].clone(),
        written(WrittenKind::Summary),
        written(WrittenKind::Notice),
    ];
    managed.extend(entries[half.max(1)..].iter().map(prune));
    managed
}

#[test]
fn real_sessions_read_their_calls_once_and_survive_the_way_out_and_back() {
    let dir = Path::new("../shared/sessions/claude_code");
    let index = std::fs::read_to_string(dir.join("../INDEX.tsv")).unwrap_or_default();
    if index.is_empty() {
        eprintln!("SKIPPED: the shared session files are not here");
        return;
    }
    for row in index.lines().filter(|row| row.starts_with("claude_code/")) {
        let columns: Vec<_> = row.split('\t').collect();
        let bytes = std::fs::read(dir.join("..").join(columns[0]))
            .expect("a file of the index can be read");
        let source = String::from_utf8_lossy(&bytes).into_owned();
        let session = parse(&source).sessions.remove(0);
        assert_eq!(
            session
                .largest_reported()
                .map(|peak| peak.0.to_string())
                .as_deref(),
            Some(columns[10]),
            "{row}"
        );
        let boundaries = source.matches("\"subtype\":\"compact_boundary\"").count();
        assert_eq!(session.compactions.len(), boundaries, "{row}");

        let (_, again) = export(&session, whole_context(&session));
        assert_eq!(last_context(&again), last_context(&session), "{row}");

        let managed = manage(&session);
        let (text, again) = export(&session, managed.clone());
        let n_messages = managed.len();
        assert_eq!(last_context(&again).len(), n_messages, "{row}");
        for (entry, message) in managed.iter().zip(&again.messages) {
            let said = sketch(&again, message);
            match entry {
                ManagedEntry::Kept { message } => {
                    let message = &session.messages[*message];
                    let is_whole = message
                        .raw
                        .iter()
                        .all(|span| text.contains(&*String::from_utf8_lossy(&session.raw(span))));
                    assert!(is_whole, "{row}: {said}");
                }
                ManagedEntry::Edited { .. } => {
                    assert!(said.contains("=[cleared]"), "{row}: {said}");
                }
                ManagedEntry::Written { .. } => assert!(said.ends_with(": ours"), "{row}: {said}"),
            }
        }
    }
}
