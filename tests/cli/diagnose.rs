//! `plimsoll diagnose`: the real binary on sample sessions and on bad input.
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::{env, fs};

fn plimsoll(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    crate::program::plimsoll(folder.path(), args)
}

fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    folder.join(name).to_string_lossy().into_owned()
}

fn json(args: &[&str]) -> Value {
    let output = plimsoll(args);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_sample_is_diagnosed_in_both_forms() {
    for name in [
        "compacted.jsonl",
        "giant-tool-result.json",
        "handoff.json",
        "images-and-cjk.json",
        "many-tool-results.jsonl",
        "slow-growth.jsonl",
    ] {
        let file = sample(name);
        let shape = json(&["diagnose", &file, "--json"]);
        let lanes: Vec<_> = shape["lanes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|lane| lane["lane"].as_str().unwrap())
            .collect();
        assert_eq!(
            lanes,
            ["recorded", "none", "truncate", "prune", "summarize"],
            "{name}"
        );
        for lane in shape["lanes"].as_array().unwrap() {
            let cost = &lane["cost"];
            let parts = [
                "read",
                "written",
                "uncached",
                "output",
                "rejected",
                "summaries",
            ];
            if let Some(total) = cost["usd"].as_f64() {
                let sum: f64 = parts
                    .iter()
                    .map(|part| cost[*part]["usd"].as_f64().unwrap())
                    .sum();
                assert!((sum - total).abs() < 1e-9, "{name}: {sum}, not {total}");
            } else {
                assert!(
                    cost["read"]["usd"].is_null(),
                    "{name}: a part of an unknown sum is known"
                );
            }
        }
        let text = plimsoll(&["diagnose", &file]);
        assert!(
            text.status.success() && said(&text).contains("most carried"),
            "{name}"
        );
    }
}

#[test]
fn unknown_prices_leave_the_cost_blank_and_ones_own_fill_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("talk.json");
    let talk = r#"{"model":"house-model","messages":[{"role":"user","content":"Hello there"},{"role":"assistant","content":"Hi."}]}"#;
    fs::write(&file, talk).expect("written");
    let file = file.to_string_lossy();
    let shape = json(&[
        "diagnose",
        &file,
        "--json",
        "--price-as",
        "claude-sonnet-4-5",
    ]);
    assert!(shape["lanes"][0]["cost"]["usd"].as_f64().unwrap() > 0.0);
    let blank = json(&["diagnose", &file, "--json"]);
    assert!(blank["lanes"][0]["cost"]["usd"].is_null());
    let text = plimsoll(&["diagnose", &file]);
    assert!(said(&text).contains("–"), "{}", said(&text));

    let prices = folder.path().join("prices.toml");
    let row = "[[price]]\nmatch = \"house-model\"\ncaching = \"openai\"\ninput = 1\noutput = 2\ncache_read = 0.5\nsource = \"the bill\"\nread = 2026-11-01\nverified = true\n";
    fs::write(&prices, row).expect("written");
    let prices = prices.to_string_lossy();
    let shape = json(&[
        "diagnose",
        &file,
        "--json",
        "--prices",
        &prices,
        "--price-as",
        "house-model",
    ]);
    assert!(shape["lanes"][0]["cost"]["usd"].as_f64().unwrap() > 0.0);
}

#[test]
fn bad_options_are_refused_in_one_line_that_says_what_to_do() {
    let file = sample("slow-growth.jsonl");
    let missing = PathBuf::from("/nowhere/prices.toml");
    let missing = missing.to_string_lossy();
    for (args, expected) in [
        (vec!["diagnose"], "not provided: <FILE>"),
        (
            vec!["diagnose", &file, "--cache-time", "soon"],
            "[possible values: usual, long]",
        ),
        (
            vec!["diagnose", &file, "--price-as", "my-model"],
            "--prices",
        ),
        (
            vec!["diagnose", &file, "--prices", &missing],
            "/nowhere/prices.toml",
        ),
        (vec!["diagnose", &file, "--bogus"], "--bogus"),
    ] {
        let output = plimsoll(&args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(
            error.contains(expected) && error.trim().lines().count() == 1,
            "{error}"
        );
    }
}

#[test]
fn shared_sessions_cost_what_their_own_counts_come_to() {
    // Sums over the files' own usage, each call once, at list prices; worked out apart from this program.
    let known = [
        (
            "claude_code/cc-3compactions-2.1.7.jsonl",
            24_013_662_u64,
            1_618_146_u64,
            14,
            1_283_335_u64,
        ),
        (
            "claude_code/cc-1M-window-626k-2.1.126.jsonl",
            153_887_555,
            689_690,
            1,
            78_428,
        ),
        (
            "codex_rollout/cx-0.145-196k.jsonl",
            17_636_608,
            421_518,
            4,
            142_811,
        ),
    ];
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/sessions");
    let folder = env::var_os("PLIMSOLL_SESSIONS").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!(
            "skipped: there are no shared sessions in {}",
            folder.display()
        );
        return;
    }
    for (name, read, written, misses, lost) in known {
        let file = folder.join(name);
        let shape = json(&["diagnose", &file.to_string_lossy(), "--json"]);
        let cost = &shape["lanes"][0]["cost"];
        assert_eq!(cost["read"]["tokens"].as_u64(), Some(read), "{name}");
        assert_eq!(cost["written"]["tokens"].as_u64(), Some(written), "{name}");
        let breaks = shape["cache_audit"]["breaks"].as_array().expect("counted");
        let sum = |key: &str| {
            breaks
                .iter()
                .map(|found| found[key].as_u64().unwrap())
                .sum::<u64>()
        };
        assert_eq!((sum("calls"), sum("tokens")), (misses, lost), "{name}");
    }
}
