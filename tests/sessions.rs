//! `plimsoll sessions`: the real binary over stores laid out as agents lay them out.
#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sample(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    folder.join(name)
}

fn plimsoll(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    for variable in [
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
    ] {
        command.env_remove(variable);
    }
    command
        .args(args)
        .env("HOME", home)
        .output()
        .expect("the program starts")
}

fn listed(home: &Path, args: &[&str]) -> Value {
    let output = plimsoll(home, args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

/// A home with a session of Claude Code and one of Codex, a sub-agent's, and what must never be opened.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let put = |from: Option<PathBuf>, to: &str| {
        let to = home.path().join(to);
        fs::create_dir_all(to.parent().unwrap_or(&to)).expect("a folder");
        match from {
            Some(from) => fs::copy(from, to).map(|_| ()).expect("a copy"),
            None => fs::write(to, "{\"token\": \"a secret\"}").expect("a file"),
        }
    };
    let claude = sample("compacted.jsonl");
    put(Some(claude.clone()), ".claude/projects/-home-me/1.jsonl");
    put(
        Some(claude),
        ".claude/projects/-home-me/1/subagents/agent-2.jsonl",
    );
    put(
        Some(sample("many-tool-results.jsonl")),
        ".codex/sessions/2026/11/22/rollout-2026-11-22T10-00-00-1.jsonl",
    );
    put(None, ".codex/auth.json");
    put(None, ".codex/sessions/2026/auth.json");
    put(None, ".claude/.credentials.json");
    home
}

#[test]
fn sessions_of_every_agent_are_listed_and_nothing_beside_them_is_opened() {
    let home = home();
    let shape = listed(home.path(), &["sessions", "--json"]);
    let sessions = shape["sessions"].as_array().unwrap();
    let mut agents: Vec<_> = sessions
        .iter()
        .map(|s| s["agent"].as_str().unwrap())
        .collect();
    agents.sort_unstable();
    assert_eq!(agents, ["Claude Code", "Codex"]);
    assert_eq!(shape["unread"], Value::Array(Vec::new()));
    let claude = sessions
        .iter()
        .find(|s| s["agent"] == "Claude Code")
        .unwrap();
    assert_eq!(claude["peak_basis"], "reported");
    assert!(claude["compactions"].as_u64() > Some(0));
    assert!(claude["peak_share"].as_f64().unwrap() > 0.1);
    assert!(claude["project"].as_str().unwrap().starts_with('/'));

    let one = listed(home.path(), &["sessions", "--agent", "codex", "--json"]);
    assert_eq!(one["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn what_was_read_is_remembered_until_the_file_changes_or_the_state_is_cleared() {
    let home = home();
    let kept = home.path().join(".local/share/plimsoll/sessions.json");
    listed(home.path(), &["sessions", "--json", "--no-state"]);
    assert!(!kept.exists(), "--no-state keeps nothing");
    let first = listed(home.path(), &["sessions", "--json"]);
    // What is remembered is believed: a title of ours comes back.
    let title = first["sessions"][0]["title"].as_str().unwrap();
    let text = fs::read_to_string(&kept).unwrap();
    fs::write(
        &kept,
        text.replace(&title.replace('"', "\\\""), "remembered"),
    )
    .unwrap();
    let second = listed(home.path(), &["sessions", "--json"]);
    assert_eq!(second["sessions"][0]["title"], "remembered");
    let path = first["sessions"][0]["path"].as_str().unwrap();
    let mut grown = fs::read(path).unwrap();
    grown.push(b'\n');
    fs::write(path, grown).unwrap();
    let third = listed(home.path(), &["sessions", "--json"]);
    assert_eq!(third["sessions"][0]["title"], title);
    assert!(plimsoll(home.path(), &["state", "clear"]).status.success());
    assert!(!kept.exists());
}

#[test]
fn a_folder_is_listed_with_what_cannot_be_opened_counted_and_where_nothing_is_it_says_where_it_looked()
 {
    let home = home();
    let folder = home.path().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::copy(sample("handoff.json"), folder.join("a.json")).unwrap();
    fs::write(folder.join("package.json"), "{\"name\": \"x\"}").unwrap();
    let folder = folder.to_string_lossy().into_owned();
    let output = plimsoll(home.path(), &["sessions", &folder]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("a.json"), "{said}");
    assert!(said.contains("1 file: not a session"), "{said}");

    let empty = tempfile::tempdir().unwrap();
    let output = plimsoll(empty.path(), &["sessions"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("No folder of Claude Code, Codex"), "{said}");
}

#[test]
fn what_is_no_folder_or_no_agent_is_said_in_one_line() {
    let home = home();
    for (args, why) in [
        (["sessions", "/does/not/exist"], "no such file"),
        (
            ["sessions", "--agent=nobody"],
            "known are claude-code, codex",
        ),
        (["sessions", "--limit=few"], "whole number"),
    ] {
        let output = plimsoll(home.path(), &args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(why) && error.lines().count() == 1, "{error}");
    }
}
