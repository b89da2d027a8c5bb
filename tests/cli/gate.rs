//! `plimsoll gate` and `plimsoll sweep` on sample sessions and on invalid input.

use crate::program::plimsoll;
use plimsoll::json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs a command and checks its exit code. Returns stderr for code 2, otherwise stdout.
pub(crate) fn run_with_exit_code(folder: &Path, code: i32, args: &[&str]) -> String {
    let output = plimsoll(folder, args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {error}{printed}");
    if code == 2 { error } else { printed }
}

pub(crate) fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

/// Creates a folder with two sample sessions in `kept`.
pub(crate) fn folder_with_samples() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("kept")).expect("a folder");
    for name in ["handoff.json", "compacted.jsonl"] {
        let from: PathBuf = [env!("CARGO_MANIFEST_DIR"), "sample_sessions", name].iter().collect();
        fs::copy(from, folder.path().join("kept").join(name)).expect("it is copied");
    }
    folder
}

const GATE: [&str; 6] = ["gate", "kept", "--policy", "truncate", "--baseline", "base.json"];

pub(crate) fn gate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    GATE.iter().chain(more).copied().collect()
}

/// Creates a folder with two sample sessions and their baseline for `truncate`.
pub(crate) fn with_baseline() -> tempfile::TempDir {
    let here = folder_with_samples();
    let printed = run_with_exit_code(here.path(), 0, &gate(&["--write-baseline"]));
    assert!(printed.ends_with("baseline base.json written, 2 sessions\n"), "{printed}");
    here
}

#[test]
fn unchanged_results_pass_and_the_baseline_holds_figures_and_settings() {
    let here = with_baseline();
    let printed = run_with_exit_code(here.path(), 0, &GATE);
    assert!(
        printed.ends_with("passed: 2 sessions\n") && printed.contains(", as before"),
        "{printed}"
    );
    let baseline = parse_json(&fs::read_to_string(here.path().join("base.json")).unwrap());
    assert_eq!(baseline["plimsoll"], env!("CARGO_PKG_VERSION"));
    let sessions = baseline["sessions"].as_object().unwrap();
    let named = |(_, session): &(&String, &Value)| session["file"] == "kept/compacted.jsonl";
    let (key, session) = sessions.iter().find(named).unwrap();
    assert_eq!(session["sha256"], **key);
    assert_eq!(key.len(), 64);
    let lane = &session["lanes"]["truncate"];
    let figures = &lane["figures"];
    let replay = ["replay", "kept/compacted.jsonl", "--policy", "truncate", "--json"];
    let replay = parse_json(&run_with_exit_code(here.path(), 0, &replay));
    let played = &replay["lanes"][2];
    assert_eq!(lane["settings"]["keep_recent"], 10.0);
    assert_eq!(
        (&figures["peak_tokens"], &figures["compactions"]),
        (&played["peak_tokens"], &played["compactions"])
    );
    let diagnosed = ["diagnose", "kept/compacted.jsonl", "--policy", "truncate", "--json"];
    let diagnosed = parse_json(&run_with_exit_code(here.path(), 0, &diagnosed));
    assert_eq!(figures["usd"], diagnosed["lanes"][2]["cost"]["usd"]);
}

#[test]
fn worse_settings_fail_and_the_changes_are_named() {
    let here = with_baseline();
    let args = gate(&["--set", "keep_recent=120", "--set", "compression_trigger=0.95"]);
    let printed = run_with_exit_code(here.path(), 1, &args);
    assert!(printed.contains("changed: keep_recent 120 instead of 10"), "{printed}");
    assert!(
        printed.contains("! cost: $") && printed.contains("! peak of the usable window: "),
        "{printed}"
    );
    let mut json = args.clone();
    json.push("--json");
    let result = parse_json(&run_with_exit_code(here.path(), 1, &json));
    assert_eq!(result["passed"], false);
    let session = &result["sessions"][0];
    assert_eq!(
        (&session["file"], &session["passed"]),
        (&"kept/compacted.jsonl".into(), &false.into())
    );
    let checks = session["lanes"][0]["checks"].as_array().unwrap();
    let cost = checks.iter().find(|check| check["measure"] == "cost").unwrap();
    assert_eq!(cost["ok"], false);
    // The settings have no effect on the short session, so it passes.
    assert_eq!(result["sessions"][1]["passed"], true);
    let tolerant = gate(&["--set", "keep_recent=11", "--tolerance", "50%"]);
    run_with_exit_code(here.path(), 0, &tolerant);
}

#[test]
fn a_session_with_changed_content_fails_without_a_comparison() {
    let here = with_baseline();
    let file = here.path().join("kept/handoff.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n")).unwrap();
    let printed = run_with_exit_code(here.path(), 1, &GATE);
    assert!(printed.contains("its content differs"), "{printed}");
    assert!(printed.ends_with("failed: 1 of 2 sessions\n"), "{printed}");
    fs::remove_file(&file).unwrap();
    let printed = run_with_exit_code(here.path(), 0, &GATE);
    assert!(
        printed.contains("not checked: 1 session of the baseline, such as kept/handoff.json"),
        "{printed}"
    );
}

#[test]
fn limits_need_no_baseline_and_sessions_without_calls_are_skipped() {
    let here = folder_with_samples();
    fs::write(here.path().join("kept/notes.json"), "{\"a\": 1}").unwrap();
    let gate = ["gate", "kept", "--policy", "none"];
    let with = |more: &[&'static str]| gate.iter().chain(more).copied().collect::<Vec<_>>();
    let printed =
        run_with_exit_code(here.path(), 1, &with(&["--max-peak", "50%", "--max-overflows", "0"]));
    assert!(printed.contains("FAIL kept/compacted.jsonl  none"), "{printed}");
    // Figure and limit have the same decimals.
    assert!(printed.contains(" %, at most 50.0 % allowed"), "{printed}");
    assert!(printed.contains("ok   kept/handoff.json  none"), "{printed}");
    run_with_exit_code(here.path(), 0, &with(&["--max-peak", "9", "--max-rereads", "0"]));
    let output = plimsoll(here.path(), &with(&["--max-peak", "9"]));
    let note = String::from_utf8_lossy(&output.stderr);
    assert!(note.starts_with("plimsoll: note: skipped: ") && note.contains("notes.json"), "{note}");
}

#[test]
fn a_session_without_facts_is_not_judged() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let talk = r#"{"messages":[{"role":"user","content":"Hello there"},{"role":"assistant","content":"Hi."}]}"#;
    fs::write(here.path().join("talk.json"), talk).expect("a file");
    let gate = ["gate", "talk.json", "--policy", "none", "--min-survival", "90%"];
    let printed = run_with_exit_code(here.path(), 1, &gate);
    assert!(printed.starts_with("not judged talk.json  none\n"), "{printed}");
    let printed =
        run_with_exit_code(here.path(), 0, &[&gate[..], &["--max-overflows", "0"]].concat());
    assert!(printed.starts_with("ok   talk.json  none\n"), "{printed}");
}

#[test]
fn a_cost_without_a_price_is_not_judged_unless_strict() {
    let here = tempfile::tempdir().expect("a temporary folder");
    let talk = r#"{"model":"unlisted-model","messages":[{"role":"user","content":"Hello there"},{"role":"assistant","content":"Hi."}]}"#;
    fs::write(here.path().join("talk.json"), talk).expect("a file");
    let gate = ["gate", "talk.json", "--policy", "recorded", "--max-cost", "5"];
    let run = |code: i32, more: &[&str]| {
        run_with_exit_code(here.path(), code, &[&gate[..], more].concat())
    };
    let others = ["--max-overflows", "0"];
    let printed = run(0, &others);
    assert!(printed.contains("cost: not judged: no price for this model"), "{printed}");
    let end = "1 check was not judged (--strict makes that a failure)\npassed: 1 session\n";
    assert!(printed.ends_with(end), "{printed}");
    let result = parse_json(&run(0, &[&others[..], &["--json", "--junit", "r.xml"]].concat()));
    let counts = ["passed", "checks", "not_judged"].map(|key| &result[key]);
    assert_eq!(counts, [&Value::from(true), &1.into(), &1.into()]);
    let xml = fs::read_to_string(here.path().join("r.xml")).unwrap();
    assert!(xml.contains("tests=\"2\" failures=\"0\" skipped=\"1\""), "{xml}");

    let printed = run(1, &[&others[..], &["--strict"]].concat());
    assert!(printed.contains("! cost: not judged: no price for this model"), "{printed}");
    assert!(printed.ends_with("failed: 1 of 1 session\n"), "{printed}");
    let strict = [&others[..], &["--strict", "--json", "--junit", "r.xml"]].concat();
    let result = parse_json(&run(1, &strict));
    let counts = ["passed", "checks", "not_judged"].map(|key| &result[key]);
    assert_eq!(counts, [&Value::from(false), &2.into(), &0.into()]);
    let xml = fs::read_to_string(here.path().join("r.xml")).unwrap();
    assert!(xml.contains("tests=\"2\" failures=\"1\" skipped=\"0\""), "{xml}");

    // With a price, the cost is judged. Without anything judged, the run fails.
    run(0, &["--price-as", "gpt-4o", "--strict"]);
    assert!(run(1, &[]).contains("failed: nothing judged"));
}

#[test]
fn a_run_that_compares_nothing_fails() {
    let here = with_baseline();
    let other = ["gate", "kept", "--policy", "prune", "--baseline", "base.json"];
    let printed = run_with_exit_code(here.path(), 1, &other);
    assert!(printed.contains("prune  not checked: not in the baseline"), "{printed}");
    assert!(printed.contains("failed: nothing compared, because"), "{printed}");
    let junit = [&other[..], &["--json", "--junit", "r.xml"]].concat();
    let result = parse_json(&run_with_exit_code(here.path(), 1, &junit));
    assert_eq!((&result["passed"], &result["checks"]), (&false.into(), &0.into()));
    let xml = fs::read_to_string(here.path().join("r.xml")).unwrap();
    assert!(xml.contains("<failure message=\"failed: nothing compared"), "{xml}");
    // A limit is enough, and so is one lane of the baseline.
    run_with_exit_code(here.path(), 0, &[&other[..], &["--max-peak", "9"]].concat());
    run_with_exit_code(here.path(), 0, &gate(&["--policy", "prune"]));
    let new = here.path().join("kept/new.jsonl");
    fs::copy(here.path().join("kept/compacted.jsonl"), new).unwrap();
    let copy = run_with_exit_code(here.path(), 0, &GATE);
    assert!(copy.ends_with("passed: 3 sessions\n"), "the same content: {copy}");
    let other = fs::read_to_string(here.path().join("kept/compacted.jsonl")).unwrap();
    fs::write(here.path().join("kept/new.jsonl"), format!("{other}\n")).unwrap();
    let printed = run_with_exit_code(here.path(), 0, &GATE);
    assert!(
        printed.ends_with("passed: 2 sessions; nothing to compare in 1 session\n"),
        "{printed}"
    );
}

#[test]
fn a_baseline_knows_sessions_by_their_content() {
    let here = with_baseline();
    let folder = here.path().join("kept");
    let absolute = folder.to_string_lossy().into_owned();
    let baseline = here.path().join("base.json").to_string_lossy().into_owned();
    let base = ["--policy", "truncate", "--baseline", &*baseline];
    let (one, other) = ("kept/handoff.json", "./kept/../kept/compacted.jsonl");
    for (from, targets) in [
        (here.path(), &["./kept/"][..]),
        (here.path(), &[&*absolute]),
        (here.path(), &[one, other]),
        (&*folder, &["."]),
    ] {
        let args = [&["gate"][..], targets, &base].concat();
        let printed = run_with_exit_code(from, 0, &args);
        assert!(printed.ends_with("passed: 2 sessions\n"), "{targets:?}: {printed}");
    }
    // Moved and renamed.
    fs::create_dir(here.path().join("moved")).unwrap();
    fs::rename(folder.join("handoff.json"), here.path().join("moved/other.json")).unwrap();
    let printed = run_with_exit_code(here.path(), 0, &[&["gate", "moved"][..], &base].concat());
    assert!(printed.ends_with("passed: 1 session\n"), "{printed}");
    assert!(
        printed.contains("not checked: 1 session of the baseline, such as kept/compacted.jsonl")
    );
    // Other content under a name of the baseline, in another folder.
    let text = fs::read_to_string(folder.join("compacted.jsonl")).unwrap();
    fs::write(here.path().join("moved/compacted.jsonl"), format!("{text}\n")).unwrap();
    let printed = run_with_exit_code(here.path(), 1, &[&["gate", "moved"][..], &base].concat());
    assert!(printed.contains("FAIL moved/compacted.jsonl  its content differs"), "{printed}");
}

#[test]
fn failures_are_last() {
    let here = with_baseline();
    let file = here.path().join("kept/compacted.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n")).unwrap();
    let printed = run_with_exit_code(here.path(), 1, &GATE);
    let at = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text}: {printed}"));
    assert!(at("ok   kept/handoff.json") < at("FAIL kept/compacted.jsonl"), "{printed}");
    assert!(printed.ends_with("failed: 1 of 2 sessions\n"), "{printed}");
}

#[test]
fn damaged_files_fail_unless_they_are_allowed() {
    let here = folder_with_samples();
    let kept = here.path().join("kept");
    let whole = fs::read_to_string(kept.join("handoff.json")).unwrap();
    fs::write(kept.join("a-cut.json"), &whole[..whole.len() / 2]).unwrap();
    fs::write(kept.join("b-empty.jsonl"), "").unwrap();
    fs::write(kept.join("notes.json"), "{\"a\": 1}").unwrap();
    let gate = ["gate", "kept", "--policy", "recorded", "--max-peak", "900%"];
    let run = |code: i32, more: &[&str]| {
        run_with_exit_code(here.path(), code, &[&gate[..], more].concat())
    };
    let printed = run(1, &["--junit", "r.xml"]);
    let lines: Vec<&str> = printed.lines().collect();
    let [.., cut, empty, last] = &lines[..] else {
        panic!("{printed}");
    };
    assert!(cut.starts_with("FAIL kept/a-cut.json  damaged: "), "{printed}");
    assert!(empty.starts_with("FAIL kept/b-empty.jsonl  damaged: "), "{printed}");
    assert_eq!(*last, "failed: 2 files damaged");
    assert!(printed.contains("ok   kept/handoff.json"), "the others are judged: {printed}");
    let xml = fs::read_to_string(here.path().join("r.xml")).unwrap();
    assert_eq!(xml.matches("<failure ").count(), 2, "{xml}");
    let result = parse_json(&run(1, &["--json"]));
    assert_eq!(result["passed"], false);
    let damaged = result["skipped"].as_array().unwrap().iter();
    let damaged: Vec<&Value> = damaged.filter(|one| one["damaged"] == true).collect();
    assert_eq!(damaged.len(), 2, "{result}");
    // No baseline of a part of the sessions.
    run(1, &["--baseline", "base.json", "--write-baseline"]);
    assert!(!here.path().join("base.json").exists());
    let printed = run(0, &["--allow-damaged"]);
    assert!(printed.ends_with("passed: 2 sessions\n"), "{printed}");
    // Given by their paths.
    let files =
        ["gate", "kept/a-cut.json", "kept/handoff.json", "--policy", "none", "--max-peak", "9"];
    let printed = run_with_exit_code(here.path(), 1, &files);
    assert!(printed.contains("ok   kept/handoff.json"), "{printed}");
    let missing =
        ["gate", "kept/gone.json", "kept/handoff.json", "--policy", "none", "--max-peak", "9"];
    run_with_exit_code(here.path(), 2, &missing);
}

#[test]
fn the_recorded_run_can_be_checked() {
    let here = folder_with_samples();
    let args =
        ["gate", "kept/compacted.jsonl", "--policy", "recorded", "--max-peak", "90%", "--json"];
    let result = parse_json(&run_with_exit_code(here.path(), 1, &args));
    let lane = &result["sessions"][0]["lanes"][0];
    assert_eq!(lane["lane"], "recorded");
    let inspected = parse_json(&run_with_exit_code(
        here.path(),
        0,
        &["inspect", "kept/compacted.jsonl", "--json"],
    ));
    assert_eq!(lane["figures"]["peak_tokens"], inspected["peak_tokens"]);
}

#[test]
fn invalid_usage_is_rejected_in_one_line_and_writes_nothing() {
    let here = folder_with_samples();
    fs::write(here.path().join("diary.json"), "{\"dear\": 1}").unwrap();
    let file = "kept/handoff.json";
    let refusals: [(&[&str], &str); 13] = [
        (&["gate", file, "--policy", "prune"], "nothing to check"),
        (&["gate", file, "--policy", "prun"], "did you mean prune?"),
        (&["gate", file, "--max-peak", "0.9"], "gate needs --policy"),
        (&["gate", "--policy", "prune", "--max-peak", "0.9"], "needs a session file or a folder"),
        (&["gate", file, "--policy", "prune", "--max-peak", "much"], "give a share"),
        (&["gate", file, "--policy", "prune", "--max-cost", "+10%"], "is relative to a baseline"),
        (
            &["gate", file, "--policy", "prune", "--write-baseline"],
            "not provided: --baseline <FILE>",
        ),
        (&["gate", file, "--policy", "prune", "--baseline", "gone.json"], "no such file"),
        (&["gate", file, "--policy", "prune", "--baseline", "diary.json"], "is not a baseline"),
        (
            &["gate", file, "--policy", "prune", "--baseline", "diary.json", "--write-baseline"],
            "already exists",
        ),
        (
            &["sweep", file, "--policy", "truncate", "--vary", "keep_recent=many"],
            "give SETTING=NUMBER",
        ),
        (
            &["sweep", file, "--policy", "truncate", "--vary", "keep_old=1,2"],
            "no policy here has a setting",
        ),
        (&["sweep", file, "--policy", "none"], "no setting to vary"),
    ];
    for (args, message) in refusals {
        let error = run_with_exit_code(here.path(), 2, args);
        assert!(error.contains(message) && error.lines().count() == 1, "{args:?}: {error}");
    }
    assert_eq!(fs::read_to_string(here.path().join("diary.json")).unwrap(), "{\"dear\": 1}");
    assert!(!here.path().join("gone.json").exists());
}

#[test]
fn an_invalid_baseline_is_rejected() {
    let here = with_baseline();
    let path = here.path().join("base.json");
    let text = fs::read_to_string(&path).unwrap();
    for version in [3, 5] {
        let version = format!("\"format_version\": {version}");
        let other = text.replace("\"format_version\": 4", &version);
        assert_ne!(other, text);
        fs::write(&path, other).unwrap();
        let error = run_with_exit_code(here.path(), 2, &GATE);
        assert!(error.contains("write it again with --write-baseline"), "{error}");
    }
    let invalid = [
        text.replace("\"tokens_sent\": ", "\"tokens_sent\": -"),
        text.replace("\"peak_share\": 0", "\"peak_share\": 1e999"),
        "[".repeat(10_000),
    ];
    for text in invalid {
        fs::write(&path, text).unwrap();
        let printed = run_with_exit_code(here.path(), 2, &GATE);
        assert_eq!(printed.lines().count(), 1, "{printed}");
    }
}
