//! `plimsoll sessions` over databases: each of their sessions by itself.
#![cfg(unix)]

use super::{fixture, make};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn plimsoll(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    for variable in [
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "CODEX_HOME",
        "CLAUDE_CONFIG_DIR",
    ] {
        command.env_remove(variable);
    }
    let command = command.args(args).env("HOME", home);
    command.output().expect("the program starts")
}

fn listed(home: &Path, args: &[&str]) -> Vec<Value> {
    let output = plimsoll(home, args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    let shape: Value = serde_json::from_slice(&output.stdout).expect("the output is JSON");
    assert_eq!(shape["unread"], Value::Array(Vec::new()));
    shape["sessions"].as_array().cloned().unwrap_or_default()
}

#[test]
fn every_session_of_a_database_is_listed_with_its_number_and_one_that_was_moved_there_once() {
    let home = tempfile::tempdir().unwrap();
    let store = home.path().join(".local/share/opencode");
    fs::create_dir_all(store.join("storage/session/p")).unwrap();
    let database = store.join("opencode.db");
    let (export, _) = fixture("opencode/export.json").unwrap();
    let mut later = export.clone();
    later["info"]["title"] = "Later".into();
    let all = [
        ("ses_1", 1_000_000_000_000, &export),
        ("ses_2", 2_000_000_000_000, &later),
    ];
    make::opencode(&database, &all).unwrap();
    fs::write(
        store.join("storage/session/p/ses_1.json"),
        export["info"].to_string(),
    )
    .unwrap();

    let sessions = listed(home.path(), &["sessions", "--json"]);
    let row = |s: &Value| {
        (
            s["title"].clone(),
            s["conversation"].clone(),
            s["project"].clone(),
        )
    };
    assert_eq!(
        sessions.iter().map(row).collect::<Vec<_>>(),
        [
            ("Later".into(), 2.into(), "/work/shop".into()),
            ("Sell things".into(), 1.into(), "/work/shop".into()),
        ]
    );
    assert_eq!(sessions[0]["agent"], "OpenCode");
    assert_eq!(sessions[0]["modified"], "2033-05-18T03:33:20Z");
    assert_eq!(sessions[0]["conversations"], 1);

    // What was remembered of them counts while they stay as they are.
    let again = listed(home.path(), &["sessions", "--json"]);
    assert_eq!(again, sessions);
    let db = rusqlite::Connection::open(&database).unwrap();
    db.execute(
        "UPDATE session SET title = 'Changed', time_updated = 2000000060000 WHERE id = 'ses_2'",
        [],
    )
    .unwrap();
    let changed = listed(home.path(), &["sessions", "--json"]);
    assert_eq!(changed[0]["title"], "Changed");

    // The same by its path, told for people.
    let path = database.to_str().unwrap();
    let output = plimsoll(home.path(), &["sessions", path, "--no-state"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains(&format!("{path} --conversation 2\n")),
        "{text}"
    );
}
