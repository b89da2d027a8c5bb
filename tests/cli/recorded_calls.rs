//! Time, model and reasoning of each call in the lists of calls of `replay` and `diagnose`.

use crate::program::plimsoll;
use crate::support::{folder, json, sample, write_conversation};
use plimsoll::json::Value;

/// Returns the recorded properties in an entry of a list of calls.
fn recorded(call: &Value) -> [&Value; 4] {
    ["call", "time", "model", "reasoning_output_tokens"].map(|key| &call[key])
}

fn entries(list: &Value) -> Vec<[&Value; 4]> {
    list.as_array().expect("a list").iter().map(recorded).collect()
}

#[test]
fn the_calls_of_every_list_have_the_same_time_model_and_reasoning() {
    let (here, file) = (folder(), sample("many-tool-results.jsonl"));
    let run =
        |args: &[&str]| json(&plimsoll(here.path(), &[args, &["--no-state", "--json"]].concat()));
    let replay = run(&["replay", &file, "--policy", "truncate"]);
    let diagnosis = run(&["diagnose", &file, "--policy", "truncate"]);
    let some = run(&["diagnose", &file, "--calls", "3-5"]);

    let lanes = replay["lanes"].as_array().expect("lanes");
    let samples = entries(&lanes[0]["samples"]);
    assert_eq!(samples.len(), 56);
    for lane in lanes {
        assert_eq!(entries(&lane["samples"]), samples, "{}", lane["lane"]);
    }
    for lane in diagnosis["lanes"].as_array().expect("lanes") {
        assert_eq!(entries(&lane["cost"]["calls"]), samples, "{}", lane["lane"]);
    }
    for call in entries(&diagnosis["cache_audit"]["calls"]) {
        assert!(samples.contains(&call), "{call:?}");
    }
    assert_eq!(entries(&some["calls"]), samples[2..5]);

    for [_, time, model, _] in &samples {
        assert_eq!(model.as_str(), Some("gpt-5.5"));
        let time = time.as_str().expect("recorded");
        assert!(
            time.starts_with("2026-10-20T") && time.len() == 20 && time.ends_with('Z'),
            "{time}"
        );
    }
    let times: Vec<&str> = samples.iter().filter_map(|[_, time, ..]| time.as_str()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let reasoning: Vec<u64> = samples.iter().filter_map(|[.., tokens]| tokens.as_u64()).collect();
    assert_eq!(reasoning.len(), samples.len(), "0 is recorded, too");
    assert!(reasoning.contains(&0) && reasoning.iter().any(|tokens| *tokens > 0), "{reasoning:?}");
}

#[test]
fn what_is_not_recorded_is_null() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let replay = json(&plimsoll(here.path(), &["replay", "c.json", "--policy", "none", "--json"]));
    for [_, time, model, reasoning] in entries(&replay["lanes"][0]["samples"]) {
        assert_eq!((time, reasoning), (&Value::Null, &Value::Null));
        assert!(model.is_null() || model == "gpt-4o", "{model}");
    }
}
