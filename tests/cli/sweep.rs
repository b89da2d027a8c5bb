//! `plimsoll sweep` on sample sessions.

use crate::gate::{folder_with_samples, parse_json, run_with_exit_code};
use crate::program::plimsoll;
use crate::support::{folder, json, sample, stderr, stdout, write_conversation};
use plimsoll::json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::Path;

#[test]
fn replay_and_gate_confirm_the_recommended_settings() {
    let here = folder_with_samples();
    let sweep = ["sweep", "kept/compacted.jsonl", "--policy", "truncate", "--points", "60"];
    let json: Vec<&str> = sweep.iter().copied().chain(["--json"]).collect();
    let result = parse_json(&run_with_exit_code(here.path(), 0, &json));
    let session = &result["sessions"][0];
    let points = session["points"].as_array().unwrap();
    assert_eq!((points.len(), &points[0]["current"]), (60, &true.into()));
    let picked = session["recommended"]["point"].as_u64().unwrap() as usize;
    let picked = &points[picked];
    let figures = &picked["figures"];
    let set: Vec<&str> =
        picked["set"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut replay = vec!["replay", "kept/compacted.jsonl", "--policy", "truncate", "--json"];
    let mut diagnose = replay.clone();
    diagnose[0] = "diagnose";
    for set in &set {
        replay.extend(["--set", set]);
        diagnose.extend(["--set", set]);
    }
    let lane = &parse_json(&run_with_exit_code(here.path(), 0, &replay))["lanes"][2];
    assert_eq!(
        (&lane["peak_tokens"], &lane["compactions"]),
        (&figures["peak_tokens"], &figures["compactions"])
    );
    let lane = &parse_json(&run_with_exit_code(here.path(), 0, &diagnose))["lanes"][2];
    assert_eq!(lane["cost"]["usd"], figures["usd"]);
    let rereads = &lane["expected_rereads"];
    assert_eq!(rereads["files"], figures["expected_rereads"]);
    assert_eq!(rereads["usd"]["value"], figures["reread_usd"]);
    // The same as text, with the command to paste.
    let text = run_with_exit_code(here.path(), 0, &sweep);
    let paste = set.iter().fold(String::new(), |all, set| format!("{all} --set {set}"));
    let command =
        format!("plimsoll compact kept/compacted.jsonl --schedule replay --policy truncate{paste}");
    assert!(text.contains(&format!("\n  {command}\n")), "{text}");
    assert_eq!(session["recommended"]["command"], *command);
    let pasted: Vec<&str> = command.split(' ').skip(1).collect();
    let written = run_with_exit_code(here.path(), 0, &pasted);
    assert!(written.starts_with("history 175,180 → context "), "{written}");
    assert!(
        text.contains("Recommended: ") && text.contains("Tried 60 settings of truncate: "),
        "{text}"
    );
}

#[test]
fn the_recommended_command_has_the_options_of_the_sweep() {
    let here = folder();
    write_conversation(here.path(), "my talk.json");
    let options = ["--window", "8k", "--counter", "chars/4", "--pin", "2,4-5"];
    let sweep = [
        "sweep",
        "my talk.json",
        "--policy",
        "truncate",
        "--points",
        "40",
        "--set",
        "output_reserve=1k",
        "--json",
    ];
    let result = json(&plimsoll(here.path(), &[&sweep[..], &options].concat()));
    let command = result["sessions"][0]["recommended"]["command"].to_string();
    assert!(
        command
            .starts_with("\"plimsoll compact 'my talk.json' --schedule replay --policy truncate"),
        "{command}"
    );
    assert!(command.ends_with(" --window 8000 --counter chars/4 --pin 2,4-5\""), "{command}");
}

#[test]
fn no_command_is_recommended_for_settings_that_never_compact() {
    let here = folder();
    let file = sample("many-tool-results.jsonl");
    let sweep = ["sweep", &file, "--policy", "codex", "--points", "20"];
    let result = json(&plimsoll(here.path(), &[&sweep[..], &["--json"]].concat()));
    let session = &result["sessions"][0];
    let point = session["recommended"]["point"].as_u64().expect("a position");
    let figures = &session["points"][point as usize]["figures"];
    assert_eq!(figures["compactions"], 0, "{figures}");
    assert!(session["recommended"]["command"].is_null());
    let text = stdout(&plimsoll(here.path(), &sweep));
    assert!(text.contains("It never compacts this session"), "{text}");
    assert!(text.contains("Recorded run: $"), "{text}");
    assert!(!text.contains("plimsoll compact"), "{text}");
}

/// Returns the tool results that a call receives first: those after the last answer in its written context.
fn newest_results(here: &Path, call: usize, policy: &[&str]) -> Vec<Value> {
    let (call, n_options) = (call.to_string(), policy.len());
    let out = format!("call-{call}-{}-{n_options}.json", policy.join("-"));
    let file = sample("compacted.jsonl");
    let context = ["context", &file, "--at-call", &call];
    let written = ["--format", "openai_chat", "-o", &out];
    plimsoll(here, &[&context[..], &written, policy].concat());
    let text = fs::read_to_string(here.join(&out)).expect("written");
    let written: Value = serde_json::from_str(&text).expect("JSON");
    let messages = written.as_array().or(written["messages"].as_array());
    let messages = messages.expect("messages").iter().rev();
    let tail = messages.take_while(|message| message["role"] != "assistant");
    tail.filter(|message| message["role"] == "tool").cloned().collect()
}

#[test]
fn recommended_settings_show_every_result_to_the_next_call() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let calls: Vec<usize> = (4..48).step_by(6).collect();
    let newest = |call: &usize| newest_results(here.path(), *call, &[]);
    let recorded: Vec<_> = calls.iter().map(newest).collect();
    let n_with_results = recorded.iter().filter(|results| !results.is_empty());
    assert!(n_with_results.count() > 4, "the premise");
    for policy in ["langchain", "anthropic", "baseagent", "prune", "truncate"] {
        let sweep = ["sweep", &file, "--policy", policy, "--points", "200", "--json"];
        let result = json(&plimsoll(here.path(), &sweep));
        let found = &result["sessions"][0]["recommended"];
        let sets = found["set"].as_array().expect("a recommendation").iter();
        let sets: Vec<&str> = sets.filter_map(Value::as_str).collect();
        let mut options = vec!["--policy", policy];
        for set in &sets {
            options.extend(["--set", set]);
        }
        for (call, recorded) in calls.iter().zip(&recorded) {
            let received = newest_results(here.path(), *call, &options);
            assert_eq!(received, *recorded, "{policy} with {sets:?} at call {call}");
        }
    }
}

/// Returns the reasons why a sweep of the sample rules out settings with their numbers, as text and JSON state them, and
/// the text.
fn ruled_out(options: &[&str]) -> (Vec<(String, u64)>, String) {
    let here = folder();
    let file = sample("compacted.jsonl");
    let sweep = [&["sweep", &file][..], options].concat();
    let result = json(&plimsoll(here.path(), &[&sweep[..], &["--json"]].concat()));
    let text = stdout(&plimsoll(here.path(), &sweep));
    let counts = result["sessions"][0]["ruled_out"].as_array().cloned();
    let count = |count: Value| {
        let line = format!("\n  {}\n", count["text"].as_str().expect("a text"));
        assert!(text.contains(&line), "{line} in {text}");
        let reason = count["reason"].as_str().expect("a reason");
        (reason.to_owned(), count["settings"].as_u64().expect("a number"))
    };
    let counts = counts.expect("counts").into_iter().map(count).collect();
    (counts, text)
}

#[test]
fn settings_that_hide_results_or_are_not_advised_are_counted() {
    let cuts_unread = ("cuts_unread".to_owned(), 1);
    let (counts, text) = ruled_out(&[
        "--policy",
        "prune",
        "--vary",
        "prune_protect=0",
        "--vary",
        "spare_turns=0",
        "--vary",
        "compression_trigger=0.13",
        "--vary",
        "prune_minimum=1000",
    ]);
    assert!(counts.contains(&cuts_unread), "{text}");
    let line = "1 setting ruled out: removes or cuts a tool result before it was read";
    assert!(text.contains(line), "{text}");
    let cuts = "max_output_tokens=100,50000";
    let (counts, text) = ruled_out(&["--policy", "baseagent", "--vary", cuts]);
    // The default of 2,500 tokens cuts results, too.
    assert!(counts.contains(&("cuts_unread".to_owned(), 2)), "{counts:?} {text}");
    let keep = "keep_results=0,1,3";
    let (counts, text) = ruled_out(&["--policy", "langchain", "--vary", keep, "--all"]);
    assert!(counts.contains(&("not_advised".to_owned(), 2)), "{text}");
    let why = "(keep_results is not from 3 to 200 (docs.langchain.com, ";
    assert!(text.contains(why), "{text}");
}

#[test]
fn what_a_system_does_not_offer_is_not_varied() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let sweep = ["sweep", &file, "--policy", "codex", "--points", "60"];
    let result = json(&plimsoll(here.path(), &[&sweep[..], &["--json"]].concat()));
    let points = result["sessions"][0]["points"].as_array().expect("points");
    let n_values = |name: &str| {
        let values = points.iter().map(|point| point["settings"][name].to_string());
        values.collect::<HashSet<_>>().len()
    };
    assert_eq!((n_values("compression_trigger"), n_values("user_tokens_kept")), (1, 1));
    assert!(n_values("compact_at") > 10);
    let text = stdout(&plimsoll(here.path(), &sweep));
    let line = "not varied, because codex offers no such setting: compression_trigger, ";
    assert!(text.contains(line), "{text}");
    let none = ["sweep", &file, "--policy", "cline-legacy"];
    let error = stderr(&plimsoll(here.path(), &none));
    let why = "cline-legacy offers its users no setting to vary";
    assert!(error.contains(why), "{error}");
}

#[test]
fn a_setting_that_never_acts_is_named_and_the_best_that_acts_is_offered() {
    let here = folder();
    let file = sample("many-tool-results.jsonl");
    let sweep = ["sweep", &file, "--policy", "truncate"];
    let result = json(&plimsoll(here.path(), &[&sweep[..], &["--json"]].concat()));
    let session = &result["sessions"][0];
    let (found, points) = (&session["recommended"], &session["points"]);
    assert_eq!(found["never_acts"], true, "{found}");
    let acting = &found["acting"];
    let point = &points[acting["point"].as_u64().expect("a position") as usize];
    assert!(point["figures"]["compactions"].as_u64() > Some(0));
    assert!(point["ruled_out"].is_null());
    let text = stdout(&plimsoll(here.path(), &sweep));
    let finding = "Recommended: This session fits: this setting never acts. ";
    assert!(text.contains(finding), "{text}");
    let other = "\nThe best setting that acts: truncate with ";
    assert!(text.contains(other), "{text}");
    let command = acting["command"].as_str().expect("a command");
    assert!(text.contains(&format!("\n  {command}\n")), "{text}");
    let pasted: Vec<&str> = command.split(' ').skip(1).collect();
    let replayed = plimsoll(here.path(), &pasted);
    assert!(replayed.status.success(), "{}", stderr(&replayed));
}

#[test]
fn savings_refer_to_the_recorded_run() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let sweep = ["sweep", &file, "--policy", "prune"];
    let result = json(&plimsoll(here.path(), &[&sweep[..], &["--json"]].concat()));
    let session = &result["sessions"][0];
    let price = |value: &Value| value.as_f64().expect("a price");
    let recorded = price(&session["recorded_modelled_cost"]);
    let found = &session["recommended"];
    let point = found["point"].as_u64().expect("a position") as usize;
    let cost = price(&session["points"][point]["cost_with_rereads"]["value"]);
    let share = (100.0 * (1.0 - cost / recorded)).round();
    let saves = format!("saves {share} % of ${recorded:.2} (recorded run) and costs ${cost:.2}");
    let text = found["text"].as_str().expect("a text");
    assert!(share > 0.0 && text.contains(&saves), "{saves} in {text}");
    // Of several sessions, all together.
    let other = sample("many-tool-results.jsonl");
    let both = ["sweep", &file, &other, "--policy", "truncate"];
    let text = stdout(&plimsoll(here.path(), &both));
    assert!(text.contains("recorded runs"), "{text}");
}

#[test]
fn a_sweep_varies_the_given_settings_and_takes_folders() {
    let here = folder_with_samples();
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
    let result = parse_json(&run_with_exit_code(here.path(), 0, &args));
    assert_eq!(result["sessions"].as_array().map(Vec::len), Some(2));
    let points = result["sessions"][0]["points"].as_array().unwrap();
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
    let robust = &result["robust"];
    assert_eq!(robust["sessions"].as_array().map(Vec::len), Some(2));
    assert_eq!(robust["cross_validation"].as_array().map(Vec::len), Some(2));
    let text = run_with_exit_code(here.path(), 0, &args[..args.len() - 1]);
    assert!(
        text.contains("One for all: ") && text.contains("2 sessions, 6 settings of prune, few"),
        "{text}"
    );
    assert!(text.contains("\n  plimsoll compact FILE --schedule replay --policy "), "{text}");
}

#[test]
fn the_csv_of_a_sweep_agrees_with_its_json() {
    let here = folder_with_samples();
    let sweep = |output: &str| {
        let args = ["sweep", "kept/compacted.jsonl", "--points", "40", output];
        run_with_exit_code(here.path(), 0, &args)
    };
    let csv = sweep("--csv");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let result = parse_json(&sweep("--json"));
    let points = result["sessions"][0]["points"].as_array().unwrap();
    assert_eq!(rows.len(), points.len() + 1);
    for column in [
        "usd",
        "tokens_sent",
        "tokens_total",
        "reread_tokens",
        "reread_usd",
        "peak_tokens",
        "compactions",
    ] {
        let at = rows[0].iter().position(|name| *name == column).unwrap();
        for (row, point) in rows[1..].iter().zip(points) {
            let value = &point["figures"][column];
            let value = value.as_f64().map_or_else(String::new, |n| n.to_string());
            assert_eq!(row[at], value, "{column}");
        }
    }
    for (column, name, end) in [
        ("expected_rereads", "expected_rereads", "value"),
        ("expected_rereads_low", "expected_rereads", "low"),
        ("expected_rereads_high", "expected_rereads", "high"),
        ("cost_with_rereads", "cost_with_rereads", "value"),
        ("user_rules_lost", "user_rules", "lost"),
        ("user_rules_stated", "user_rules", "stated"),
    ] {
        let at = rows[0].iter().position(|name| *name == column).unwrap();
        for (row, point) in rows[1..].iter().zip(points) {
            let of = |entry: &Value| entry[name][end].as_f64();
            let value = of(&point["figures"]).or(of(point));
            let value = value.map_or_else(String::new, |n| n.to_string());
            assert_eq!(row[at], value, "{column}");
        }
    }
}

#[test]
fn managed_conversations_of_a_folder_are_skipped() {
    let here = folder();
    fs::create_dir(here.path().join("all")).expect("a new folder");
    let (source, managed) = ("all/c.jsonl", "all/m.jsonl");
    fs::copy(sample("compacted.jsonl"), here.path().join(source)).expect("copied");
    let export = ["compact", source, "--policy", "prune", "--schedule", "replay", "-o", managed];
    assert!(plimsoll(here.path(), &export).status.success());
    let sweep = |path: &str| plimsoll(here.path(), &["sweep", path, "--policy", "prune", "--json"]);
    let files = |path: &str| {
        let result = json(&sweep(path));
        let sessions = result["sessions"].as_array().expect("sessions").iter();
        let files: Vec<_> =
            sessions.map(|s| s["file"].as_str().expect("a path").to_owned()).collect();
        files
    };
    assert_eq!(files("all"), [source]);
    assert!(stderr(&sweep("all")).contains("all/m.jsonl is a managed conversation"));
    assert_eq!(files(managed), [managed]);
    fs::remove_file(here.path().join(source)).expect("it is there");
    assert!(stderr(&sweep("all")).contains("only managed conversations were found"));
}
