//! `plimsoll compare`.

use crate::program::plimsoll;
use crate::support::{TIGHT, folder, json, rejected, sample, samples, stdout, write_conversation};
use plimsoll::json::Value;
use std::fs;
use std::path::Path;

fn compare(folder: &Path, args: &[&str]) -> Value {
    json(&plimsoll(folder, &[&["compare", "--json"], args].concat()))
}

fn count(value: &Value) -> usize {
    value.as_array().expect("a list").len()
}

#[test]
fn figures_equal_those_of_inspect_and_diagnose() {
    let here = folder();
    let [a, b] = ["compacted.jsonl", "slow-growth.jsonl"].map(sample);
    let found = compare(here.path(), &[&a, &b]);
    for (side, file) in [("a", &a), ("b", &b)] {
        let inspect = json(&plimsoll(here.path(), &["inspect", "--json", file]));
        let session = &found[side];
        for field in ["format", "title", "messages", "turns", "calls", "window", "peak_tokens"] {
            assert_eq!(session[field], inspect[field], "{side}.{field}");
        }
        assert_eq!(session["by_kind"], inspect["tokens"]["by_kind"]);
        assert_eq!(session["not_recorded"], inspect["tokens"]["not_recorded"]);
        assert_eq!(session["history_tokens"], inspect["tokens"]["total"]);
        let diagnose = json(&plimsoll(here.path(), &["diagnose", "--json", file]));
        let recorded = &diagnose["lanes"][0];
        assert_eq!(session["cost"], recorded["cost"]);
        assert_eq!(
            count(&session["contexts"]),
            session["calls"].as_u64().expect("a count") as usize
        );
        let sent: u64 =
            session["contexts"].as_array().expect("a list").iter().filter_map(Value::as_u64).sum();
        assert_eq!(session["tokens_sent"], sent);
    }
    let of = |side: &str, field: &str| found[side][field].as_i64().expect("a number");
    for field in [
        "messages",
        "turns",
        "calls",
        "window",
        "peak_tokens",
        "history_tokens",
        "tokens_sent",
        "overflows",
    ] {
        let difference = of("b", field) - of("a", field);
        assert_eq!(found["difference"][field], difference, "{field}");
    }
}

#[test]
fn a_session_equals_itself() {
    let here = folder();
    for sample in samples() {
        let path = sample.to_str().expect("Unicode");
        let found = compare(here.path(), &[path, path]);
        let messages = &found["messages"];
        for list in ["changed", "only_in_a", "only_in_b"] {
            assert_eq!(count(&messages[list]), 0, "{path}: {list}");
        }
        assert_eq!(messages["same"], messages["same_start"], "{path}");
        assert_eq!(count(&found["facts"]["only_in_a"]), 0, "{path}");
        assert_eq!(found["difference"]["tokens_sent"], 0, "{path}");
        assert_eq!(found["a"]["contexts"], found["b"]["contexts"]);
    }
}

#[test]
fn untouched_messages_of_a_managed_conversation_match_their_source() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let policy = ["compact", "c.json", "--policy", "truncate", "--force"];
    let tight: Vec<&str> =
        TIGHT.iter().copied().filter(|arg| !arg.starts_with("summarize")).collect();
    let tight = &tight[..tight.len() - 1];
    let output = plimsoll(here.path(), &[&policy[..], tight].concat());
    assert!(output.status.success(), "{output:?}");
    let found = compare(here.path(), &["c.json", "c-managed-1.json"]);
    let messages = &found["messages"];
    let [a, b] = ["a", "b"].map(|side| found[side]["messages"].as_u64().expect("a count"));
    assert!(a > b, "{a} messages, {b} in the managed conversation");
    let same = messages["same"].as_u64().expect("a count");
    let changed = count(&messages["changed"]) as u64;
    // Whatever the policy did not write is in the source.
    assert!(same > 0 && same + changed + 2 >= b, "{messages:#}");
    assert_eq!(same + changed + count(&messages["only_in_a"]) as u64, a);
}

#[test]
fn text_lists_differences_and_what_only_one_contains() {
    let here = folder();
    write_conversation(here.path(), "a.json");
    let text = fs::read_to_string(here.path().join("a.json")).expect("readable");
    let other =
        text.replace("src/file_3.rs", "src/other.rs").replace("They all add", "They subtract");
    fs::write(here.path().join("b.json"), other).expect("writable");
    let shown = stdout(&plimsoll(here.path(), &["compare", "a.json", "b.json"]));
    for expected in [
        "A  a.json · openai_chat",
        "B  b.json · openai_chat",
        "cumulative tokens",
        "composition",
        "calls A",
        "only in A",
        "They subtract",
        "src/other.rs",
        "1 file only in B",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let found = compare(here.path(), &["a.json", "b.json"]);
    // The call has the same id and other arguments.
    assert_eq!(count(&found["messages"]["changed"]), 1);
    assert_eq!(found["messages"]["only_in_b"][0]["text"], "They subtract a number.");
}

#[test]
fn options_that_refer_to_one_session_are_rejected() {
    let here = folder();
    write_conversation(here.path(), "a.json");
    let error = rejected(here.path(), &["compare", "a.json", "a.json", "--drop", "3"]);
    assert!(error.contains("one session"), "{error}");
    let error = rejected(here.path(), &["compare", "a.json", "missing.json"]);
    assert!(error.contains("missing.json"), "{error}");
}

#[test]
fn every_message_is_counted() {
    let here = folder();
    for sample in samples() {
        let path = sample.to_str().expect("Unicode");
        let found = compare(here.path(), &[path, path]);
        let (messages, of_a) = (&found["messages"], &found["a"]);
        let number = |value: &Value| value.as_u64().expect("a count");
        assert_eq!(
            number(&messages["same"]) + number(&messages["copied_in_a"]),
            number(&of_a["messages"]) + number(&of_a["compaction_messages"]),
            "{path}"
        );
    }
}

#[test]
fn facts_are_those_of_evaluate() {
    let here = folder();
    for sample in samples() {
        let path = sample.to_str().expect("Unicode");
        let found = compare(here.path(), &[path, path]);
        let text = stdout(&plimsoll(here.path(), &["evaluate", path]));
        let expected = format!("; {} not replaced by a later one", found["facts"]["shared"]);
        assert!(text.contains(&expected), "{expected}: {text}");
    }
}

#[test]
fn recorded_and_modelled_costs_have_no_difference() {
    let here = folder();
    write_conversation(here.path(), "modelled.json");
    let recorded = sample("compacted.jsonl");
    let priced = ["--price-as", "claude-opus-4-5"];
    let args = [&[&*recorded, "modelled.json"], &priced[..]].concat();
    let found = compare(here.path(), &args);
    let sources = ["a", "b"].map(|side| found[side]["cost"]["source"].clone());
    assert_eq!(sources, ["recorded", "modelled"]);
    assert!(found["b"]["cost"]["usd"].is_number(), "{}", found["b"]["cost"]);
    assert!(found["difference"]["usd"].is_null());
    let text = stdout(&plimsoll(here.path(), &[&["compare"], &args[..]].concat()));
    for expected in [
        " ≈$",
        "B's cost is modelled (≈): the file reports no usage.",
        "Recorded and modelled costs are not comparable.",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let cost = text.lines().find(|line| line.starts_with("  cost "));
    assert!(cost.is_some_and(|line| line.ends_with(" -           ")), "{cost:?}");
}

#[test]
fn the_reason_of_an_unknown_cost_is_printed() {
    let here = folder();
    write_conversation(here.path(), "a.json");
    let text = fs::read_to_string(here.path().join("a.json")).expect("readable");
    let other = text.replace("gpt-4o", "unlisted-model");
    fs::write(here.path().join("b.json"), other).expect("writable");
    let text = stdout(&plimsoll(here.path(), &["compare", "a.json", "b.json"]));
    let expected = "B's cost is unknown: no price is known for unlisted-model. --price-as MODEL";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_managed_conversation_is_named_as_such() {
    let here = folder();
    fs::copy(sample("slow-growth.jsonl"), here.path().join("s.jsonl")).expect("copied");
    let command = ["compact", "s.jsonl", "--policy", "truncate", "--force"];
    let output = plimsoll(here.path(), &command);
    assert!(output.status.success(), "{output:?}");
    let files = ["s.jsonl", "s-managed-1.jsonl"];
    let text = stdout(&plimsoll(here.path(), &[&["compare"], &files[..]].concat()));
    assert!(text.contains("B is a managed conversation"), "{text}");
    assert!(!text.contains("A is a managed conversation"), "{text}");
}

#[test]
fn a_picture_of_a_failed_comparison_is_an_error() {
    let here = folder();
    write_conversation(here.path(), "a.json");
    fs::write(here.path().join("bad.json"), "{\"x\": 1").expect("writable");
    fs::create_dir(here.path().join("folder")).expect("created");
    for other in ["bad.json", "folder"] {
        let args = ["a.json", "--compare", other, "--screenshot", "out.png"];
        let error = rejected(here.path(), &args);
        assert!(error.contains("compare"), "{error}");
        assert!(!here.path().join("out.png").exists());
    }
}
