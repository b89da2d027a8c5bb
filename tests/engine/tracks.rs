//! Conversations of one file told apart: the main one, those of sub-agents (in the file and in files beside it), and the
//! branches that a person went back from. Nothing of one counts in another.

use plimsoll::exec::{LoadError, LoadOptions, Loaded, load};
use plimsoll::formats::Availability::{Absent, Present, Unsupported};
use plimsoll::formats::{RecordedData, availability};
use plimsoll::progress::Progress;
use plimsoll::report::track;
use plimsoll::tokens::default_counter;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn open(path: &Path, conversation: usize) -> Result<Loaded, LoadError> {
    let options = LoadOptions {
        counter: default_counter(),
        window: None,
        conversation,
    };
    load(path, &options, &Progress::default())
}

/// Largest reported prompts, call by call.
fn inputs(loaded: &Loaded) -> Vec<u64> {
    let steps = loaded.case.session.calls.iter();
    steps.filter_map(|step| Some(step.usage?.input.0)).collect()
}

/// Title, what it is, and how many calls it has.
fn told(loaded: &Loaded) -> Vec<(String, String, Option<usize>)> {
    let all = loaded.conversations.iter();
    all.map(|c| (c.title.clone(), track(c), c.size.map(|size| size.calls)))
        .collect()
}

fn row(title: &str, what: &str, calls: usize) -> (String, String, Option<usize>) {
    (title.to_owned(), what.to_owned(), Some(calls))
}

#[test]
fn sub_agents_are_conversations_of_their_own_and_count_in_no_other() {
    let path = fixture("claude_code/sub-agents.jsonl");
    let main = open(&path, 0).unwrap();
    let expected = [
        row("Find out how it works.", "main conversation", 3),
        row(
            "Explore the parser",
            "sub-agent Explore, started by call 1",
            2,
        ),
        row(
            "Explore the lexer",
            "sub-agent Explore, started by call 1",
            1,
        ),
        row(
            "Count the tests",
            "sub-agent general-purpose, started by call 2",
            2,
        ),
    ];
    assert_eq!(told(&main), expected);
    assert_eq!(inputs(&main), [100, 150, 200]);
    let each = [vec![20, 30], vec![21], vec![40, 50]];
    for (n, expected) in each.iter().enumerate() {
        let agent = open(&path, n + 1).unwrap();
        assert_eq!(inputs(&agent), *expected, "sub-agent {n}");
        assert_eq!(told(&agent), told(&main));
    }
}

#[test]
fn a_branch_that_a_person_left_can_be_chosen_and_parallel_calls_are_none() {
    let path = fixture("claude_code/branches.jsonl");
    let main = open(&path, 0).unwrap();
    let expected = [
        row("Write a poem.", "main conversation", 3),
        row("Make it longer.", "branch after message 5", 4),
    ];
    assert_eq!(told(&main), expected);
    assert_eq!(inputs(&main), [100, 120, 141]);
    let branch = open(&path, 1).unwrap();
    assert_eq!(inputs(&branch), [100, 120, 140, 160]);
}

#[test]
fn branches_of_other_formats_say_where_they_begin() {
    for (name, at, what) in [
        ("pi/tree.jsonl", 1, "branch after message 2"),
        ("gemini_cli/replaced.jsonl", 1, "branch after message "),
        ("qwen_code/branches.jsonl", 1, "branch after message "),
        (
            "copilot_cli/events.jsonl",
            1,
            "sub-agent Explorer, started by call 1",
        ),
        ("copilot_cli/events.jsonl", 2, "branch after message "),
    ] {
        let loaded = open(&fixture(name), 0).unwrap();
        let said = track(&loaded.conversations[at]);
        assert!(said.starts_with(what), "{name}: {said}");
        assert_eq!(track(&loaded.conversations[0]), "main conversation");
    }
}

#[test]
fn conversations_that_stand_side_by_side_are_all_main_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.jsonl");
    let talk = json!({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]});
    fs::write(&path, format!("{talk}\n{talk}\n")).unwrap();
    let loaded = open(&path, 1).unwrap();
    let all: Vec<String> = loaded.conversations.iter().map(track).collect();
    assert_eq!(all, ["main conversation", "main conversation"]);
}

fn record(
    uuid: &str,
    parent: Option<&str>,
    kind: &str,
    is_sidechain: bool,
    message: &Value,
) -> Value {
    json!({
        "parentUuid": parent, "isSidechain": is_sidechain, "cwd": "/w", "sessionId": "s", "version": "2.1.100",
        "type": kind, "uuid": uuid, "timestamp": "2026-01-02T03:04:05.000Z", "message": message,
    })
}

fn answer(id: &str, block: &Value, input: u64) -> Value {
    let usage = json!({"input_tokens": input, "output_tokens": 1});
    json!({"id": id, "role": "assistant", "model": "claude-test", "content": [block], "usage": usage})
}

/// A session that starts two sub-agents, of which one reports.
fn main_file() -> String {
    let task = |id: &str, what: &str| {
        json!({"type": "tool_use", "id": id, "name": "Agent", "input": {
            "subagent_type": "Explore", "description": what, "prompt": what,
        }})
    };
    let mut result = record(
        "u2",
        Some("a1"),
        "user",
        false,
        &json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]}),
    );
    result["toolUseResult"] = json!({"agentId": "abc", "status": "completed"});
    let said = json!({"role": "user", "content": "go"});
    let lines = [
        record("u1", None, "user", false, &said),
        record(
            "a1",
            Some("u1"),
            "assistant",
            false,
            &answer("m1", &task("t1", "Look around"), 100),
        ),
        result,
    ];
    lines.map(|line| line.to_string() + "\n").concat()
}

/// The file of a sub-agent that was asked this and answers once.
fn agent_file(prompt: &str, input: u64) -> String {
    let said = json!({"role": "user", "content": prompt});
    let text = json!({"type": "text", "text": "found"});
    let lines = [
        record("s1", None, "user", true, &said),
        record(
            "s2",
            Some("s1"),
            "assistant",
            true,
            &answer("ms", &text, input),
        ),
    ];
    lines.map(|line| line.to_string() + "\n").concat()
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap_or(folder)).expect("a folder");
    fs::write(&path, text).expect("a file");
    path
}

#[test]
fn files_of_sub_agents_beside_a_session_are_its_conversations() {
    let folder = tempfile::tempdir().unwrap();
    let main = write(folder.path(), "s.jsonl", &main_file());
    write(
        folder.path(),
        "s/subagents/agent-abc.jsonl",
        &agent_file("Look around", 20),
    );
    write(
        folder.path(),
        "s/subagents/workflows/wf_1/agent-def.jsonl",
        &agent_file("Something else", 30),
    );
    write(
        folder.path(),
        "s/subagents/workflows/wf_1/agent-def.meta.json",
        r#"{"agentType": "writer", "description": "Write it down"}"#,
    );
    write(
        folder.path(),
        "s/subagents/workflows/wf_1/journal.jsonl",
        "{}",
    );
    // Of another session.
    write(
        folder.path(),
        "agent-other.jsonl",
        &agent_file("Not ours", 40),
    );
    let loaded = open(&main, 0).unwrap();
    let expected = [
        row("go", "main conversation", 1),
        row("Look around", "sub-agent Explore, started by call 1", 1),
        row("Write it down", "sub-agent writer", 1),
    ];
    assert_eq!(told(&loaded), expected);
    assert_eq!(inputs(&loaded), [100]);
    let agent = open(&main, 1).unwrap();
    assert_eq!(inputs(&agent), [20]);
    assert_eq!(told(&agent), told(&loaded));
    assert!(agent.path.unwrap().ends_with("s/subagents/agent-abc.jsonl"));
    let error = open(&main, 3).unwrap_err().to_string();
    assert!(
        error.ends_with("contains 3 conversations; choose one from 1 to 3"),
        "{error}"
    );
}

#[test]
fn an_older_sub_agents_file_right_beside_the_session_is_found_where_the_session_tells_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let main = write(folder.path(), "s.jsonl", &main_file());
    let told_of = || {
        let loaded = open(&main, 0).unwrap();
        let (all, report) = (&loaded.conversations, &loaded.report);
        let held = availability(&loaded.case.session, all, report);
        let held = held
            .into_iter()
            .find(|(what, _)| *what == RecordedData::SubAgents);
        (all.len(), held.map(|(_, how)| how))
    };
    assert_eq!(told_of(), (1, Some(Absent)));
    write(
        folder.path(),
        "agent-abc.jsonl",
        &agent_file("Look around", 20),
    );
    write(
        folder.path(),
        "agent-xyz.jsonl",
        &agent_file("Not ours", 20),
    );
    assert_eq!(told_of(), (2, Some(Present)));
}

#[test]
fn a_sub_agents_own_file_takes_the_place_of_what_the_session_tells_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(fixture("claude_code/sub-agents.jsonl")).unwrap();
    let main = write(folder.path(), "s.jsonl", &text);
    let long = "word ".repeat(30_000);
    let file = agent_file("Count the tests.", 77) + &agent_file(&long, 88);
    write(folder.path(), "s/subagents/agent-c0ffee.jsonl", &file);
    let loaded = open(&main, 0).unwrap();
    assert_eq!(loaded.conversations.len(), 4);
    assert_eq!(loaded.conversations[3].title, "Count the tests");
    // Only its beginning was read.
    assert_eq!(loaded.conversations[3].size, None);
    assert_eq!(inputs(&open(&main, 3).unwrap())[0], 77);
}

#[cfg(unix)]
#[test]
fn links_and_names_that_lead_elsewhere_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let secret = write(
        folder.path(),
        "secret/agent-abc.jsonl",
        &agent_file("no", 1),
    );
    let text = main_file().replace("\"abc\"", "\"../secret/agent-abc\"");
    let main = write(folder.path(), "s.jsonl", &text);
    fs::create_dir_all(folder.path().join("s/subagents")).unwrap();
    std::os::unix::fs::symlink(&secret, folder.path().join("s/subagents/agent-abc.jsonl")).unwrap();
    assert_eq!(open(&main, 0).unwrap().conversations.len(), 1);
}

#[test]
fn what_a_format_cannot_tell_is_not_kept_and_what_a_file_lacks_is_absent() {
    let of = |name: &str| {
        let loaded = open(&fixture(name), 0).unwrap();
        let all = availability(&loaded.case.session, &loaded.conversations, &loaded.report);
        all.into_iter().map(|(_, how)| how).collect::<Vec<_>>()
    };
    // usage, timestamps, compactions, system prompt, tool definitions, sub-agents
    let claude = [Present, Present, Absent, Unsupported, Unsupported, Present];
    assert_eq!(of("claude_code/sub-agents.jsonl"), claude);
    let branches = [Present, Present, Absent, Unsupported, Unsupported, Absent];
    assert_eq!(of("claude_code/branches.jsonl"), branches);
}

fn inspect(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .arg("inspect")
        .args(args)
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

#[test]
fn inspect_lists_the_conversations_and_what_the_file_carries() {
    let path = fixture("claude_code/sub-agents.jsonl");
    let path = path.to_str().unwrap();
    let said = inspect(&[path, "--conversation", "4"]);
    for expected in [
        "4 of 4 (sub-agent general-purpose, started by call 2; --conversation N selects another)",
        "     1  Find out how it works. (main conversation), 3 calls",
        "     3  Explore the lexer (sub-agent Explore, started by call 1), 1 call",
        "usage, timestamps, sub-agents; none in this file: compactions; not recorded by this format: system prompt, tool definitions",
        "progress/agent_progress",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    let shape: Value = serde_json::from_str(&inspect(&[path, "--json"])).unwrap();
    let agent = json!({
        "title": "Count the tests", "track": "sub_agent", "agent": "general-purpose", "call": 2, "after_message": null,
        "of_conversation": null, "messages": 4, "calls": 2,
    });
    assert_eq!(shape["tracks"][3], agent);
    let carries = json!({
        "usage": "present", "timestamps": "present", "compactions": "absent", "system prompt": "not_carried",
        "tool definitions": "not_carried", "sub-agents": "present",
    });
    assert_eq!(shape["report"]["carries"], carries);
}

#[test]
fn inspect_calls_unknown_what_a_format_cannot_tell() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/handoff.json");
    let said = inspect(&[sample.to_str().unwrap()]);
    assert!(
        said.contains("compactions are not recorded by this format"),
        "{said}"
    );
}

/// Exports a conversation with what is not needed taken away, and gives what the program said.
fn compact(path: &Path, conversation: usize, out: &Path) -> String {
    let number = conversation.to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args([
            "compact",
            "--policy",
            "truncate",
            "--set",
            "keep_recent=1",
            "--force",
        ])
        .args(["--conversation", &number, "--output"])
        .args([out, path])
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

#[test]
fn every_conversation_of_a_file_can_be_written_and_checks_out() {
    let folder = tempfile::tempdir().unwrap();
    for (name, conversation) in [
        ("claude_code/sub-agents.jsonl", 1),
        ("claude_code/sub-agents.jsonl", 2),
        ("claude_code/sub-agents.jsonl", 4),
        ("claude_code/branches.jsonl", 2),
    ] {
        let out = folder
            .path()
            .join(format!("{conversation}-{}", name.replace('/', "-")));
        let said = compact(&fixture(name), conversation, &out);
        assert!(
            !said.contains("FAILED") && said.contains("ok     restores"),
            "{name} {conversation}\n{said}"
        );
        let again = open(&out, 0).unwrap();
        assert!(!again.case.session.messages.is_empty());
    }
}

#[test]
fn the_recorded_lane_has_no_count_of_compactions_where_the_format_cannot_tell() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/handoff.json");
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .arg("replay")
        .arg(sample)
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let row = |lane: &str| {
        let line = said.lines().find(|line| line.starts_with(lane));
        let cells = line
            .into_iter()
            .flat_map(|line| line.split_whitespace().rev());
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("recorded ")[2], "–", "{said}");
    assert_eq!(row("none ")[2], "0", "{said}");
}

#[test]
fn a_file_that_tells_of_more_sub_agents_than_anybody_has_opens_with_as_many_as_can_be_told() {
    let mut text = main_file();
    for n in 0..2_100 {
        let said = json!({"type": "user", "uuid": format!("e{n}"), "message": {"role": "user", "content": "look"}});
        let mut line = record(&format!("p{n}"), None, "progress", false, &Value::Null);
        line["data"] =
            json!({"type": "agent_progress", "agentId": format!("g{n}"), "message": said});
        text.push_str(&(line.to_string() + "\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let loaded = open(&write(folder.path(), "s.jsonl", &text), 0).unwrap();
    assert_eq!(loaded.conversations.len(), 2_001);
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(
        warnings
            .iter()
            .any(|w| w.starts_with("100 sub-agents are left out")),
        "{warnings:?}"
    );
}

#[test]
fn a_ring_of_parents_among_sub_agents_ends() {
    let text = main_file()
        + &record(
            "x",
            Some("y"),
            "user",
            true,
            &json!({"role": "user", "content": "a"}),
        )
        .to_string()
        + "\n"
        + &record(
            "y",
            Some("x"),
            "user",
            true,
            &json!({"role": "user", "content": "b"}),
        )
        .to_string();
    let folder = tempfile::tempdir().unwrap();
    let loaded = open(&write(folder.path(), "s.jsonl", &text), 0).unwrap();
    assert_eq!(loaded.conversations.len(), 2);
}
