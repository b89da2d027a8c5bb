//! `compact` with a model: the note before a request, time limits, attempts, and answers that are not used.

use crate::fault_answers::{
    BLANK, ONLY_A_TOOL_CALL, REFUSED, SPLIT_CHARACTER, stream, whole_answer,
};
use crate::program::plimsoll;
use crate::server::{STREAM_HEAD, Server, answer};
use crate::support::sample;
use plimsoll::json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Compacts a sample session with a summary by a model of this server.
fn compact(folder: &Path, server: &Server, more: &[&str]) -> Output {
    compact_by(folder, server, "summarize", more)
}

/// Compacts with any policy.
fn compact_by(folder: &Path, server: &Server, policy: &str, more: &[&str]) -> Output {
    let more = [&["--no-state"], more].concat();
    compact_through("openai", folder, server, policy, &more)
}

/// Compacts with a model behind one of the APIs; logs go into the folder.
fn compact_through(
    api: &str,
    folder: &Path,
    server: &Server,
    policy: &str,
    more: &[&str],
) -> Output {
    let sample: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "sample_sessions", "slow-growth.jsonl"].iter().collect();
    Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .arg("compact")
        .arg(sample)
        .args(["--policy", policy, "--force"])
        .args(["--summarizer", api, "--model", "gpt-4o"])
        .args(["--base-url", &server.url(), "--model-window", "200000"])
        .args(["-o", "out.jsonl"])
        .args(more)
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("HOME", folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// Returns the log of the only run.
fn log(folder: &Path) -> String {
    let runs = std::fs::read_dir(folder.join("data/plimsoll/runs")).expect("a folder of logs");
    let paths: Vec<PathBuf> = runs.flatten().map(|entry| entry.path()).collect();
    let [path] = &paths[..] else {
        panic!("one log: {paths:?}");
    };
    std::fs::read_to_string(path).expect("it is there")
}

/// Returns the JSON output.
fn result(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("a result")
}

/// Starts a model that answers with `words` words, stops at `max_tokens` (one token per word) and reports its usage.
fn obedient(words: usize) -> Server {
    Server::new(move |seen, client| {
        let sent = seen.json();
        let most =
            ["max_tokens", "max_completion_tokens"].iter().find_map(|key| sent[*key].as_u64());
        let printed = most.map_or(words, |most| words.min(most as usize));
        let choice = json!({"index": 0, "delta": {"content": " fact".repeat(printed)}, "finish_reason": if printed < words { "length" } else { "stop" }});
        let usage = json!({"prompt_tokens": 20_000, "completion_tokens": printed, "total_tokens": 20_000 + printed});
        let chunk = json!({"choices": [choice], "usage": usage});
        client.send(format!("{STREAM_HEAD}data: {chunk}\n\ndata: [DONE]\n\n").as_bytes());
    })
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn data_and_price_are_printed_before_a_request() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let words = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half is done.\"},\"finish_reason\":\"stop\"}]}";
    let server = Server::with_answer(format!("{STREAM_HEAD}data: {words}\n\ndata: [DONE]\n\n"));
    let output = compact(here.path(), &server, &[]);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{error}");
    // A model of a known price costs nothing where this machine serves it.
    let price = "; price: none, the server is this machine; not logged";
    assert!(error.contains(" in 1 request to 127.0.0.1:") && error.contains(price), "{error}");
    assert!(error.contains(" and gets back at most "), "{error}");
    let written = std::fs::read_to_string(here.path().join("out.jsonl")).expect("it is there");
    assert!(written.contains("Half is done."));
}

#[test]
fn an_answer_of_invisible_characters_is_no_summary() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let invisible = "\u{200b}\u{feff} \u{2060}\u{e0020}";
    let choice = json!({"index": 0, "delta": {"content": invisible}, "finish_reason": "stop"});
    let chunk = json!({"choices": [choice]});
    let server = Server::with_answer(format!("{STREAM_HEAD}data: {chunk}\n\ndata: [DONE]\n\n"));
    let output = compact(here.path(), &server, &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
    assert!(text.contains("empty"), "{text}");
    assert!(!here.path().join("out.jsonl").exists(), "{text}");
    let given = format!("text:{invisible}");
    let file = sample("slow-growth.jsonl");
    let args = ["compact", &file, "--policy", "summarize", "--force", "--summarizer", &given];
    let output = plimsoll(here.path(), &args);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("the summary is empty"), "{}", stderr(&output));
}

#[test]
fn a_busy_server_is_tried_as_often_as_the_option_allows() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let busy = answer("503 Service Unavailable", "", "{\"error\":{\"message\":\"busy\"}}");
    let server = Server::with_answer(busy);
    let output = compact(here.path(), &server, &["--tries", "1"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(server.received().len(), 1);
    for wrong in ["0", "many", "-1", "1000"] {
        let output = compact(here.path(), &server, &["--tries", wrong]);
        let error = stderr(&output);
        assert!(error.contains("whole number from 1 to 100"), "{error}");
    }
    assert_eq!(server.received().len(), 1, "nobody is asked by mistake");
}

#[test]
fn a_silent_server_is_waited_for_as_long_as_the_option_allows() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let server = Server::new(|_, client| client.stall());
    let output = compact(here.path(), &server, &["--wait", "0.3", "--tries", "1"]);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("within 300ms") && error.contains("raise the limit"), "{error}");
    assert_eq!(std::fs::read_dir(here.path()).expect("a folder").count(), 0);
}

/// Checks that nothing was written, the exit code is 1, and the only request is listed with the reason.
#[track_caller]
fn assert_rejected(output: &Output, folder: &Path, why: &str) {
    assert_eq!(output.status.code(), Some(1), "{}", stderr(output));
    let result = result(output);
    let [request] = &result["requests"].as_array().expect("a list")[..] else {
        panic!("one request: {result}");
    };
    let failed = request["error"].as_str().unwrap_or_default();
    assert!(failed.contains(why), "{failed:?} lacks {why:?}");
    let notes = result["notes"].to_string();
    assert!(notes.contains("summary request 1 of 1") && notes.contains(why), "{notes}");
    assert!(result["changed"] == false && !folder.join("out.jsonl").exists());
}

#[test]
fn a_filtered_or_refused_answer_is_not_used() {
    for (api, events) in REFUSED {
        let here = tempfile::tempdir().expect("a temporary folder");
        let server = Server::with_answer(stream(events));
        let output = compact_through(api, here.path(), &server, "summarize", &["--json"]);
        assert_rejected(&output, here.path(), "the model refused to answer");
        let log = log(here.path());
        assert!(log.contains("\"ended\":\"refused\""), "{log}");
    }
}

#[test]
fn an_empty_summary_is_reported_as_a_failure() {
    let blank = BLANK.map(|text| (whole_answer(text), "the summary is empty"));
    let call = (ONLY_A_TOOL_CALL.to_owned(), "called a tool instead of writing a summary");
    for (event, why) in blank.into_iter().chain([call]) {
        let here = tempfile::tempdir().expect("a temporary folder");
        let server = Server::with_answer(stream(&[&event]));
        let output = compact(here.path(), &server, &["--json"]);
        assert_rejected(&output, here.path(), why);
        let output = compact(here.path(), &server, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains(why));
    }
}

#[test]
fn a_repetitive_answer_is_reported_and_a_split_character_is_joined() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let [first, second] = SPLIT_CHARACTER;
    let repeated = whole_answer(&"- The tests were run.\\n".repeat(30));
    let server = Server::with_answer(stream(&[first, second, &repeated]));
    let output = compact(here.path(), &server, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let notes = result(&output)["notes"].to_string();
    assert!(notes.contains("repeats one line 30 times"), "{notes}");
    let written = std::fs::read_to_string(here.path().join("out.jsonl")).expect("it is there");
    assert!(written.contains("Done 🦀"));
}

#[test]
fn the_systems_own_limit_is_requested_and_an_answer_within_it_is_used() {
    for (policy, limit) in [("baseagent", 4_096), ("holmesgpt", 4_000), ("summarize", 2_000)] {
        let here = tempfile::tempdir().expect("a temporary folder");
        let server = obedient(1_500);
        let set = format!("summary_max_tokens={limit}");
        let more = ["--set", &set, "--json", "--format", "openai_chat"];
        let output = compact_by(here.path(), &server, policy, &more);
        assert_eq!(output.status.code(), Some(0), "{policy}: {}", stderr(&output));
        let error: plimsoll::json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let requests = error["requests"].as_array().expect("it asked");
        assert!(
            !requests.is_empty() && requests.iter().all(|r| r["error"].is_null()),
            "{policy}: {error}"
        );
        let asked = server.received()[0].json();
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
fn an_answer_of_the_maximum_length_is_used() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let server = obedient(100_000);
    let output = compact(here.path(), &server, &["--set", "summary_max_tokens=1000"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(server.received().len(), 1);
    let written = std::fs::read_to_string(here.path().join("out.jsonl")).expect("it is there");
    assert!(written.contains(&" fact".repeat(800)));
}

#[test]
fn an_answer_far_over_its_limit_is_rejected() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let choice =
        json!({"index": 0, "delta": {"content": " fact".repeat(5_000)}, "finish_reason": "stop"});
    let chunk = json!({"choices": [choice]});
    let server = Server::with_answer(format!("{STREAM_HEAD}data: {chunk}\n\ndata: [DONE]\n\n"));
    let more = ["--set", "summary_max_tokens=1000", "--json"];
    let output = compact(here.path(), &server, &more);
    assert_rejected(&output, here.path(), "allowed");
}
