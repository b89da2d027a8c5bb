//! `plimsoll gate --junit`.

use crate::gate::{folder_with_samples, gate, parse_json, run_with_exit_code, with_baseline};
use crate::xml::Element;
use plimsoll::json::{Value, json};
use std::fs;

/// Name of a file with characters that XML escapes.
const ODD: &str = "kept/a \"b\" <c> & 'd'.jsonl";

#[test]
fn results_are_written_as_junit_xml() {
    let here = with_baseline();
    run_with_exit_code(here.path(), 1, &gate(&["--junit", "r.xml", "--max-peak", "40%"]));
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
        failures >= 1 && xml.contains(&format!("failures=\"{failures}\" skipped=\"0\">\n")),
        "{xml}"
    );
    // An earlier result is replaced. Any other file is not, and it is rejected before the replay.
    run_with_exit_code(here.path(), 0, &gate(&["--junit", "r.xml"]));
    fs::write(here.path().join("diary.xml"), "<a/>").unwrap();
    let printed = run_with_exit_code(here.path(), 2, &gate(&["--junit", "diary.xml"]));
    assert!(printed.contains("is not a JUnit result of plimsoll gate"), "{printed}");
    assert_eq!(fs::read_to_string(here.path().join("diary.xml")).unwrap(), "<a/>");
}

/// Returns two conversations with many user messages, one per line.
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

/// Returns all cases of a result: suite, class, name, and whether it failed.
fn cases(result: &Element) -> Vec<(String, String, String, bool)> {
    let says = |element: &Element, key: &str| element.says(key).unwrap_or_default().to_owned();
    let of_suite = |suite: &Element| {
        let cases = suite.children.iter();
        let case = |case: &Element| {
            let failed = case.children.iter().any(|child| child.name == "failure");
            (says(suite, "name"), says(case, "classname"), says(case, "name"), failed)
        };
        cases.map(case).collect::<Vec<_>>()
    };
    result.children.iter().flat_map(of_suite).collect()
}

/// Returns the result as JSON and as JUnit of two lanes over a folder in which that file was changed.
fn gated() -> (Value, Element) {
    let here = folder_with_samples();
    let write = |text: &str| fs::write(here.path().join(ODD), text).expect("it is written");
    write(&two_talks());
    let lanes = ["--policy", "truncate@short", "--policy", "prune"];
    let set = ["--set", "short.keep_recent=2"];
    let base = ["--baseline", "base.json"];
    let gate = [&["gate", "kept"][..], &lanes, &set, &base].concat();
    run_with_exit_code(here.path(), 0, &[&gate[..], &["--write-baseline"]].concat());
    write(&two_talks().replace("Done.", "Done, again."));
    let limits = ["--max-peak", "1%", "--max-overflows", "0"];
    let formats = ["--junit", "r.xml", "--json"];
    let printed = run_with_exit_code(here.path(), 1, &[&gate[..], &limits, &formats].concat());
    let text = fs::read_to_string(here.path().join("r.xml")).expect("it was written");
    let xml = crate::xml::document(&text).unwrap_or_else(|| panic!("not XML: {text}"));
    (parse_json(&printed), xml)
}

#[test]
fn every_session_lane_and_measure_has_its_own_name() {
    let (result, xml) = gated();
    assert_eq!((&*xml.name, xml.says("name")), ("testsuites", Some("plimsoll gate")));

    // One suite per session, named after the session: if a file holds several, by number and title.
    let suites: Vec<&str> = xml.children.iter().filter_map(|s| s.says("name")).collect();
    let expected = [
        format!("{ODD}#1 First <b>"),
        format!("{ODD}#2 Second & last"),
        "kept/compacted.jsonl".to_owned(),
        "kept/handoff.json".to_owned(),
    ];
    assert_eq!(suites, expected);

    // One case per lane and measure, each with its own name, as many as in the JSON.
    let cases = cases(&xml);
    let mut names: Vec<_> = cases.iter().map(|(_, class, name, _)| (class, name)).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), cases.len(), "{cases:?}");
    let sessions = result["sessions"].as_array().unwrap();
    let checks = |lane: &Value| lane["checks"].as_array().map_or(0, Vec::len);
    let lanes = sessions.iter().flat_map(|s| s["lanes"].as_array().unwrap());
    let n_checks: usize = lanes.map(checks).sum();
    let contents: Vec<_> = cases.iter().filter(|(_, _, name, _)| name == "content").collect();
    assert_eq!(cases.len(), n_checks + contents.len());
    assert_eq!(contents.len(), 2, "both sessions of the file that was changed: {cases:?}");
    for (suite, class, ..) in &cases {
        let place = suite.split_once(".jsonl#").map_or(&**suite, |_| &suite[..ODD.len() + 2]);
        let of = ["", ".truncate@short", ".short", ".prune"];
        assert!(of.iter().any(|lane| *class == format!("{place}{lane}")), "{class} in {suite}");
    }
    // A measure that is compared with the baseline and with a limit occurs twice.
    let twice =
        |name: &str| cases.iter().any(|(_, class, n, _)| n == name && class.contains("handoff"));
    assert!(
        twice("peak of the usable window") && twice("peak of the usable window (2)"),
        "{cases:?}"
    );
}

#[test]
fn sums_match_the_cases_and_each_failure_has_a_reason() {
    let (_, result) = gated();
    let cases = cases(&result);
    let sums = |element: &Element| {
        let number = |key| element.says(key).and_then(|n| n.parse::<usize>().ok());
        (number("tests").unwrap(), number("failures").unwrap())
    };
    let counted = |suite: Option<&str>| {
        let own = cases.iter().filter(|(name, ..)| suite.is_none_or(|suite| suite == name));
        (own.clone().count(), own.filter(|(.., failed)| *failed).count())
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
