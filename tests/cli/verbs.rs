//! The command line as scripts and people meet it: the real binary on sample sessions and on bad input.

use crate::program::{command, plimsoll};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    let entries = fs::read_dir(folder)
        .expect("there are samples")
        .map(|e| e.expect("readable").path());
    let mut samples: Vec<PathBuf> = entries
        .filter(|p| p.extension().is_some_and(|e| e == "json" || e == "jsonl"))
        .collect();
    samples.sort();
    assert!(!samples.is_empty(), "no sample sessions");
    samples
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("the output is JSON")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the output is UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the errors are UTF-8")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> = entries
        .map(|e| {
            e.expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// What an export of `c.json` is.
const EXPORT: [&str; 3] = [
    "c-managed-1.json",
    "c-managed-1.manifest.json",
    "c-managed-1.removed.jsonl",
];

/// Bad input or use: exit 2, one line that begins with our name, nothing on standard output, nothing written.
fn refused(folder: &Path, args: &[&str]) -> String {
    let before = names_in(folder);
    let output = plimsoll(folder, args);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
    assert_eq!(stdout(&output), "", "{args:?}");
    assert!(
        error.starts_with("plimsoll: ") && error.ends_with('\n'),
        "{args:?}: {error:?}"
    );
    assert_eq!(error.lines().count(), 1, "{args:?}: {error:?}");
    assert!(
        error.chars().all(|c| c == '\n' || !c.is_control()),
        "{args:?}: {error:?}"
    );
    assert_eq!(names_in(folder), before, "{args:?} wrote something");
    error
}

/// A conversation with tool results that overfills a window of 8,000: by far the heaviest are the oldest.
fn write_conversation(folder: &Path, name: &str) {
    let mut messages = vec![
        serde_json::json!({"role": "system", "content": "You are careful."}),
        serde_json::json!({"role": "user", "content": "Read all the files, then say what they have in common."}),
    ];
    for n in 0..12 {
        let id = format!("call_{n}");
        let arguments = format!("{{\"path\":\"src/file_{n}.rs\"}}");
        messages.push(serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments}}]}));
        let line = format!("pub fn item_{n}(value: u64) -> u64 {{ value + {n} }}\n");
        messages.push(
            serde_json::json!({"role": "tool", "tool_call_id": id, "content": line.repeat(40)}),
        );
    }
    messages.push(serde_json::json!({"role": "assistant", "content": "They all add a number."}));
    let text =
        serde_json::to_string_pretty(&serde_json::json!({"model": "gpt-4o", "messages": messages}));
    fs::write(folder.join(name), text.expect("it is JSON")).expect("it can be written");
}

/// Settings under which every strategy has to act on that conversation.
const TIGHT: [&str; 8] = [
    "--window",
    "8k",
    "--output-reserve",
    "1k",
    "--set",
    "truncate.keep_recent=4",
    "--set",
    "summarize.keep_recent=4",
];

#[test]
fn inspect_gives_the_documented_shape_for_every_sample() {
    let here = folder();
    for sample in samples() {
        let found = json(&plimsoll(
            here.path(),
            &["inspect", "--json", sample.to_str().expect("Unicode")],
        ));
        let name = sample.display();
        for number in ["messages", "turns", "steps", "chars"] {
            assert!(
                found[number].as_u64().is_some_and(|n| n > 0),
                "{name}: {number} is {}",
                found[number]
            );
        }
        let total = found["tokens"]["total"].as_u64().expect("a total");
        let kinds = found["tokens"]["by_kind"].as_object().expect("kinds");
        assert_eq!(
            kinds.keys().map(String::as_str).collect::<Vec<_>>(),
            [
                "system",
                "tools",
                "user",
                "assistant",
                "thinking",
                "tool_call",
                "tool_result",
                "media",
                "summary",
                "notice"
            ],
            "{name}"
        );
        let sum: u64 = kinds.values().map(|n| n.as_u64().expect("a count")).sum();
        assert_eq!(sum, total, "{name}: the kinds do not add up");
        let roles = found["roles"].as_object().expect("roles");
        let sum: u64 = roles.values().map(|n| n.as_u64().expect("a count")).sum();
        assert_eq!(found["messages"], sum, "{name}: the roles do not add up");
        let tools = found["tokens"]["by_tool"].as_object().expect("tools");
        assert!(
            tools
                .values()
                .all(|n| n.as_u64().is_some_and(|n| n <= total)),
            "{name}"
        );
        let largest: Vec<u64> = found["largest"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|part| part["tokens"].as_u64().expect("a count"))
            .collect();
        assert!(
            largest.is_sorted_by(|a, b| a >= b) && !largest.is_empty(),
            "{name}: {largest:?}"
        );
        assert!(
            ["reported", "exact", "calibrated", "estimated"]
                .contains(&found["tokens"]["basis"].as_str().expect("a word"))
        );
        assert!(
            found["recorded"]["calls_with_usage"].is_u64()
                && found["recorded"]["compactions"].is_array()
        );
        let usage = found["recorded"]["calls_with_usage"].as_u64() > Some(0);
        assert_eq!(found["recorded"]["largest_call"].is_u64(), usage, "{name}");
        assert!(
            found["warnings"].is_array()
                && found["issues"].is_array()
                && found["models"].is_array()
        );
        assert!(
            [
                "openai_chat",
                "anthropic_messages",
                "claude_code",
                "codex_rollout"
            ]
            .contains(&found["format"].as_str().expect("a name"))
        );
    }
    assert_eq!(
        names_in(here.path()),
        Vec::<String>::new(),
        "inspect wrote something"
    );
}

#[test]
fn replay_has_one_sample_a_call_and_figures_that_follow_from_them() {
    let here = folder();
    for sample in samples() {
        let file = sample.to_str().expect("Unicode");
        let steps = json(&plimsoll(here.path(), &["inspect", "--json", file]))["steps"].as_u64();
        let replay = json(&plimsoll(here.path(), &["replay", "--json", file]));
        let reserve = replay["output_reserve"].as_f64().expect("a number");
        let lanes = replay["lanes"].as_array().expect("lanes");
        let names: Vec<_> = lanes
            .iter()
            .map(|l| l["policy"].as_str().expect("a name"))
            .collect();
        assert_eq!(
            names,
            ["recorded", "none", "truncate", "prune", "summarize"]
        );
        for lane in lanes {
            let samples = lane["samples"].as_array().expect("samples");
            assert_eq!(Some(samples.len() as u64), steps, "{file}");
            let tokens = || {
                samples
                    .iter()
                    .map(|s| s["tokens"].as_u64().expect("a count"))
            };
            let largest = lane["largest_call"].as_u64();
            assert_eq!(largest, tokens().max(), "{file}");
            let is_at_end = lane["peak_step"].is_null();
            assert_eq!(lane["peak"].as_u64() > largest, is_at_end, "{file}");
            let answered = samples.iter().filter(|s| s["refused"] == false);
            let sent = answered.map(|s| s["tokens"].as_u64().expect("a count"));
            assert_eq!(lane["tokens_sent"].as_u64(), Some(sent.sum()), "{file}");
            for (idx, sample) in samples.iter().enumerate() {
                assert_eq!(sample["step"], idx + 1);
                let usable = sample["window"].as_f64().expect("a number") - reserve;
                let pressure = sample["tokens"].as_f64().expect("a number") / usable;
                assert!(
                    (sample["pressure"].as_f64().expect("a number") - pressure).abs() < 1e-9,
                    "{file}"
                );
            }
            for event in lane["events"].as_array().expect("events") {
                assert!(
                    (1..=steps.unwrap_or(0)).contains(&event["step"].as_u64().expect("a step"))
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
fn the_same_numbers_come_as_text_as_json_and_as_csv() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let with = |form: &[&str]| {
        plimsoll(
            here.path(),
            &[&["replay", "c.json"], &TIGHT[..], form].concat(),
        )
    };
    let lanes = json(&with(&["--json"]))["lanes"]
        .as_array()
        .expect("lanes")
        .clone();
    let text = stdout(&with(&[])).replace(',', "");
    let csv = stdout(&with(&["--csv"]));
    for lane in &lanes {
        let name = lane["policy"].as_str().expect("a name");
        let row = text
            .lines()
            .find(|l| l.starts_with(&format!("{name} ")))
            .expect("a row a lane");
        let cells: Vec<&str> = row.split_whitespace().collect();
        let figures = ["peak", "peak_step"].map(|key| lane[key].to_string().replace("null", "end"));
        assert_eq!(cells[1..3], figures, "{row}");
        // What the format does not tell is no number in either form.
        let figures = ["compactions", "overflows", "tokens_sent"]
            .map(|key| lane[key].to_string().replace("null", "–"));
        assert_eq!(cells[cells.len() - 3..], figures, "{row}");
        let series: Vec<&str> = csv
            .lines()
            .filter(|l| l.starts_with(&format!("{name},")))
            .collect();
        let samples = lane["samples"].as_array().expect("samples");
        assert_eq!(series.len(), samples.len());
        for (line, s) in series.iter().zip(samples) {
            let expected = ["step", "turn", "window", "metered", "tokens"]
                .map(|key| s[key].to_string())
                .join(",");
            assert!(line.starts_with(&format!("{name},{expected},")), "{line}");
            assert!(line.ends_with(&format!(",{}", s["overflows"])), "{line}");
        }
    }
    let acted: Vec<_> = lanes
        .iter()
        .map(|l| l["compactions"].as_u64() > Some(0))
        .collect();
    assert_eq!(
        acted[..3],
        [false, false, true],
        "truncate should have had to act"
    );
    assert!(acted[4], "summarize should have had to act");
}

#[test]
fn a_policy_may_be_named_twice_with_other_settings_or_come_from_a_file() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let shown = json(&plimsoll(
        here.path(),
        &["presets", "show", "truncate", "--json"],
    ));
    fs::write(
        here.path().join("own.toml"),
        shown["toml"].as_str().expect("its text"),
    )
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
            (
                l["lane"].as_str().expect("a name").to_owned(),
                l["knobs"]["keep_recent"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        kept,
        [
            ("truncate".to_owned(), Some(6)),
            ("short".to_owned(), Some(2))
        ]
    );
}

#[test]
fn a_compacted_session_weighs_what_was_promised_and_leaves_the_source_alone() {
    for policy in ["truncate", "summarize", "prune"] {
        for schedule in ["now", "replay"] {
            let here = folder();
            write_conversation(here.path(), "c.json");
            let source = fs::read(here.path().join("c.json")).expect("it was written");
            let mut args = vec![
                "compact",
                "c.json",
                "--json",
                "--policy",
                policy,
                "--schedule",
                schedule,
            ];
            args.extend(["--window", "8k", "--output-reserve", "1k"]);
            args.extend(match policy {
                "prune" => [
                    "--set",
                    "spare_turns=0",
                    "--set",
                    "prune_protect=1k",
                    "--set",
                    "prune_minimum=100",
                ]
                .to_vec(),
                _ => ["--set", "keep_recent=4"].to_vec(),
            });
            let compacted = json(&plimsoll(here.path(), &args));
            let checks = compacted["checks"].as_array().expect("checks");
            assert!(
                checks.len() >= 4 && checks.iter().all(|c| c["ok"] == true),
                "{policy}: {checks:?}"
            );
            assert_eq!(
                (&compacted["changed"], &compacted["output"]),
                (&Value::from(true), &Value::from("c-managed-1.json"))
            );
            assert!(compacted["after"].as_u64() < compacted["before"].as_u64());
            let inspected = json(&plimsoll(
                here.path(),
                &["inspect", "--json", "c-managed-1.json"],
            ));
            assert_eq!(
                inspected["tokens"]["total"], compacted["after"],
                "{policy}, {schedule}"
            );
            assert_eq!(
                inspected["issues"],
                Value::Array(Vec::new()),
                "{policy}, {schedule}"
            );
            assert_eq!(
                fs::read(here.path().join("c.json")).expect("it is there"),
                source
            );
            let [managed, manifest, removed] = EXPORT;
            assert_eq!(
                names_in(here.path()),
                [managed, manifest, removed, "c.json"]
            );
        }
    }
}

#[test]
fn a_managed_copy_of_a_calibrated_session_weighs_the_same_when_it_is_opened_again() {
    let folder = folder();
    for (sample, policy) in [
        ("slow-growth.jsonl", "truncate"),
        ("compacted.jsonl", "prune"),
    ] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("sample_sessions")
            .join(sample);
        let source = source.to_str().expect("UTF-8");
        let out = format!("{policy}.jsonl");
        let args = [
            "compact",
            source,
            "--policy",
            policy,
            "--schedule",
            "replay",
            "-o",
            &out,
            "--json",
        ];
        let compacted = json(&plimsoll(folder.path(), &args));
        let opened = json(&plimsoll(folder.path(), &["inspect", &out, "--json"]));
        assert_eq!(opened["tokens"]["total"], compacted["after"], "{sample}");
        assert_eq!(opened["tokens"]["basis"], "calibrated");
        assert_eq!(opened["recorded"]["largest_call"], Value::Null);
    }
}

#[test]
fn a_conversation_can_be_written_in_the_other_message_format() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let args = [
        "compact",
        "c.json",
        "--json",
        "--policy",
        "truncate",
        "--format",
        "anthropic_messages",
        "-o",
        "a.json",
    ];
    let compacted = json(&plimsoll(
        here.path(),
        &[
            &args[..],
            &[
                "--window",
                "8k",
                "--output-reserve",
                "1k",
                "--set",
                "keep_recent=4",
            ],
        ]
        .concat(),
    ));
    assert!(
        compacted["checks"]
            .as_array()
            .is_some_and(|c| c.iter().all(|c| c["ok"] == true)),
        "{compacted}"
    );
    let inspected = json(&plimsoll(here.path(), &["inspect", "--json", "a.json"]));
    assert_eq!(inspected["format"], "anthropic_messages");
}

#[test]
fn a_trigger_that_is_not_met_changes_nothing_unless_forced() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let args = [
        "compact",
        "c.json",
        "--policy",
        "truncate",
        "--set",
        "keep_recent=4",
    ];
    let output = plimsoll(here.path(), &args);
    assert!(
        output.status.success() && stdout(&output).contains("not met"),
        "{}",
        stdout(&output)
    );
    assert_eq!(names_in(here.path()), ["c.json"]);
    let unchanged = json(&plimsoll(here.path(), &[&args[..], &["--json"]].concat()));
    assert_eq!(
        (&unchanged["changed"], &unchanged["output"]),
        (&Value::from(false), &Value::Null)
    );
    assert_eq!(unchanged["before"], unchanged["after"]);
    let forced = json(&plimsoll(
        here.path(),
        &[&args[..], &["--json", "--force"]].concat(),
    ));
    assert_eq!(forced["changed"], true);
}

#[test]
fn a_pasted_summary_is_used_or_refused_when_it_is_too_long() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let args = [
        "compact",
        "c.json",
        "--force",
        "--policy",
        "summarize",
        "--set",
        "keep_recent=4",
        "-o",
        "out.json",
    ];
    let long = format!("text:{}", "word ".repeat(3_000));
    let error = refused(here.path(), &[&args[..], &["--summarizer", &long]].concat());
    assert!(
        error.contains("the summary has 3011 tokens") && error.contains("summary_max_tokens"),
        "{error}"
    );
    let output = plimsoll(
        here.path(),
        &[&args[..], &["--summarizer", "text:Twelve files were read."]].concat(),
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        fs::read_to_string(here.path().join("out.json"))
            .expect("it is there")
            .contains("Twelve files were read.")
    );
}

#[test]
fn nothing_that_exists_is_overwritten() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let before = fs::read(here.path().join("c.json")).expect("it is there");
    for output in ["c.json", "./c.json", "../c.json"] {
        let inside = here.path().join("inner");
        fs::create_dir_all(&inside).expect("a folder");
        let (at, file) = if output.starts_with("..") {
            (inside.as_path(), "../c.json")
        } else {
            (here.path(), "c.json")
        };
        let error = refused(
            at,
            &[
                "compact", file, "--force", "--policy", "truncate", "-o", output,
            ],
        );
        assert!(error.contains("already exists"), "{error}");
    }
    assert_eq!(
        fs::read(here.path().join("c.json")).expect("it is there"),
        before
    );
}

#[test]
fn every_verb_refuses_every_kind_of_bad_file_in_one_line() {
    let here = folder();
    write_conversation(here.path(), "whole.json");
    let whole = fs::read(here.path().join("whole.json")).expect("it is there");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(here.path().join(name), bytes).expect("it can be written");
    };
    write("empty.json", b"");
    write("blank.json", b" \n\n");
    write("torn.json", &whole[..whole.len() / 2]);
    write(
        "binary.json",
        &(0..=255_u8).cycle().take(5_000).collect::<Vec<_>>(),
    );
    write("text.json", b"dear diary, today I met a robot\n");
    write("other.json", b"{\"name\": \"plimsoll\", \"version\": 3}");
    fs::create_dir(here.path().join("folder")).expect("a folder");
    let bad = [
        "missing.json",
        "folder",
        "folder/none.json",
        "whole.json/x",
        "empty.json",
        "blank.json",
        "torn.json",
        "binary.json",
        "text.json",
        "other.json",
    ];
    for file in bad {
        for verb in [
            &["inspect"][..],
            &["inspect", "--json"],
            &["replay"],
            &["replay", "--json"],
            &["compact", "--policy", "truncate"],
        ] {
            refused(here.path(), &[verb, &[file]].concat());
        }
    }
}

#[test]
fn a_line_of_50_megabytes_is_refused_like_any_other_that_is_no_conversation() {
    let here = folder();
    let mut file = fs::File::create(here.path().join("long.jsonl")).expect("it can be made");
    let piece = "x".repeat(1 << 20);
    file.write_all(b"{\"log\":\"").expect("it can be written");
    (0..50).for_each(|_| file.write_all(piece.as_bytes()).expect("it can be written"));
    file.write_all(b"\"}\n").expect("it can be written");
    for verb in [
        &["inspect"][..],
        &["replay"],
        &["compact", "--policy", "prune"],
    ] {
        refused(here.path(), &[verb, &["long.jsonl"]].concat());
    }
}

#[test]
fn bad_use_is_refused_in_one_line_that_says_what_there_is() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let c = "c.json";
    let cases: [(&[&str], &str); 40] = [
        (&["inspct", c], "did you mean inspect?"),
        (&["inspect"], "not provided: <FILE>"),
        (&["inspect", c, c], "unexpected argument"),
        (
            &["inspect", c, "--frobnicate"],
            "unexpected argument '--frobnicate'",
        ),
        (
            &["inspect", c, "--policy", "truncate"],
            "unexpected argument '--policy'",
        ),
        (&["inspect", c, "--window", "wide"], "200k"),
        (&["inspect", c, "--window", "0"], "200k"),
        (&["inspect", c, "--window"], "--window"),
        (&["inspect", c, "--counter", "abacus"], "o200k_base"),
        (&["inspect", c, "--conversation", "2"], "one conversation"),
        (&["inspect", c, "--conversation", "0"], "from 1"),
        (&["replay", c, "--policy", "unheard"], "truncate"),
        (&["replay", c, "--policy", "unheard.toml"], "no such file"),
        (&["replay", c, "--set", "keep_recent=0"], "out of range"),
        (
            &["replay", c, "--set", "keep_recent=many"],
            "SETTING=NUMBER such as keep_recent=",
        ),
        (&["replay", c, "--set", "patience=3"], "keep_recent"),
        (&["replay", c, "--set", "nobody.keep_recent=3"], "truncate"),
        (&["replay", c, "--json", "--csv"], "cannot be used with"),
        (
            &["replay", c, "--window", "8k", "--output-reserve", "9k"],
            "--window",
        ),
        (&["compact", c], "--policy"),
        (&["compact", c, "--policy", "none"], "another policy"),
        (
            &["compact", c, "--policy", "truncate", "--at-call", "14"],
            "13 calls",
        ),
        (
            &[
                "compact",
                c,
                "--policy",
                "truncate",
                "--schedule",
                "replay",
                "--force",
            ],
            "--schedule now",
        ),
        (&["presets", "show", "unheard"], "truncate"),
        (
            &["inspect", c, "--window", "8k", "--output-reserve", "8k"],
            "--window",
        ),
        (&["replay", c, "--policy", "truncate@none"], "always exists"),
        (
            &["replay", c, "--policy", "truncate@recorded"],
            "always exists",
        ),
        (&["replay", c, "--set"], "SETTING=VALUE"),
        (&["replay", c, "--policy"], "FILE.toml"),
        (&["compact", c, "--policy", "truncate", "-o", "-"], "file"),
        (
            &["compact", c, "--policy", "truncate", "-o", ""],
            "give a path",
        ),
        (
            &["compact", c, "--policy", "truncate", "-o"],
            "--output <OUT>",
        ),
        (&["--no-state", "inspct", c], "did you mean inspect?"),
        (&["--no-state", "inspect"], "not provided: <FILE>"),
        (&["--json", c], "requires a command"),
        (&["inspect", "."], "is a folder"),
        (&[c, "--policy", "unheard"], "truncate"),
        (&[c, "--set", "patience=3"], "keep_recent"),
        (&["state", "burn"], "unrecognized subcommand 'burn'"),
        (&["state", "clear", "--no-state"], "--no-state"),
    ];
    for (args, says) in cases {
        let error = refused(here.path(), args);
        assert!(error.contains(says), "{args:?}: {error}");
    }
}

#[test]
fn a_broken_policy_file_is_refused_in_one_line() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    for (name, text) in [
        ("broken.toml", "name = \n[["),
        ("other.toml", "[package]\nname = \"x\""),
        ("empty.toml", ""),
    ] {
        fs::write(here.path().join(name), text).expect("it can be written");
        let error = refused(here.path(), &["replay", "c.json", "--policy", name]);
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_session_comes_through_standard_input_too() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let file = fs::File::open(here.path().join("c.json")).expect("it is there");
    let piped = command(here.path(), &["inspect", "-", "--json"])
        .stdin(file)
        .output()
        .expect("the program starts");
    let (piped, read) = (
        json(&piped),
        json(&plimsoll(here.path(), &["inspect", "c.json", "--json"])),
    );
    assert_eq!(piped["tokens"], read["tokens"]);
    refused(here.path(), &["compact", "-", "--policy", "truncate"]);
}

#[test]
fn whoever_stops_reading_the_output_causes_no_error() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let mut child = command(here.path(), &["replay", "c.json", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(0), String::new())
    );
}

#[test]
fn text_of_a_session_cannot_command_the_terminal() {
    let here = folder();
    let call = serde_json::json!({"id": "c", "type": "function", "function": {"name": "evil\u{1b}[2J\u{202e}", "arguments": "{}"}});
    let conversation = serde_json::json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "ok ".repeat(50)},
        {"role": "assistant", "content": "done"},
    ]);
    fs::write(here.path().join("c.json"), conversation.to_string()).expect("it can be written");
    for args in [
        &["inspect", "c.json"][..],
        &["inspect", "c.json", "--json"],
        &["replay", "c.json"],
    ] {
        let output = stdout(&plimsoll(here.path(), args));
        assert!(
            !output.chars().any(|c| c == '\u{1b}' || c == '\u{202e}'),
            "{args:?}: {output:?}"
        );
    }
}

#[test]
fn presets_can_be_listed_and_shown() {
    let here = folder();
    let list = json(&plimsoll(here.path(), &["presets", "--json"]));
    for preset in list.as_array().expect("a list") {
        let name = preset["name"].as_str().expect("a name");
        let shown = json(&plimsoll(here.path(), &["presets", "show", name, "--json"]));
        let text = stdout(&plimsoll(here.path(), &["presets", "show", name]));
        for knob in shown["knobs"].as_array().expect("knobs") {
            assert!(
                text.contains(knob["help"].as_str().expect("help")),
                "{name}: {knob}"
            );
        }
        assert_eq!(
            shown["stages"].as_array().map(Vec::len),
            preset["stages"].as_array().map(Vec::len)
        );
    }
    assert_eq!(
        stdout(&plimsoll(here.path(), &["presets", "list"])),
        stdout(&plimsoll(here.path(), &["presets"]))
    );
}

#[test]
fn help_and_version_are_answered_on_standard_output() {
    let here = folder();
    let version = stdout(&plimsoll(here.path(), &["--version"]));
    assert_eq!(
        version.trim(),
        format!("plimsoll {}", env!("CARGO_PKG_VERSION"))
    );
    let help = stdout(&plimsoll(here.path(), &["--help"]));
    for verb in ["inspect", "replay", "compact", "presets", "state"] {
        assert!(help.contains(&format!("\n  {verb} ")), "{help}");
        let of_verb = plimsoll(here.path(), &[verb, "--help"]);
        assert!(of_verb.status.success() && stdout(&of_verb).contains(&format!("plimsoll {verb}")));
    }
}

#[test]
fn an_export_of_a_session_in_an_agents_own_store_goes_to_the_current_folder_unless_told() {
    let here = folder();
    let store = here.path().join(".claude/projects/-home-me");
    let work = here.path().join("work");
    fs::create_dir_all(&store).expect("a folder");
    fs::create_dir(&work).expect("a folder");
    write_conversation(&store, "c.json");
    let source = store.join("c.json");
    let source = source.to_str().expect("Unicode");
    let args = [
        "compact",
        source,
        "--json",
        "--force",
        "--policy",
        "truncate",
        "--set",
        "keep_recent=4",
    ];
    let run = |more: &[&str]| {
        let mut command = command(&work, &[&args, more].concat());
        command
            .env("HOME", here.path())
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CODEX_HOME");
        json(&command.output().expect("the program starts"))["output"].clone()
    };
    assert_eq!(run(&[]), "c-managed-1.json");
    assert_eq!(
        (names_in(&work), names_in(&store)),
        (
            EXPORT.map(str::to_owned).to_vec(),
            vec!["c.json".to_owned()]
        )
    );
    let asked = store.join("mine.json");
    run(&["-o", asked.to_str().expect("Unicode")]);
    assert_eq!(
        names_in(&store),
        [
            "c.json",
            "mine.json",
            "mine.manifest.json",
            "mine.removed.jsonl"
        ]
    );
}

#[test]
fn shared_options_may_stand_before_the_verb() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let before = plimsoll(
        here.path(),
        &[
            "--no-state",
            "--window",
            "8k",
            "--json",
            "inspect",
            "c.json",
        ],
    );
    let after = plimsoll(
        here.path(),
        &["inspect", "c.json", "--json", "--window", "8k"],
    );
    assert_eq!(json(&before), json(&after));
}

#[test]
fn a_picture_never_replaces_the_session_nor_anything_but_a_picture() {
    let here = folder();
    write_conversation(here.path(), "v.json");
    let source = fs::read(here.path().join("v.json")).expect("it is there");
    fs::write(here.path().join("notes.png"), "a diary").expect("it can be written");
    for (output, says) in [
        ("v.json", "the session itself"),
        ("./v.json", "the session itself"),
        ("notes.png", "is not a PNG"),
        ("no/such.png", "is not a folder"),
        ("", "is empty"),
    ] {
        let error = refused(here.path(), &["v.json", "--screenshot", output]);
        assert!(error.contains(says), "{error}");
    }
    assert_eq!(
        fs::read(here.path().join("v.json")).expect("it is there"),
        source
    );
    let shoot = |size: &str| {
        let args = ["v.json", "--screenshot", "out.png", "--size", size];
        let output = plimsoll(here.path(), &args);
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read(here.path().join("out.png")).expect("it was written")
    };
    let (first, second) = (shoot("900x600"), shoot("1000x600"));
    assert!(first.starts_with(b"\x89PNG") && first != second);
    assert_eq!(names_in(here.path()), ["notes.png", "out.png", "v.json"]);
}

#[test]
fn the_window_opens_the_lanes_that_were_asked_for() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let shoot = |name: &str, args: &[&str]| {
        let output = plimsoll(
            here.path(),
            &[&["c.json", "--screenshot", name][..], args].concat(),
        );
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        fs::read(here.path().join(name)).expect("it was written")
    };
    let window = ["--window", "8k", "--output-reserve", "1k"];
    let plain = shoot("a.png", &window);
    let one = shoot("b.png", &[&window[..], &["--policy", "truncate"]].concat());
    let set = [
        &window[..],
        &["--policy", "truncate", "--set", "keep_recent=4"],
    ]
    .concat();
    let set = shoot("c.png", &set);
    assert!(plain != one && one != set);
    // The window has one slider for both.
    let args = [
        "c.json",
        "--screenshot",
        "d.png",
        "--policy",
        "truncate",
        "--policy",
        "summarize",
        "--set",
        "truncate.keep_recent=4",
    ];
    assert!(refused(here.path(), &args).contains("plimsoll replay"));
}

#[test]
fn an_export_has_no_place_of_its_own_inside_an_agents_store() {
    let here = folder();
    let store = here.path().join(".claude/projects/-home-me");
    fs::create_dir_all(&store).expect("a folder");
    write_conversation(&store, "c.json");
    let args = [
        "compact",
        "c.json",
        "--force",
        "--policy",
        "truncate",
        "--set",
        "keep_recent=4",
    ];
    let run = |more: &[&str]| {
        let mut command = command(&store, &[&args[..], more].concat());
        command
            .env("HOME", here.path())
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CODEX_HOME");
        command.output().expect("the program starts")
    };
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("-o OUT"), "{}", stderr(&refused));
    assert_eq!(names_in(&store), ["c.json"]);
    assert!(run(&["-o", "../../../out.json"]).status.success());
    assert_eq!(names_in(&store), ["c.json"]);
}

#[test]
fn lanes_cannot_command_the_terminal_either() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let evil = "truncate@\u{1b}[31m\nx";
    for form in ["--csv", "--json", "--no-state"] {
        let args = [
            "replay",
            "c.json",
            "--window",
            "8k",
            "--output-reserve",
            "1k",
            "--policy",
            evil,
            "--set",
            "keep_recent=4",
            form,
        ];
        let output = plimsoll(here.path(), &args);
        let text = stdout(&output);
        assert!(
            output.status.success() && !text.contains('\u{1b}'),
            "{form}: {text:?}"
        );
        if form == "--csv" {
            let is_a_row = |line: &str| line.ends_with("true") || line.ends_with("false");
            assert!(text.lines().skip(1).all(is_a_row), "{text:?}");
        }
    }
}

#[test]
fn messages_are_counted_as_they_are_numbered() {
    let here = folder();
    let mut has_both = false;
    for sample in samples() {
        let file = sample.to_str().expect("Unicode");
        let found = json(&plimsoll(here.path(), &["inspect", "--json", file]));
        let messages = found["messages"].as_u64().expect("a count");
        let only = found["messages_recorded_only"].as_u64().expect("a count");
        has_both |= only > 0 && only < messages;
        let text = stdout(&plimsoll(here.path(), &["inspect", file])).replace(',', "");
        assert!(
            text.contains(&format!("messages     {messages} (")),
            "{text}"
        );
        let replay = json(&plimsoll(here.path(), &["replay", "--json", file]));
        let events = replay["lanes"]
            .as_array()
            .expect("lanes")
            .iter()
            .flat_map(|lane| lane["events"].as_array().expect("events"));
        let named = events.flat_map(|event| event["messages"].as_array().expect("messages"));
        let largest = found["largest"].as_array().expect("a list");
        let named = named.chain(largest.iter().map(|part| &part["message"]));
        let highest = named.filter_map(Value::as_u64).max();
        assert!(
            highest <= Some(messages),
            "{file}: {highest:?} of {messages}"
        );
    }
    assert!(has_both, "no sample was compacted by its own program");
}

#[test]
fn a_context_that_stays_too_large_is_said_also_where_nothing_changed() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let args = ["compact", "c.json", "--json", "--policy", "prune"];
    let tight = ["--window", "3k", "--output-reserve", "1k"];
    for schedule in ["now", "replay"] {
        let args = [&args[..], &tight, &["--schedule", schedule]].concat();
        let found = json(&plimsoll(here.path(), &args));
        assert_eq!(found["changed"], false, "the premise: {found}");
        let notes = found["notes"].to_string();
        assert!(notes.contains("still more than the usable"), "{notes}");
        assert_eq!(
            notes.contains("overflowed"),
            schedule == "replay",
            "{notes}"
        );
    }
}

#[test]
fn the_state_can_be_listed_and_cleared() {
    let here = folder();
    let kept = here.path().join("data/plimsoll/state.json");
    let state = |args: &[&str]| {
        let args = [&["state", "--json"][..], args].concat();
        let mut command = command(here.path(), &args);
        command.env("XDG_DATA_HOME", here.path().join("data"));
        json(&command.output().expect("the program starts"))
    };
    assert_eq!(state(&[])["exists"], false);
    assert_eq!(state(&["clear"])["cleared"], false);
    fs::create_dir_all(kept.parent().expect("a folder")).expect("a folder");
    fs::write(&kept, r#"{"recent":["/a/b.jsonl"],"theme":"dark"}"#).expect("it can be written");
    let listed = state(&["list"]);
    assert_eq!(listed["path"], kept.to_str().expect("Unicode"));
    assert_eq!(
        (&listed["recent"][0], &listed["theme"]),
        (&Value::from("/a/b.jsonl"), &Value::from("dark"))
    );
    assert_eq!(state(&["clear"])["cleared"], true);
    assert!(!kept.exists());
}

#[test]
fn own_presets_are_listed_with_the_state_and_cleared_only_by_name() {
    let here = folder();
    let run = |args: &[&str]| {
        let mut command = command(here.path(), args);
        command.env("XDG_DATA_HOME", here.path().join("data"));
        command.output().expect("the program starts")
    };
    let state = |args: &[&str]| json(&run(&[&["state", "--json"][..], args].concat()));
    assert_eq!(state(&[])["presets"], Value::Null);
    let save = |name: &str| run(&["presets", "save", "prune", "--as", name]);
    assert!(save("mine").status.success() && save("yours").status.success());
    let presets = here.path().join("data/plimsoll/presets");
    let diary = presets.join("diary.toml");
    fs::write(&diary, "no preset").expect("it can be written");
    let listed = serde_json::json!({"path": presets, "count": 2});
    assert_eq!(state(&["list"])["presets"], listed);
    for what in [&["clear"][..], &["clear", "logs"]] {
        assert_eq!(state(what)["presets_cleared"], 0);
        assert_eq!(state(&[])["presets"], listed);
    }
    let said = stdout(&run(&["state", "clear"]));
    assert!(said.contains("kept 2 presets of your own in "), "{said}");
    assert_eq!(state(&["clear", "presets"])["presets_cleared"], 2);
    assert_eq!(state(&[])["presets"], Value::Null);
    assert!(diary.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_named_as_the_reason() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("Linux has it");
    let output = command(here.path(), &["inspect", "c.json"])
        .stdout(full)
        .output()
        .expect("the program starts");
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.starts_with("plimsoll: standard output"), "{error}");
}

#[test]
fn every_counter_is_named_in_the_help() {
    let help = stdout(&plimsoll(folder().path(), &["help", "options"]));
    let readme =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/command-line.md"))
            .expect("there is one");
    for counter in plimsoll::tokens::COUNTERS {
        assert!(help.contains(counter.name), "{}", counter.name);
        assert!(readme.contains(counter.name), "{}", counter.name);
    }
}

/// Lanes of real systems wait for one another only through rayon: with more threads than this machine may have, no run may stop.
#[test]
#[ignore = "takes minutes; .ci/run runs it"]
fn a_thousand_runs_of_lanes_on_eight_threads_all_end() {
    const RUNS: usize = 200;
    const LIMIT: Duration = Duration::from_mins(1);
    let lanes = ["holmesgpt", "digitorn", "baseagent", "cowagent", "picoclaw"];
    let lanes = lanes.map(|lane| ["--policy", lane]).concat();
    let verbs: [(&str, &str, &[&str]); 5] = [
        ("compacted.jsonl", "replay", &[]),
        ("images-and-cjk.json", "report", &["-o", "-"]),
        ("images-and-cjk.json", "diagnose", &[]),
        ("images-and-cjk.json", "gate", &["--max-peak", "2"]),
        ("images-and-cjk.json", "sweep", &["--points", "10"]),
    ];
    let folder = folder();
    for (sample, verb, options) in verbs {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("sample_sessions")
            .join(sample);
        let run = |number: usize| {
            let mut child = command(folder.path(), &[verb, sample.to_str().expect("UTF-8")])
                .args(options)
                .args(&lanes)
                .env("RAYON_NUM_THREADS", "8")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program starts");
            let begun = Instant::now();
            let status = loop {
                if let Some(status) = child.try_wait().expect("the program can be waited for") {
                    break status;
                }
                if begun.elapsed() > LIMIT {
                    child.kill().expect("the program can be ended");
                    panic!("run {number} of {verb} does not end");
                }
                thread::sleep(Duration::from_millis(5));
            };
            assert!(status.success(), "run {number} of {verb}: {status}");
        };
        // Two at a time: a run seldom keeps more than one core busy.
        thread::scope(|scope| {
            for half in [0..RUNS / 2, RUNS / 2..RUNS] {
                let run = &run;
                scope.spawn(move || half.for_each(run));
            }
        });
    }
}

/// A schedule that begins at a recorded context must know the model's window as a replay does.
#[test]
fn compacting_now_leaves_a_context_alone_that_is_far_below_its_window() {
    let folder = folder();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/images-and-cjk.json");
    let sample = sample.to_str().expect("UTF-8");
    for preset in [
        "digitorn",
        "digitorn-hooks",
        "digitorn-document",
        "cowagent",
    ] {
        let output = plimsoll(
            folder.path(),
            &["compact", sample, "--policy", preset, "--json"],
        );
        assert!(
            names_in(folder.path()).is_empty(),
            "{preset}: {}",
            stdout(&output)
        );
    }
}

#[test]
fn the_strategy_of_a_lane_is_a_setting() {
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/sample_sessions/many-tool-results.jsonl"
    );
    let here = folder();
    let run =
        |args: &[&str]| plimsoll(here.path(), &[&["replay", sample, "--json"], args].concat());
    let lanes = |args: &[&str]| json(&run(args))["lanes"].as_array().expect("lanes")[2..].to_vec();
    let named = |lanes: &[Value]| -> Vec<String> {
        let name =
            |lane: &Value| format!("{} plays {}", lane["lane"], lane["policy"]).replace('"', "");
        lanes.iter().map(name).collect()
    };
    let protect = ["--set", "prune_protect=20000"];
    let switched = lanes(
        &[
            &["--policy", "truncate"],
            &protect[..],
            &["--set", "strategy=prune"],
        ]
        .concat(),
    );
    assert_eq!(
        switched,
        lanes(&[&["--policy", "prune"], &protect[..]].concat())
    );
    let two = ["--policy", "truncate@mine", "--policy", "prune"];
    let set = |set: &'static str| lanes(&[&two[..], &["--set", set]].concat());
    assert_eq!(
        named(&set("mine.strategy=summarize")),
        ["mine plays summarize", "prune plays prune"]
    );
    assert_eq!(
        named(&set("prune.strategy=goose")),
        ["mine plays truncate", "goose plays goose"]
    );
    // What has a setting of that name takes its own choices.
    let digitorn = lanes(&["--policy", "digitorn", "--set", "strategy=truncate"]);
    assert_eq!(named(&digitorn), ["digitorn plays digitorn"]);
    let away = lanes(&["--policy", "digitorn", "--set", "strategy=prune"]);
    assert_eq!(named(&away), ["prune plays prune"]);
    let refused = |args: &[&str], told: &str| {
        let output = run(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(told), "{error}");
    };
    refused(
        &["--set", "strategy=prune"],
        "makes several lanes the same; name one",
    );
    refused(
        &["--policy", "truncate", "--set", "strategy=prun"],
        "did you mean prune?",
    );
    refused(
        &["--policy", "truncate", "--set", "other.strategy=prune"],
        "no lane is named",
    );
}
