//! `compact` with a model as people meet it: what is told before anything is sent, and how long and how often it is
//! asked.

#[path = "providers/server.rs"]
#[expect(dead_code, reason = "faults of servers have tests of their own")]
mod server;

use serde_json::json;
use server::{STREAM_HEAD, Server, answer};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Compacts a sample session once, with its summary by a model of this server.
fn compact(folder: &Path, server: &Server, more: &[&str]) -> Output {
    compact_by(folder, server, "summarize", more)
}

/// The same by any policy.
fn compact_by(folder: &Path, server: &Server, policy: &str, more: &[&str]) -> Output {
    let sample: PathBuf = [
        env!("CARGO_MANIFEST_DIR"),
        "sample_sessions",
        "slow-growth.jsonl",
    ]
    .iter()
    .collect();
    Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .arg("compact")
        .arg(sample)
        .args(["--policy", policy, "--force", "--no-state"])
        .args(["--summarizer", "openai", "--model", "gpt-4o"])
        .args(["--base-url", &server.url(), "--model-window", "200000"])
        .args(["-o", "out.jsonl"])
        .args(more)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// A model with `words` words to say that stops at `max_tokens`, a word being a token, and reports what it said.
fn obedient(words: usize) -> Server {
    Server::new(move |seen, client| {
        let sent = seen.json();
        let most = ["max_tokens", "max_completion_tokens"]
            .iter()
            .find_map(|key| sent[*key].as_u64());
        let said = most.map_or(words, |most| words.min(most as usize));
        let choice = json!({"index": 0, "delta": {"content": " fact".repeat(said)}, "finish_reason": if said < words { "length" } else { "stop" }});
        let usage = json!({"prompt_tokens": 20_000, "completion_tokens": said, "total_tokens": 20_000 + said});
        let chunk = json!({"choices": [choice], "usage": usage});
        client.say(format!("{STREAM_HEAD}data: {chunk}\n\ndata: [DONE]\n\n").as_bytes());
    })
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_it_sends_and_what_that_costs_is_told_first() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let words = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half is done.\"},\"finish_reason\":\"stop\"}]}";
    let server = Server::saying(format!("{STREAM_HEAD}data: {words}\n\ndata: [DONE]\n\n"));
    let output = compact(here.path(), &server, &[]);
    let told = complaint(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    // A model of a known price costs nothing where this machine serves it.
    let price = "; price: none, the server is this machine; no log is kept";
    assert!(
        told.contains(" in 1 request to 127.0.0.1:") && told.contains(price),
        "{told}"
    );
    assert!(told.contains(" and gets back at most "), "{told}");
    let written = std::fs::read_to_string(here.path().join("out.jsonl")).expect("it is there");
    assert!(written.contains("Half is done."));
}

#[test]
fn a_busy_server_is_asked_as_often_as_the_person_wants() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let busy = answer(
        "503 Service Unavailable",
        "",
        "{\"error\":{\"message\":\"busy\"}}",
    );
    let server = Server::saying(busy);
    let output = compact(here.path(), &server, &["--tries", "1"]);
    assert_eq!(output.status.code(), Some(2), "{}", complaint(&output));
    assert_eq!(server.seen().len(), 1);
    for wrong in ["0", "many", "-1", "1000"] {
        let output = compact(here.path(), &server, &["--tries", wrong]);
        let told = complaint(&output);
        assert!(told.contains("whole number from 1 to 100"), "{told}");
    }
    assert_eq!(server.seen().len(), 1, "nobody is asked by mistake");
}

#[test]
fn an_answer_that_does_not_begin_is_waited_for_as_long_as_the_person_wants() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let server = Server::new(|_, client| client.stall());
    let output = compact(here.path(), &server, &["--wait", "0.3", "--tries", "1"]);
    let told = complaint(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("within 300ms") && told.contains("raise the limit"),
        "{told}"
    );
    assert_eq!(std::fs::read_dir(here.path()).expect("a folder").count(), 0);
}

#[test]
fn a_systems_own_limit_is_asked_for_and_an_answer_within_it_is_used() {
    for (policy, limit) in [
        ("baseagent", 4_096),
        ("holmesgpt", 4_000),
        ("summarize", 2_000),
    ] {
        let here = tempfile::tempdir().expect("a temporary folder");
        let server = obedient(1_500);
        let set = format!("summary_max_tokens={limit}");
        let more = ["--set", &set, "--json", "--format", "openai_chat"];
        let output = compact_by(here.path(), &server, policy, &more);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{policy}: {}",
            complaint(&output)
        );
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let requests = told["requests"].as_array().expect("it asked");
        assert!(
            !requests.is_empty() && requests.iter().all(|r| r["failed"].is_null()),
            "{policy}: {told}"
        );
        let asked = server.seen()[0].json();
        let most = ["max_tokens", "max_completion_tokens"]
            .iter()
            .find_map(|key| asked[*key].as_u64())
            .expect("a limit is sent");
        // Ours leaves room for what stands before the summary.
        assert!(most <= limit && most * 10 >= limit * 8, "{policy}: {most}");
        let written = std::fs::read_to_string(here.path().join("out.jsonl")).expect("it is there");
        assert!(written.contains(&" fact".repeat(1_000)), "{policy}");
    }
}

#[test]
fn an_answer_of_the_longest_length_allowed_is_used() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let server = obedient(100_000);
    let output = compact(here.path(), &server, &["--set", "summary_max_tokens=1000"]);
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    assert_eq!(server.seen().len(), 1);
    let written = std::fs::read_to_string(here.path().join("out.jsonl")).expect("it is there");
    assert!(written.contains(&" fact".repeat(800)));
}

#[test]
fn an_answer_far_over_its_limit_is_refused() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let choice =
        json!({"index": 0, "delta": {"content": " fact".repeat(5_000)}, "finish_reason": "stop"});
    let chunk = json!({"choices": [choice]});
    let server = Server::saying(format!("{STREAM_HEAD}data: {chunk}\n\ndata: [DONE]\n\n"));
    let output = compact(here.path(), &server, &["--set", "summary_max_tokens=1000"]);
    assert!(!here.path().join("out.jsonl").exists());
    assert!(
        complaint(&output).contains("allowed"),
        "{}",
        complaint(&output)
    );
}
