//! The losses of `plimsoll diagnose`, on sample sessions and on long shared ones.

use crate::real_sessions;
use crate::support::sample;
use serde_json::Value;
use std::process::Output;

fn diagnose(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    crate::program::plimsoll(folder.path(), &[&["diagnose"], args].concat())
}

fn loss(args: &[&str]) -> Value {
    let output = diagnose(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let mut all: Value = serde_json::from_slice(&output.stdout).expect("the output is JSON");
    all["loss"].take()
}

/// Returns the lane of a name.
fn lane<'a>(loss: &'a Value, name: &str) -> &'a Value {
    let mut lanes = loss["lanes"].as_array().into_iter().flatten();
    lanes
        .find(|lane| lane["lane"] == name)
        .unwrap_or(&Value::Null)
}

#[test]
fn text_and_json_agree_for_every_lane() {
    let file = sample("compacted.jsonl");
    let args = [&file, "--set", "compression_trigger=0.1"];
    let loss = loss(&[&file, "--set", "compression_trigger=0.1", "--json"]);
    let output = diagnose(&args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for name in ["recorded", "none", "truncate", "prune", "summarize"] {
        let lane = lane(&loss, name);
        let counts = format!("{}/{}", lane["at_risk"], lane["references"]);
        let result = text
            .lines()
            .any(|line| line.trim_start().starts_with(name) && line.contains(&counts));
        assert!(result, "{name}: {counts} in\n{text}");
        assert_eq!(
            lane["at_risk"].as_u64(),
            lane["references_at_risk"]
                .as_array()
                .map(|references| references.len() as u64)
        );
    }
    assert_eq!(lane(&loss, "none")["at_risk"], 0);
    assert!(text.contains("no measure of quality") && text.contains("noise floor"));
    let compactions = loss["compactions"].as_array().map(Vec::len);
    assert_eq!(
        compactions,
        Some(text.matches("\nafter the compaction before call").count())
    );
    assert!(compactions > Some(0));
}

#[test]
fn a_reuse_curve_falls_and_lists_the_values_of_the_lanes() {
    let loss = loss(&[
        &sample("many-tool-results.jsonl"),
        "--set",
        "keep_recent=7",
        "--json",
    ]);
    for (name, lanes) in [
        ("keep_recent", &["truncate", "summarize"][..]),
        ("prune_protect", &["prune"]),
    ] {
        let curve = &loss["reuse"][name];
        let misses: Vec<f64> = curve["points"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|point| point["missed_share"].as_f64())
            .collect();
        assert!(
            misses.len() > 3 && misses.is_sorted_by(|a, b| a >= b),
            "{name}: {misses:?}"
        );
        let current: Vec<_> = curve["lanes"].as_array().into_iter().flatten().collect();
        let names: Vec<_> = current.iter().filter_map(|c| c["lane"].as_str()).collect();
        assert_eq!(names, lanes, "{name}");
        let seven = current.iter().all(|c| c["value"] == 7);
        assert_eq!(seven, name == "keep_recent");
    }
}

#[test]
fn hindsight_and_the_whole_history_lose_nothing() {
    let Some(folder) = real_sessions::folder() else {
        return;
    };
    let files = std::fs::read_dir(folder.join("claude_code")).expect("a folder of the format");
    let mut n = 0;
    for file in files.flatten().map(|file| file.path()) {
        let file = file.to_string_lossy().into_owned();
        let loss = loss(&[&file, "--set", "compression_trigger=0.4", "--json"]);
        let none = lane(&loss, "none");
        assert_eq!(none["at_risk"], 0, "{file}");
        assert_eq!(
            none["blind_edits"].as_array().map(Vec::len),
            Some(0),
            "{file}"
        );
        for name in ["truncate", "prune", "summarize", "recorded"] {
            let lane = lane(&loss, name);
            let (most, least) = (lane["at_risk"].as_u64(), lane["fewest_at_risk"].as_u64());
            assert!(least <= most, "{file}: {name}");
            assert!(most <= lane["references"].as_u64(), "{file}: {name}");
        }
        n += 1;
    }
    assert!(n > 0, "no session in the folder");
}
