//! `--pin`, `--clear` and `--drop` on a conversation and on invalid input.

use crate::program::plimsoll;
use crate::support::rejected;
use plimsoll::json::{Value, json};
use std::fs;
use std::path::Path;

fn done(folder: &Path, args: &[&str]) -> String {
    let output = plimsoll(folder, args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

/// Creates a folder with a conversation of 13 messages: instructions, a request, five calls with results, an answer.
fn folder() -> tempfile::TempDir {
    let here = tempfile::tempdir().expect("a temporary folder");
    let mut messages = vec![
        json!({"role": "system", "content": "You are a careful agent."}),
        json!({"role": "user", "content": "Please read the files."}),
    ];
    for idx in 0..5 {
        let id = format!("call_{idx}");
        let function = json!({"name": "read", "arguments": "{}"});
        let call = json!({"id": id, "type": "function", "function": function});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        let text = format!("file {idx}: {}", "line ".repeat(200));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    messages.push(json!({"role": "assistant", "content": "That is done."}));
    let body = json!({"model": "gpt-4o", "messages": messages});
    fs::write(here.path().join("c.json"), body.to_string()).expect("it can be written");
    here
}

fn lane<'a>(replay: &'a Value, name: &str) -> &'a Value {
    let lanes = replay["lanes"].as_array().expect("lanes");
    lanes.iter().find(|l| l["lane"] == name).expect("the lane is there")
}

#[test]
fn compact_applies_manual_edits_without_a_policy_and_restore_undoes_them() {
    let here = folder();
    let args = [
        "compact", "c.json", "--policy", "none", "--drop", "6", "--clear", "4,8", "-o", "out.json",
    ];
    let result = parsed(&done(here.path(), &[&args[..], &["--json"]].concat()));
    assert_eq!(result["changed"], true);
    assert!(result["tokens_after"].as_u64() < result["tokens_before"].as_u64());
    let out = fs::read_to_string(here.path().join("out.json")).expect("it is there");
    assert_eq!(out.matches("[cleared manually]").count(), 2);
    assert!(!out.contains("call_1") && out.contains("call_0") && out.contains("file 3"));
    let removed = fs::read_to_string(here.path().join("out.removed.jsonl")).expect("a sidecar");
    let stages: Vec<Value> = removed.lines().map(|line| parsed(line)["stage"].clone()).collect();
    assert_eq!(stages.iter().filter(|stage| **stage == "manually").count(), 4);
    done(here.path(), &["restore", "out.json", "-o", "back.json"]);
    let read = |name: &str| fs::read(here.path().join(name)).expect("it is there");
    assert_eq!(read("back.json"), read("c.json"));
}

#[test]
fn replay_lists_a_manual_edit_as_an_event_after_the_last_call() {
    let here = folder();
    let args =
        ["replay", "c.json", "--window", "2k", "--output-reserve", "0", "--policy", "truncate"];
    let plain = parsed(&done(here.path(), &[&args[..], &["--json"]].concat()));
    let marked = parsed(&done(here.path(), &[&args[..], &["--json", "--clear", "12"]].concat()));
    assert_eq!(lane(&plain, "none")["samples"], lane(&marked, "none")["samples"]);
    let event = &lane(&marked, "none")["events"][0];
    assert_eq!(
        [&event["stage"], &event["action"], &event["effect"], &event["messages"][0]],
        [&json!("manually"), &json!("clear"), &json!("removed"), &json!(12)]
    );
    let text = done(here.path(), &[&args[..], &["--drop", "2-3"]].concat());
    assert!(text.contains("manually (drop)"), "{text}");
}

#[test]
fn a_pin_keeps_a_message_that_truncate_would_drop() {
    let here = folder();
    let took = |pins: &[&str]| {
        let args = ["replay", "c.json", "--json", "--window", "1200", "--output-reserve", "0"];
        let policy = ["--policy", "truncate", "--set", "keep_recent=2"];
        let result = parsed(&done(here.path(), &[&args[..], &policy, pins].concat()));
        let events = lane(&result, "truncate")["events"].as_array().expect("events").clone();
        let messages =
            events.iter().flat_map(|e| e["messages"].as_array().expect("messages").clone());
        messages.filter_map(|m| m.as_u64()).collect::<Vec<_>>()
    };
    assert!([3, 4, 5].iter().all(|m| took(&[]).contains(m)));
    let took = took(&["--pin", "4"]);
    assert!(took.contains(&5) && !took.contains(&3) && !took.contains(&4), "{took:?}");
}

#[test]
fn context_and_report_apply_manual_edits() {
    let here = folder();
    let args = [
        "context",
        "c.json",
        "--at-call",
        "4",
        "--policy",
        "none",
        "--drop",
        "4,13",
        "-o",
        "context.json",
    ];
    done(here.path(), &args);
    let context = fs::read_to_string(here.path().join("context.json")).expect("it is there");
    assert!(!context.contains("file 0") && context.contains("file 1"), "{context}");
    for redact in [&[][..], &["--redact"]] {
        let args = ["report", "c.json", "--drop", "4", "--clear", "1", "-o", "-"];
        let result = done(here.path(), &[&args[..], redact].concat());
        let result = result.replace("**", "");
        assert!(result.contains("2 messages dropped manually"), "{result}");
        assert!(
            result.contains("message 1 is not cleared manually: instructions stay"),
            "{result}"
        );
    }
}

#[test]
fn messages_beyond_the_session_are_rejected_in_one_line() {
    let here = folder();
    for option in ["--pin", "--clear", "--drop"] {
        let compact = |marks: &str| {
            rejected(here.path(), &["compact", "c.json", "--policy", "truncate", option, marks])
        };
        let error = compact("2,10-14");
        assert!(error.contains(&format!("{option} 14: the last message is 13")), "{error}");
        assert!(compact("0").contains("from 1 such as 3,8-12"));
        assert!(compact("9-3").contains("from 1 such as 3,8-12"));
        let none = rejected(here.path(), &["compact", "c.json", option]);
        assert!(none.contains("a value is required") && none.contains(option), "{none}");
    }
    let both = rejected(here.path(), &["replay", "c.json", "--pin", "3", "--drop", "1-4"]);
    assert!(both.contains("message 3 is in --pin and in --drop"), "{both}");
    assert!(rejected(here.path(), &["--pin", "3"]).contains("need a session file"));
    assert!(!here.path().join("c-managed-1.json").exists());
}

#[cfg(feature = "window")]
#[test]
fn the_window_applies_the_options_or_reports_why_not() {
    let here = folder();
    let size = ["--size", "900x560", "--screenshot"];
    let paint = |picture: &'static str, marks: &[&'static str]| {
        [&["c.json"], &size[..], &[picture], marks].concat()
    };
    done(here.path(), &paint("plain.png", &[]));
    done(here.path(), &paint("marked.png", &["--drop", "4-7", "--pin", "9"]));
    let read = |name: &str| std::fs::read(here.path().join(name)).expect("it was painted");
    assert_ne!(read("plain.png"), read("marked.png"), "the picture shows it");
    let error = rejected(here.path(), &paint("none.png", &["--drop", "3-99"]));
    assert!(error.contains("--drop 99: the last message is 13"), "{error}");
    let both = rejected(here.path(), &paint("none.png", &["--drop", "3", "--pin", "3"]));
    assert!(both.contains("message 3 is in --pin and in --drop"), "{both}");
    assert!(!here.path().join("none.png").exists());
}

#[test]
fn an_impossible_edit_writes_nothing_and_gives_the_reason() {
    let here = folder();
    let result = done(
        here.path(),
        &["compact", "c.json", "--policy", "none", "--drop", "1", "--clear", "3"],
    );
    assert!(result.contains("message 1 is not dropped manually: instructions stay"), "{result}");
    assert!(
        result.contains("message 3 is not cleared manually: nothing there can be cleared"),
        "{result}"
    );
    assert!(result.contains("nothing was written"), "{result}");
}
