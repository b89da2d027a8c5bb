//! `plimsoll sessions` over stores with the layout of each agent.
#![cfg(unix)]

use crate::program::plimsoll;
use plimsoll::json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn sample(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    folder.join(name)
}

fn listed(home: &Path, args: &[&str]) -> Value {
    let output = plimsoll(home, args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

/// Creates a home folder with sessions of Claude Code, of a sub-agent and of Codex, and files that must not be opened.
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
    put(Some(claude), ".claude/projects/-home-me/1/subagents/agent-2.jsonl");
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
fn sessions_of_every_agent_are_listed_and_no_other_file_is_opened() {
    let home = home();
    let result = listed(home.path(), &["sessions", "--json"]);
    let sessions = result["sessions"].as_array().unwrap();
    let mut agents: Vec<_> = sessions.iter().map(|s| s["agent"].as_str().unwrap()).collect();
    agents.sort_unstable();
    // The sub-agent's file belongs to a session of Claude Code.
    assert_eq!(agents, ["Claude Code", "Claude Code", "Codex"]);
    assert_eq!(result["unreadable"], Value::Array(Vec::new()));
    let claude = sessions.iter().find(|s| s["agent"] == "Claude Code").unwrap();
    assert_eq!(claude["peak_accuracy"], "reported");
    assert!(claude["compactions"].as_u64() > Some(0));
    assert!(claude["peak_share"].as_f64().unwrap() > 0.1);
    assert!(claude["project"].as_str().unwrap().starts_with('/'));

    let one = listed(home.path(), &["sessions", "--agent", "codex", "--json"]);
    assert_eq!(one["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn without_a_session_the_output_says_where_it_looked() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let text = |args: &[&str]| {
        let output = plimsoll(home.path(), args);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let nowhere = text(&["sessions", "--search", "refund"]);
    assert!(nowhere.contains("No folder of Claude Code"), "{nowhere}");
    assert!(nowhere.contains("`plimsoll sessions FOLDER`"), "{nowhere}");
    fs::create_dir_all(home.path().join(".claude/projects")).expect("a folder");
    fs::create_dir_all(home.path().join("empty")).expect("a folder");
    let store = text(&["sessions", "--search", "refund"]);
    assert!(store.contains(".claude/projects"), "{store}");
    let folder = text(&["sessions", "empty", "--search", "refund"]);
    assert!(folder.ends_with("opened in\n  empty\n"), "{folder}");
    let codex = text(&["sessions", "--agent", "codex", "--search", "refund"]);
    assert!(codex.starts_with("No folder of Codex is"), "{codex}");
}

#[test]
fn results_are_cached_until_the_file_changes_or_the_state_is_cleared() {
    let home = home();
    let kept = home.path().join(".local/share/plimsoll/sessions.json");
    listed(home.path(), &["sessions", "--json", "--no-state"]);
    assert!(!kept.exists(), "--no-state keeps nothing");
    let first = listed(home.path(), &["sessions", "--json"]);
    // A cached result is used without reading the file: the edited title is returned.
    let title = first["sessions"][0]["title"].as_str().unwrap();
    let text = fs::read_to_string(&kept).unwrap();
    fs::write(&kept, text.replace(&title.replace('"', "\\\""), "remembered")).unwrap();
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
fn results_of_another_version_are_not_used() {
    let home = home();
    let kept = home.path().join(".local/share/plimsoll/sessions.json");
    let first = listed(home.path(), &["sessions", "--json"]);
    let mut old: Value = serde_json::from_slice(&fs::read(&kept).unwrap()).unwrap();
    let version = old["version"].as_str().unwrap().to_owned();
    let (program, reading) = version.split_once('/').unwrap();
    // After the version of reading: a key of the table of context windows.
    let (reading, windows) = reading.split_once('/').unwrap();
    assert_eq!(program, env!("CARGO_PKG_VERSION"));
    for file in old["files"].as_object_mut().unwrap().values_mut() {
        file["summary"]["Ok"]["peak"] = 7.into();
    }
    let peaks = |result: &Value| -> Vec<Value> {
        let sessions = result["sessions"].as_array().into_iter().flatten();
        sessions.map(|s| s["peak_tokens"].clone()).collect()
    };
    for (version, is_believed) in [
        (version.clone(), true),
        (format!("{program}/{}/{windows}", reading.parse::<u32>().unwrap() - 1), false),
        (program.to_owned(), false),
    ] {
        old["version"] = version.into();
        fs::write(&kept, old.to_string()).unwrap();
        let again = listed(home.path(), &["sessions", "--json"]);
        let believed = peaks(&again).iter().all(|peak| *peak == 7);
        assert_eq!(believed, is_believed);
        assert!(is_believed || peaks(&again) == peaks(&first));
    }
}

/// Results for the sample sessions, exactly counted as `--json` needs them for costs. If they change for the same files, increase `SUMMARY_VERSION` in
/// `exec/stores/summary.rs`, the first value here: otherwise cached results of an earlier version would still be shown.
const READ: (&str, &[(&str, u64, u64, &str)]) = (
    "10",
    &[
        ("compacted.jsonl", 136, 160_695, "reported"),
        ("giant-tool-result.json", 46, 141_321, "estimated"),
        ("handoff.json", 31, 3_163, "estimated"),
        ("images-and-cjk.json", 28, 9_393, "estimated"),
        ("many-tool-results.jsonl", 282, 189_086, "estimated"),
        ("slow-growth.jsonl", 729, 149_943, "estimated"),
    ],
);

#[test]
fn results_of_the_samples_belong_to_the_current_cache_version() {
    let home = tempfile::tempdir().unwrap();
    let folder = sample("");
    let result = listed(home.path(), &["sessions", &folder.to_string_lossy(), "--json"]);
    let kept = home.path().join(".local/share/plimsoll/sessions.json");
    let kept: Value = serde_json::from_slice(&fs::read(kept).unwrap()).unwrap();
    let reading = kept["version"].as_str().and_then(|v| v.split('/').nth(1)).unwrap();
    let mut found: Vec<(String, u64, u64, String)> = Vec::new();
    for session in result["sessions"].as_array().unwrap() {
        let path = Path::new(session["path"].as_str().unwrap());
        found.push((
            path.file_name().unwrap().to_string_lossy().into_owned(),
            session["messages"].as_u64().unwrap(),
            session["peak_tokens"].as_u64().unwrap(),
            session["peak_accuracy"].as_str().unwrap().to_owned(),
        ));
    }
    found.sort();
    let found: Vec<_> =
        found.iter().map(|(name, n, peak, accuracy)| (&**name, *n, *peak, &**accuracy)).collect();
    assert_eq!((reading, &found[..]), READ);
}

#[test]
fn a_folder_is_listed_and_unreadable_files_are_counted() {
    let home = home();
    let folder = home.path().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::copy(sample("handoff.json"), folder.join("a.json")).unwrap();
    fs::write(folder.join("package.json"), "{\"name\": \"x\"}").unwrap();
    let folder = folder.to_string_lossy().into_owned();
    let output = plimsoll(home.path(), &["sessions", &folder]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("a.json"), "{printed}");
    assert!(printed.contains("1 file: not a session"), "{printed}");
    let list = listed(home.path(), &["sessions", &folder, "--json"]);
    let search = listed(home.path(), &["sessions", &folder, "--json", "--search", "ledger"]);
    assert_eq!(list["unreadable"][0]["agent"], Value::Null);
    assert_eq!(list["unreadable"], search["unreadable"]);

    let empty = tempfile::tempdir().unwrap();
    let output = plimsoll(empty.path(), &["sessions"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("No folder of Claude Code, Codex"), "{printed}");
}

#[test]
fn a_session_of_several_files_is_listed_once() {
    let home = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for (n, source) in [(0, "user"), (1, "agent"), (2, "user")] {
        let event = format!(
            r#"{{"id":{n},"timestamp":"2026-01-01T00:00:0{n}","source":"{source}","action":"message","args":{{"content":"Word {n}"}}}}"#
        );
        put(&format!("mine/talk/events/{n}.json"), &event);
    }
    put("mine/storage/session/p/ses_1.json", r#"{"id":"ses_1","title":"Stored"}"#);
    put("mine/storage/message/ses_1/msg_1.json", r#"{"id":"msg_1","role":"user"}"#);
    put("mine/storage/part/msg_1/prt_1.json", r#"{"type":"text","text":"hello"}"#);
    let folder = home.path().join("mine").to_string_lossy().into_owned();
    let result = listed(home.path(), &["sessions", &folder, "--json", "--no-state"]);
    let mut found: Vec<_> = result["sessions"].as_array().unwrap().iter().collect();
    found.sort_by_key(|s| s["title"].as_str());
    let row = |s: &Value| (s["title"].clone(), s["messages"].clone());
    assert_eq!(
        found.iter().map(|s| row(s)).collect::<Vec<_>>(),
        [("Stored".into(), 1.into()), ("Word 0".into(), 3.into())]
    );
    assert_eq!(result["unreadable"], Value::Array(Vec::new()));
    // The folder of one session is that session, for every command that takes several sessions.
    let talk = home.path().join("mine/talk").to_string_lossy().into_owned();
    let result = listed(home.path(), &["sessions", &talk, "--json", "--no-state"]);
    assert_eq!(result["sessions"][0]["messages"], 3);
    let gate = ["gate", &talk, "--policy", "none", "--max-overflows", "0", "--json"];
    let result = listed(home.path(), &gate);
    assert_eq!(result["sessions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn unknown_folders_and_agents_are_rejected_in_one_line() {
    let home = home();
    for (args, why) in [
        (["sessions", "/does/not/exist"], "no such folder or file"),
        (["sessions", "--agent=nobody"], "known agents are claude-code, codex"),
        (["sessions", "--agent=codx"], "did you mean codex?"),
        (["sessions", "--limit=few"], "give a whole number"),
    ] {
        let output = plimsoll(home.path(), &args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(why) && error.lines().count() == 1, "{error}");
    }
}
