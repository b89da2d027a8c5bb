//! `plimsoll sessions` with databases, whose sessions are listed separately.
#![cfg(unix)]

use super::{fixture, make};
use crate::program::plimsoll;
use plimsoll::json::{Value, json};
use std::fs;
use std::path::Path;

fn listed(home: &Path, args: &[&str]) -> Vec<Value> {
    let output = plimsoll(home, args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    let shape: Value = serde_json::from_slice(&output.stdout).expect("the output is JSON");
    assert_eq!(shape["unreadable"], Value::Array(Vec::new()));
    shape["sessions"].as_array().cloned().unwrap_or_default()
}

#[test]
fn lists_every_session_of_a_database_once_with_its_number() {
    let home = tempfile::tempdir().unwrap();
    let store = home.path().join(".local/share/opencode");
    fs::create_dir_all(store.join("storage/session/p")).unwrap();
    let database = store.join("opencode.db");
    let (export, _) = fixture("opencode/export.json").unwrap();
    let mut later = export.clone();
    later["info"]["title"] = "Later".into();
    let all = [("ses_1", 1_000_000_000_000, &export), ("ses_2", 2_000_000_000_000, &later)];
    make::opencode(&database, &all).unwrap();
    fs::write(store.join("storage/session/p/ses_1.json"), export["info"].to_string()).unwrap();

    let sessions = listed(home.path(), &["sessions", "--json"]);
    let row = |s: &Value| (s["title"].clone(), s["conversation"].clone(), s["project"].clone());
    assert_eq!(
        sessions.iter().map(row).collect::<Vec<_>>(),
        [
            ("Later".into(), 2.into(), "/work/shop".into()),
            ("Sell things".into(), 1.into(), "/work/shop".into()),
        ]
    );
    assert_eq!(sessions[0]["agent"], "OpenCode");

    let search = ["sessions", "--search", "a", "--json"];
    let found: Value = serde_json::from_slice(&plimsoll(home.path(), &search).stdout).unwrap();
    assert_eq!((&found["searched"], &found["sessions_with_matches"]), (&2.into(), &2.into()));
    assert_eq!(sessions[0]["modified"], "2033-05-18T03:33:20Z");
    assert_eq!(sessions[0]["conversations"], 1);

    // Remembered results apply while the files are unchanged.
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

    // The same database by its path, as text.
    let path = database.to_str().unwrap();
    let output = plimsoll(home.path(), &["sessions", path, "--no-state"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("{path} --conversation 2\n")), "{text}");
}

#[test]
fn lists_sub_agents_with_the_session_that_started_them() {
    let home = tempfile::tempdir().unwrap();
    let store = home.path().join(".local/share/opencode");
    fs::create_dir_all(&store).unwrap();
    let (main, _) = fixture("opencode/export.json").unwrap();
    let mut child = main.clone();
    child["info"]["title"] = "Look around".into();
    let all = [("ses_1", 1_000_000_000_000, &main), ("ses_2", 2_000_000_000_000, &child)];
    make::opencode(&store.join("opencode.db"), &all).unwrap();
    let db = rusqlite::Connection::open(store.join("opencode.db")).unwrap();
    let parent = "UPDATE session SET parent_id = 'ses_1' WHERE id = 'ses_2'";
    db.execute(parent, []).unwrap();
    // Sessions in the older storage folder, one of which names a missing parent.
    for (id, parent, title) in [
        ("ses_3", None, "Older"),
        ("ses_4", Some("ses_3"), "Older look"),
        ("ses_5", Some("../../ses_3"), "Odd"),
    ] {
        let storage = store.join("storage");
        let put = |name: String, value: Value| {
            let path = storage.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, value.to_string()).unwrap();
        };
        put(format!("session/p/{id}.json"), json!({"id": id, "parentID": parent, "title": title}));
        put(
            format!("message/{id}/msg_{id}.json"),
            json!({"id": format!("msg_{id}"), "role": "user", "sessionID": id}),
        );
        put(
            format!("part/msg_{id}/prt_{id}.json"),
            json!({"id": format!("prt_{id}"), "type": "text", "text": "Hello"}),
        );
    }
    let parents = |sessions: &[Value]| -> Vec<(Value, Value)> {
        let mut all: Vec<_> =
            sessions.iter().map(|s| (s["title"].clone(), s["parent"].clone())).collect();
        all.sort_by_key(|(title, _)| title.as_str().map(str::to_owned));
        all
    };
    let expected = [
        ("Look around".into(), json!({"id": "ses_1", "title": "Sell things"})),
        ("Odd".into(), json!({"id": "../../ses_3", "title": null})),
        ("Older".into(), Value::Null),
        ("Older look".into(), json!({"id": "ses_3", "title": "Older"})),
        ("Sell things".into(), Value::Null),
    ];
    assert_eq!(parents(&listed(home.path(), &["sessions", "--json"])), expected);
    // The remembered result is equal.
    assert_eq!(parents(&listed(home.path(), &["sessions", "--json"])), expected);
    let output = plimsoll(home.path(), &["sessions"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // A sub-agent is in the line of the session that started it, if that is listed.
    assert!(!text.contains("Look around"), "{text}");
    assert_eq!(text.matches(", 1 sub-agent, ").count(), 2, "{text}");
    assert!(text.contains("Odd  (sub-agent of ../../ses_3)"), "{text}");
}
