//! Files that the program itself wrote are not sessions of their own: their sources count.

use crate::program::plimsoll;
use crate::support::{folder, json, sample, stderr};
use plimsoll::json::Value;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

/// Creates a folder `all` with a session and seven files written from it, in its folder and in others.
fn written() -> tempfile::TempDir {
    let here = folder();
    fs::create_dir_all(here.path().join("all/out/deep")).expect("new folders");
    fs::copy(sample("compacted.jsonl"), here.path().join("all/c.jsonl")).expect("copied");
    let prune = ["--policy", "prune", "--schedule", "replay"];
    let runs: [&[&str]; 7] = [
        &["compact", "all/c.jsonl", "-o", "all/out/m.jsonl"],
        &["compact", "all/c.jsonl"],
        &["context", "all/c.jsonl", "--at-call", "5"],
        &[
            "context",
            "all/c.jsonl",
            "--at-call",
            "5",
            "-o",
            "all/out/deep/a.json",
            "--format",
            "openai_chat",
        ],
        &["convert", "all/c.jsonl", "--to", "openai_chat", "-o", "all/out/chat.json"],
        &["convert", "all/c.jsonl", "--to", "anthropic_messages"],
        &["convert", "all/c.jsonl", "--to", "claude_code", "-o", "all/out/copy.jsonl"],
    ];
    for run in runs {
        let policy: &[&str] = if run[0] == "compact" { &prune } else { &[] };
        let output = plimsoll(here.path(), &[run, policy, &["--no-state"]].concat());
        assert!(output.status.success(), "{run:?}: {}", stderr(&output));
    }
    here
}

/// Returns the names of the listed files.
fn listed(here: &Path, paths: &[&str]) -> (Vec<String>, Value) {
    let list = json(&plimsoll(here, &[&["sessions", "--json", "--no-state"][..], paths].concat()));
    let sessions = list["sessions"].as_array().expect("sessions").iter();
    let names = sessions.map(|session| session["path"].as_str().expect("a path").to_owned());
    (names.collect(), list)
}

#[test]
fn files_that_the_program_wrote_are_left_out_of_folders_and_counted() {
    let here = written();
    let (names, list) = listed(here.path(), &["all"]);
    assert_eq!(names, ["all/c.jsonl"]);
    assert_eq!(list["own_outputs"], 7);
    assert_eq!(list["unreadable"], Value::Array(Vec::new()));
    let text = plimsoll(here.path(), &["sessions", "all", "--no-state"]);
    assert!(
        stderr(&text).contains("7 files that Plimsoll wrote are left out"),
        "{}",
        stderr(&text)
    );
    let found = json(&plimsoll(
        here.path(),
        &["sessions", "all", "--search", "kind:result", "--json", "--no-state"],
    ));
    assert_eq!(found["sessions"].as_array().map(Vec::len), Some(1));
    let verbs: [(&str, &[&str]); 3] =
        [("gate", &["--max-overflows", "1000"]), ("sweep", &["--points", "2"]), ("evaluate", &[])];
    for (verb, more) in verbs {
        let args = [verb, "all", "--policy", "prune", "--json", "--no-state"];
        let output = plimsoll(here.path(), &[&args[..], more].concat());
        let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let count = |list: &str| result[list].as_array().map(Vec::len);
        assert_eq!((count("sessions"), count("skipped")), (Some(1), Some(7)), "{verb}");
        assert!(stderr(&output).contains("7 files are skipped"), "{}", stderr(&output));
    }
}

#[test]
fn a_file_that_the_program_wrote_counts_if_it_is_named_or_was_continued() {
    let here = written();
    let given = ["all/out/chat.json", "all/out/m.jsonl"];
    let (mut names, list) = listed(here.path(), &given);
    names.sort();
    assert_eq!(names, given);
    assert_eq!(list["own_outputs"], 0);
    let renamed = here.path().join("all/out/renamed.json");
    fs::rename(here.path().join(given[0]), &renamed).expect("renamed");
    assert_eq!(listed(here.path(), &["all"]).1["own_outputs"], 7);
    // An agent continues the managed file.
    let mut file =
        OpenOptions::new().append(true).open(here.path().join(given[1])).expect("it is there");
    writeln!(file, "{{}}").expect("written");
    drop(file);
    let (names, list) = listed(here.path(), &["all"]);
    assert_eq!(names.len(), 2);
    assert_eq!(list["own_outputs"], 6);
    let error = stderr(&plimsoll(here.path(), &["restore", "all/out/copy.jsonl"]));
    assert!(error.contains("`convert` wrote this file, so there is nothing to restore"), "{error}");
}
