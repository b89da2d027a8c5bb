//! `gate` and `sweep` as people and build servers meet them: the real binary on sample sessions and on bad input.

use crate::program::plimsoll;
use crate::xml::Element;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// What it says, if it ends with this code.
fn ends(folder: &Path, code: i32, args: &[&str]) -> String {
    let output = plimsoll(folder, args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {error}{said}");
    if code == 2 { error } else { said }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

/// A folder with two of the sample sessions.
fn kept() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("kept")).expect("a folder");
    for name in ["handoff.json", "compacted.jsonl"] {
        let from: PathBuf = [env!("CARGO_MANIFEST_DIR"), "sample_sessions", name]
            .iter()
            .collect();
        fs::copy(from, folder.path().join("kept").join(name)).expect("it is copied");
    }
    folder
}

const GATE: [&str; 6] = [
    "gate",
    "kept",
    "--policy",
    "truncate",
    "--baseline",
    "base.json",
];

fn gate<'a>(more: &[&'a str]) -> Vec<&'a str> {
    GATE.iter().chain(more).copied().collect()
}

/// The folder with a baseline of `truncate`.
fn with_baseline() -> tempfile::TempDir {
    let here = kept();
    let said = ends(here.path(), 0, &gate(&["--write-baseline"]));
    assert!(said.ends_with("wrote base.json of 2 sessions\n"), "{said}");
    here
}

#[test]
fn what_has_not_changed_passes_and_the_baseline_holds_figures_and_settings() {
    let here = with_baseline();
    let said = ends(here.path(), 0, &GATE);
    assert!(
        said.ends_with("passed: 2 sessions\n") && said.contains(", as before"),
        "{said}"
    );
    let baseline = parsed(&fs::read_to_string(here.path().join("base.json")).unwrap());
    assert_eq!(baseline["plimsoll"], env!("CARGO_PKG_VERSION"));
    let session = &baseline["sessions"]["kept/compacted.jsonl"];
    assert_eq!(session["sha256"].as_str().map(str::len), Some(64));
    let lane = &session["lanes"]["truncate"];
    let replay = [
        "replay",
        "kept/compacted.jsonl",
        "--policy",
        "truncate",
        "--json",
    ];
    let replay = parsed(&ends(here.path(), 0, &replay));
    let played = &replay["lanes"][2];
    assert_eq!(lane["knobs"]["keep_recent"], 10.0);
    assert_eq!(
        (&lane["peak"], &lane["compactions"]),
        (&played["peak"], &played["compactions"])
    );
    let diagnosed = [
        "diagnose",
        "kept/compacted.jsonl",
        "--policy",
        "truncate",
        "--json",
    ];
    let diagnosed = parsed(&ends(here.path(), 0, &diagnosed));
    assert_eq!(lane["usd"], diagnosed["lanes"][2]["cost"]["usd"]);
}

#[test]
fn worse_settings_fail_with_what_was_changed_and_what_it_costs() {
    let here = with_baseline();
    let args = gate(&[
        "--set",
        "keep_recent=120",
        "--set",
        "compression_trigger=0.95",
    ]);
    let said = ends(here.path(), 1, &args);
    assert!(
        said.contains("changed: keep_recent 120 instead of 10"),
        "{said}"
    );
    assert!(
        said.contains("! cost: $") && said.contains("! peak: "),
        "{said}"
    );
    let mut json = args.clone();
    json.push("--json");
    let told = parsed(&ends(here.path(), 1, &json));
    assert_eq!(told["passed"], false);
    let session = &told["sessions"][0];
    assert_eq!(
        (&session["file"], &session["passed"]),
        (&"kept/compacted.jsonl".into(), &false.into())
    );
    let checks = session["lanes"][0]["checks"].as_array().unwrap();
    let cost = checks
        .iter()
        .find(|check| check["measure"] == "cost")
        .unwrap();
    assert_eq!(cost["ok"], false);
    // A short session that no setting touches is not failed for it.
    assert_eq!(told["sessions"][1]["passed"], true);
    let tolerant = gate(&["--set", "keep_recent=11", "--tolerance", "50%"]);
    ends(here.path(), 0, &tolerant);
}

#[test]
fn another_content_is_not_compared_and_fails() {
    let here = with_baseline();
    let file = here.path().join("kept/handoff.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n")).unwrap();
    let said = ends(here.path(), 1, &GATE);
    assert!(said.contains("its content differs"), "{said}");
    assert!(said.ends_with("failed: 1 of 2 sessions\n"), "{said}");
    fs::remove_file(&file).unwrap();
    let said = ends(here.path(), 0, &GATE);
    assert!(
        said.contains("not checked: 1 session of the baseline, such as kept/handoff.json"),
        "{said}"
    );
}

#[test]
fn limits_need_no_baseline_and_a_session_without_calls_is_left_out() {
    let here = kept();
    fs::write(here.path().join("kept/notes.json"), "{\"a\": 1}").unwrap();
    let gate = ["gate", "kept", "--policy", "none"];
    let with = |more: &[&'static str]| gate.iter().chain(more).copied().collect::<Vec<_>>();
    let said = ends(
        here.path(),
        1,
        &with(&["--max-peak", "50%", "--max-overflows", "0"]),
    );
    assert!(said.contains("FAIL kept/compacted.jsonl  none"), "{said}");
    assert!(said.contains("ok   kept/handoff.json  none"), "{said}");
    ends(
        here.path(),
        0,
        &with(&["--max-peak", "9", "--max-at-risk", "0"]),
    );
    let output = plimsoll(here.path(), &with(&["--max-peak", "9"]));
    let note = String::from_utf8_lossy(&output.stderr);
    assert!(
        note.starts_with("plimsoll: note: left out: ") && note.contains("notes.json"),
        "{note}"
    );
}

#[test]
fn what_really_happened_can_be_gated_too() {
    let here = kept();
    let args = [
        "gate",
        "kept/compacted.jsonl",
        "--policy",
        "recorded",
        "--max-peak",
        "90%",
        "--json",
    ];
    let told = parsed(&ends(here.path(), 1, &args));
    let lane = &told["sessions"][0]["lanes"][0];
    assert_eq!(lane["lane"], "recorded");
    let inspected = parsed(&ends(
        here.path(),
        0,
        &["inspect", "kept/compacted.jsonl", "--json"],
    ));
    assert_eq!(lane["figures"]["peak"], inspected["peak"]);
}

#[test]
fn build_servers_get_junit() {
    let here = with_baseline();
    ends(
        here.path(),
        1,
        &gate(&["--junit", "r.xml", "--max-peak", "40%"]),
    );
    let xml = fs::read_to_string(here.path().join("r.xml")).unwrap();
    assert!(
        xml.starts_with(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plimsoll gate\""
        ),
        "{xml}"
    );
    assert_eq!(xml.matches("<testsuite ").count(), 2);
    let failures = xml.matches("<failure ").count();
    assert!(
        failures >= 1 && xml.contains(&format!("failures=\"{failures}\">\n")),
        "{xml}"
    );
    // Ours is written over; a file of somebody else is not, and nothing is played before that is known.
    ends(here.path(), 0, &gate(&["--junit", "r.xml"]));
    fs::write(here.path().join("diary.xml"), "<a/>").unwrap();
    let said = ends(here.path(), 2, &gate(&["--junit", "diary.xml"]));
    assert!(
        said.contains("is not a JUnit result of plimsoll gate"),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(here.path().join("diary.xml")).unwrap(),
        "<a/>"
    );
}

/// Two conversations as lines, of a person who asks a lot.
fn two_talks() -> String {
    let line = |about: &str| {
        let words = format!("{about} {}", "and so on ".repeat(200));
        let turn = [
            json!({"role": "user", "content": words}),
            json!({"role": "assistant", "content": "Done."}),
        ];
        let messages = [turn.clone(), turn].concat();
        json!({"title": about, "messages": messages}).to_string()
    };
    format!("{}\n{}\n", line("First <b>"), line("Second & last"))
}

/// All cases of a result: suite, class, name, and whether it failed.
fn cases(result: &Element) -> Vec<(String, String, String, bool)> {
    let says = |element: &Element, key: &str| element.says(key).unwrap_or_default().to_owned();
    let of_suite = |suite: &Element| {
        let cases = suite.children.iter();
        let case = |case: &Element| {
            let failed = case.children.iter().any(|child| child.name == "failure");
            (
                says(suite, "name"),
                says(case, "classname"),
                says(case, "name"),
                failed,
            )
        };
        cases.map(case).collect::<Vec<_>>()
    };
    result.children.iter().flat_map(of_suite).collect()
}

/// A file with a name that is none for XML.
const ODD: &str = "kept/a \"b\" <c> & 'd'.jsonl";

/// What is said, as JSON and as `JUnit`, of two lanes over a folder in which that file was changed.
fn gated() -> (Value, Element) {
    let here = kept();
    let write = |text: &str| fs::write(here.path().join(ODD), text).expect("it is written");
    write(&two_talks());
    let lanes = ["--policy", "truncate@short", "--policy", "prune"];
    let set = ["--set", "short.keep_recent=2"];
    let base = ["--baseline", "base.json"];
    let gate = [&["gate", "kept"][..], &lanes, &set, &base].concat();
    ends(here.path(), 0, &[&gate[..], &["--write-baseline"]].concat());
    write(&two_talks().replace("Done.", "Done, again."));
    let limits = ["--max-peak", "1%", "--max-overflows", "0"];
    let wanted = ["--junit", "r.xml", "--json"];
    let told = ends(here.path(), 1, &[&gate[..], &limits, &wanted].concat());
    let text = fs::read_to_string(here.path().join("r.xml")).expect("it was written");
    let result = crate::xml::document(&text).unwrap_or_else(|| panic!("it is no XML: {text}"));
    (parsed(&told), result)
}

#[test]
fn in_junit_every_session_lane_and_measure_has_a_name_of_its_own_whatever_files_are_called() {
    let (told, result) = gated();
    assert_eq!(
        (&*result.name, result.says("name")),
        ("testsuites", Some("plimsoll gate"))
    );

    // A suite a session, named as the session is; of many by its number and its title.
    let suites: Vec<&str> = result
        .children
        .iter()
        .filter_map(|s| s.says("name"))
        .collect();
    let expected = [
        format!("{ODD}#1 First <b>"),
        format!("{ODD}#2 Second & last"),
        "kept/compacted.jsonl".to_owned(),
        "kept/handoff.json".to_owned(),
    ];
    assert_eq!(suites, expected);

    // A case a lane and measure, each with a name of its own, as many as the JSON tells of.
    let cases = cases(&result);
    let mut names: Vec<_> = cases
        .iter()
        .map(|(_, class, name, _)| (class, name))
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), cases.len(), "{cases:?}");
    let sessions = told["sessions"].as_array().unwrap();
    let checks = |lane: &Value| lane["checks"].as_array().map_or(0, Vec::len);
    let lanes = sessions.iter().flat_map(|s| s["lanes"].as_array().unwrap());
    let n_checks: usize = lanes.map(checks).sum();
    let contents: Vec<_> = cases
        .iter()
        .filter(|(_, _, name, _)| name == "content")
        .collect();
    assert_eq!(cases.len(), n_checks + contents.len());
    assert_eq!(
        contents.len(),
        2,
        "both sessions of the file that was changed: {cases:?}"
    );
    for (suite, class, ..) in &cases {
        let place = suite
            .split_once(".jsonl#")
            .map_or(&**suite, |_| &suite[..ODD.len() + 2]);
        let of = ["", ".truncate@short", ".short", ".prune"];
        assert!(
            of.iter().any(|lane| *class == format!("{place}{lane}")),
            "{class} in {suite}"
        );
    }
    // A measure that is held to the baseline and to a limit is there twice.
    let twice = |name: &str| {
        cases
            .iter()
            .any(|(_, class, n, _)| n == name && class.contains("handoff"))
    };
    assert!(twice("peak") && twice("peak (2)"), "{cases:?}");
}

#[test]
fn in_junit_the_sums_are_those_of_the_cases_and_each_failure_says_why() {
    let (_, result) = gated();
    let cases = cases(&result);
    let sums = |element: &Element| {
        let number = |key| element.says(key).and_then(|n| n.parse::<usize>().ok());
        (number("tests").unwrap(), number("failures").unwrap())
    };
    let counted = |suite: Option<&str>| {
        let own = cases
            .iter()
            .filter(|(name, ..)| suite.is_none_or(|suite| suite == name));
        (
            own.clone().count(),
            own.filter(|(.., failed)| *failed).count(),
        )
    };
    assert_eq!(sums(&result), counted(None));
    assert!(counted(None).1 > 3, "the premise: {cases:?}");
    for suite in &result.children {
        assert_eq!(sums(suite), counted(suite.says("name")));
        let failures = suite.children.iter().flat_map(|case| &case.children);
        for failure in failures {
            assert_eq!(failure.says("message"), Some(&*failure.text));
            assert!(failure.text.len() > 10, "{failure:?}");
        }
    }
}

#[test]
fn bad_use_says_what_to_do_in_one_line_and_writes_nothing() {
    let here = kept();
    fs::write(here.path().join("diary.json"), "{\"dear\": 1}").unwrap();
    let file = "kept/handoff.json";
    let refusals: [(&[&str], &str); 13] = [
        (&["gate", file, "--policy", "prune"], "nothing to check"),
        (&["gate", file, "--policy", "prun"], "did you mean prune?"),
        (&["gate", file, "--max-peak", "0.9"], "gate needs --policy"),
        (
            &["gate", "--policy", "prune", "--max-peak", "0.9"],
            "needs a session file or a folder",
        ),
        (
            &["gate", file, "--policy", "prune", "--max-peak", "much"],
            "give a share",
        ),
        (
            &["gate", file, "--policy", "prune", "--max-cost", "+10%"],
            "is relative to a baseline",
        ),
        (
            &["gate", file, "--policy", "prune", "--write-baseline"],
            "not provided: --baseline <FILE>",
        ),
        (
            &["gate", file, "--policy", "prune", "--baseline", "gone.json"],
            "no such file",
        ),
        (
            &[
                "gate",
                file,
                "--policy",
                "prune",
                "--baseline",
                "diary.json",
            ],
            "is not a baseline",
        ),
        (
            &[
                "gate",
                file,
                "--policy",
                "prune",
                "--baseline",
                "diary.json",
                "--write-baseline",
            ],
            "already exists",
        ),
        (
            &[
                "sweep",
                file,
                "--policy",
                "truncate",
                "--vary",
                "keep_recent=many",
            ],
            "give SETTING=NUMBER",
        ),
        (
            &[
                "sweep",
                file,
                "--policy",
                "truncate",
                "--vary",
                "keep_old=1,2",
            ],
            "no policy here has a setting",
        ),
        (&["sweep", file, "--policy", "none"], "no setting to vary"),
    ];
    for (args, said) in refusals {
        let error = ends(here.path(), 2, args);
        assert!(
            error.contains(said) && error.lines().count() == 1,
            "{args:?}: {error}"
        );
    }
    assert_eq!(
        fs::read_to_string(here.path().join("diary.json")).unwrap(),
        "{\"dear\": 1}"
    );
    assert!(!here.path().join("gone.json").exists());
}

#[test]
fn a_hostile_baseline_is_refused() {
    let here = with_baseline();
    let path = here.path().join("base.json");
    let text = fs::read_to_string(&path).unwrap();
    let shapes = [
        text.replace("\"shape\": 1", "\"shape\": 2"),
        text.replace("\"tokens_sent\": ", "\"tokens_sent\": -"),
        text.replace("\"peak_share\": 0", "\"peak_share\": 1e999"),
        "[".repeat(10_000),
    ];
    for shape in shapes {
        fs::write(&path, shape).unwrap();
        let said = ends(here.path(), 2, &GATE);
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_sweep_recommends_settings_that_replay_and_gate_confirm() {
    let here = kept();
    let sweep = [
        "sweep",
        "kept/compacted.jsonl",
        "--policy",
        "truncate",
        "--points",
        "60",
    ];
    let json: Vec<&str> = sweep.iter().copied().chain(["--json"]).collect();
    let told = parsed(&ends(here.path(), 0, &json));
    let session = &told["sessions"][0];
    let points = session["points"].as_array().unwrap();
    assert_eq!((points.len(), &points[0]["now"]), (60, &true.into()));
    let picked = session["recommended"]["point"].as_u64().unwrap() as usize;
    let picked = &points[picked];
    let set: Vec<&str> = picked["set"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let mut replay = vec![
        "replay",
        "kept/compacted.jsonl",
        "--policy",
        "truncate",
        "--json",
    ];
    let mut diagnose = replay.clone();
    diagnose[0] = "diagnose";
    for set in &set {
        replay.extend(["--set", set]);
        diagnose.extend(["--set", set]);
    }
    let lane = &parsed(&ends(here.path(), 0, &replay))["lanes"][2];
    assert_eq!(
        (&lane["peak"], &lane["compactions"]),
        (&picked["peak"], &picked["compactions"])
    );
    let lane = &parsed(&ends(here.path(), 0, &diagnose))["lanes"][2];
    assert_eq!(lane["cost"]["usd"], picked["usd"]);
    // The same as text, with the line to paste.
    let text = ends(here.path(), 0, &sweep);
    let paste = set
        .iter()
        .fold(String::new(), |all, set| format!("{all} --set {set}"));
    assert!(
        text.contains(&format!("\n  --policy truncate{paste}\n")),
        "{text}"
    );
    assert!(
        text.contains("Recommended: ") && text.contains("Tried 60 settings of truncate: "),
        "{text}"
    );
}

#[test]
fn a_sweep_varies_what_it_is_told_and_takes_folders() {
    let here = kept();
    let args = [
        "sweep",
        "kept",
        "--policy",
        "prune",
        "--policy",
        "truncate@few",
        "--vary",
        "prune.prune_protect=20k..60k:20k",
        "--vary",
        "few.keep_recent=4,8",
        "--set",
        "few.keep_recent=6",
        "--json",
    ];
    let told = parsed(&ends(here.path(), 0, &args));
    assert_eq!(told["sessions"].as_array().map(Vec::len), Some(2));
    let points = told["sessions"][0]["points"].as_array().unwrap();
    let sets: Vec<String> = points
        .iter()
        .map(|p| format!("{} {}", p["lane"].as_str().unwrap_or_default(), p["set"]))
        .collect();
    assert_eq!(
        sets,
        [
            "prune []",
            "prune [\"prune_protect=20000\"]",
            "prune [\"prune_protect=60000\"]",
            "few [\"keep_recent=6\"]",
            "few [\"keep_recent=4\"]",
            "few [\"keep_recent=8\"]",
        ]
    );
    let robust = &told["robust"];
    assert_eq!(robust["sessions"].as_array().map(Vec::len), Some(2));
    assert_eq!(robust["left_out"].as_array().map(Vec::len), Some(2));
    let text = ends(here.path(), 0, &args[..args.len() - 1]);
    assert!(
        text.contains("One for all: ") && text.contains("2 sessions, 6 settings of prune, few"),
        "{text}"
    );
}

#[test]
fn a_sweep_of_tokens_alone_and_its_csv_agree_with_the_whole() {
    let here = kept();
    let args = [
        "sweep",
        "kept/compacted.jsonl",
        "--policy",
        "summarize",
        "--points",
        "40",
        "--csv",
    ];
    let rows = |text: String| -> Vec<Vec<String>> {
        text.lines()
            .map(|line| line.split(',').map(str::to_owned).collect())
            .collect()
    };
    let whole = rows(ends(here.path(), 0, &args));
    let tokens: Vec<&str> = args.iter().copied().chain(["--tokens-only"]).collect();
    let tokens = rows(ends(here.path(), 0, &tokens));
    assert_eq!(whole.len(), 41);
    let at = |name: &str| whole[0].iter().position(|column| column == name).unwrap();
    for column in [
        "set",
        "tokens_sent",
        "tokens_total",
        "peak",
        "compactions",
        "overflows",
        "rejected",
    ]
    .map(at)
    {
        for (a, b) in whole.iter().zip(&tokens) {
            assert_eq!(a[column], b[column], "{}", whole[0][column]);
        }
    }
    assert!(
        tokens[1..]
            .iter()
            .all(|row| row[at("usd")].is_empty() && row[at("at_risk")].is_empty())
    );
}
