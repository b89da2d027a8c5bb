//! Standard output: closed, full, or a terminal that text could control.

use crate::program::{command, plimsoll};
use crate::support::{folder, stderr, stdout, write_conversation};
use std::fs;
use std::process::Stdio;

#[test]
fn a_closed_output_is_not_an_error() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let mut child = command(here.path(), &["replay", "c.json", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_reported() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = command(here.path(), &["inspect", "c.json"])
        .stdout(full)
        .output()
        .expect("the program starts");
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.starts_with("plimsoll: standard output"), "{error}");
}

#[test]
fn session_text_cannot_control_the_terminal() {
    let here = folder();
    let call = plimsoll::json::json!({"id": "c", "type": "function", "function": {"name": "evil\u{1b}[2J\u{202e}", "arguments": "{}"}});
    let conversation = plimsoll::json::json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "ok ".repeat(50)},
        {"role": "assistant", "content": "done"},
    ]);
    fs::write(here.path().join("c.json"), conversation.to_string()).expect("it can be written");
    for args in
        [&["inspect", "c.json"][..], &["inspect", "c.json", "--json"], &["replay", "c.json"]]
    {
        let output = stdout(&plimsoll(here.path(), args));
        assert!(!output.chars().any(|c| c == '\u{1b}' || c == '\u{202e}'), "{args:?}: {output:?}");
    }
}

#[test]
fn lane_names_cannot_control_the_terminal() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let evil = "truncate@\u{1b}[31m\nx";
    for form in ["--csv", "--json", "--no-state"] {
        let args = [
            "replay",
            "c.json",
            "--window",
            "8k",
            "--output-reserve",
            "1k",
            "--policy",
            evil,
            "--set",
            "keep_recent=4",
            form,
        ];
        let output = plimsoll(here.path(), &args);
        let text = stdout(&output);
        assert!(output.status.success() && !text.contains('\u{1b}'), "{form}: {text:?}");
        if form == "--csv" {
            let is_a_row = |line: &str| line.ends_with("true") || line.ends_with("false");
            assert!(text.lines().skip(1).all(is_a_row), "{text:?}");
        }
    }
}

/// Manual pages, reports and presets are made for others. Conversations are private, as in the stores of agents.
#[cfg(unix)]
#[test]
fn written_files_follow_the_mask_and_conversations_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let here = folder();
    write_conversation(here.path(), "c.json");
    let write = |args: &[&str]| {
        let output = plimsoll(here.path(), args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    };
    write(&["man", "."]);
    write(&["report", "c.json", "-o", "report.html"]);
    write(&["presets", "export", "langchain", "-o", "langchain.py"]);
    let small = ["--window", "8k", "--output-reserve", "1k", "--set", "keep_recent=4"];
    let compact = ["compact", "c.json", "--policy", "truncate", "-o", "managed.json"];
    write(&[&compact[..], &small].concat());
    write(&["restore", "managed.json", "-o", "restored.json"]);
    let mode = |name: &str| {
        let metadata = here.path().join(name).metadata();
        metadata.expect("it is written").permissions().mode() & 0o777
    };
    let usual = mode("c.json");
    for name in ["plimsoll.1", "plimsoll-replay.1", "report.html", "langchain.py"] {
        assert_eq!(mode(name), usual, "{name}");
    }
    for name in ["managed.json", "managed.manifest.json", "restored.json"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
}
