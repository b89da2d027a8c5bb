//! Validity of expected re-reads: the generated page, coefficients of one's own, and the person to whom a session belongs.

use crate::program::plimsoll;
use plimsoll::json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn succeeds(folder: &Path, args: &[&str]) -> String {
    let output = plimsoll(folder, args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn fails(folder: &Path, args: &[&str]) -> String {
    let output = plimsoll(folder, args);
    assert!(!output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn the_page_and_the_coefficients_are_generated_from_the_table() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let table = project("src/core/assets/reread_items.csv.gz");
    let table = table.to_string_lossy();
    let args = ["evaluate", &table, "--validity", "v.md", "--fit", "m.toml", "--no-state"];
    let said = succeeds(home.path(), &args);
    assert!(said.contains("times as often"), "{said}");
    for (written, kept) in
        [("v.md", "docs/validity.md"), ("m.toml", "src/core/assets/reread_model.toml")]
    {
        let written = fs::read_to_string(home.path().join(written)).expect("written");
        let kept = project(kept);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&kept, &written).expect("the page can be written");
        }
        assert!(
            fs::read_to_string(&kept).unwrap_or_default() == written,
            "{} is out of date: run UPDATE_DOCS=1 cargo test --test cli validity",
            kept.display()
        );
    }
}

/// Returns a session of Claude Code that reads files, is compacted, and reads the first of them again.
fn session(project: &str, id: u64) -> String {
    let (mut text, mut parent) = (String::new(), Value::Null);
    let mut n = 0;
    let mut record = |kind: &str, message: Value, more: Value| {
        let uuid = format!("{id:08}-0000-4000-8000-{n:012}");
        let mut value = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": format!("s{id}"), "cwd": project,
            "timestamp": format!("2026-06-01T10:{:02}:{:02}Z", n / 60, n % 60), "message": message,
        });
        for (key, more) in more.as_object().expect("an object") {
            value[key] = more.clone();
        }
        n += 1;
        parent = json!(uuid);
        let _ = writeln!(text, "{value}");
    };
    let read = |file: u64, call: u64| {
        // The program attaches 9,000 tokens after the compaction and does not record them.
        let (nth, unrecorded) = if call < 100 { (call, 0) } else { (call - 100, 9_000) };
        let call = format!("toolu_{call}");
        let input = json!({"file_path": format!("{project}/src/f{file}.rs")});
        let content = json!([{"type": "tool_use", "id": call, "name": "Read", "input": input}]);
        let answer = json!({
            "id": format!("msg_{call}"), "role": "assistant", "model": "claude-opus-4-6", "content": content,
            "stop_reason": "tool_use", "usage": {"input_tokens": 20_000 + 800 * nth + unrecorded, "output_tokens": 20},
        });
        let text = format!("fn f{file}() {{}}\n").repeat(50);
        let result = json!([{"type": "tool_result", "tool_use_id": call, "content": text}]);
        (answer, json!({"role": "user", "content": result}))
    };
    record("user", json!({"role": "user", "content": "Read them."}), json!({}));
    for file in 0..8 {
        let (answer, result) = read(file, file);
        record("assistant", answer, json!({}));
        record("user", result, json!({}));
    }
    record(
        "system",
        json!(null),
        json!({"subtype": "compact_boundary", "parentUuid": null, "content": "Conversation compacted",
            "compactMetadata": {"trigger": "auto", "preTokens": 22_000}}),
    );
    let summary = json!({"role": "user", "content": "The work on f0.rs goes on."});
    record("user", summary, json!({"isCompactSummary": true}));
    for nth in 0..24 {
        let (answer, result) = read(nth % 3, 100 + nth);
        record("assistant", answer, json!({}));
        record("user", result, json!({}));
    }
    text
}

/// Writes four sessions of two persons into a folder.
fn own_sessions() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let folder = home.path();
    fs::create_dir(folder.join("sessions")).expect("a folder");
    for id in 0..4 {
        let project = format!("/home/user{}", id % 2);
        let file = folder.join(format!("sessions/s{id}.jsonl"));
        fs::write(file, session(&project, id)).expect("written");
    }
    home
}

#[test]
fn own_sessions_give_items_by_person() {
    let home = own_sessions();
    let folder = home.path();
    let rows = |by: &[&str], name: &str| {
        let args = ["evaluate", "sessions", "--items", name, "--no-state"];
        let said = succeeds(folder, &[&args[..], by].concat());
        // Of the eight files, three are read again.
        assert!(said.starts_with("These agents read 12 files again"), "{said}");
        fs::read_to_string(folder.join(name)).expect("written")
    };
    let persons = |table: &str| {
        let rows = table.lines().skip(1);
        let mut persons: Vec<String> =
            rows.map(|row| row.split(',').nth(1).expect("a cell").to_owned()).collect();
        persons.sort();
        persons.dedup();
        persons.len()
    };
    let table = rows(&[], "by-repository.csv");
    assert_eq!((table.lines().count(), persons(&table)), (1 + 4 * 8, 2));
    assert_eq!(persons(&rows(&["--by-person", "folder"], "by-folder.csv")), 1);
    let why = fails(folder, &["evaluate", "sessions", "--fit", "m.toml", "--no-state"]);
    assert!(
        why.contains(
            "too little to fit: compactions: 12 files read again by the agents of 2 persons"
        ),
        "{why}"
    );
    let by_session = ["--by-person", "session"];
    let why =
        fails(folder, &[&["evaluate", "sessions", "--items", "x.csv"][..], &by_session].concat());
    assert!(why.contains("sessions have no columns"), "{why}");
    let page = ["evaluate", "by-folder.csv", "--validity", "v.md", "--no-state"];
    succeeds(folder, &[&page[..], &by_session].concat());
    let page = fs::read_to_string(folder.join("v.md")).expect("written");
    assert!(page.contains("**Not judged**"), "{page}");
    assert!(page.contains("with 4 recorded compactions"), "{page}");
}

#[test]
fn lanes_of_own_sessions_have_the_same_rereads_everywhere_and_by_own_coefficients() {
    let home = own_sessions();
    let folder = home.path();
    // Calls after the compaction report 9,000 tokens that nothing in the file explains.
    let insights = succeeds(folder, &["diagnose", "sessions/s0.jsonl", "--json", "--no-state"]);
    let insights: Value = serde_json::from_str(&insights).expect("JSON");
    let insights = insights["insights"].as_array().expect("a list");
    let unrecorded = insights.iter().find(|insight| insight["kind"] == "unrecorded_content");
    let unrecorded = unrecorded.expect("the content is named");
    assert_eq!(unrecorded["call"], 9, "{unrecorded}");

    // Both commands show the same re-reads of a lane.
    let lanes = |command: &str| {
        let args = [command, "sessions/s0.jsonl", "--json", "--no-state"];
        let result: Value = serde_json::from_str(&succeeds(folder, &args)).expect("JSON");
        let lanes =
            if command == "evaluate" { &result["sessions"][0]["lanes"] } else { &result["lanes"] };
        let lanes = lanes.as_array().expect("a list").iter();
        let lanes = lanes.filter(|lane| lane["lane"] != "none");
        lanes.map(|lane| lane["expected_rereads"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(lanes("evaluate"), lanes("replay"));
    let text = succeeds(folder, &["evaluate", "sessions/s0.jsonl", "--no-state"]);
    assert!(text.contains("expected re-reads: recorded "), "{text}");

    // Coefficients by which every removed file is read again.
    let model =
        fs::read_to_string(project("src/core/assets/reread_model.toml")).expect("the coefficients");
    let certain = model.replacen("removed = [", "removed = [90.0, 0.0, 0.0, 0.0]\n# [", 1);
    fs::write(folder.join("certain.toml"), certain).expect("written");
    let files = |more: &[&str]| {
        let args = ["replay", "sessions/s0.jsonl", "--policy", "recorded", "--json", "--no-state"];
        let result = succeeds(folder, &[&args[..], more].concat());
        let result: Value = serde_json::from_str(&result).expect("JSON");
        result["lanes"][0]["expected_rereads"]["files"]["value"].as_f64().expect("a number")
    };
    let (usual, certain) = (files(&[]), files(&["--risk-model", "certain.toml"]));
    assert!(usual < 4.0 && certain > 6.0, "{usual} {certain}");
    fs::write(folder.join("bad.toml"), "removed = 1").expect("written");
    let why = fails(folder, &["replay", "sessions/s0.jsonl", "--risk-model", "bad.toml"]);
    assert!(why.contains("bad.toml"), "{why}");
}
