//! `evaluate` with a model: the note before a request, the log, and options that need each other.

use crate::program::plimsoll;
use crate::server::{STREAM_HEAD, Server};
use crate::support::{rejected, stdout};
use plimsoll::json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Writes a session of calls whose results state a metric each.
pub(crate) fn session(folder: &Path) {
    let mut messages = vec![json!({"role": "user", "content": "Measure everything."})];
    for idx in 0..30 {
        let id = format!("call_{idx}");
        let text = format!("metric_{idx} = {}\n{}", 1_000 + 83 * idx, "line of output ".repeat(60));
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "bash", "arguments": "{\"command\":\"measure\"}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }
    messages.push(json!({"role": "assistant", "content": "Done."}));
    let text = json!({ "messages": messages }).to_string();
    std::fs::write(folder.join("talk.json"), text).expect("a file");
}

fn evaluate(folder: &Path, more: &[&str]) -> Output {
    run(folder, &["evaluate", "--policy", "summarize"], more)
}

fn gate(folder: &Path, policy: &str, more: &[&str]) -> Output {
    run(folder, &["gate", "--policy", policy], more)
}

fn run(folder: &Path, first: &[&str], more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(first)
        .arg("talk.json")
        .args(["--set", "output_reserve=0", "--window", "4000"])
        .args(more)
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("HOME", folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the answer A.
pub(crate) fn answer_a() -> String {
    let choice = json!({"index": 0, "delta": {"content": "A"}, "finish_reason": "stop"});
    let chunk =
        json!({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 1}});
    format!("{STREAM_HEAD}data: {chunk}\n\ndata: [DONE]\n\n")
}

/// Writes the pages of a logged run and checks their tables.
fn pages_have_tables(here: &Path, log: &str) {
    let page = ["--tier", "1", "--samples", "1", "--resume", log, "-o"];
    for (name, markup) in [
        ("page.md", ["## Effect retained", "| context | right |", "| full context |"]),
        (
            "page.html",
            ["<h2>Effect retained</h2>", "<th class=\"n\">right</th>", "<td>full context</td>"],
        ),
    ] {
        let output = evaluate(here, &[&page[..], &[name]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let page = std::fs::read_to_string(here.join(name)).expect("a page");
        let known = ["inconclusive (too few compactions)", "questions answered."];
        for known in markup.iter().chain(&known) {
            assert!(page.contains(known), "{known}: {page}");
        }
        assert!(!page.contains("<pre>") && !page.contains("```"), "{page}");
    }
}

#[test]
fn a_run_is_announced_logged_and_repeated_from_its_log_without_a_model() {
    let here = tempfile::tempdir().expect("a temporary folder");
    session(here.path());
    let server = Server::with_answer(answer_a());
    let url = server.url();
    let asked =
        ["--summarizer", "openai", "--model", "m", "--base-url", &*url, "--model-window", "100000"];
    let tier = ["--tier", "1", "--samples", "1", "--json"];
    let output = evaluate(here.path(), &[&tier[..], &asked[..]].concat());
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{error}");
    for known in [" questions and ", "summary request", "price without a cache: none", "logged in "]
    {
        assert!(error.contains(known), "{known}: {error}");
    }
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let probes = &report["probes"];
    assert!(probes["selection"]["probes"].as_u64() > Some(0), "{report}");
    // A model that always answers A scores 1/2 with every context.
    assert_eq!(probes["selection"]["missed_with_full_context"], probes["selection"]["probes"]);
    assert!(probes["lanes"][0]["retained"]["value"].is_null());
    assert_eq!(probes["lanes"][0]["retained"]["conclusion"], "too_few_compactions");
    let n_sent = server.received().len();
    let runs = std::fs::read_dir(here.path().join("data/plimsoll/runs")).expect("a folder of logs");
    let log = runs.flatten().next().expect("a log").path();
    let log = log.to_string_lossy();
    let repeated = evaluate(here.path(), &[&tier[..], &["--resume", &*log]].concat());
    assert_eq!(repeated.stdout, output.stdout, "{}", stderr(&repeated));
    assert_eq!(server.received().len(), n_sent);
    let text = evaluate(here.path(), &["--tier", "1", "--samples", "1", "--resume", &*log]);
    let text = String::from_utf8(text.stdout).expect("UTF-8");
    pages_have_tables(here.path(), &log);
    for known in ["Effect retained", "not judged", "inconclusive (too few compactions)"] {
        assert!(text.contains(known), "{known}: {text}");
    }
    let retained = ["--min-retained", "50%", &*log];
    let (none, one) = (["--junit", "j.xml"], ["--max-overflows", "100"]);
    let judged = gate(here.path(), "summarize", &[&retained[..], &none].concat());
    let said = String::from_utf8(judged.stdout).expect("UTF-8");
    assert_eq!(judged.status.code(), Some(1), "{said}");
    assert!(
        said.contains("effect retained: not judged: inconclusive (too few compactions)"),
        "{said}"
    );
    let xml = std::fs::read_to_string(here.path().join("j.xml")).expect("a file");
    assert!(xml.contains("classname=\"all sessions.summarize\" name=\"effect retained\""));
    let judged = gate(here.path(), "summarize", &[&retained[..], &one].concat());
    assert_eq!(judged.status.code(), Some(0), "{}", stderr(&judged));
    let judged = gate(here.path(), "prune", &retained);
    assert_eq!(judged.status.code(), Some(2));
    assert!(stderr(&judged).contains("no answer for any of these policies"));
    assert_eq!(server.received().len(), n_sent);
}

#[test]
fn a_stopped_run_can_be_continued_only_with_a_log() {
    let here = tempfile::tempdir().expect("a temporary folder");
    session(here.path());
    let refusal = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n";
    let server = Server::with_answers(vec![answer_a().into(), refusal.into()]);
    let url = server.url();
    let asked = format!(
        "--tier 1 --samples 1 --concurrency 1 --summarizer openai --model m --base-url {url} --model-window 100000"
    );
    let asked: Vec<&str> = asked.split(' ').collect();
    let output = evaluate(here.path(), &[&asked[..], &["--no-log"]].concat());
    let error = stderr(&output);
    assert!(error.contains("; it cannot be continued without a log"), "{error}");
}

#[test]
fn own_prices_apply_to_the_announced_price() {
    let here = tempfile::tempdir().expect("a temporary folder");
    session(here.path());
    let row = "[[price]]\nmatch = \"house-model\"\ncaching = \"openai\"\ninput = 1\noutput = 2\ncache_read = 0.5\nsource = \"the bill\"\nread = 2026-11-01\nverified = true\n";
    std::fs::write(here.path().join("own.toml"), row).expect("a file");
    // The budget stops before the first request.
    let command = "--tier 1 --samples 1 --summarizer openai --model house-model --base-url https://models.invalid --model-window 100000 --prices own.toml --budget 0";
    let output = evaluate(here.path(), &command.split(' ').collect::<Vec<_>>());
    let error = stderr(&output);
    for known in [
        "(price of house-model of 2026-11-01",
        "with the provider's cache: ≈ $",
        "the budget is too small for one request",
    ] {
        assert!(error.contains(known), "{known}: {error}");
    }
}

#[test]
fn answers_that_cannot_be_read_are_no_result() {
    let here = tempfile::tempdir().expect("a temporary folder");
    session(here.path());
    let choice =
        json!({"index": 0, "delta": {"content": "I would go on."}, "finish_reason": "stop"});
    let chunk = json!({"choices": [choice]});
    let server = Server::with_answer(format!("{STREAM_HEAD}data: {chunk}\n\ndata: [DONE]\n\n"));
    let url = server.url();
    let model = ["--summarizer", "openai", "--model", "m", "--base-url", &*url];
    for (tier, why) in [("3", "calls or names a tool"), ("2", "is a judgement")] {
        let asked = ["--model-window", "100000", "--samples", "3", "--tier", tier, "--json"];
        let output = evaluate(here.path(), &[&model[..], &asked[..]].concat());
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(why), "{error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn options_of_a_model_need_a_tier_and_a_tier_needs_a_model() {
    let here = tempfile::tempdir().expect("a temporary folder");
    session(here.path());
    let refused = |more: &[&str], why: &str| {
        let output = evaluate(here.path(), more);
        let error = stderr(&output);
        assert!(output.status.code() == Some(2) && error.contains(why), "{more:?}: {error}");
    };
    refused(&["--budget", "1"], "--budget requires --tier 1, 2 or 3, or --plant N");
    refused(&["--model", "m"], "--model requires --tier");
    refused(&["--tier", "1"], "add --summarizer openai|openai-responses|anthropic");
    refused(&["--tier", "1", "--model", "m"], "--model requires --summarizer");
    refused(&["--tier", "4"], "give 0, 1, 2 or 3");
    refused(&["--tier", "1", "--samples", "0"], "whole number from 1 to 100");
    refused(&["--source", "talk.json"], "--source requires --score");
    refused(&["--tier", "1", "--resume", "talk.json"], "is not the log of an evaluation");
    refused(&["--tier", "2", "--plant", "3"], "cannot be used with");
    refused(&["--samples", "3"], "--samples requires --tier");
    refused(&["--rounds", "3"], "--rounds requires --plant N");
    refused(&["--tier", "1", "--rounds", "3"], "--rounds requires --plant N");
    refused(&["--tier", "1", "--all"], "--all requires --tier 0");
    refused(&["--score", "a.md", "--source", "talk.json"], "leave out --policy");
    refused(&["--validity", "v.md"], "leave out --policy");
    let refused_alone = |more: &[&str], why: &str| {
        let error = rejected(here.path(), &[&["evaluate", "talk.json"], more].concat());
        assert!(error.contains(why), "{more:?}: {error}");
    };
    refused_alone(
        &["--score", "short.json"],
        "plimsoll evaluate --score short.json --source talk.json",
    );
    refused_alone(
        &["--validity", "v.md", "--tier", "1"],
        "--validity reads recorded compactions: leave out --tier",
    );
    refused_alone(&["--validity", "v.html"], "must end in .md");
    refused_alone(&["--validity", "v.md", "--json"], "leave out --json");
    refused_alone(&["--validity", "v.md", "--score", "a"], "leave out --score");
    let entries = std::fs::read_dir(here.path()).expect("a folder");
    assert_eq!(entries.count(), 1, "nothing is written");
}

#[test]
fn a_score_is_written_as_a_page() {
    let here = tempfile::tempdir().expect("a temporary folder");
    session(here.path());
    std::fs::write(here.path().join("short.txt"), "metric_1 = 1083").expect("a file");
    let score = ["evaluate", "--score", "short.txt", "--source", "talk.json"];
    for name in ["page.md", "page.html"] {
        let text = stdout(&plimsoll(here.path(), &[&score[..], &["-o", name]].concat()));
        assert!(text.starts_with(&format!("written to {name}")), "{text}");
        let page = std::fs::read_to_string(here.path().join(name)).expect("a page");
        assert!(page.contains("survival in this text"), "{page}");
    }
}
