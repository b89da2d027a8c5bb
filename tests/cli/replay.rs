//! `plimsoll replay` on sample sessions.

use crate::program::{command, plimsoll};
use crate::support::{TIGHT, folder, json, sample, samples, stderr, stdout, write_conversation};
use plimsoll::json::Value;
use std::fs;

#[test]
fn every_lane_has_one_sample_per_call_and_consistent_figures() {
    let here = folder();
    for sample in samples() {
        let file = sample.to_str().expect("Unicode");
        let calls = json(&plimsoll(here.path(), &["inspect", "--json", file]))["calls"].as_u64();
        let replay = json(&plimsoll(here.path(), &["replay", "--json", file]));
        let reserve = replay["output_reserve"].as_f64().expect("a number");
        let lanes = replay["lanes"].as_array().expect("lanes");
        let names: Vec<_> = lanes.iter().map(|l| l["policy"].as_str().expect("a name")).collect();
        assert_eq!(names, ["recorded", "none", "truncate", "prune", "summarize"]);
        for lane in lanes {
            let samples = lane["samples"].as_array().expect("samples");
            assert_eq!(Some(samples.len() as u64), calls, "{file}");
            let tokens = || samples.iter().map(|s| s["tokens"].as_u64().expect("a count"));
            let largest = lane["largest_call_tokens"].as_u64();
            assert_eq!(largest, tokens().max(), "{file}");
            let is_at_end = lane["peak_call"].is_null();
            assert_eq!(lane["peak_tokens"].as_u64() > largest, is_at_end, "{file}");
            let answered = samples.iter().filter(|s| s["rejected"] == false);
            let sent = answered.map(|s| s["tokens"].as_u64().expect("a count"));
            assert_eq!(lane["tokens_sent"].as_u64(), Some(sent.sum()), "{file}");
            for (idx, sample) in samples.iter().enumerate() {
                assert_eq!(sample["call"], idx + 1);
                let usable = sample["window"].as_f64().expect("a number") - reserve;
                let pressure = sample["tokens"].as_f64().expect("a number") / usable;
                assert!(
                    (sample["pressure"].as_f64().expect("a number") - pressure).abs() < 1e-9,
                    "{file}"
                );
            }
            for event in lane["events"].as_array().expect("events") {
                assert!(
                    (1..=calls.unwrap_or(0)).contains(&event["call"].as_u64().expect("a call"))
                );
                assert!(
                    event["messages"]
                        .as_array()
                        .is_some_and(|m| m.iter().all(|n| n.as_u64() > Some(0)))
                );
            }
        }
        assert_eq!(
            lanes[1]["compactions"], 0,
            "{file}: the lane without management removed something"
        );
    }
}

#[test]
fn text_json_and_csv_show_the_same_numbers() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let with =
        |form: &[&str]| plimsoll(here.path(), &[&["replay", "c.json"], &TIGHT[..], form].concat());
    let lanes = json(&with(&["--json"]))["lanes"].as_array().expect("lanes").clone();
    let text = stdout(&with(&[])).replace(',', "");
    let csv = stdout(&with(&["--csv"]));
    for lane in &lanes {
        let name = lane["policy"].as_str().expect("a name");
        let row = text.lines().find(|l| l.starts_with(&format!("{name} "))).expect("a row a lane");
        let cells: Vec<&str> = row.split_whitespace().collect();
        let figures =
            ["peak_tokens", "peak_call"].map(|key| lane[key].to_string().replace("null", "end"));
        assert_eq!(cells[1..3], figures, "{row}");
        // Figures that the format does not record are no numbers.
        let figures = ["compactions", "overflows", "tokens_sent"]
            .map(|key| lane[key].to_string().replace("null", "–"));
        assert_eq!(cells[cells.len() - 3..], figures, "{row}");
        let series: Vec<&str> =
            csv.lines().filter(|l| l.starts_with(&format!("{name},"))).collect();
        let samples = lane["samples"].as_array().expect("samples");
        assert_eq!(series.len(), samples.len());
        for (line, s) in series.iter().zip(samples) {
            let expected = ["call", "turn", "window", "metered", "tokens"]
                .map(|key| s[key].to_string())
                .join(",");
            assert!(line.starts_with(&format!("{name},{expected},")), "{line}");
            let ending = format!(",{},{}", s["overflows"], s["into_reserve"]);
            assert!(line.ends_with(&ending), "{line}");
        }
    }
    let acted: Vec<_> = lanes.iter().map(|l| l["compactions"].as_u64() > Some(0)).collect();
    assert_eq!(acted[..3], [false, false, true], "truncate should have had to act");
    assert!(acted[4], "summarize should have had to act");
}

#[test]
fn lanes_may_share_a_policy_or_use_a_policy_file() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let shown = json(&plimsoll(here.path(), &["presets", "show", "truncate", "--json"]));
    fs::write(here.path().join("own.toml"), shown["toml"].as_str().expect("its text"))
        .expect("it can be written");
    let args = [
        "replay",
        "c.json",
        "--json",
        "--window",
        "8k",
        "--output-reserve",
        "1k",
        "--policy",
        "own.toml",
    ];
    let more = [
        "--policy",
        "truncate@short",
        "--set",
        "short.keep_recent=2",
        "--set",
        "truncate.keep_recent=6",
    ];
    let replay = json(&plimsoll(here.path(), &[&args[..], &more].concat()));
    let kept: Vec<_> = replay["lanes"].as_array().expect("lanes")[2..]
        .iter()
        .map(|l| {
            (l["lane"].as_str().expect("a name").to_owned(), l["settings"]["keep_recent"].as_u64())
        })
        .collect();
    assert_eq!(kept, [("truncate".to_owned(), Some(6)), ("short".to_owned(), Some(2))]);
}

#[test]
fn the_strategy_of_a_lane_is_a_setting() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_sessions/many-tool-results.jsonl");
    let here = folder();
    let run =
        |args: &[&str]| plimsoll(here.path(), &[&["replay", sample, "--json"], args].concat());
    let lanes = |args: &[&str]| json(&run(args))["lanes"].as_array().expect("lanes")[2..].to_vec();
    let named = |lanes: &[Value]| -> Vec<String> {
        let name =
            |lane: &Value| format!("{} uses {}", lane["lane"], lane["policy"]).replace('"', "");
        lanes.iter().map(name).collect()
    };
    let protect = ["--set", "prune_protect=20000"];
    let switched =
        lanes(&[&["--policy", "truncate"], &protect[..], &["--set", "strategy=prune"]].concat());
    assert_eq!(switched, lanes(&[&["--policy", "prune"], &protect[..]].concat()));
    let two = ["--policy", "truncate@mine", "--policy", "prune"];
    let set = |set: &'static str| lanes(&[&two[..], &["--set", set]].concat());
    assert_eq!(named(&set("mine.strategy=summarize")), ["mine uses summarize", "prune uses prune"]);
    assert_eq!(named(&set("prune.strategy=goose")), ["mine uses truncate", "goose uses goose"]);
    // A policy with a setting of this name uses its own choices.
    let digitorn = lanes(&["--policy", "digitorn", "--set", "strategy=truncate"]);
    assert_eq!(named(&digitorn), ["digitorn uses digitorn"]);
    let away = lanes(&["--policy", "digitorn", "--set", "strategy=prune"]);
    assert_eq!(named(&away), ["prune uses prune"]);
    let rejected = |args: &[&str], message: &str| {
        let output = run(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(message), "{error}");
    };
    rejected(&["--set", "strategy=prune"], "makes several lanes the same; name one");
    rejected(&["--policy", "truncate", "--set", "strategy=prun"], "did you mean prune?");
    rejected(&["--policy", "truncate", "--set", "other.strategy=prune"], "no lane is named");
}

#[test]
fn the_recorded_lane_does_not_depend_on_the_policies() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let figures = |args: &[&str]| {
        let replay = json(&plimsoll(here.path(), &[&["replay", "--json", &file], args].concat()));
        let lanes = replay["lanes"].as_array().expect("lanes");
        (replay["output_reserve"].clone(), lanes[..2].to_vec())
    };
    let one = figures(&["--policy", "prune", "--policy", "claude-code"]);
    assert_eq!(one, figures(&["--policy", "claude-code", "--policy", "prune"]));
    assert_eq!(one, figures(&["--policy", "codex", "--set", "compression_trigger=0.5"]));
    assert_eq!(one.0, 32_000);
    let typed = figures(&["--policy", "claude-code", "--output-reserve", "20k"]);
    assert_eq!(typed.0, 20_000);
}

#[test]
fn an_error_that_no_policy_reads_is_noted() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let run = |command: &[&str], policy: &str| {
        let options = ["--error", "3=rate_limit", "--policy", policy, "--no-state"];
        stderr(&plimsoll(here.path(), &[command, &options].concat()))
    };
    let commands: [&[&str]; 3] = [
        &["replay", "c.json"],
        &["compact", "c.json", "-o", "managed.json"],
        &["context", "c.json", "--at-call", "2", "-o", "context.json"],
    ];
    for command in commands {
        let said = run(command, "prune");
        assert!(said.contains("--error has no effect"), "{command:?}: {said}");
        let said = run(command, "digitorn");
        assert!(!said.contains("has no effect"), "{command:?}: {said}");
    }
}

#[test]
fn a_share_of_no_usable_window_is_shown_in_words() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    for command in ["replay", "diagnose", "inspect"] {
        let text = stdout(&plimsoll(here.path(), &[command, "c.json", "--window", "10"]));
        assert!(!text.contains("inf"), "{text}");
        assert!(command != "replay" || text.contains("none left"), "{text}");
    }
}

#[test]
fn text_fits_the_width_of_the_terminal() {
    let here = folder();
    let file = sample("compacted.jsonl");
    for args in [&["inspect"][..], &["replay"], &["diagnose"], &["sweep", "--policy", "prune"]] {
        let mut command = command(here.path(), &[args, &[&file]].concat());
        let text = stdout(&command.env("COLUMNS", "80").output().expect("it starts"));
        // Options are for pasting.
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("--"));
        let long = lines.filter(|line| line.chars().count() > 80);
        assert_eq!(long.collect::<Vec<_>>(), [""; 0], "{args:?}");
    }
}

#[test]
fn shares_are_read_as_percentages() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let replay = |more: &[&str]| {
        let args = [&["replay", "c.json", "--window", "8k", "--json"][..], more].concat();
        json(&plimsoll(here.path(), &args))["lanes"][2]["settings"].clone()
    };
    let percent = replay(&["--policy", "truncate", "--set", "compression_trigger=62.5%"]);
    let share = replay(&["--policy", "truncate", "--set", "compression_trigger=0.625"]);
    assert_eq!(percent["compression_trigger"], 0.625);
    assert_eq!(percent, share);
    // A number of messages is no share.
    let args = ["replay", "c.json", "--policy", "truncate", "--set", "keep_recent=75%"];
    let output = plimsoll(here.path(), &args);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("give SETTING=NUMBER"), "{}", stderr(&output));
    let sweep = ["sweep", "c.json", "--policy", "truncate", "--json", "--vary"];
    let listed = |values: &str| {
        let args = [&sweep[..], &[values]].concat();
        json(&plimsoll(here.path(), &args))["sessions"][0]["points"].clone()
    };
    let percent = listed("compression_trigger=50%..90%:20%");
    assert_eq!(percent, listed("compression_trigger=0.5..0.9:0.2"));
    assert!(percent.as_array().is_some_and(|points| points.len() >= 3), "{percent}");
}

#[test]
fn a_lane_that_only_acts_after_a_rejection_says_so_and_takes_the_keys_of_its_system() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let replay = |args: &[&str]| {
        let args = [&["replay", &file, "--policy", "claude-code", "--no-state"], args].concat();
        stdout(&plimsoll(here.path(), &args))
    };
    let default = replay(&[]);
    assert!(default.contains("claude-code did not act"), "{default}");
    let by_key = replay(&["--set", "CLAUDE_CODE_AUTO_COMPACT_WINDOW=200000"]);
    assert!(!by_key.contains("did not act"), "{by_key}");
    assert_eq!(by_key, replay(&["--set", "reckon_up_to=200000"]));
    // The key is a percentage.
    let share = ["--set", "reckon_up_to=200000", "--set", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=50"];
    assert!(replay(&share).contains("compression_trigger=0.5"), "{}", replay(&share));
    let shown = stdout(&plimsoll(here.path(), &["presets", "show", "claude-code"]));
    assert!(shown.contains("proven (2.1."), "{shown}");
}
