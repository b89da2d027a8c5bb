//! Expected re-reads in `diagnose`, `replay`, `sweep` and `gate`, with bundled coefficients and those of the user.

use crate::gate::{gate, parse_json, run_with_exit_code, with_baseline};
use crate::loss::{diagnose, diagnosed, lane, len, row};
use crate::program::plimsoll;
use crate::support::{folder, json, sample, samples, stderr, stdout};
use plimsoll::analysis::rereads::rereads_number;
use plimsoll::json::Value;
use std::fs;

#[test]
fn expected_rereads_have_an_interval_and_name_the_likeliest_files() {
    let file = sample("compacted.jsonl");
    let args = [&*file, "--set", "compression_trigger=0.1"];
    let (found, text) = (diagnosed(&args), stdout(&diagnose(&args)));
    for name in ["recorded", "truncate"] {
        let lane = lane(&found, name);
        let expected = &lane["expected_rereads"];
        let files = &expected["files"];
        let of = |end: &str| files[end].as_f64().expect("a number");
        assert!(of("value") > 0.05 && of("low") <= of("value") && of("value") <= of("high"));
        let removed = lane["removed_files"].as_array().expect("a list");
        assert_eq!(expected["removals"].as_u64(), len(&lane["removed_files"]));
        assert_eq!(expected["first_call"], removed[0]["call"]);
        let added = removed.iter().filter_map(|file| file["added_rereads"].as_f64());
        assert!((added.sum::<f64>() - of("value")).abs() < 1e-9, "{name}");
        let row = row(&text, "\nexpected re-reads ", name);
        let number = rereads_number(of("value"));
        assert!(row.contains(&format!(" {number} ")), "{number} in {row}");
        let (low, high) = (rereads_number(of("low")), rereads_number(of("high")));
        assert!(row.contains(&format!(" {low} to {high} ")), "{row}");
        let heading = format!("\n  most likely read again in {name}\n");
        let listed = text.split(&heading).last().unwrap_or_default().lines();
        let listed = listed.take_while(|line| line.contains(": removed at call "));
        let n = listed.count();
        assert!((1..=5).contains(&n), "{name}: {n} files in\n{text}");
    }
    let none = lane(&found, "none");
    assert_eq!(none["expected_rereads"]["files"]["value"], 0.0);
    assert!(row(&text, "\nexpected re-reads ", "none").contains(" none "), "{text}");
    // `replay` shows the same figures.
    let replay = [&["replay"], &args[..], &["--json"]].concat();
    let replay = json(&plimsoll(folder().path(), &replay));
    for name in ["recorded", "truncate"] {
        assert_eq!(lane(&replay, name)["expected_rereads"], lane(&found, name)["expected_rereads"]);
    }
}

#[test]
fn the_cost_of_a_setting_includes_its_expected_rereads() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let sweep = ["sweep", &file, "--policy", "truncate", "--points", "40"];
    let all = [&sweep[..], &["--all"]].concat();
    let text = stdout(&plimsoll(here.path(), &all));
    for part in [
        " re-reads ",
        "\n  The cost includes the price of the expected re-reads.\n",
        "\n  Lost rules: constraints and decisions of the user",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let result = json(&plimsoll(here.path(), &[&sweep[..], &["--json"]].concat()));
    let session = &result["sessions"][0];
    let mut n_expected = 0;
    for point in session["points"].as_array().expect("points") {
        let (figures, cost) = (&point["figures"], &point["cost_with_rereads"]);
        let Some(usd) = figures["usd"].as_f64() else {
            assert!(cost.is_null(), "{point}");
            continue;
        };
        let of = |end: &str| cost[end].as_f64().expect("a cost");
        let price = figures["reread_usd"].as_f64().expect("a price");
        assert!((usd + price - of("value")).abs() < 1e-9, "{point}");
        assert!(usd <= of("low") + 1e-9 && of("low") <= of("value") && of("value") <= of("high"));
        let expected = figures["expected_rereads"]["value"].as_f64();
        n_expected += usize::from(expected > Some(0.05));
        let shown = format!(" ${:.2} {:>8} ", of("value"), rereads_number(expected.unwrap()));
        assert!(text.contains(&shown), "{shown} in {text}");
    }
    assert!(n_expected > 0, "no setting removes a file's content");
    let found = &session["recommended"];
    assert!(found["as_good"].as_u64() > Some(0), "{found}");
}

#[test]
fn the_recorded_run_is_listed_with_its_expected_rereads() {
    let here = folder();
    let line = |file: &str| {
        let sweep = ["sweep", file, "--policy", "truncate", "--points", "2"];
        let text = stdout(&plimsoll(here.path(), &sweep));
        let line = text.lines().find(|line| line.starts_with("Recorded run: "));
        let line = line.expect("the recorded run").to_owned();
        let result = json(&plimsoll(here.path(), &[&sweep[..], &["--json"]].concat()));
        (line, result["sessions"][0].clone())
    };
    let (text, session) = line(&sample("compacted.jsonl"));
    let files = &session["recorded_expected_rereads"];
    let number = rereads_number(files["value"].as_f64().expect("a number"));
    assert!(text.contains(&format!("; re-reads about {number} file")), "{text}");
    assert!(text.ends_with(" expected after 1 compaction."), "{text}");
    let usd = |name: &str| session[name].as_f64().expect("a price");
    let (modelled, billed) = (usd("recorded_modelled_cost"), usd("recorded_billed_cost"));
    assert!(text.contains(&format!("${modelled:.2} by the same cache model")), "{text}");
    let differs = (billed - modelled).abs() > 0.01 * modelled;
    assert_eq!(text.contains(" as billed"), differs, "{text}");
    let (text, _) = line(&sample("many-tool-results.jsonl"));
    assert!(!text.contains("re-reads"), "no compaction: {text}");
}

#[test]
fn coefficients_of_the_user_change_the_expected_rereads() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/src/core/assets/reread_model.toml");
    let text = fs::read_to_string(bundled).expect("the coefficients");
    let start = text.find("\nremoved = ").expect("the coefficients") + 1;
    let end = start + text[start..].find('\n').expect("a line");
    let certain = format!("{}removed = [50.0, 0.0, 0.0, 0.0]{}", &text[..start], &text[end..]);
    fs::write(here.path().join("certain.toml"), certain).expect("writable");
    let expected = |more: &[&str]| {
        let sweep = ["sweep", &file, "--policy", "truncate", "--points", "2", "--json"];
        let result = json(&plimsoll(here.path(), &[&sweep[..], more].concat()));
        let files = &result["sessions"][0]["recorded_expected_rereads"];
        files["value"].as_f64().expect("a number")
    };
    let usual = expected(&[]);
    assert!(expected(&["--risk-model", "certain.toml"]) > usual);
    assert_eq!(expected(&["--risk-model", bundled]), usual);
    fs::write(here.path().join("wrong.toml"), "removed = [1]\n").expect("writable");
    for (name, why) in
        [("wrong.toml", "wrong.toml is not a file of coefficients"), ("gone.toml", "gone.toml")]
    {
        let error = stderr(&plimsoll(here.path(), &["inspect", &file, "--risk-model", name]));
        assert!(error.contains(why) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn expected_rereads_have_a_limit_and_are_compared_with_the_baseline() {
    let here = with_baseline();
    let baseline = parse_json(&fs::read_to_string(here.path().join("base.json")).unwrap());
    let sessions = baseline["sessions"].as_object().unwrap().values();
    let named = |session: &&Value| session["file"] == "kept/compacted.jsonl";
    let session = sessions.clone().find(named).unwrap();
    let before = &session["lanes"]["truncate"]["figures"]["expected_rereads"];
    assert!(before["value"].as_f64() > Some(0.05), "{before}");
    let limited = |code: i32, limit: &str| {
        run_with_exit_code(here.path(), code, &gate(&["--max-rereads", limit]))
    };
    let printed = limited(1, "0");
    assert!(
        printed.contains("! expected re-reads: ") && printed.contains(", at most 0.0 allowed"),
        "{printed}"
    );
    let printed = limited(0, "+10%");
    assert!(printed.contains("  expected re-reads: ") && printed.contains(", as before"));
    // Other coefficients are other conditions.
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/src/core/assets/reread_model.toml");
    let text = fs::read_to_string(bundled).unwrap();
    let other = text.replacen("source = \"", "source = \"own ", 1);
    fs::write(here.path().join("own.toml"), other).unwrap();
    let printed = run_with_exit_code(here.path(), 0, &gate(&["--risk-model", "own.toml"]));
    assert!(printed.contains("changed: coefficients of expected re-reads"), "{printed}");
}

#[test]
fn expected_rereads_are_priced_where_calls_are() {
    let mut n_priced = 0;
    for file in samples() {
        let diagnosed = diagnosed(&[&file.to_string_lossy()]);
        // The second lane is `none`.
        let is_priced = diagnosed["lanes"][1]["cost"]["usd"].is_number();
        for lane in diagnosed["lanes"].as_array().expect("a list") {
            let expected = &lane["expected_rereads"];
            let name = format!("{} {}: {expected}", file.display(), lane["lane"]);
            assert_eq!(expected["usd"].is_object(), is_priced, "{name}");
            let is_expected = expected["files"]["value"].as_f64() > Some(0.0);
            if is_priced && is_expected {
                assert!(expected["usd"]["value"].as_f64() > Some(0.0), "{name}");
                n_priced += 1;
            }
        }
    }
    assert!(n_priced > 0);
}
