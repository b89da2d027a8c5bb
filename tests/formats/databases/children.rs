//! Sub-agents in separate files or rows: conversations of the session that started them.

use super::{fixture, make, opened};
use crate::program::plimsoll;
use plimsoll::exec::{FileSessions, Loaded};
use plimsoll::json::{Value, json};
use plimsoll::progress::Progress;
use plimsoll::report::track;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the titles of the conversations of an opened file and their relations.
fn conversations(loaded: &Loaded) -> Vec<(String, String)> {
    let all = loaded.conversations.iter();
    all.map(|c| (c.title.clone(), track(c))).collect()
}

fn row(title: &str, what: &str) -> (String, String) {
    (title.to_owned(), what.to_owned())
}

fn write(root: &Path, name: &str, text: &str) -> Option<PathBuf> {
    let path = root.join(name);
    fs::create_dir_all(path.parent()?).ok()?;
    fs::write(&path, text).ok()?;
    Some(path)
}

fn inspect(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path);
    let output = plimsoll(folder, &["inspect", &path.to_string_lossy()]);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const PARENT: &str = "019c0000-0000-7000-8000-000000000001";
const CHILD: &str = "019c0000-0000-7000-8000-000000000002";
const REVIEW: &str = "019c0000-0000-7000-8000-000000000003";

/// Returns a rollout with this head and items that are a minute apart.
fn rollout(head: &Value, items: &[Value]) -> String {
    let line = |n: usize, kind: &str, payload: &Value| {
        let time = format!("2026-03-01T23:{n:02}:00.000Z");
        json!({"timestamp": time, "type": kind, "payload": payload}).to_string() + "\n"
    };
    let items = items.iter().enumerate();
    let items: Vec<String> = items.map(|(n, item)| line(n + 1, "response_item", item)).collect();
    line(0, "session_meta", head) + &items.concat()
}

fn says(role: &str, text: &str) -> Value {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

/// Writes a folder of Codex sessions: one that starts a sub-agent and a review, one of the next day, and others.
fn codex(root: &Path) -> Option<PathBuf> {
    let arguments =
        json!({"agent_type": "explorer", "message": "Find the slow query.\nAll of it."});
    let spawn = json!({"type": "function_call", "name": "spawn_agent", "call_id": "c1", "arguments": arguments.to_string()});
    let started = json!({"agent_id": CHILD, "nickname": "Euler"});
    let output =
        json!({"type": "function_call_output", "call_id": "c1", "output": started.to_string()});
    let items = [says("user", "Make it fast"), spawn, output, says("assistant", "Looking.")];
    let parent = rollout(&json!({"id": PARENT, "source": "cli"}), &items);
    let answer = [says("user", "Find the slow query."), says("assistant", "It is the third.")];
    let of = |id: &str, parent: &str, source: Value| {
        rollout(
            &json!({"id": id, "parent_thread_id": parent, "source": source, "agent_nickname": "Euler"}),
            &answer,
        )
    };
    let spawned = json!({"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "agent_role": "explorer"}}});
    let file = |day: &str, time: &str, id: &str, text: &str| {
        write(
            root,
            &format!("sessions/2026/03/{day}/rollout-2026-03-{day}T{time}-{id}.jsonl"),
            text,
        )
    };
    file("02", "00-10-00", CHILD, &of(CHILD, PARENT, spawned))?;
    file("01", "23-30-00", REVIEW, &of(REVIEW, PARENT, json!({"subagent": "review"})))?;
    // A sub-agent of another session, a late one, a session that is not a sub-agent, and an older file with a wrong parent.
    file("01", "23-40-00", "other", &of("other", "somebody", json!({"subagent": "review"})))?;
    file("09", "00-10-00", "late", &of("late", PARENT, json!({"subagent": "review"})))?;
    file("01", "23-50-00", "plain", &of("plain", PARENT, json!("cli")))?;
    file("01", "00-00-00", "older", &of("older", PARENT, json!({"subagent": "review"})))?;
    write(root, "auth.json", "{}")?;
    file("01", "23-00-00", PARENT, &parent)
}

#[test]
fn finds_sub_agents_of_codex_by_their_thread() {
    let folder = tempfile::tempdir().unwrap();
    let main = codex(folder.path()).unwrap();
    let loaded = opened(&main, 0).unwrap();
    let expected = [
        row("Make it fast", "main conversation"),
        row("Euler", "sub-agent review"),
        row("Find the slow query.", "sub-agent explorer, started by call 1"),
    ];
    assert_eq!(conversations(&loaded), expected);
    let child = opened(&main, 2).unwrap();
    assert_eq!(conversations(&child), conversations(&loaded));
    assert_eq!(child.case.session.title, "Find the slow query.");
    assert!(child.path.is_some_and(|path| path.to_string_lossy().contains(CHILD)));
    assert!(
        opened(&main, 3).unwrap_err().contains("contains 3 conversations; choose one from 1 to 3")
    );
    // Opened alone, it names its parent, and the parent is not opened with it.
    let alone = main.with_file_name(format!("rollout-2026-03-01T23-30-00-{REVIEW}.jsonl"));
    assert_eq!(opened(&alone, 0).unwrap().report.parent.as_deref(), Some(PARENT));
    let message = inspect(&alone);
    assert!(
        message.contains(&format!("sub-agent    started by the session {PARENT}")),
        "{message}"
    );
    let several = FileSessions::open(&main, &Progress::default()).unwrap();
    assert_eq!(several.numbers(), [0]);
}

#[cfg(unix)]
#[test]
fn does_not_follow_links_out_of_the_folder_of_codex() {
    let (folder, away) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let main = codex(folder.path()).unwrap();
    let day = folder.path().join("sessions/2026/03/02");
    fs::rename(&day, away.path().join("02")).unwrap();
    std::os::unix::fs::symlink(away.path().join("02"), &day).unwrap();
    assert_eq!(opened(&main, 0).unwrap().conversations.len(), 2);
}

/// Returns a short session as Gemini CLI writes it.
fn gemini(id: &str, prompt: &str, calls: &Value) -> String {
    let answer = json!({"id": "a1", "timestamp": "2026-04-01T09:00:05.000Z", "type": "gemini", "content": "Done.",
        "tokens": {"input": 90, "output": 2, "cached": 0, "thoughts": 0, "tool": 0, "total": 92},
        "model": "gemini-3-pro", "thoughts": [], "toolCalls": calls});
    let lines = [
        json!({"sessionId": id, "projectHash": "abab", "startTime": "2026-04-01T09:00:00.000Z", "lastUpdated": "2026-04-01T09:00:30.000Z"}),
        json!({"id": "u1", "timestamp": "2026-04-01T09:00:01.000Z", "type": "user", "content": prompt}),
        answer,
    ];
    lines.map(|line| line.to_string() + "\n").concat()
}

#[test]
fn finds_sub_agents_of_gemini_cli_in_the_folder_of_the_parent() {
    let folder = tempfile::tempdir().unwrap();
    let response = json!([{"functionResponse": {"id": "run-1", "name": "invoke_agent", "response": {"output": "All is well."}}}]);
    let calls = json!([{"id": "run-1", "name": "invoke_agent", "args": {"agent_name": "codebase", "prompt": "Look at the tests"},
        "agentId": "kid", "result": response, "status": "success", "timestamp": "2026-04-01T09:00:05.000Z"}]);
    let put =
        |name: &str, text: &str| write(folder.path(), &format!("chats/{name}"), text).unwrap();
    let main = put("session-2026-04-01T09-00-1111.jsonl", &gemini("1111-2222", "Check it", &calls));
    let kid = put("1111-2222/kid.jsonl", &gemini("kid", "Look at the tests", &json!([])));
    put("1111-2222/notes.txt", "none");
    put("3333/other.jsonl", &gemini("other", "Not ours", &json!([])));
    let expected = [
        row("Check it", "main conversation"),
        row("Look at the tests", "sub-agent codebase, started by call 1"),
    ];
    let loaded = opened(&main, 0).unwrap();
    assert_eq!(conversations(&loaded), expected);
    assert_eq!(loaded.conversations[1].size.map(|size| size.calls), Some(1));
    assert_eq!(opened(&main, 1).unwrap().path, Some(kid.clone()));
    assert_eq!(opened(&kid, 0).unwrap().report.parent.as_deref(), Some("1111-2222"));
    // An id that is a path to another folder is ignored.
    let text = gemini("../3333", "Check it", &json!([]));
    let main = put("session-2026-04-01T09-00-4444.jsonl", &text);
    assert_eq!(opened(&main, 0).unwrap().conversations.len(), 1);
}

/// Returns the exports of an `OpenCode` session that started a sub-agent, and of the sub-agent.
fn opencode() -> Option<[Value; 2]> {
    let (mut main, _) = fixture("opencode/export.json")?;
    let info = |id: &str, role: &str| json!({"id": id, "sessionID": "ses_1", "role": role, "time": {"created": 1_770_000_900_000_i64}});
    let task = json!({"id": "prt_t", "type": "tool", "callID": "task-1", "tool": "task", "state": {"status": "completed",
        "input": {"subagent_type": "general", "description": "Look around", "prompt": "Look around well"},
        "output": "Nothing.", "metadata": {"sessionId": "ses_2"}}});
    let messages = main["messages"].as_array_mut()?;
    messages.push(json!({"info": info("msg_98", "user"), "parts": [{"id": "prt_q", "type": "text", "text": "Look"}]}));
    messages.push(json!({"info": info("msg_99", "assistant"), "parts": [task]}));
    let mut child = main.clone();
    child["info"]["id"] = "ses_2".into();
    child["info"]["parentID"] = "ses_1".into();
    child["info"]["title"] = "Look around (@general subagent)".into();
    child["messages"] = json!([{"info": {"id": "msg_20", "role": "user", "sessionID": "ses_2"}, "parts": [{"type": "text", "text": "Look around well"}]},
        {"info": {"id": "msg_21", "role": "assistant", "sessionID": "ses_2"}, "parts": [{"type": "text", "text": "Nothing."}]}]);
    Some([main, child])
}

#[test]
fn lists_sub_agents_in_a_database_of_opencode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let [main, child] = opencode().unwrap();
    let mut other = main.clone();
    other["info"]["title"] = "Another".into();
    let all = [("ses_1", 1_000, &main), ("ses_2", 2_000, &child), ("ses_3", 3_000, &other)];
    make::opencode(&path, &all).unwrap();
    let db = Connection::open(&path).unwrap();
    db.execute("UPDATE session SET parent_id = 'ses_1' WHERE id = 'ses_2'", []).unwrap();
    let last = opened(&path, 0).unwrap().case.session.calls.len();
    let agent = format!("sub-agent general, started by call {last}");
    let title = "Look around (@general subagent)";
    let expected = |what: &str| {
        [
            row("Sell things", "main conversation"),
            row(title, what),
            row("Another", "main conversation"),
        ]
    };
    assert_eq!(conversations(&opened(&path, 0).unwrap()), expected(&agent));
    let child = opened(&path, 1).unwrap();
    assert_eq!(conversations(&child), expected("sub-agent of conversation 1"));
    assert_eq!(child.report.parent.as_deref(), Some("ses_1"));
    // The sub-agent does not count as a session.
    let several = FileSessions::open(&path, &Progress::default()).unwrap();
    assert_eq!(several.numbers(), [0, 2]);
    // Sessions whose parents form a cycle belong to no other session.
    db.execute("UPDATE session SET parent_id = 'ses_2' WHERE id = 'ses_1'", []).unwrap();
    db.execute("UPDATE session SET parent_id = 'ses_3' WHERE id = 'ses_3'", []).unwrap();
    assert_eq!(opened(&path, 0).unwrap().conversations.len(), 3);
    assert_eq!(FileSessions::open(&path, &Progress::default()).unwrap().numbers(), [0, 1, 2]);
}

#[test]
fn lists_sub_agents_in_a_folder_of_opencode() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, value: &Value| write(folder.path(), name, &value.to_string()).unwrap();
    let mut paths = Vec::new();
    for session in opencode().unwrap() {
        let id = session["info"]["id"].as_str().unwrap().to_owned();
        paths.push(put(&format!("storage/session/p/{id}.json"), &session["info"]));
        for message in session["messages"].as_array().unwrap() {
            let message_id = message["info"]["id"].as_str().unwrap();
            put(&format!("storage/message/{id}/{message_id}.json"), &message["info"]);
            for (n, part) in message["parts"].as_array().unwrap().iter().enumerate() {
                put(&format!("storage/part/{message_id}/prt_{n:03}.json"), part);
            }
        }
    }
    put(
        "storage/session/p/ses_9.json",
        &json!({"id": "ses_9", "parentID": "ses_8", "title": "Not ours"}),
    );
    let loaded = opened(&paths[0], 0).unwrap();
    let last = loaded.case.session.calls.len();
    let agent = format!("sub-agent general, started by call {last}");
    let title = "Look around (@general subagent)";
    assert_eq!(
        conversations(&loaded),
        [row("Sell things", "main conversation"), row(title, &agent)]
    );
    let child = opened(&paths[0], 1).unwrap();
    assert_eq!((child.path.as_ref(), child.case.session.calls.len()), (Some(&paths[1]), 1));
    let alone = opened(&paths[1], 0).unwrap();
    assert_eq!(alone.report.parent.as_deref(), Some("ses_1"));
}
