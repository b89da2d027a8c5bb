//! Misspelled names, damaged files and impossible figures.

use crate::program::plimsoll;
use crate::support::{folder, sample};
use plimsoll::json::Value;
use std::fs;
use std::path::Path;

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = plimsoll(folder, &[args, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// Returns the error of a command that must fail.
fn rejected(folder: &Path, args: &[&str]) -> String {
    let output = plimsoll(folder, args);
    assert!(!output.status.success(), "{args:?} was accepted");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn conversation(folder: &Path, name: &str, damaged: &str) {
    let text = format!(
        r#"{{"messages": [{{"role":"user","content":"Hello?"}}, {{"role":"assistant","content":"Hi."}},
{damaged}
{{"role":"user","content":"Bye."}}, {{"role":"assistant","content":"Bye."}}]}}"#
    );
    fs::write(folder.join(name), text).expect("it can be written");
}

#[test]
fn a_damaged_message_is_reported_with_its_line_and_the_others_are_read() {
    let here = folder();
    for damaged in [
        r#""oops","#,
        r#"{"content":"of nobody"},"#,
        "null,",
        r#"{"role":5,"content":"x"},"#,
        r#"{"role":"user"},"#,
        r#"{"role":"user","content":42},"#,
    ] {
        conversation(here.path(), "c.json", damaged);
        let found = json(here.path(), &["inspect", "c.json"]);
        assert_eq!(found["format"], "openai_chat", "{damaged}: {found}");
        assert_eq!(found["messages"], 4, "{damaged}: {found}");
        let warning = found["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.starts_with("line 2: a "), "{damaged}: {found}");
    }
    // Where most of it is something else, it is no conversation.
    let text = r#"[{"role":"user","content":"x"},1,2,3,4,5]"#;
    fs::write(here.path().join("n.json"), text).expect("it can be written");
    rejected(here.path(), &["inspect", "n.json"]);
}

#[test]
fn impossible_usage_changes_neither_window_nor_peak_nor_cost() {
    let here = folder();
    let text = fs::read_to_string(sample("slow-growth.jsonl")).expect("it is there");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut reports = 0;
    let key = "\"cache_read_input_tokens\":";
    for line in &mut lines {
        let Some(at) = line.find(key).map(|at| at + key.len()) else {
            continue;
        };
        reports += 1;
        if reports == 100 {
            let end = at + line[at..].find([',', '}']).expect("a number ends");
            line.replace_range(at..end, "9000000");
        }
    }
    assert!(reports > 100, "the premise");
    fs::write(here.path().join("s.jsonl"), lines.join("\n")).expect("it can be written");
    let right = json(here.path(), &["inspect", &sample("slow-growth.jsonl")]);
    let wrong = json(here.path(), &["inspect", "s.jsonl"]);
    assert!(right["window"].as_u64().is_some(), "{right}");
    assert_eq!(wrong["window"], right["window"]);
    let peak = |found: &Value| found["recorded"]["largest_call_tokens"].clone();
    assert_eq!(peak(&wrong), peak(&right));
    let printed = wrong["warnings"].to_string();
    assert!(printed.contains("cannot be right and was left out"), "{printed}");
    let found = json(here.path(), &["diagnose", "s.jsonl", "--policy", "truncate"]);
    let insights = found["insights"].to_string();
    assert!(insights.contains("impossible_usage"), "{insights}");
    let whole =
        json(here.path(), &["diagnose", &sample("slow-growth.jsonl"), "--policy", "truncate"]);
    let usd = |found: &Value| found["lanes"][0]["cost"]["usd"].as_f64().unwrap_or_default();
    let (is, was) = (usd(&found), usd(&whole));
    // The call with impossible usage is estimated like the others.
    assert!((is - was).abs() < 1e-3 * was, "{is} instead of {was}");
}

#[test]
fn the_summary_names_the_given_trigger_and_its_lane() {
    let here = folder();
    let printed = |trigger: &str| {
        let set = format!("compression_trigger={trigger}");
        let file = sample("slow-growth.jsonl");
        let args = ["diagnose", &file, "--policy", "truncate", "--set", &set];
        let found = json(here.path(), &args);
        assert_eq!(found["trigger_share"].to_string(), trigger);
        let output = plimsoll(here.path(), &args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().nth(1).unwrap_or_default().to_owned()
    };
    let (low, high) = (printed("0.3"), printed("0.92"));
    assert!(low.contains("the trigger of truncate ("), "{low}");
    assert!(high.contains("the trigger of truncate ("), "{high}");
    assert_ne!(low, high);
}

#[test]
fn misspelled_and_impossible_values_are_rejected_with_a_remedy() {
    let here = folder();
    conversation(here.path(), "c.json", "");
    let cases: [(&[&str], &str); 7] = [
        (
            &["c.json", "--screenshot", "x.jpg"],
            "pictures are PNG files; give a name that ends in .png",
        ),
        (
            &["restore", "c.json"],
            "there is no c.manifest.json in its folder; give a file that `compact` wrote",
        ),
        (&["presets", "save", "truncate", "--as", "../evil"], "a name must not contain /"),
        (&["replay", "c.json", "--policy", "truncat"], "did you mean truncate?"),
        (&["convert", "c.json", "--to", "openai-chat"], "did you mean openai_chat?"),
        (
            &["convert", "c.json", "--to", "foo"],
            "can be written as anthropic_messages or openai_chat, or copied in its own format",
        ),
        (&["replay", "c.json", "--policy", "xyzzy"], "or give a FILE.toml"),
    ];
    for (args, result) in cases {
        let printed = rejected(here.path(), args);
        assert!(printed.contains(result), "{args:?}: {printed}");
    }
    assert!(!here.path().join("x.jpg").exists());
}

#[test]
fn sessions_respects_its_limit_and_names_the_searched_folder() {
    let here = folder();
    for n in 0..7 {
        conversation(here.path(), &format!("c{n}.json"), "");
    }
    let found = json(here.path(), &["sessions", ".", "--limit", "3", "--no-state"]);
    assert_eq!(found["sessions"].as_array().map(Vec::len), Some(3), "{found}");
    assert_eq!(found["not_listed"], 4);
    let searched = &found["searched"];
    assert_eq!(searched[0]["agent"], Value::Null, "{found}");
    assert_eq!(searched.as_array().map(Vec::len), Some(1), "{found}");
}

#[test]
fn listed_peaks_differ_from_those_of_the_sessions_by_less_than_a_tenth() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    same_peaks(&samples, 5);
}

#[test]
fn the_listed_peak_of_a_managed_conversation_is_calibrated() {
    let here = folder();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/slow-growth.jsonl");
    let source = source.to_string_lossy();
    let args = ["compact", &source, "--policy", "truncate", "-o", "copy.jsonl"];
    json(here.path(), &args);
    // Beside its manifest it would be left out of the list as an output.
    let elsewhere = folder();
    let copy = elsewhere.path().join("copy.jsonl");
    fs::rename(here.path().join("copy.jsonl"), copy).expect("it can be moved");
    same_peaks(elsewhere.path(), 1);
}

/// Compares the peaks in a list of at least `least` sessions with those of the sessions themselves.
fn same_peaks(samples: &Path, least: usize) {
    let here = folder();
    let folder = samples.to_string_lossy().into_owned();
    let listed = json(here.path(), &["sessions", &folder, "--no-state"]);
    let listed = listed["sessions"].as_array().cloned().unwrap_or_default();
    assert!(listed.len() >= least, "{listed:?}");
    for session in listed {
        let file = session["path"].as_str().unwrap_or_default().to_owned();
        let curve = json(here.path(), &["replay", &file, "--policy", "none"]);
        let lanes = curve["lanes"].as_array().cloned().unwrap_or_default();
        let recorded = lanes.iter().find(|lane| lane["lane"] == "recorded");
        let exact = recorded.map_or(0.0, |lane| lane["peak_tokens"].as_f64().unwrap_or_default());
        let listed = session["peak_tokens"].as_f64().unwrap_or_default();
        assert!(
            (listed / exact - 1.0).abs() < 0.1,
            "{file}: {listed} in the list, {exact} by itself"
        );
    }
}
