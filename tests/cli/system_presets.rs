//! Presets of real systems from the command line: what the commands say and write about the same run, messages without
//! content, forced compactions and spilled results.

use crate::program::plimsoll;
use crate::support::{folder, json, samples, stderr, stdout, write_conversation};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Returns the names of all bundled presets.
fn presets() -> Vec<String> {
    let here = folder();
    let listed = json(&plimsoll(here.path(), &["presets", "list", "--json"]));
    let listed = listed.as_array().expect("a list").iter();
    let names: Vec<_> = listed.map(|preset| text(&preset["name"])).collect();
    assert!(names.len() > 50, "{names:?}");
    names
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Returns the JSON output of a command that may find a failed check.
fn json_of(folder: &Path, args: &[&str]) -> Value {
    let output = plimsoll(folder, args);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{args:?}: {}", stderr(&output)))
}

/// Returns the messages of a written chat file.
fn messages(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("it was written");
    let document: Value = serde_json::from_str(&text).expect("it is JSON");
    let list = document.get("messages").unwrap_or(&document);
    list.as_array().expect("a list").clone()
}

#[test]
fn replay_context_and_compact_agree_on_every_sample_and_preset() {
    let presets = presets();
    let disagreements: Vec<String> = samples()
        .par_iter()
        .flat_map(|sample| disagreements(sample, &presets))
        .collect();
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

/// Returns the presets of which a replay, an export of it and the context of its last call differ in whether the policy
/// acted or in what is sent.
fn disagreements(sample: &Path, presets: &[String]) -> Vec<String> {
    let here = folder();
    let file = sample.to_string_lossy();
    let mut args = vec!["replay", &*file, "--json"];
    for preset in presets {
        args.extend(["--policy", preset]);
    }
    let replay = json(&plimsoll(here.path(), &args));
    let lanes = replay["lanes"].as_array().expect("lanes").iter();
    let lanes = lanes.filter(|lane| presets.contains(&text(&lane["policy"])));
    let disagreement = |lane: &Value| {
        let preset = text(&lane["policy"]);
        let events = lane["events"].as_array().expect("events").iter();
        let effects: Vec<_> = events.map(|event| text(&event["effect"])).collect();
        let acts = effects
            .iter()
            .any(|effect| effect == "removed" || effect == "changed");
        let at = replay["calls"].to_string();
        let (managed, sent) = (format!("{preset}.json"), format!("{preset}-sent.json"));
        let of_run = [
            "--policy",
            &preset,
            "--at-call",
            &at,
            "--json",
            "--format",
            "openai_chat",
        ];
        let compact = ["compact", &*file, "--schedule", "replay", "-o", &managed];
        let compacted = json_of(here.path(), &[&compact[..], &of_run].concat());
        if compacted["changed"] != acts {
            return Some(format!("{file} {preset}: {effects:?}, but {compacted}"));
        }
        // Texts name the folder of files that an export wrote.
        if !acts || !compacted["sidecars"]["files"].is_null() {
            return None;
        }
        let context = ["context", &*file, "-o", &sent];
        json_of(here.path(), &[&context[..], &of_run].concat());
        let (managed, sent) = (
            messages(&here.path().join(managed)),
            messages(&here.path().join(sent)),
        );
        (managed != sent).then(|| format!("{file} {preset}: {managed:?}\n{sent:?}"))
    };
    lanes.filter_map(disagreement).collect()
}

/// Messages of a conversation without content in the middle: the question or the answer has this content, or none.
fn with_empty(role: &str, content: Option<&Value>) -> Value {
    let mut messages = vec![json!({"role": "system", "content": "You tend a greenhouse."})];
    for n in 0..6 {
        for (kind, text) in [("user", "Read probe"), ("assistant", "I read probe")] {
            let mut message = json!({"role": kind, "content": format!("{text} {n}.")});
            if n == 2 && kind == role {
                match content {
                    Some(content) => message["content"] = content.clone(),
                    None => drop(
                        message
                            .as_object_mut()
                            .map(|fields| fields.remove("content")),
                    ),
                }
            }
            messages.push(message);
        }
    }
    messages.push(json!({"role": "user", "content": "Compare them."}));
    messages.push(json!({"role": "assistant", "content": "They agree."}));
    json!({"messages": messages})
}

/// Presets that leave messages without content out of a request or send a text in their place, each with the role and the
/// number of recorded messages that go.
const LEFT_OUT: [(&str, &str, usize); 5] = [
    ("adk", "assistant", 1),
    ("adk", "user", 1),
    ("pi", "assistant", 1),
    ("qwen-code", "assistant", 2),
    ("strands", "assistant", 1),
];

#[test]
fn a_message_without_content_keeps_its_place_or_goes_as_in_the_system() {
    let presets = presets();
    let contents = [Some(json!("")), Some(Value::Null), Some(json!([])), None];
    let cases: Vec<_> = ["user", "assistant"]
        .into_iter()
        .flat_map(|role| contents.iter().map(move |content| (role, content)))
        .collect();
    let wrong: Vec<String> = cases
        .par_iter()
        .flat_map(|(role, content)| {
            let here = folder();
            let document = with_empty(role, Option::as_ref(content));
            fs::write(here.path().join("c.json"), document.to_string()).expect("it can be written");
            let source = document["messages"].as_array().expect("messages").clone();
            presets
                .iter()
                .filter_map(|preset| {
                    let out = format!("{preset}.json");
                    let args = [
                        "context",
                        "c.json",
                        "--policy",
                        preset,
                        "--at-call",
                        "7",
                        "-o",
                        &out,
                    ];
                    plimsoll(here.path(), &args);
                    let sent = messages(&here.path().join(&out));
                    let expected = expected(&source[..14], preset, role);
                    let is_written = |m: &&Value| !source.contains(m);
                    let recorded: Vec<Value> =
                        sent.iter().filter(|m| !is_written(m)).cloned().collect();
                    (recorded != expected)
                        .then(|| format!("{preset}, {role} {content:?}: {sent:?}"))
                })
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the recorded messages that a preset sends.
fn expected(before: &[Value], preset: &str, role: &str) -> Vec<Value> {
    let is_empty = |m: &Value| m["content"].as_str().is_none_or(str::is_empty);
    let at = before.iter().position(is_empty).expect("one is empty");
    let left_out = LEFT_OUT.iter().find(|row| (row.0, row.1) == (preset, role));
    let n = left_out.map_or(0, |row| row.2);
    [&before[..at + 1 - n], &before[at + 1..]].concat()
}

#[test]
fn the_given_conversations_with_empty_messages_keep_their_order() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/empty");
    let presets = presets();
    for (name, call) in [
        ("empty8.json", 8),
        ("empty_assistant.json", 8),
        ("empty_anthropic.json", 8),
    ] {
        let file = cases.join(name).to_string_lossy().into_owned();
        let source = messages(Path::new(&file));
        let here = folder();
        presets.par_iter().for_each(|preset| {
            let (out, call) = (format!("{preset}.json"), call.to_string());
            let args = [
                "context",
                &*file,
                "--policy",
                preset,
                "--at-call",
                &call,
                "-o",
                &out,
            ];
            plimsoll(here.path(), &args);
            let sent = messages(&here.path().join(&out));
            assert_eq!(sent[0], source[0], "{name}, {preset}");
            let mut left = source.iter();
            let is_in_order = sent
                .iter()
                .all(|m| left.any(|source| source == m) || !source.contains(m));
            assert!(is_in_order, "{name}, {preset}: {sent:?}");
        });
    }
}

#[test]
fn an_empty_content_beside_calls_counts_as_hermes_counts_it() {
    let here = folder();
    let call =
        json!([{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let count = |content: Value| {
        let messages = json!([{"role": "user", "content": "go"},
            {"role": "assistant", "content": content, "tool_calls": call},
            {"role": "tool", "tool_call_id": "a", "content": "x".repeat(39_000)},
            {"role": "assistant", "content": "ok"}]);
        fs::write(here.path().join("c.json"), messages.to_string()).expect("it can be written");
        let args = [
            "replay", "c.json", "--json", "--policy", "hermes", "--window", "4000",
        ];
        let replay = json(&plimsoll(here.path(), &args));
        let lanes = replay["lanes"].as_array().expect("lanes");
        let hermes = lanes.iter().find(|lane| lane["policy"] == "hermes");
        hermes.expect("its lane")["events"][0]["cause"]["terms"].clone()
    };
    // `str` of the message has two characters more: `None` for `''`.
    assert_ne!(count(json!("")), Value::Null);
    assert_eq!(count(Value::Null), count(Value::Null));
}

#[test]
fn the_result_that_cowagent_adds_answers_its_call() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/cowagent-missing-result.json");
    let file = file.to_string_lossy().into_owned();
    let here = folder();
    for args in [
        vec!["context", &*file, "--at-call", "2"],
        vec!["compact", &*file, "--schedule", "replay", "--at-call", "2"],
    ] {
        let out = format!("{}.json", args[0]);
        let output = plimsoll(
            here.path(),
            &[&args[..], &["--policy", "cowagent", "-o", &out]].concat(),
        );
        assert!(
            output.status.success(),
            "{}{}",
            stdout(&output),
            stderr(&output)
        );
        let sent = messages(&here.path().join(out));
        let shape = sent.iter().map(|m| {
            (
                text(&m["role"]),
                m["tool_call_id"].as_str().unwrap_or_default(),
            )
        });
        let shape: Vec<_> = shape.collect();
        let shape: Vec<_> = shape.iter().map(|(role, call)| (&**role, *call)).collect();
        let expected = [
            ("user", ""),
            ("assistant", ""),
            ("tool", "call_a"),
            ("tool", "call_b"),
            ("user", ""),
        ];
        assert_eq!(shape, expected, "{}", args[0]);
        assert!(text(&sent[2]["content"]).contains("Missing tool_result"));
    }
}

/// Presets that a forced compaction leaves without an effect on the test's conversation, with the reason.
const NOT_FORCED: [(&str, &str); 0] = [];

#[test]
fn a_forced_compaction_acts_whatever_the_trigger_of_the_system_says() {
    let presets = presets();
    let here = folder();
    write_conversation(here.path(), "c.json");
    let idle: Vec<String> = presets
        .par_iter()
        .filter_map(|preset| {
            let out = format!("{preset}.json");
            let args = [
                "compact", "c.json", "--force", "--json", "--policy", preset, "-o", &out,
            ];
            let compacted = json_of(here.path(), &args);
            let is_known = NOT_FORCED.iter().any(|known| known.0 == preset);
            (compacted["changed"] == is_known).then(|| format!("{preset}: {}", compacted["notes"]))
        })
        .collect();
    assert!(idle.is_empty(), "{}", idle.join("\n"));
}

#[test]
fn the_output_path_does_not_decide_which_results_are_spilled() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let long = "a".repeat(120);
    fs::create_dir_all(here.path().join(&long).join(&long)).expect("it can be made");
    let n_files = |out: &str| {
        let spill = ["--policy", "goose", "--set", "result_chars=500"];
        let args = [
            "compact",
            "c.json",
            "--schedule",
            "replay",
            "--json",
            "-o",
            out,
        ];
        let compacted = json_of(here.path(), &[&args[..], &spill].concat());
        compacted["sidecars"]["files"]["count"].clone()
    };
    let long = format!("{long}/{long}/{}.json", "b".repeat(120));
    assert_eq!(n_files("short.json"), 12);
    assert_eq!(n_files(&long), 12);
}
