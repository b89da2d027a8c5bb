//! Sizes that the provider reported, in an answer or in an error, are used by every figure; placeholders by none.

use crate::program::plimsoll;
use crate::support::{folder, json, stdout};
use plimsoll::json::{Value, json as value};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A Claude Code session under construction.
struct Session {
    text: String,
    n_records: usize,
}

impl Session {
    fn new() -> Self {
        let mut session = Self { text: String::new(), n_records: 0 };
        session.user(&value!("Read all reports."));
        session
    }

    fn record(&mut self, kind: &str, message: &Value, more: &Value) {
        let parent = self.n_records.checked_sub(1).map(|n| format!("record-{n}"));
        let mut record = value!({
            "type": kind, "message": message, "uuid": format!("record-{}", self.n_records),
            "parentUuid": parent, "isSidechain": false, "sessionId": "one", "cwd": "/work", "version": "2.1.150",
            "timestamp": format!("2026-06-01T09:{:02}:00.000Z", self.n_records)
        });
        let members = more.as_object().expect("members").clone();
        record.as_object_mut().expect("a record").extend(members);
        let _ = writeln!(self.text, "{record}");
        self.n_records += 1;
    }

    fn user(&mut self, content: &Value) {
        self.record("user", &value!({"role": "user", "content": content}), &value!({}));
    }

    /// Adds a call of this reported input that reads a file, and its result of this many words.
    fn call(&mut self, input: u64, words: usize) {
        let n = self.n_records;
        let message = value!({
            "id": format!("msg_{n}"), "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": format!("toolu_{n}"), "name": "Bash", "input": {"command": format!("cat {n}")}}],
            "usage": {"input_tokens": input, "output_tokens": 20}
        });
        self.record("assistant", &message, &value!({}));
        let content: Vec<String> = (0..words).map(|word| format!("ledger{}", word % 97)).collect();
        let result = value!([{"type": "tool_result", "tool_use_id": format!("toolu_{n}"), "content": content.join(" ")}]);
        self.user(&result);
    }

    fn fail(&mut self, error: &str) {
        let message = value!({
            "id": "error", "role": "assistant", "model": "<synthetic>", "stop_reason": "stop_sequence",
            "content": [{"type": "text", "text": error}], "usage": {"input_tokens": 0, "output_tokens": 0}
        });
        self.record("assistant", &message, &value!({"isApiErrorMessage": true}));
    }

    fn write(&self, folder: &Path) {
        fs::write(folder.join("s.jsonl"), &self.text).expect("writable");
    }
}

/// Runs a command on `s.jsonl` and returns its JSON output.
fn shown(folder: &Path, args: &[&str]) -> Value {
    json(&plimsoll(folder, &[args, &["--json", "--no-state"]].concat()))
}

#[test]
fn a_placeholder_is_used_nowhere() {
    let here = folder();
    let mut session = Session::new();
    for _ in 0..8 {
        session.call(100, 3_000);
    }
    session.write(here.path());
    let inspect = shown(here.path(), &["inspect", "s.jsonl"]);
    assert_eq!(inspect["recorded"]["calls_with_usage"], 0);
    assert_eq!(inspect["recorded"]["largest_call_tokens"], Value::Null);
    let warnings = inspect["warnings"].to_string();
    assert!(warnings.contains("8 calls report 100 tokens each"), "{warnings}");
    let lanes = shown(here.path(), &["replay", "s.jsonl"])["lanes"].clone();
    let sent = |lane: usize| lanes[lane]["tokens_sent"].as_u64().expect("a count");
    assert_eq!(sent(0), sent(1), "recorded and none");
    assert!(sent(0) > 8 * 7 / 2 * 3_000, "{}", sent(0));
    let diagnose = shown(here.path(), &["diagnose", "s.jsonl"]);
    let insights = diagnose["insights"].as_array().expect("insights");
    let is_placeholder = |insight: &&Value| insight["kind"] == "impossible_usage";
    let found = insights.iter().find(is_placeholder).expect("it is reported");
    assert!(found["text"].to_string().contains("placeholder"), "{found}");
    let usd = |lane: usize| diagnose["lanes"][lane]["cost"]["usd"].as_f64().expect("a price");
    assert!((usd(0) - usd(1)).abs() < 1e-9, "{} {}", usd(0), usd(1));
}

#[test]
fn the_size_that_a_rejection_states_is_reported_everywhere() {
    let here = folder();
    let mut session = Session::new();
    for n in 0..6 {
        session.call(20_000 + n * 30_000, 10_000);
    }
    session.fail("API Error: 400 {\"error\":{\"message\":\"prompt is too long: 214315 tokens > 200000 maximum\"}}");
    session.write(here.path());
    let inspect = shown(here.path(), &["inspect", "s.jsonl"]);
    assert_eq!(inspect["calls"], 7);
    assert_eq!(inspect["peak_tokens"], 214_315);
    assert_eq!(inspect["peak_call"], 7);
    assert_eq!(inspect["window"], 200_000);
    assert_eq!(inspect["window_source"], "recorded");
    assert_eq!(inspect["recorded"]["largest_call_tokens"], 214_315);
    let verdict = inspect["verdict"].as_str().expect("a text");
    assert!(verdict.contains("The provider rejected call 7: it counted 214k tokens."), "{verdict}");
    let lane = shown(here.path(), &["replay", "s.jsonl"])["lanes"][0].clone();
    let figures = ["overflows", "tokens_rejected", "tokens_sent", "peak_tokens"];
    assert_eq!(
        figures.map(|name| lane[name].as_u64().expect("a count")),
        [1, 214_315, 6 * 20_000 + 15 * 30_000, 214_315]
    );
    assert_eq!(lane["samples"][6]["rejected"], true);
    let listed = shown(here.path(), &["sessions", "s.jsonl"]);
    assert_eq!(listed["sessions"][0]["peak_tokens"], 214_315);
    assert_eq!(listed["sessions"][0]["peak_accuracy"], "reported");
}

#[test]
fn a_rejected_call_of_pi_is_read_and_two_calls_are_no_calibration() {
    let here = folder();
    let entry = |id: u64, message: &Value| {
        value!({"type": "message", "id": format!("a{id}"), "parentId": (id > 1).then(|| format!("a{}", id - 1)),
            "timestamp": format!("2026-07-17T09:0{id}:00.000Z"), "message": message})
    };
    let usage = |written: u64| value!({"input": u64::from(written > 0), "output": 60, "cacheRead": 0, "cacheWrite": written});
    let data = "PDw8".repeat(40_000);
    let error =
        "400 {\"error\":{\"message\":\"prompt is too long: 1029893 tokens > 1000000 maximum\"}}";
    let lines = [
        value!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-07-17T09:00:00.000Z", "cwd": "/work"}),
        entry(
            1,
            &value!({"role": "user", "content": [{"type": "text", "text": "Take a screenshot."}]}),
        ),
        entry(
            2,
            &value!({"role": "assistant", "model": "claude-opus-4-8", "usage": usage(12_000), "stopReason": "toolUse",
            "content": [{"type": "toolCall", "id": "t1", "name": "computer", "arguments": {"action": "screenshot"}}]}),
        ),
        entry(
            3,
            &value!({"role": "toolResult", "toolCallId": "t1", "toolName": "computer", "isError": false,
            "content": [{"type": "text", "text": data}]}),
        ),
        entry(
            4,
            &value!({"role": "assistant", "model": "claude-opus-4-8", "usage": usage(0), "stopReason": "error",
            "content": [], "errorMessage": error}),
        ),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(here.path().join("s.jsonl"), text.join("\n")).expect("writable");
    let inspect = shown(here.path(), &["inspect", "s.jsonl"]);
    assert_eq!(inspect["peak_tokens"], 1_029_893);
    assert_eq!(inspect["window"], 1_000_000);
    let error = inspect["tokens"]["error"].as_f64().expect("calibrated");
    assert!(error >= 0.1, "two calls do not confirm {error}");
    let lane = shown(here.path(), &["replay", "s.jsonl"])["lanes"][0].clone();
    assert_eq!((lane["overflows"].as_u64(), lane["tokens_sent"].as_u64()), (Some(1), Some(12_001)));
}

#[test]
fn an_answered_call_reaches_into_the_reserve_and_is_no_overflow() {
    let here = folder();
    let mut session = Session::new();
    for n in 0..7 {
        session.call(18_000 + n * 28_000, 9_300);
    }
    session.write(here.path());
    // The window is 200,000 tokens, of which 168,000 are usable. The last call has 186,000.
    let replay = shown(here.path(), &["replay", "s.jsonl"]);
    for lane in [0, 1] {
        let lane = &replay["lanes"][lane];
        let figures = ["overflows", "into_reserve", "tokens_rejected"];
        let figures = figures.map(|name| lane[name].as_u64().expect("a count"));
        assert_eq!(figures, [0, 1, 0], "{}", lane["lane"]);
    }
    let text = stdout(&plimsoll(here.path(), &["replay", "s.jsonl", "--no-state"]));
    assert!(text.contains("into the reserve: recorded 1 call, none 1 call"), "{text}");
    let gate = |limit: &str| {
        let args = ["gate", "s.jsonl", "--policy", "recorded", limit, "0", "--no-state"];
        plimsoll(here.path(), &args).status.code()
    };
    assert_eq!(gate("--max-overflows"), Some(0));
    assert_eq!(gate("--max-into-reserve"), Some(1));
    // A smaller window that the user sets is a question: would it have fit? Every call above it overflows.
    let small =
        shown(here.path(), &["replay", "s.jsonl", "--policy", "prune", "--window", "150000"]);
    let overflows = |lane: usize| small["lanes"][lane]["overflows"].as_u64();
    assert_eq!((overflows(0), overflows(1)), (Some(0), Some(2)));
    let gate = ["gate", "s.jsonl", "--policy", "none", "--max-overflows", "0"];
    let gate = [&gate[..], &["--window", "150000", "--no-state"]].concat();
    assert_eq!(plimsoll(here.path(), &gate).status.code(), Some(1));
}

#[test]
fn the_peak_is_reported_although_the_file_has_more_than_was_sent() {
    let here = folder();
    let mut session = Session::new();
    let inputs = [20_000, 50_000, 80_000, 110_000, 60_000, 90_000, 120_000, 70_000, 100_000];
    for input in inputs {
        session.call(input, 10_000);
    }
    session.write(here.path());
    let inspect = shown(here.path(), &["inspect", "s.jsonl"]);
    let end = inspect["end_tokens"].as_u64().expect("a count");
    assert!((110_000..140_000).contains(&end), "{end}: the last report and one result");
    let peak = inspect["peak_tokens"].as_u64().expect("a count");
    assert_eq!(peak, end.max(120_000));
    let lane = shown(here.path(), &["replay", "s.jsonl"])["lanes"][0].clone();
    assert_eq!(lane["tokens_sent"], inputs.iter().sum::<u64>());
    let listed = shown(here.path(), &["sessions", "s.jsonl"])["sessions"][0].clone();
    let listed = listed["peak_tokens"].as_f64().expect("a count");
    assert!((listed / peak as f64 - 1.0).abs() < 0.05, "{listed} {peak}");
}

#[test]
fn the_context_after_a_last_compaction_is_shown() {
    let here = folder();
    let mut session = Session::new();
    for n in 0..6 {
        session.call(20_000 + n * 20_000, 6_600);
    }
    let boundary = value!({
        "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
        "parentUuid": null, "logicalParentUuid": format!("record-{}", session.n_records - 1), "message": null,
        "compactMetadata": {"trigger": "manual", "preTokens": 140_000, "postTokens": 900}
    });
    session.record("system", &Value::Null, &boundary);
    let summary = value!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true});
    let text = value!({"role": "user", "content": "This session is being continued. The reports were read."});
    session.record("user", &text, &summary);
    session.write(here.path());
    let inspect = shown(here.path(), &["inspect", "s.jsonl"]);
    assert_eq!(inspect["recorded"]["compactions"][0]["call"], 7, "{}", inspect["recorded"]);
    let end = inspect["end_tokens"].as_u64().expect("a count");
    assert!(end < 25_000, "{end}: the summary and what is not recorded");
    let text = stdout(&plimsoll(here.path(), &["replay", "s.jsonl", "--no-state"]));
    assert!(text.contains("at the end: recorded "), "{text}");
}
