//! Costs of sessions in files as the programs write them. Expected figures are computed from the recorded counts and list
//! prices without the program.

use crate::program::plimsoll;
use crate::support::{folder, json, stdout};
use plimsoll::json::{Value, json as value};
use std::fs;
use std::path::Path;

/// Returns the path of a file rebuilt from a public report.
fn report(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/reports");
    path.join(name).to_string_lossy().into_owned()
}

fn diagnosed(file: &str) -> Value {
    json(&plimsoll(folder().path(), &["diagnose", file, "--json"]))
}

fn text(file: &str) -> String {
    stdout(&plimsoll(folder().path(), &["diagnose", file, "--all"]))
}

/// Returns the insights of the session of a kind.
fn insights<'a>(diagnosed: &'a Value, kind: &str) -> Vec<&'a str> {
    let all = diagnosed["insights"].as_array().expect("a list").iter();
    let of_kind = all.filter(|insight| insight["kind"] == kind && insight["lane"].is_null());
    of_kind.map(|insight| insight["text"].as_str().expect("a text")).collect()
}

fn close(found: &Value, expected: f64) {
    let found = found.as_f64().expect("a price");
    let is_close = (found - expected).abs() < 0.000_006;
    assert!(is_close, "{found}, not {expected}");
}

/// A session of Claude Code, record by record. Each call has the usage read, written and neither.
struct Claude {
    text: String,
    n: usize,
    minute: usize,
}

impl Claude {
    fn new() -> Self {
        Self { text: String::new(), n: 0, minute: 0 }
    }

    fn record(&mut self, mut members: Value) {
        let uuid = |n: usize| format!("00000000-0000-4000-8000-{n:012}");
        let record = members.as_object_mut().expect("an object");
        let parent = (self.n > 0).then(|| uuid(self.n));
        self.n += 1;
        record.insert("uuid".into(), uuid(self.n).into());
        record.insert("parentUuid".into(), parent.into());
        let session = "11111111-1111-4111-8111-111111111111";
        record.insert("sessionId".into(), session.into());
        record.insert("version".into(), "2.1.100".into());
        let time = format!("2026-09-01T{:02}:{:02}:00.000Z", self.minute / 60, self.minute % 60);
        record.insert("timestamp".into(), time.into());
        self.text.push_str(&members.to_string());
        self.text.push('\n');
    }

    fn user(&mut self, text: &str) {
        let message = value!({"role": "user", "content": text});
        self.record(value!({"type": "user", "message": message}));
    }

    fn call(&mut self, model: &str, [read, written, rest]: [u64; 3]) {
        self.user(&format!("Please do part {} of the work.", self.n));
        self.minute += 1;
        let usage = value!({"input_tokens": rest, "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read, "output_tokens": 40});
        let content = value!([{"type": "text", "text": "That part is done and agrees."}]);
        let message = value!({"id": format!("msg_{}", self.n), "type": "message", "role": "assistant",
            "model": model, "content": content, "stop_reason": "end_turn", "usage": usage});
        self.record(value!({"type": "assistant", "message": message}));
    }

    fn compaction(&mut self, before: u64, after: u64) {
        let metadata = value!({"trigger": "auto", "preTokens": before, "postTokens": after});
        self.record(value!({"type": "system", "subtype": "compact_boundary",
            "content": "Conversation compacted", "compactMetadata": metadata}));
        let summary = value!({"role": "user", "content": "This session is being continued. Summary: all parts agree."});
        self.record(value!({"type": "user", "isCompactSummary": true, "message": summary}));
    }

    /// Diagnoses the session so far.
    fn diagnosed(&self) -> Value {
        let folder = folder();
        fs::write(folder.path().join("s.jsonl"), &self.text).expect("writable");
        json(&plimsoll(folder.path(), &["diagnose", "s.jsonl", "--json"]))
    }
}

#[test]
fn answers_count_by_the_record_with_a_stop_reason() {
    let cost = &diagnosed(&report("02-ccusage901-streaming-output.jsonl"))["lanes"][0]["cost"];
    assert_eq!(cost["output"]["tokens"], 159 + 421);
    assert_eq!(cost["estimated_outputs"], 0);
    close(&cost["usd"], 0.119_56);
}

#[test]
fn totals_of_the_program_price_calls_without_usage() {
    let file = report("53-codeburn676-copilot-shutdown.jsonl.gz");
    let diagnosed = diagnosed(&file);
    let cost = &diagnosed["lanes"][0]["cost"];
    // 165,000 at $5, 11,088,000 at $0.50, 72,842 at $25 a million.
    close(&cost["usd"], 0.825 + 5.544 + 1.821_05);
    assert_eq!(cost["source"], "recorded");
    assert_eq!(cost["program_totals"], true);
    assert_eq!(cost["calls_source"], "modelled");
    assert_eq!(cost["calls"].as_array().map(Vec::len), Some(121));
    // No lane leaves calls out: 121 answers alone cost $1.82.
    for lane in diagnosed["lanes"].as_array().expect("a list") {
        let usd = lane["cost"]["usd"].as_f64().expect("a price");
        assert!(usd > 2.5, "{} {usd}", lane["lane"]);
        assert_eq!(lane["cost"]["output"]["tokens"], 72_842);
    }
    let text = text(&file);
    assert!(text.contains("the program's own totals"), "{text}");
}

#[test]
fn recorded_summary_requests_are_priced() {
    let copilot = diagnosed(&report("25-copilot3625-negative-removed.jsonl.gz"));
    let summaries = &copilot["lanes"][0]["cost"]["summaries"];
    assert_eq!(summaries["tokens"], 61_000 + 9_200);
    // 21,000 at $5, 40,000 at $0.50, 9,200 at $25 a million.
    close(&summaries["usd"], 0.105 + 0.02 + 0.23);
    let file = report("21-opencode48542-compaction-cache.json.gz");
    let summaries = &diagnosed(&file)["lanes"][0]["cost"]["summaries"];
    assert_eq!(summaries["tokens"], 3 + 7_506 + 1_486);
    assert!(summaries["usd"].as_f64() > Some(0.0));
    let text = text(&file);
    assert!(!text.contains("does not record the cost of the summaries"), "{text}");
}

#[test]
fn a_recorded_compaction_is_priced_from_the_calls_around_it() {
    let file = report("51-cc94197-rewrite-after-compaction.jsonl.gz");
    let text = text(&file);
    let expected = "removed 50,800, 101,997 written to the cache again: did not pay: it breaks even after 38.1 calls, 13 calls were left";
    assert!(text.contains(expected), "{text}");
    let replay = json(&plimsoll(folder().path(), &["replay", &file, "--json"]));
    let event = &replay["lanes"][0]["events"][0];
    assert_eq!(event["tokens_before"], 152_800);
    assert_eq!(event["tokens_after"], 102_000);
}

#[test]
fn a_compaction_after_which_the_context_is_larger_is_not_praised() {
    let mut session = Claude::new();
    for call in 0..6 {
        session.call("claude-opus-4-5", [40_000 + 1_000 * call, 1_000, 3]);
    }
    // The program counts the messages only: 46,000 to 4,000.
    session.compaction(46_000, 4_000);
    for call in 0..30 {
        session.call("claude-opus-4-5", [if call == 0 { 0 } else { 60_000 }, 61_000, 3]);
    }
    let diagnosed = session.diagnosed();
    assert_eq!(diagnosed["lanes"][0]["break_even"], value!([]));
    let grew = insights(&diagnosed, "compaction_grew");
    assert_eq!(grew, ["The recorded compaction before call 7 made the context no smaller."]);
}

#[test]
fn cache_misses_cost_at_most_what_the_calls_paid_above_a_read() {
    let mut session = Claude::new();
    for call in 0..6 {
        session.call("claude-sonnet-4-5-20250929", [0, 0, 40_000 + 600 * call]);
    }
    let diagnosed = session.diagnosed();
    let misses = diagnosed["cache_audit"]["misses"].as_array().expect("a list");
    assert_eq!(misses.len(), 1, "{misses:?}");
    assert_eq!(misses[0]["cause"], "never_cached");
    // 40,000 to 42,400 were sent again, at $3 instead of $0.30 a million.
    close(&misses[0]["usd"], 206_000.0 * 2.7e-6);
    assert!(misses[0]["usd"].as_f64() < diagnosed["lanes"][0]["cost"]["usd"].as_f64());
    let found = insights(&diagnosed, "cache_breaks");
    let never = "5 calls missed the provider's cache: no call of this session used it.";
    assert_eq!(found, [never]);
}

#[test]
fn the_fill_at_which_a_program_compacts_and_its_change_are_named() {
    let model = "claude-opus-4-8[1m]";
    let mut session = Claude::new();
    for call in 1..9 {
        session.call(model, [58_000 * (call - 1), 58_000, 3]);
    }
    session.compaction(468_102, 28_759);
    session.call(model, [0, 28_759, 3]);
    let found = session.diagnosed();
    let fill = "The recorded program compacts at 47 % of the context window.";
    assert_eq!(insights(&found, "compaction_fill"), [fill]);
    assert!(insights(&found, "trigger_changed").is_empty());
    for call in 1..6 {
        session.call(model, [30_000 * call, 30_000, 3]);
    }
    session.compaction(188_000, 29_500);
    session.call(model, [0, 29_500, 3]);
    let changed =
        "The program's window collapsed: it compacted at 47 % of the context window, then at 19 %.";
    let found = session.diagnosed();
    assert_eq!(insights(&found, "trigger_changed"), [changed]);
    let fill = "The recorded program compacts at 19 % to 47 % of the context window.";
    assert_eq!(insights(&found, "compaction_fill"), [fill]);
}

#[test]
fn a_stop_for_the_length_names_the_limit_of_the_program() {
    let found = diagnosed(&report("33-pi7052-length.jsonl.gz"));
    let stopped =
        "2 answers stopped for the length: the program's own limit is a context of 272k tokens.";
    assert_eq!(insights(&found, "answer_cut"), [stopped]);
}

#[test]
fn sessions_names_a_resumed_copy_and_counts_its_calls_once() {
    let copies = report("03-tokenjam294-resume");
    let listed = json(&plimsoll(folder().path(), &["sessions", &copies, "--json"]));
    assert_eq!(listed["distinct_calls"], 11);
    let sessions = listed["sessions"].as_array().expect("a list");
    let repeats: Vec<&Value> = sessions.iter().map(|session| &session["repeats"]).collect();
    let original = "e364cb82-aa32-bb8a-464e-1f8f40d18b76.jsonl";
    let expected = value!({"calls": 10, "file": original});
    assert!(repeats.contains(&&expected), "{repeats:?}");
    assert!(repeats.contains(&&Value::Null), "{repeats:?}");
    let text = stdout(&plimsoll(folder().path(), &["sessions", &copies]));
    assert!(text.contains("21 calls, 11 of them distinct"), "{text}");
    assert!(text.contains(&format!("(repeats 10 of 11 calls of {original})")), "{text}");
    let copy = format!("{copies}/cc404456-28ee-6462-6f46-81274bbdc752.jsonl");
    let inspected = stdout(&plimsoll(folder().path(), &["inspect", &copy]));
    let warning = format!("10 of 11 calls are also in {original}");
    assert!(inspected.contains(&warning), "{inspected}");
    let first = stdout(&plimsoll(folder().path(), &["inspect", &format!("{copies}/{original}")]));
    assert!(!first.contains("are also in"), "{first}");
}
