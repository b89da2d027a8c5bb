//! Helpers of the tests: sample sessions, a conversation that overflows, output of the program.

use crate::program::plimsoll;
use plimsoll::json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// Returns the path of a sample session.
pub(crate) fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    path.join(name).to_string_lossy().into_owned()
}

/// Returns the paths of all sample sessions.
pub(crate) fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    let entries =
        fs::read_dir(folder).expect("there are samples").map(|e| e.expect("readable").path());
    let mut samples: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "json" || e == "jsonl")).collect();
    samples.sort();
    assert!(!samples.is_empty(), "no sample sessions");
    samples
}

/// Returns the JSON output of a successful command.
pub(crate) fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

/// Returns the standard output as text.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the output is UTF-8")
}

/// Returns the standard error as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the errors are UTF-8")
}

/// Creates a temporary folder.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Returns the names of the files in a folder, sorted.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Files that an export of `c.json` writes.
pub(crate) const EXPORT: [&str; 3] =
    ["c-managed-1.json", "c-managed-1.manifest.json", "c-managed-1.removed.jsonl"];

/// Runs a command that must fail: exit code 2, one line on standard error, no output, nothing written. Returns the error.
pub(crate) fn rejected(folder: &Path, args: &[&str]) -> String {
    let before = names_in(folder);
    let output = plimsoll(folder, args);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
    assert_eq!(stdout(&output), "", "{args:?}");
    assert!(error.starts_with("plimsoll: ") && error.ends_with('\n'), "{args:?}: {error:?}");
    assert_eq!(error.lines().count(), 1, "{args:?}: {error:?}");
    assert!(error.chars().all(|c| c == '\n' || !c.is_control()), "{args:?}: {error:?}");
    assert_eq!(names_in(folder), before, "{args:?} wrote something");
    error
}

/// Writes a conversation whose tool results overflow a context window of 8,000 tokens.
pub(crate) fn write_conversation(folder: &Path, name: &str) {
    let mut messages = vec![
        plimsoll::json::json!({"role": "system", "content": "You are careful."}),
        plimsoll::json::json!({"role": "user", "content": "Read all the files, then say what they have in common."}),
    ];
    for n in 0..12 {
        let id = format!("call_{n}");
        let arguments = format!("{{\"path\":\"src/file_{n}.rs\"}}");
        messages.push(plimsoll::json::json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments}}]}));
        let line = format!("pub fn item_{n}(value: u64) -> u64 {{ value + {n} }}\n");
        messages.push(
            plimsoll::json::json!({"role": "tool", "tool_call_id": id, "content": line.repeat(40)}),
        );
    }
    messages
        .push(plimsoll::json::json!({"role": "assistant", "content": "They all add a number."}));
    let text = serde_json::to_string_pretty(
        &plimsoll::json::json!({"model": "gpt-4o", "messages": messages}),
    );
    fs::write(folder.join(name), text.expect("it is JSON")).expect("it can be written");
}

/// Options under which every strategy has to act on that conversation.
pub(crate) const TIGHT: [&str; 8] = [
    "--window",
    "8k",
    "--output-reserve",
    "1k",
    "--set",
    "truncate.keep_recent=4",
    "--set",
    "summarize.keep_recent=4",
];
