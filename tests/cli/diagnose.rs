//! `plimsoll diagnose` on sample sessions and on invalid input.

use crate::real_sessions;
use crate::support::{sample, stdout};
use plimsoll::json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

fn plimsoll(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    crate::program::plimsoll(folder.path(), args)
}

fn json(args: &[&str]) -> Value {
    let output = plimsoll(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

#[test]
fn every_sample_is_diagnosed_as_text_and_json() {
    for name in [
        "compacted.jsonl",
        "giant-tool-result.json",
        "handoff.json",
        "images-and-cjk.json",
        "many-tool-results.jsonl",
        "slow-growth.jsonl",
    ] {
        let file = sample(name);
        let result = json(&["diagnose", &file, "--json"]);
        let lanes: Vec<_> = result["lanes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|lane| lane["lane"].as_str().unwrap())
            .collect();
        assert_eq!(lanes, ["recorded", "none", "truncate", "prune", "summarize"], "{name}");
        for lane in result["lanes"].as_array().unwrap() {
            let cost = &lane["cost"];
            let parts =
                ["cache_read", "cache_write", "uncached", "output", "rejected", "summaries"];
            if let Some(total) = cost["usd"].as_f64() {
                let sum: f64 = parts.iter().map(|part| cost[*part]["usd"].as_f64().unwrap()).sum();
                assert!((sum - total).abs() < 1e-9, "{name}: {sum}, not {total}");
            } else {
                assert!(
                    cost["cache_read"]["usd"].is_null(),
                    "{name}: a part of an unknown sum is known"
                );
            }
        }
        let text = plimsoll(&["diagnose", &file]);
        assert!(text.status.success() && stdout(&text).contains("most resent"), "{name}");
    }
}

#[test]
fn the_cost_is_unknown_without_a_price_and_own_prices_complete_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("talk.json");
    let talk = r#"{"model":"house-model","messages":[{"role":"user","content":"Hello there"},{"role":"assistant","content":"Hi."}]}"#;
    fs::write(&file, talk).expect("written");
    let file = file.to_string_lossy();
    let result = json(&["diagnose", &file, "--json", "--price-as", "claude-sonnet-4-5"]);
    assert!(result["lanes"][0]["cost"]["usd"].as_f64().unwrap() > 0.0);
    let blank = json(&["diagnose", &file, "--json"]);
    assert!(blank["lanes"][0]["cost"]["usd"].is_null());
    let text = plimsoll(&["diagnose", &file]);
    assert!(stdout(&text).contains("–"), "{}", stdout(&text));

    let prices = folder.path().join("prices.toml");
    let row = "[[price]]\nmatch = \"house-model\"\ncaching = \"openai\"\ninput = 1\noutput = 2\ncache_read = 0.5\nsource = \"the bill\"\nread = 2026-11-01\nverified = true\n";
    fs::write(&prices, row).expect("written");
    let prices = prices.to_string_lossy();
    let result =
        json(&["diagnose", &file, "--json", "--prices", &prices, "--price-as", "house-model"]);
    assert!(result["lanes"][0]["cost"]["usd"].as_f64().unwrap() > 0.0);
}

#[test]
fn invalid_options_are_rejected_in_one_line_with_a_remedy() {
    let file = sample("slow-growth.jsonl");
    let missing = PathBuf::from("/nowhere/prices.toml");
    let missing = missing.to_string_lossy();
    for (args, expected) in [
        (vec!["diagnose"], "not provided: <FILE>"),
        (vec!["diagnose", &file, "--cache-time", "soon"], "[possible values: usual, long]"),
        (vec!["diagnose", &file, "--price-as", "my-model"], "--prices"),
        (vec!["diagnose", &file, "--prices", &missing], "/nowhere/prices.toml"),
        (vec!["diagnose", &file, "--bogus"], "--bogus"),
    ] {
        let output = plimsoll(&args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(error.contains(expected) && error.trim().lines().count() == 1, "{error}");
    }
}

/// Cache use of a recorded session.
#[derive(Debug, PartialEq)]
struct CacheCounts {
    file: &'static str,
    /// Tokens read from the cache.
    read: u64,
    /// Tokens written to the cache.
    written: u64,
    /// Calls with a cache miss.
    misses: u64,
    /// Tokens that these calls sent again.
    resent: u64,
}

#[test]
fn the_cost_of_shared_sessions_follows_their_recorded_counts() {
    // Sums over the usage in the files, each call once, computed without this program.
    let expected = [
        CacheCounts {
            file: "claude_code/cc-3compactions-2.1.7.jsonl",
            read: 24_013_662,
            written: 1_618_146,
            misses: 14,
            resent: 1_283_335,
        },
        CacheCounts {
            file: "claude_code/cc-1M-window-626k-2.1.126.jsonl",
            read: 153_887_555,
            written: 689_690,
            misses: 1,
            resent: 78_428,
        },
        CacheCounts {
            // Records that nothing was written to the cache.
            file: "codex_rollout/cx-0.145-196k.jsonl",
            read: 17_636_608,
            written: 0,
            misses: 4,
            resent: 142_811,
        },
    ];
    let Some(folder) = real_sessions::folder() else {
        return;
    };
    for counts in expected {
        let name = counts.file;
        let file = folder.join(name);
        let result = json(&["diagnose", &file.to_string_lossy(), "--json"]);
        let cost = &result["lanes"][0]["cost"];
        let misses = result["cache_audit"]["misses"].as_array().expect("counted");
        let sum = |key: &str| misses.iter().map(|miss| miss[key].as_u64().unwrap()).sum();
        let actual = CacheCounts {
            file: name,
            read: cost["cache_read"]["tokens"].as_u64().unwrap(),
            written: cost["cache_write"]["tokens"].as_u64().unwrap(),
            misses: sum("calls"),
            resent: sum("tokens"),
        };
        assert_eq!(actual, counts);
    }
}

#[test]
fn a_rejected_call_is_not_billed_in_any_output() {
    let file = sample("giant-tool-result.json");
    let diagnosed = json(&["diagnose", &file, "--json"]);
    let replayed = json(&["replay", &file, "--json"]);
    for lane in 0..2 {
        let cost = &diagnosed["lanes"][lane]["cost"];
        let run = &replayed["lanes"][lane];
        assert_eq!(run["tokens_rejected"], 282_388);
        assert_eq!(run["tokens_sent"], 76_995);
        assert_eq!(cost["rejected"]["tokens"], run["tokens_rejected"]);
        let billed =
            ["cache_read", "cache_write", "uncached"].map(|kind| cost[kind]["tokens"].as_u64());
        let billed: Option<u64> = billed.into_iter().sum();
        assert_eq!(billed, run["tokens_sent"].as_u64());
    }
    let costs = [0, 1].map(|lane| &diagnosed["lanes"][lane]["cost"]["usd"]);
    assert_eq!(costs[0], costs[1]);
    let text = stdout(&plimsoll(&["diagnose", &file]));
    let note = "Tokens of rejected attempts, not billed: recorded 282,388,";
    assert!(text.contains(note), "{text}");
}

#[test]
fn inspect_diagnose_and_report_give_the_same_verdict() {
    for name in ["slow-growth.jsonl", "compacted.jsonl", "giant-tool-result.json"] {
        let file = sample(name);
        let inspected = json(&["inspect", &file, "--json"]);
        let verdict = inspected["verdict"].as_str().unwrap();
        assert!(verdict.contains("the trigger of truncate ("), "{verdict}");
        let card = json(&["diagnose", &file, "--json"])["summary"].clone();
        let card = card.as_str().unwrap();
        // Other sentences may precede the one on a preset that works, which names the compared policies.
        let (verdict, preset) = verdict.split_once(" None of ").unwrap_or((verdict, ""));
        let (_, preset) = preset.split_once("; ").unwrap_or_default();
        assert!(card.starts_with(verdict) && card.ends_with(preset), "{card}");
        let report = stdout(&plimsoll(&["report", &file, "-o", "-"]));
        let verdict = verdict.replace(['`', '*'], "");
        assert!(report.replace(['`', '*'], "").contains(&verdict), "{report}");
    }
}

#[test]
fn a_trigger_above_the_recorded_peak_is_only_crossed_without_the_recorded_compaction() {
    let file = sample("compacted.jsonl");
    let card = |policy: &[&str]| {
        let args = ["diagnose", &file, "--json", "--policy"];
        let result = json(&[&args[..], policy].concat());
        result["summary"].as_str().unwrap().to_owned()
    };
    let above = card(&["claude-code", "--set", "reckon_up_to=200000"]);
    let expected = "Without its recorded compaction, the session would cross the trigger of claude-code (167k) at call 37.";
    assert!(above.contains(expected), "{above}");
    let below = card(&["truncate"]);
    assert!(below.contains("Crossed the trigger of truncate (126k) at call 29: "), "{below}");
}

#[test]
fn the_trigger_of_a_real_system_uses_its_own_count() {
    let file = sample("slow-growth.jsonl");
    let args = ["diagnose", &file, "--policy", "holmesgpt", "--window", "200k", "--json"];
    let card = json(&args)["summary"].to_string();
    assert!(card.contains("the trigger of holmesgpt (126k)"), "{card}");
}
