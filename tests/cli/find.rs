//! `plimsoll find`, `sessions --search` and the search index.

use crate::program::plimsoll;
use crate::support::{folder, json, rejected, sample, stdout};
use plimsoll::json::Value;
use std::fs;
use std::path::Path;

/// Creates a home folder with two sessions of Claude Code.
fn home() -> tempfile::TempDir {
    let home = folder();
    let project = home.path().join(".claude/projects/-home-me");
    fs::create_dir_all(&project).expect("a folder");
    for name in ["1.jsonl", "2.jsonl"] {
        fs::copy(sample("compacted.jsonl"), project.join(name)).expect("a copy");
    }
    home
}

fn index(home: &Path) -> std::path::PathBuf {
    home.join(".local/share/plimsoll/index/sessions.db")
}

fn search(home: &Path, args: &[&str]) -> Value {
    let search = ["sessions", "--search", "kind:result ledger", "--json"];
    json(&plimsoll(home, &[&search, args].concat()))
}

#[test]
fn terms_that_no_message_can_match_are_answered_with_valid_values() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let text = |query: &str| stdout(&plimsoll(here.path(), &["find", &file, query]));
    let calls = text("call:9999");
    assert!(calls.contains("\n  calls: 1 to "), "{calls}");
    let tools = text("tool:NoSuch");
    assert!(tools.contains("\n  tools: "), "{tools}");
    let none = text("nosuchword call:1");
    assert!(none.starts_with("no match in ") && !none.contains(':'), "{none}");
}

#[test]
fn messages_of_a_session_are_found_with_a_snippet_around_the_match() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let found = json(&plimsoll(
        here.path(),
        &["find", &file, "kind:result LEDGER", "--limit", "0", "--json"],
    ));
    let list = found["found"].as_array().expect("a list");
    assert_eq!(found["messages"], list.len());
    let sum: u64 = list.iter().filter_map(|m| m["matches"].as_u64()).sum();
    assert_eq!(found["matches"], sum);
    for message in list {
        assert_eq!(message["kind"], "tool_result");
        let pieces = message["snippet"].as_array().expect("pieces").iter();
        let mut matching = pieces.filter(|piece| piece["is_match"] == true);
        let text = matching.next().expect("a match")["text"].as_str();
        assert!(text.expect("a text").eq_ignore_ascii_case("ledger"));
    }
    let text =
        stdout(&plimsoll(here.path(), &["find", &file, "kind:result ledger", "--limit", "2"]));
    let more = format!("{} more messages (--limit 0 lists all)", list.len() - 2);
    assert!(text.contains(&more), "{text}");
    let none = stdout(&plimsoll(here.path(), &["find", &file, "xyzzyx"]));
    assert_eq!(none, "no match in 137 messages\n");
}

#[test]
fn errors_in_a_query_are_explained() {
    let here = folder();
    let file = sample("handoff.json");
    for (query, why) in [
        ("kind:resul", "character 6: unknown kind `resul`"),
        ("call:9-3", "the range `9-3` is empty"),
        ("foo:bar", "unknown key `foo`"),
        ("\"a phrase", "the quote has no end"),
        (" ", "the query is empty"),
    ] {
        for args in [&["find", &file, query][..], &["sessions", "--search", query]] {
            let error = rejected(here.path(), args);
            assert!(error.contains(why), "{error}");
        }
    }
}

#[test]
fn all_sessions_are_searched_with_the_same_result_with_and_without_the_index() {
    let home = home();
    let read = search(home.path(), &[]);
    assert_eq!(read["uses_index"], false);
    assert_eq!(read["sessions_with_matches"], 2);
    assert!(!index(home.path()).exists(), "nothing is stored without consent");
    let in_one = json(&plimsoll(
        home.path(),
        &["find", &sample("compacted.jsonl"), "kind:result ledger", "--json"],
    ));
    assert_eq!(read["sessions"][0]["messages"], in_one["messages"]);
    assert_eq!(read["sessions"][0]["matches"], in_one["matches"]);

    let enabled = json(&plimsoll(home.path(), &["state", "enable", "index", "--json"]));
    assert_eq!(enabled["sessions"], 2);
    let mut indexed = search(home.path(), &[]);
    assert_eq!(indexed["uses_index"], true);
    indexed["uses_index"] = false.into();
    assert_eq!(indexed, read);
    let without = search(home.path(), &["--no-state"]);
    assert_eq!(without, read);

    let listed = json(&plimsoll(home.path(), &["state", "--json"]));
    assert_eq!(listed["index"]["path"], *index(home.path()).to_string_lossy());
    assert!(listed["index"]["bytes"].as_u64() > Some(10_000));
    let text = stdout(&plimsoll(home.path(), &["state"]));
    assert!(text.contains("  index   "), "{text}");
    let cleared = json(&plimsoll(home.path(), &["state", "clear", "logs", "--json"]));
    assert_eq!(cleared["index_cleared"], false);
    let cleared = json(&plimsoll(home.path(), &["state", "clear", "index", "--json"]));
    assert_eq!(cleared["index_cleared"], true);
    assert!(!index(home.path()).exists());
    assert_eq!(search(home.path(), &[]), read);
    // Clearing everything includes the index.
    plimsoll(home.path(), &["state", "enable", "index"]);
    let cleared = json(&plimsoll(home.path(), &["state", "clear", "--json"]));
    assert_eq!(cleared["index_cleared"], true);
    assert!(!index(home.path()).exists());
}

#[test]
fn sessions_with_matches_are_printed_with_their_messages() {
    let home = home();
    let text = stdout(&plimsoll(home.path(), &["sessions", "--search", "ledger", "--limit", "1"]));
    assert!(text.contains("of 2 of 2 sessions"), "{text}");
    assert!(text.contains("      message "), "{text}");
    assert!(text.contains("1 older session with a match"), "{text}");
    let none = stdout(&plimsoll(home.path(), &["sessions", "--search", "xyzzyx"]));
    assert_eq!(none, "no match in 2 sessions\n");
}

#[test]
fn figures_of_calls_agree_with_the_lists_of_messages_and_costs() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let run = |args: &[&str]| json(&plimsoll(here.path(), &[args, &["--json"]].concat()));
    let figures = run(&["diagnose", &file, "--calls", "20-34"]);
    let found = run(&["find", &file, "call:20-34"]);
    assert_eq!(figures["messages"], found["messages"]);
    let all = run(&["diagnose", &file]);
    let n = all["cache_audit"]["calls"].as_array().map(Vec::len);
    let whole = format!("1-{}", n.expect("calls"));
    let figures = run(&["diagnose", &file, "--calls", &whole]);
    let lanes = figures["lanes"].as_array().expect("lanes");
    assert_eq!(lanes.len(), all["lanes"].as_array().expect("lanes").len());
    assert_eq!(lanes[0]["tokens_before"], 0);
    for (lane, whole) in all["lanes"].as_array().expect("lanes").iter().zip(lanes) {
        let sums = [&lane["cost"]["usd"], &whole["usd"]].map(|usd| usd.as_f64().expect("a cost"));
        assert!((sums[0] - sums[1]).abs() < 1e-6, "{}: {sums:?}", whole["lane"]);
    }
    let text = stdout(&plimsoll(here.path(), &["diagnose", &file, "--calls", "3"]));
    assert!(text.starts_with("call 3: "), "{text}");
    for (calls, why) in
        [("9-3", "is empty"), ("0-3", "such as 20-34"), ("1-9999", "the session has")]
    {
        let error = rejected(here.path(), &["diagnose", &file, "--calls", calls]);
        assert!(error.contains(why), "{error}");
    }
}
