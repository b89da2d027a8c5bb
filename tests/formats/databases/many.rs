//! `sweep`, `gate` and `sessions` with files of several sessions: a database and a data set in JSON Lines.

use super::{fixture, make};
use crate::program::plimsoll;
use plimsoll::json::{Value, json};
use std::fs;
use std::path::Path;

/// Checks the exit code and returns standard output and standard error.
fn ends(folder: &Path, code: i32, args: &[&str]) -> (String, String) {
    let output = plimsoll(folder, args);
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}{stdout}");
    (stdout, stderr)
}

fn json_of(folder: &Path, code: i32, args: &[&str]) -> Value {
    let (stdout, _) = ends(folder, code, args);
    serde_json::from_str(&stdout).expect("the output is JSON")
}

/// Returns a conversation with this number of turns, as a line of a data set.
fn talk(about: &str, turns: usize) -> Value {
    let turn = |n: usize| {
        let words = format!("{about} {n}: {}", "and so on ".repeat(60));
        [
            json!({"role": "user", "content": words}),
            json!({"role": "assistant", "content": format!("{about} {n} is done.")}),
        ]
    };
    let messages: Vec<Value> = (0..turns).flat_map(turn).collect();
    json!({ "messages": messages })
}

/// Writes a data set of three conversations, the second without an answer, and a database with two.
fn made() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().ok()?;
    let asked = json!({"messages": [{"role": "user", "content": "Anybody?"}]});
    let lines = [talk("Apples", 6), asked, talk("Pears", 9)];
    let text = lines.map(|line| line.to_string() + "\n").concat();
    fs::write(folder.path().join("set.jsonl"), text).ok()?;
    let (export, _) = fixture("opencode/export.json")?;
    let mut later = export.clone();
    later["info"]["title"] = "Later".into();
    let all = [("ses_1", 1_000, &export), ("ses_2", 2_000, &later)];
    make::opencode(&folder.path().join("store.db"), &all).ok()?;
    Some(folder)
}

fn places(sessions: &Value) -> Vec<(String, Value)> {
    let all = sessions.as_array().into_iter().flatten();
    let place = |s: &Value| {
        let file = s["file"].as_str().unwrap_or_default();
        (file.to_owned(), s["conversation"].clone())
    };
    all.map(place).collect()
}

const LIMIT: [&str; 4] = ["--policy", "truncate", "--max-peak", "9"];

#[test]
fn a_gate_checks_every_session_of_a_file_and_names_each() {
    let here = made().unwrap();
    let run = |files: &[&'static str], more: &[&'static str]| {
        let args: Vec<&str> = [&["gate"], files, &LIMIT, more].concat();
        json_of(here.path(), 0, &args)
    };
    let printed = run(&["store.db", "set.jsonl"], &["--json", "--junit", "r.xml"]);
    let (db, set) = ("store.db".to_owned(), "set.jsonl".to_owned());
    let expected =
        [(db.clone(), 1.into()), (db.clone(), 2.into()), (set.clone(), 1.into()), (set, 3.into())];
    assert_eq!(places(&printed["sessions"]), expected);
    assert_eq!(printed["sessions"][1]["title"], "Later");
    assert_eq!(printed["skipped"][0]["conversation"], 2);
    let xml = fs::read_to_string(here.path().join("r.xml")).unwrap();
    assert!(xml.contains("<testsuite name=\"store.db#2 Later\""), "{xml}");
    assert!(xml.contains("classname=\"set.jsonl#3.truncate\""), "{xml}");
    // The same result with the file in a folder, and for one session alone.
    let found = run(&["."], &["--json"]);
    assert_eq!(found["sessions"].as_array().map(Vec::len), Some(4));
    let one = run(&["store.db"], &["--json", "--conversation", "2"]);
    assert_eq!(places(&one["sessions"]), [(db, 2.into())]);
    assert_eq!(one["sessions"][0]["lanes"], printed["sessions"][1]["lanes"]);
}

#[test]
fn a_session_is_compared_with_its_own_baseline_if_others_change() {
    let here = made().unwrap();
    let gate = ["gate", "set.jsonl", "--policy", "truncate", "--baseline", "b.json"];
    let (stdout, stderr) = ends(here.path(), 0, &[&gate[..], &["--write-baseline"]].concat());
    assert!(stdout.ends_with("baseline b.json written, 2 sessions\n"), "{stdout}");
    assert!(stderr.contains("skipped: set.jsonl#2 holds no model call"), "{stderr}");
    let file = here.path().join("set.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}{}\n", talk("Plums", 4))).unwrap();
    let (stdout, _) = ends(here.path(), 0, &gate);
    assert!(
        stdout.contains("     set.jsonl#4  truncate  not checked: not in the baseline"),
        "{stdout}"
    );
    assert!(stdout.ends_with("passed: 2 sessions; nothing to compare in 1 session\n"), "{stdout}");
    fs::write(&file, text.replace("Pears 3 is", "Pears 3 was")).unwrap();
    let (stdout, _) = ends(here.path(), 1, &gate);
    assert!(stdout.contains("FAIL set.jsonl#3  its content differs"), "{stdout}");
    assert!(stdout.ends_with("failed: 1 of 2 sessions\n"), "{stdout}");
}

#[test]
fn a_sweep_picks_one_setting_for_all_sessions_of_a_file() {
    let here = made().unwrap();
    let sweep = [
        "sweep",
        "set.jsonl",
        "--policy",
        "truncate",
        "--points",
        "4",
        "--window",
        "2k",
        "--output-reserve",
        "100",
    ];
    let printed = json_of(here.path(), 0, &[&sweep[..], &["--json"]].concat());
    let set = "set.jsonl".to_owned();
    assert_eq!(places(&printed["sessions"]), [(set.clone(), 1.into()), (set, 3.into())]);
    assert_eq!(places(&printed["robust"]["sessions"]), places(&printed["sessions"]));
    let (stdout, _) = ends(here.path(), 0, &sweep);
    assert!(stdout.contains("set.jsonl#3") && stdout.contains("One for all: truncate"), "{stdout}");
    let (csv, _) = ends(here.path(), 0, &[&sweep[..], &["--csv", "--conversation", "3"]].concat());
    assert!(csv.lines().skip(1).all(|line| line.starts_with("set.jsonl#3,")), "{csv}");
    let marked = [&sweep[..], &["--pin", "1"]].concat();
    let (_, refused) = ends(here.path(), 2, &marked);
    assert!(
        refused.contains("set.jsonl holds 3 conversations") && refused.contains("--conversation N"),
        "{refused}"
    );
    ends(here.path(), 0, &[&marked[..], &["--conversation", "3"]].concat());
}

#[test]
fn a_command_for_one_session_reports_which_one_it_used() {
    let here = made().unwrap();
    let (_, stderr) = ends(here.path(), 0, &["replay", "set.jsonl", "--policy", "truncate"]);
    let note =
        "set.jsonl holds 3 conversations; this is the first (--conversation N selects another)";
    assert!(stderr.contains(note), "{stderr}");
    let chosen = ["replay", "set.jsonl", "--policy", "truncate", "--conversation", "1"];
    assert_eq!(ends(here.path(), 0, &chosen).1, "");
}

#[test]
fn a_file_of_many_sessions_behaves_like_a_folder() {
    let here = made().unwrap();
    let sessions = ["sessions", "set.jsonl", "--no-state"];
    let printed = json_of(here.path(), 0, &[&sessions[..], &["--json"]].concat());
    let rows = printed["sessions"].as_array().cloned().unwrap_or_default();
    let row = |s: &Value| (s["conversation"].clone(), s["messages"].clone());
    let expected = [(1.into(), 12.into()), (2.into(), 1.into()), (3.into(), 18.into())];
    assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
    let whole = fs::metadata(here.path().join("set.jsonl")).unwrap().len();
    let bytes = rows.iter().filter_map(|s| s["bytes"].as_u64());
    assert!(bytes.sum::<u64>() < whole, "each has its own: {rows:?}");
    let (stdout, _) = ends(here.path(), 0, &sessions);
    assert!(stdout.contains("    set.jsonl --conversation 3\n"), "{stdout}");
    fs::write(here.path().join("notes.txt"), "Buy milk.").unwrap();
    let (stdout, _) = ends(here.path(), 0, &["sessions", "notes.txt", "--no-state"]);
    assert!(stdout.starts_with("notes.txt: this looks like"), "{stdout}");
}
