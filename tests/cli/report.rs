//! `report`, `saw` and `replay --curve` as people meet them: the real binary on sample sessions and on bad input.

use crate::program::plimsoll;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn sample(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "sample_sessions", name]
        .iter()
        .collect();
    path.to_string_lossy().into_owned()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let output = plimsoll(folder, args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn refused(folder: &Path, args: &[&str]) -> String {
    let output = plimsoll(folder, args);
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn a_report_is_written_to_a_new_file_and_never_over_one() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let args = ["report", &file, "-o", "r.html", "--redact", "--json"];
    let told = parsed(&done(here.path(), &args));
    let page = fs::read_to_string(here.path().join("r.html")).expect("it is there");
    assert_eq!(told["bytes"], page.len());
    assert_eq!(
        (&told["format"], &told["redacted"], &told["lanes"]),
        (&"html".into(), &true.into(), &5.into())
    );
    assert!(page.starts_with("<!doctype html>") && page.contains("Content-Security-Policy"));
    for private in [
        "compacted.jsonl",
        "acquirer",
        "ledger",
        "try.db",
        "test_misc",
    ] {
        assert!(!page.contains(private), "{private}");
    }
    assert!(refused(here.path(), &args).contains("never overwritten"));
    assert_eq!(
        fs::read_to_string(here.path().join("r.html")).expect("still"),
        page
    );
}

#[test]
fn markdown_goes_to_a_file_or_to_standard_output() {
    let here = folder();
    let file = sample("handoff.json");
    let printed = done(here.path(), &["report", &file, "-o", "-"]);
    done(here.path(), &["report", &file, "-o", "r.md"]);
    let written = fs::read_to_string(here.path().join("r.md")).expect("it is there");
    assert_eq!(printed, written);
    assert!(written.starts_with("# Plimsoll report: `handoff.json`"));
    assert!(written.contains("\n```text\nrecorded "));
}

#[test]
fn a_report_without_a_place_or_of_no_known_form_is_refused() {
    let here = folder();
    let file = sample("handoff.json");
    for (args, says) in [
        (vec!["report", &file], "--output <OUT>"),
        (
            vec!["report", &file, "-o", "r.pdf"],
            "must end in .html or .md",
        ),
        (vec!["report", &file, "-o", "no/r.md"], "is not a folder"),
        (
            vec!["report", &file, "-o", "-", "--json"],
            "leave out --json",
        ),
        (
            vec!["report", &file, "-o", "r.md", "--csv"],
            "unexpected argument '--csv'",
        ),
        (
            vec!["replay", &file, "--curve", "c.gif"],
            ".png, .svg or .csv",
        ),
        (
            vec!["replay", &file, "--curve", "c.svg", "--theme", "dark"],
            "applies to .png only",
        ),
        (vec!["replay", &file, "--theme", "dark"], "--curve <OUT>"),
        (vec!["context", &file], "--at-call <N>"),
        (
            vec!["context", &file, "--at-call", "999"],
            "the session has",
        ),
        (
            vec!["context", &file, "--at-call", "1", "--set", "keep_recent=3"],
            "no policy here has a setting",
        ),
        (
            vec![
                "context",
                &file,
                "--at-call",
                "1",
                "--policy",
                "a",
                "--policy",
                "b",
            ],
            "one --policy",
        ),
    ] {
        assert!(refused(here.path(), &args).contains(says), "{args:?}");
    }
    assert_eq!(fs::read_dir(here.path()).expect("a folder").count(), 0);
}

#[test]
fn a_curve_is_a_picture_a_drawing_or_a_table() {
    let here = folder();
    let file = sample("many-tool-results.jsonl");
    for name in ["c.png", "c.svg", "c.csv"] {
        done(here.path(), &["replay", &file, "--curve", name]);
        assert!(
            refused(here.path(), &["replay", &file, "--curve", name]).contains("never overwritten")
        );
    }
    let read = |name: &str| fs::read(here.path().join(name)).expect("it is there");
    assert!(read("c.png").starts_with(b"\x89PNG\r\n\x1a\n"));
    let drawing = String::from_utf8(read("c.svg")).expect("UTF-8");
    assert!(drawing.starts_with("<svg xmlns=") && drawing.trim_end().ends_with("</svg>"));
    let csv = done(here.path(), &["replay", &file, "--csv"]);
    assert_eq!(String::from_utf8(read("c.csv")).expect("UTF-8"), csv);
    done(
        here.path(),
        &["replay", &file, "--curve", "d.png", "--theme", "dark"],
    );
    assert_ne!(read("d.png"), read("c.png"));
}

#[test]
fn what_the_model_saw_weighs_what_the_replay_says() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let replay = parsed(&done(here.path(), &["replay", &file, "--json"]));
    for (lane, call) in [
        ("recorded", 40),
        ("none", 40),
        ("truncate", 40),
        ("prune", 48),
        ("recorded", 1),
    ] {
        let at = call.to_string();
        let args = [
            "context",
            &file,
            "--at-call",
            &at,
            "--policy",
            lane,
            "--json",
        ];
        let told = parsed(&done(here.path(), &args));
        let lanes = replay["lanes"].as_array().expect("lanes");
        let lane = lanes
            .iter()
            .find(|l| l["lane"] == lane)
            .expect("it was played");
        let sample = &lane["samples"][call - 1];
        // Of what really happened the sample is what was reported; ours is the file's own account.
        let weight = if lane["lane"] == "recorded" {
            "metered"
        } else {
            "tokens"
        };
        assert_eq!(told["tokens"], sample[weight], "{told}");
        let checks = told["checks"].as_array().expect("checks");
        assert!(
            checks.len() >= 4 && checks.iter().all(|c| c["ok"] == true),
            "{told}"
        );
        let output = told["output"].as_str().expect("a file");
        let name = Path::new(output)
            .file_name()
            .expect("a name")
            .to_string_lossy();
        assert!(
            name.starts_with(&format!("compacted-call-{call}")),
            "{name}"
        );
        fs::remove_file(here.path().join(output)).expect("it was written");
    }
}

#[test]
fn a_predicted_summary_is_never_written() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let base = [
        "context",
        &file,
        "--at-call",
        "40",
        "--policy",
        "summarize",
        "--format",
        "openai_chat",
    ];
    done(here.path(), &[&base[..], &["-o", "digest.json"]].concat());
    let text = fs::read_to_string(here.path().join("digest.json")).expect("it is there");
    assert!(text.contains("First request"), "the digest stands there");
    assert!(!text.contains("the the the"), "no filler does");
    let words = "text:All that was said is settled.";
    done(
        here.path(),
        &[&base[..], &["-o", "own.json", "--summarizer", words]].concat(),
    );
    let text = fs::read_to_string(here.path().join("own.json")).expect("it is there");
    assert!(text.contains("All that was said is settled."));
    let long = format!("text:{}", "word ".repeat(4_000));
    let args = [&base[..], &["-o", "long.json", "--summarizer", &long]].concat();
    assert!(refused(here.path(), &args).contains("shorten it"));
    assert!(!here.path().join("long.json").exists());
}
