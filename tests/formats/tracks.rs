//! Conversations of one file: the main one, those of sub-agents (in the file or in separate files), and abandoned
//! branches. Each is counted separately.

use plimsoll::exec::{LoadError, LoadOptions, Loaded, load};
use plimsoll::formats::Availability::{Absent, Present, Unsupported};
use plimsoll::formats::{RecordedData, availability};
use plimsoll::json::{Value, json};
use plimsoll::progress::Progress;
use plimsoll::report::track;
use plimsoll::tokens::default_counter;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn open(path: &Path, conversation: usize) -> Result<Loaded, LoadError> {
    let options = LoadOptions { counter: default_counter(), window: None, conversation };
    load(path, &options, &Progress::default())
}

/// Returns the reported prompts by call.
fn inputs(loaded: &Loaded) -> Vec<u64> {
    let calls = loaded.case.session.calls.iter();
    calls.filter_map(|call| Some(call.usage?.input.0)).collect()
}

/// Returns the title, kind and number of calls of each conversation.
fn listed(loaded: &Loaded) -> Vec<(String, String, Option<usize>)> {
    let all = loaded.conversations.iter();
    all.map(|c| (c.title.clone(), track(c), c.size.map(|size| size.calls))).collect()
}

fn row(title: &str, what: &str, calls: usize) -> (String, String, Option<usize>) {
    (title.to_owned(), what.to_owned(), Some(calls))
}

#[test]
fn sub_agents_are_separate_conversations() {
    let path = fixture("claude_code/sub-agents.jsonl");
    let main = open(&path, 0).unwrap();
    let expected = [
        row("Find out how it works.", "main conversation", 3),
        row("Explore the parser", "sub-agent Explore, started by call 1", 2),
        row("Explore the lexer", "sub-agent Explore, started by call 1", 1),
        row("Count the tests", "sub-agent general-purpose, started by call 2", 2),
    ];
    assert_eq!(listed(&main), expected);
    assert_eq!(inputs(&main), [100, 150, 200]);
    let each = [vec![20, 30], vec![21], vec![40, 50]];
    for (n, expected) in each.iter().enumerate() {
        let agent = open(&path, n + 1).unwrap();
        assert_eq!(inputs(&agent), *expected, "sub-agent {n}");
        assert_eq!(listed(&agent), listed(&main));
    }
}

#[test]
fn an_abandoned_branch_can_be_selected_and_parallel_calls_are_no_branch() {
    let path = fixture("claude_code/branches.jsonl");
    let main = open(&path, 0).unwrap();
    let expected = [
        row("Write a poem.", "main conversation", 3),
        row("Make it longer.", "branch after message 5", 4),
    ];
    assert_eq!(listed(&main), expected);
    assert_eq!(inputs(&main), [100, 120, 141]);
    let branch = open(&path, 1).unwrap();
    assert_eq!(inputs(&branch), [100, 120, 140, 160]);
}

#[test]
fn branches_of_other_formats_name_their_first_message() {
    for (name, at, what) in [
        ("pi/tree.jsonl", 1, "branch after message 2"),
        ("gemini_cli/replaced.jsonl", 1, "branch after message "),
        ("qwen_code/branches.jsonl", 1, "branch after message "),
        ("copilot_cli/events.jsonl", 1, "sub-agent Explorer, started by call 1"),
        ("copilot_cli/events.jsonl", 2, "branch after message "),
    ] {
        let loaded = open(&fixture(name), 0).unwrap();
        let output = track(&loaded.conversations[at]);
        assert!(output.starts_with(what), "{name}: {output}");
        assert_eq!(track(&loaded.conversations[0]), "main conversation");
    }
}

#[test]
fn parallel_conversations_are_all_main_ones() {
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

/// Returns a session that starts two sub-agents, one of which returns a result.
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
    let output = json!({"role": "user", "content": "go"});
    let lines = [
        record("u1", None, "user", false, &output),
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

/// Returns the file of a sub-agent with this request and one answer.
fn agent_file(prompt: &str, input: u64) -> String {
    let output = json!({"role": "user", "content": prompt});
    let text = json!({"type": "text", "text": "found"});
    let lines = [
        record("s1", None, "user", true, &output),
        record("s2", Some("s1"), "assistant", true, &answer("ms", &text, input)),
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
fn files_of_sub_agents_belong_to_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let main = write(folder.path(), "s.jsonl", &main_file());
    write(folder.path(), "s/subagents/agent-abc.jsonl", &agent_file("Look around", 20));
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
    write(folder.path(), "s/subagents/workflows/wf_1/journal.jsonl", "{}");
    // Belongs to another session.
    write(folder.path(), "agent-other.jsonl", &agent_file("Not ours", 40));
    let loaded = open(&main, 0).unwrap();
    let expected = [
        row("go", "main conversation", 1),
        row("Look around", "sub-agent Explore, started by call 1", 1),
        row("Write it down", "sub-agent writer", 1),
    ];
    assert_eq!(listed(&loaded), expected);
    assert_eq!(inputs(&loaded), [100]);
    let agent = open(&main, 1).unwrap();
    assert_eq!(inputs(&agent), [20]);
    assert_eq!(listed(&agent), listed(&loaded));
    assert!(agent.path.unwrap().ends_with("s/subagents/agent-abc.jsonl"));
    let error = open(&main, 3).unwrap_err().to_string();
    assert!(error.ends_with("contains 3 conversations; choose one from 1 to 3"), "{error}");
}

#[test]
fn an_older_sub_agent_file_is_found_through_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let main = write(folder.path(), "s.jsonl", &main_file());
    let told_of = || {
        let loaded = open(&main, 0).unwrap();
        let (all, report) = (&loaded.conversations, &loaded.report);
        let held = availability(&loaded.case.session, all, report);
        let held = held.into_iter().find(|(what, _)| *what == RecordedData::SubAgents);
        (all.len(), held.map(|(_, how)| how))
    };
    assert_eq!(told_of(), (1, Some(Absent)));
    write(folder.path(), "agent-abc.jsonl", &agent_file("Look around", 20));
    write(folder.path(), "agent-xyz.jsonl", &agent_file("Not ours", 20));
    assert_eq!(told_of(), (2, Some(Present)));
}

#[test]
fn a_sub_agents_own_file_replaces_its_inline_messages() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(fixture("claude_code/sub-agents.jsonl")).unwrap();
    let main = write(folder.path(), "s.jsonl", &text);
    let long = "word ".repeat(30_000);
    let file = agent_file("Count the tests.", 77) + &agent_file(&long, 88);
    write(folder.path(), "s/subagents/agent-c0ffee.jsonl", &file);
    let loaded = open(&main, 0).unwrap();
    assert_eq!(loaded.conversations.len(), 4);
    assert_eq!(loaded.conversations[3].title, "Count the tests");
    // Only the beginning was read.
    assert_eq!(loaded.conversations[3].size, None);
    assert_eq!(inputs(&open(&main, 3).unwrap())[0], 77);
}

#[cfg(unix)]
#[test]
fn links_and_names_outside_the_folder_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let secret = write(folder.path(), "secret/agent-abc.jsonl", &agent_file("no", 1));
    let text = main_file().replace("\"abc\"", "\"../secret/agent-abc\"");
    let main = write(folder.path(), "s.jsonl", &text);
    fs::create_dir_all(folder.path().join("s/subagents")).unwrap();
    std::os::unix::fs::symlink(&secret, folder.path().join("s/subagents/agent-abc.jsonl")).unwrap();
    assert_eq!(open(&main, 0).unwrap().conversations.len(), 1);
}

#[test]
fn unsupported_and_missing_data_are_distinguished() {
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
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

#[test]
fn inspect_lists_conversations_and_recorded_data() {
    let path = fixture("claude_code/sub-agents.jsonl");
    let path = path.to_str().unwrap();
    let output = inspect(&[path, "--conversation", "4"]);
    for expected in [
        "4 of 4 (sub-agent general-purpose, started by call 2; --conversation N selects another)",
        "     1  Find out how it works. (main conversation): 3 calls, ",
        "     3  Explore the lexer (sub-agent Explore, started by call 1): 1 call, ",
        "usage, timestamps, sub-agents; none in this file: compactions; not recorded by this format: system prompt, tool definitions",
        "progress/agent_progress",
    ] {
        assert!(output.contains(expected), "{expected}\n{output}");
    }
    let shape: Value = serde_json::from_str(&inspect(&[path, "--json"])).unwrap();
    let agent = json!({
        "title": "Count the tests", "relation": "sub_agent", "agent": "general-purpose", "started_by_call": 2,
        "shared_messages": null, "main_conversation": null, "messages": 4, "calls": 2,
    });
    for name in [
        "title",
        "relation",
        "agent",
        "started_by_call",
        "shared_messages",
        "main_conversation",
        "messages",
        "calls",
    ] {
        assert_eq!(shape["conversations"][3][name], agent[name], "{name}");
    }
    // Each conversation has the sums of its own calls, and the tree those of all.
    let calls = shape["conversations"].as_array().unwrap().iter();
    let calls: u64 = calls.map(|one| one["usage"]["calls"].as_u64().unwrap()).sum();
    assert_eq!(shape["tree"]["calls"], calls);
    let recorded_data = json!({
        "usage": "present", "timestamps": "present", "compactions": "absent", "system_prompt": "unsupported",
        "tool_definitions": "unsupported", "sub_agents": "present",
    });
    assert_eq!(shape["source"]["recorded_data"], recorded_data);
}

#[test]
fn inspect_shows_unsupported_data_as_unknown() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/handoff.json");
    let output = inspect(&[sample.to_str().unwrap()]);
    assert!(output.contains("compactions are not recorded by this format"), "{output}");
}

/// Exports a conversation without its older messages and returns the program's output.
fn compact(path: &Path, conversation: usize, out: &Path) -> String {
    let number = conversation.to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["compact", "--policy", "truncate", "--set", "keep_recent=1", "--force"])
        .args(["--conversation", &number, "--output"])
        .args([out, path])
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

#[test]
fn every_conversation_of_a_file_can_be_exported() {
    let folder = tempfile::tempdir().unwrap();
    for (name, conversation) in [
        ("claude_code/sub-agents.jsonl", 1),
        ("claude_code/sub-agents.jsonl", 2),
        ("claude_code/sub-agents.jsonl", 4),
        ("claude_code/branches.jsonl", 2),
    ] {
        let out = folder.path().join(format!("{conversation}-{}", name.replace('/', "-")));
        let output = compact(&fixture(name), conversation, &out);
        assert!(
            !output.contains("FAILED") && output.contains("ok     restores"),
            "{name} {conversation}\n{output}"
        );
        let again = open(&out, 0).unwrap();
        assert!(!again.case.session.messages.is_empty());
    }
}

#[test]
fn the_recorded_lane_has_no_compaction_count_if_the_format_has_none() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/handoff.json");
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .arg("replay")
        .arg(sample)
        .output()
        .expect("the program starts");
    let output = String::from_utf8_lossy(&output.stdout);
    let row = |lane: &str| {
        let line = output.lines().find(|line| line.starts_with(lane));
        let cells = line.into_iter().flat_map(|line| line.split_whitespace().rev());
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("recorded ")[2], "–", "{output}");
    assert_eq!(row("none ")[2], "0", "{output}");
}

#[test]
fn excess_sub_agents_are_limited() {
    let mut text = main_file();
    for n in 0..2_100 {
        let output = json!({"type": "user", "uuid": format!("e{n}"), "message": {"role": "user", "content": "look"}});
        let mut line = record(&format!("p{n}"), None, "progress", false, &Value::Null);
        line["data"] =
            json!({"type": "agent_progress", "agentId": format!("g{n}"), "message": output});
        text.push_str(&(line.to_string() + "\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let loaded = open(&write(folder.path(), "s.jsonl", &text), 0).unwrap();
    assert_eq!(loaded.conversations.len(), 2_001);
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|w| w.starts_with("100 sub-agents are left out")), "{warnings:?}");
}

#[test]
fn a_cycle_of_sub_agents_is_handled() {
    let text = main_file()
        + &record("x", Some("y"), "user", true, &json!({"role": "user", "content": "a"}))
            .to_string()
        + "\n"
        + &record("y", Some("x"), "user", true, &json!({"role": "user", "content": "b"}))
            .to_string();
    let folder = tempfile::tempdir().unwrap();
    let loaded = open(&write(folder.path(), "s.jsonl", &text), 0).unwrap();
    assert_eq!(loaded.conversations.len(), 2);
}
