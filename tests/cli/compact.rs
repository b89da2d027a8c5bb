//! `plimsoll compact`: its output, and the files that it must not touch.

use crate::program::{command, plimsoll};
use crate::support::{
    EXPORT, folder, json, names_in, rejected, sample, stderr, stdout, write_conversation,
};
use plimsoll::json::Value;
use std::fs;
use std::path::Path;

#[test]
fn the_output_has_the_reported_tokens_and_the_source_is_unchanged() {
    for policy in ["truncate", "summarize", "prune"] {
        for schedule in ["now", "replay"] {
            let here = folder();
            write_conversation(here.path(), "c.json");
            let source = fs::read(here.path().join("c.json")).expect("it was written");
            let mut args =
                vec!["compact", "c.json", "--json", "--policy", policy, "--schedule", schedule];
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
            assert!(compacted["tokens_after"].as_u64() < compacted["tokens_before"].as_u64());
            let inspected =
                json(&plimsoll(here.path(), &["inspect", "--json", "c-managed-1.json"]));
            assert_eq!(
                inspected["tokens"]["total"], compacted["tokens_after"],
                "{policy}, {schedule}"
            );
            assert_eq!(inspected["issues"], Value::Array(Vec::new()), "{policy}, {schedule}");
            assert_eq!(fs::read(here.path().join("c.json")).expect("it is there"), source);
            let [managed, manifest, removed] = EXPORT;
            assert_eq!(names_in(here.path()), [managed, manifest, removed, "c.json"]);
        }
    }
}

#[test]
fn the_output_of_a_calibrated_session_keeps_its_token_count() {
    let folder = folder();
    for (sample, policy) in [("slow-growth.jsonl", "truncate"), ("compacted.jsonl", "prune")] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions").join(sample);
        let source = source.to_str().expect("UTF-8");
        let out = format!("{policy}.jsonl");
        let args =
            ["compact", source, "--policy", policy, "--schedule", "replay", "-o", &out, "--json"];
        let compacted = json(&plimsoll(folder.path(), &args));
        let opened = json(&plimsoll(folder.path(), &["inspect", &out, "--json"]));
        assert_eq!(opened["tokens"]["total"], compacted["tokens_after"], "{sample}");
        assert_eq!(opened["tokens"]["accuracy"], "calibrated");
        assert_eq!(opened["recorded"]["largest_call_tokens"], Value::Null);
    }
}

#[test]
fn sizes_are_labelled_and_have_separators() {
    let here = folder();
    let source = sample("compacted.jsonl");
    let run = |more: &[&str]| {
        let args = ["compact", &source, "--policy", "summarize"];
        stdout(&plimsoll(here.path(), &[&args[..], more].concat()))
    };
    let replay = run(&["--schedule", "replay", "-o", "replay.jsonl"]);
    assert!(replay.starts_with("history 175,180 → context "), "{replay}");
    let check = replay.lines().find(|line| line.contains(" tokens  "));
    let (expected, measured) = check
        .and_then(|line| line.split_once("expected "))
        .and_then(|(_, figures)| figures.split_once(", measured "))
        .expect("the check of the tokens");
    assert_eq!(expected, measured);
    assert!(replay.contains(&format!("context {expected} tokens, written to ")), "{replay}");
    let now = run(&["--force", "-o", "now.jsonl"]);
    assert!(now.starts_with("context 42,064 → "), "{now}");
}

#[test]
fn the_output_may_have_another_format() {
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
        &[&args[..], &["--window", "8k", "--output-reserve", "1k", "--set", "keep_recent=4"]]
            .concat(),
    ));
    assert!(
        compacted["checks"].as_array().is_some_and(|c| c.iter().all(|c| c["ok"] == true)),
        "{compacted}"
    );
    let inspected = json(&plimsoll(here.path(), &["inspect", "--json", "a.json"]));
    assert_eq!(inspected["format"], "anthropic_messages");
}

#[test]
fn a_trigger_that_is_not_met_changes_nothing_unless_forced() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let args = ["compact", "c.json", "--policy", "truncate", "--set", "keep_recent=4"];
    let output = plimsoll(here.path(), &args);
    assert!(output.status.success() && stdout(&output).contains("not met"), "{}", stdout(&output));
    assert_eq!(names_in(here.path()), ["c.json"]);
    let unchanged = json(&plimsoll(here.path(), &[&args[..], &["--json"]].concat()));
    assert_eq!((&unchanged["changed"], &unchanged["output"]), (&Value::from(false), &Value::Null));
    assert_eq!(unchanged["tokens_before"], unchanged["tokens_after"]);
    let forced = json(&plimsoll(here.path(), &[&args[..], &["--json", "--force"]].concat()));
    assert_eq!(forced["changed"], true);
}

#[test]
fn a_given_summary_is_used_or_rejected_if_it_is_too_long() {
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
    let error = rejected(here.path(), &[&args[..], &["--summarizer", &long]].concat());
    assert!(
        error.contains("the summary has 3,011 tokens") && error.contains("summary_max_tokens"),
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
fn existing_files_are_not_overwritten() {
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
        let error =
            rejected(at, &["compact", file, "--force", "--policy", "truncate", "-o", output]);
        assert!(error.contains("already exists"), "{error}");
    }
    assert_eq!(fs::read(here.path().join("c.json")).expect("it is there"), before);
}

#[test]
fn the_default_output_for_a_session_of_an_agents_store_is_in_the_current_folder() {
    let here = folder();
    let store = here.path().join(".claude/projects/-home-me");
    let work = here.path().join("work");
    fs::create_dir_all(&store).expect("a folder");
    fs::create_dir(&work).expect("a folder");
    write_conversation(&store, "c.json");
    let source = store.join("c.json");
    let source = source.to_str().expect("Unicode");
    let args =
        ["compact", source, "--json", "--force", "--policy", "truncate", "--set", "keep_recent=4"];
    let run = |more: &[&str]| {
        let mut command = command(&work, &[&args, more].concat());
        command.env("HOME", here.path()).env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
        json(&command.output().expect("the program starts"))["output"].clone()
    };
    assert_eq!(run(&[]), "c-managed-1.json");
    assert_eq!(
        (names_in(&work), names_in(&store)),
        (EXPORT.map(str::to_owned).to_vec(), vec!["c.json".to_owned()])
    );
    let given = store.join("mine.json");
    run(&["-o", given.to_str().expect("Unicode")]);
    assert_eq!(
        names_in(&store),
        ["c.json", "mine.json", "mine.manifest.json", "mine.removed.jsonl"]
    );
}

#[test]
fn there_is_no_default_output_inside_an_agents_store() {
    let here = folder();
    let store = here.path().join(".claude/projects/-home-me");
    fs::create_dir_all(&store).expect("a folder");
    write_conversation(&store, "c.json");
    let args = ["compact", "c.json", "--force", "--policy", "truncate", "--set", "keep_recent=4"];
    let run = |more: &[&str]| {
        let mut command = command(&store, &[&args[..], more].concat());
        command.env("HOME", here.path()).env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
        command.output().expect("the program starts")
    };
    let rejected = run(&[]);
    assert_eq!(rejected.status.code(), Some(2));
    assert!(stderr(&rejected).contains("-o OUT"), "{}", stderr(&rejected));
    assert_eq!(names_in(&store), ["c.json"]);
    assert!(run(&["-o", "../../../out.json"]).status.success());
    assert_eq!(names_in(&store), ["c.json"]);
}

#[test]
fn a_note_reports_a_context_that_stays_too_large() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let args = ["compact", "c.json", "--json", "--policy", "prune"];
    let tight = ["--window", "3k", "--output-reserve", "1k"];
    for schedule in ["now", "replay"] {
        let args = [&args[..], &tight, &["--schedule", schedule]].concat();
        let found = json(&plimsoll(here.path(), &args));
        assert_eq!(found["changed"], false, "the premise: {found}");
        let notes = found["notes"].to_string();
        assert!(notes.contains("still more than the context window"), "{notes}");
        assert_eq!(notes.contains("overflowed"), schedule == "replay", "{notes}");
    }
}

/// `--schedule now` must use the model's window, as a replay does.
#[test]
fn a_context_far_below_the_window_is_not_changed() {
    let here = folder();
    let copy = here.path().join("session.json");
    fs::copy(sample("images-and-cjk.json"), copy).expect("a copy of a sample");
    for preset in ["digitorn", "digitorn-hooks", "digitorn-document", "cowagent"] {
        let args = ["compact", "session.json", "--policy", preset, "--json"];
        let output = stdout(&plimsoll(here.path(), &args));
        assert_eq!(names_in(here.path()), ["session.json"], "{preset}: {output}");
    }
}

#[test]
fn a_session_of_picoclaw_with_removed_messages_is_written_and_restored() {
    let said = |idx: usize| {
        let role = ["user", "assistant"][idx % 2];
        plimsoll::json::json!({"role": role, "content": format!("message {idx} {}", "word ".repeat(200))})
    };
    // A line that is no message is counted by `skip` too.
    let mut messages: Vec<Value> = (0..16).map(said).collect();
    messages.insert(1, "torn".into());
    let session = plimsoll::json::json!({
        "key": "k", "messages": messages, "summary": "Earlier: words.", "skip": 5, "count": 17,
    });
    let here = folder();
    let source = session.to_string();
    fs::write(here.path().join("s.json"), &source).expect("a new file");
    let inspected = json(&plimsoll(here.path(), &["inspect", "s.json", "--json"]));
    assert_eq!(inspected["format"], "picoclaw");
    let options = "--policy truncate --set keep_recent=4 --window 4000 --output-reserve 500 --json";
    for more in [
        "--schedule now --force -o now.json",
        "--schedule replay --set compression_trigger=0.1 -o replay.json",
    ] {
        let args = format!("compact s.json {options} {more}");
        let words: Vec<&str> = args.split(' ').collect();
        let compacted = json(&plimsoll(here.path(), &words));
        let checks = compacted["checks"].as_array().expect("checks");
        assert!(checks.iter().all(|check| check["ok"] == true), "{compacted}");
        let output = compacted["output"].as_str().expect("a file");
        let text = fs::read_to_string(here.path().join(output)).expect("it was written");
        let written: Value = serde_json::from_str(&text).expect("JSON");
        let n_messages = written["messages"].as_array().expect("messages").len();
        assert_eq!((&written["skip"], &written["count"]), (&0.into(), &n_messages.into()));
        stdout(&plimsoll(here.path(), &["restore", output, "-o", "again.json"]));
        let again = here.path().join("again.json");
        assert_eq!(fs::read_to_string(&again).expect("it was written"), source);
        fs::remove_file(again).expect("it was written");
    }
}

#[test]
fn a_forced_compaction_of_a_system_is_its_summary() {
    let here = folder();
    for policy in ["claude-code", "qwen-code", "opencode"] {
        let managed = format!("{policy}.jsonl");
        let file = sample("slow-growth.jsonl");
        let args = ["compact", &file, "--policy", policy, "--force", "-o", &managed, "--json"];
        let written = json(&plimsoll(here.path(), &args));
        let requests = written["requests"].as_array().expect("requests");
        assert_eq!(requests.len(), 1, "{policy}: {written}");
    }
}
