//! `plimsoll report`, `context` and `replay --curve` on sample sessions and on invalid input.

use crate::program::plimsoll;
use crate::support::{folder, rejected, sample};
use plimsoll::json::Value;
use std::fs;
use std::path::Path;

fn done(folder: &Path, args: &[&str]) -> String {
    let output = plimsoll(folder, args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn a_report_never_overwrites_a_file() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let args = ["report", &file, "-o", "r.html", "--redact", "--json"];
    let result = parsed(&done(here.path(), &args));
    let page = fs::read_to_string(here.path().join("r.html")).expect("it is there");
    assert_eq!(result["bytes"], page.len());
    assert_eq!(
        (&result["format"], &result["redacted"], &result["lanes"]),
        (&"html".into(), &true.into(), &5.into())
    );
    assert!(page.starts_with("<!doctype html>") && page.contains("Content-Security-Policy"));
    for private in ["compacted.jsonl", "acquirer", "ledger", "try.db", "test_misc"] {
        assert!(!page.contains(private), "{private}");
    }
    assert!(rejected(here.path(), &args).contains("never overwritten"));
    assert_eq!(fs::read_to_string(here.path().join("r.html")).expect("still"), page);
}

#[test]
fn a_report_has_the_expected_rereads_of_each_lane() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let report = ["report", &file, "--policy", "truncate", "-o"];
    let text = done(here.path(), &[&report[..], &["-"]].concat());
    let section = |text: &str| {
        let rest = text.split("\n## Expected re-reads\n").nth(1);
        let section = rest.and_then(|rest| rest.split("\n## ").next());
        section.expect("the section").to_owned()
    };
    let rereads = section(&text);
    for part in [
        "| `recorded` | ",
        "| `none` | none | – |",
        "\nMost likely read again in `recorded`:\n\n- `",
        "/home/dev/ledger/",
        " %, removed at call ",
    ] {
        assert!(rereads.contains(part), "{part} in {rereads}");
    }
    let redacted = done(here.path(), &[&report[..], &["-", "--redact"]].concat());
    let redacted = section(&redacted);
    assert!(redacted.contains("\n- `path-"), "{redacted}");
    assert!(!redacted.contains("ledger"), "{redacted}");
    done(here.path(), &[&report[..], &["r.html"]].concat());
    let page = fs::read_to_string(here.path().join("r.html")).expect("written");
    assert!(page.contains("<h2>Expected re-reads</h2>"));
    assert!(page.contains("most likely read again</h3>"));
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
fn a_report_without_a_valid_output_is_rejected() {
    let here = folder();
    let file = sample("handoff.json");
    for (args, says) in [
        (vec!["report", &file], "--output <OUT>"),
        (vec!["report", &file, "-o", "r.pdf"], "must end in .html or .md"),
        (vec!["report", &file, "-o", "no/r.md"], "is not a folder"),
        (vec!["report", &file, "-o", "-", "--json"], "leave out --json"),
        (vec!["report", &file, "-o", "r.md", "--csv"], "unexpected argument '--csv'"),
        (vec!["replay", &file, "--curve", "c.gif"], ".png, .svg or .csv"),
        (vec!["replay", &file, "--curve", "c.svg", "--theme", "dark"], "applies to .png only"),
        (vec!["replay", &file, "--theme", "dark"], "--curve <OUT>"),
        (vec!["context", &file], "--at-call <N>"),
        (vec!["context", &file, "--at-call", "999"], "the session has"),
        (
            vec!["context", &file, "--at-call", "1", "--set", "keep_recent=3"],
            "no policy here has a setting",
        ),
        (
            vec!["context", &file, "--at-call", "1", "--policy", "a", "--policy", "b"],
            "one --policy",
        ),
    ] {
        assert!(rejected(here.path(), &args).contains(says), "{args:?}");
    }
    assert_eq!(fs::read_dir(here.path()).expect("a folder").count(), 0);
}

#[test]
fn a_curve_is_written_as_png_svg_or_csv() {
    let here = folder();
    let file = sample("many-tool-results.jsonl");
    for name in ["c.png", "c.svg", "c.csv"] {
        done(here.path(), &["replay", &file, "--curve", name]);
        assert!(
            rejected(here.path(), &["replay", &file, "--curve", name])
                .contains("never overwritten")
        );
    }
    let read = |name: &str| fs::read(here.path().join(name)).expect("it is there");
    assert!(read("c.png").starts_with(b"\x89PNG\r\n\x1a\n"));
    let drawing = String::from_utf8(read("c.svg")).expect("UTF-8");
    assert!(drawing.starts_with("<svg xmlns=") && drawing.trim_end().ends_with("</svg>"));
    let csv = done(here.path(), &["replay", &file, "--csv"]);
    assert_eq!(String::from_utf8(read("c.csv")).expect("UTF-8"), csv);
    done(here.path(), &["replay", &file, "--curve", "d.png", "--theme", "dark"]);
    assert_ne!(read("d.png"), read("c.png"));
}

#[test]
fn a_written_context_has_the_tokens_of_the_replay() {
    let here = folder();
    let file = "compacted.jsonl";
    fs::copy(sample(file), here.path().join(file)).expect("a copy of a sample");
    let replay = parsed(&done(here.path(), &["replay", file, "--json"]));
    let mut not_recorded = Vec::new();
    for (lane, call) in
        [("recorded", 40), ("none", 40), ("truncate", 40), ("prune", 48), ("recorded", 1)]
    {
        let at = call.to_string();
        let args = ["context", file, "--at-call", &at, "--policy", lane, "--json"];
        let result = parsed(&done(here.path(), &args));
        let lanes = replay["lanes"].as_array().expect("lanes");
        let lane = lanes.iter().find(|l| l["lane"] == lane).expect("it was played");
        let sample = &lane["samples"][call - 1];
        // Tokens of the recorded lane are those that the provider reported; a written file has its own count.
        let field = if lane["lane"] == "recorded" { "metered" } else { "tokens" };
        assert_eq!(result["tokens"], sample[field], "{result}");
        if lane["lane"] != "recorded" || call == 1 {
            not_recorded.push(result["not_recorded"].clone());
        }
        let checks = result["checks"].as_array().expect("checks");
        assert!(checks.len() >= 4 && checks.iter().all(|c| c["ok"] == true), "{result}");
        let output = result["output"].as_str().expect("a file");
        let name = Path::new(output).file_name().expect("a name").to_string_lossy();
        assert!(name.starts_with(&format!("compacted-call-{call}")), "{name}");
        fs::remove_file(here.path().join(output)).expect("it was written");
    }
    // Policies are replayed with the overhead of the first call.
    not_recorded.dedup();
    assert_eq!(not_recorded.len(), 1, "{not_recorded:?}");
}

#[test]
fn the_context_command_reports_tokens_that_are_not_recorded() {
    let here = folder();
    let file = sample("slow-growth.jsonl");
    let context = |more: &[&str]| {
        let args = [&["context", &file, "--at-call", "3", "--no-state"], more].concat();
        done(here.path(), &args)
    };
    let result = parsed(&context(&["-o", "a.jsonl", "--json"]));
    let (tokens, hidden) = (result["tokens"].as_u64(), result["not_recorded"].as_u64());
    assert!(hidden > Some(0) && hidden < tokens, "{result}");
    let text = context(&["-o", "b.jsonl"]);
    assert!(text.contains(" tokens of these (system prompt, tool definitions)\n"), "{text}");
    // Without a policy, nothing could compact it again.
    assert!(!text.contains("  again "), "{text}");
    let text = context(&["-o", "c.jsonl", "--policy", "prune"]);
    assert!(text.contains("  again "), "{text}");
    let args = ["report", &file, "-o", "r.md", "--no-state"];
    done(here.path(), &args);
    let report = fs::read_to_string(here.path().join("r.md")).expect("it was written");
    assert!(report.contains("| not recorded | "), "{report}");
    assert!(!report.contains("| system | "), "{report}");
}

#[test]
fn a_predicted_summary_is_never_written() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let base =
        ["context", &file, "--at-call", "40", "--policy", "summarize", "--format", "openai_chat"];
    done(here.path(), &[&base[..], &["-o", "digest.json"]].concat());
    let text = fs::read_to_string(here.path().join("digest.json")).expect("it is there");
    assert!(text.contains("First request"), "the digest stands there");
    assert!(!text.contains("the the the"), "no filler does");
    let words = "text:All that was said is settled.";
    done(here.path(), &[&base[..], &["-o", "own.json", "--summarizer", words]].concat());
    let text = fs::read_to_string(here.path().join("own.json")).expect("it is there");
    assert!(text.contains("All that was said is settled."));
    let long = format!("text:{}", "word ".repeat(4_000));
    let args = [&base[..], &["-o", "long.json", "--summarizer", &long]].concat();
    assert!(rejected(here.path(), &args).contains("shorten it"));
    assert!(!here.path().join("long.json").exists());
}
