//! Presets of real systems from the command line: what the commands say and write about the same run, messages without
//! content, forced compactions and spilled results.

use crate::program::plimsoll;
use crate::support::{folder, json, samples, stderr, stdout, write_conversation};
use plimsoll::json::{Value, json};
use rayon::prelude::*;
use std::fs;
use std::path::Path;

/// Returns the names of all bundled presets that act.
fn presets() -> Vec<String> {
    let here = folder();
    let listed = json(&plimsoll(here.path(), &["presets", "list", "--json"]));
    let listed = listed.as_array().expect("a list").iter();
    let names = listed.map(|preset| text(&preset["name"]));
    // It never acts, so `compact` rejects it.
    let names: Vec<_> = names.filter(|name| name != "none").collect();
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
    let disagreements: Vec<String> =
        samples().par_iter().flat_map(|sample| disagreements(sample, &presets)).collect();
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
        let acts = effects.iter().any(|effect| effect == "removed" || effect == "changed");
        let at = replay["calls"].to_string();
        let (managed, sent) = (format!("{preset}.json"), format!("{preset}-sent.json"));
        let of_run = ["--policy", &preset, "--at-call", &at, "--json", "--format", "openai_chat"];
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
        let (managed, sent) =
            (messages(&here.path().join(managed)), messages(&here.path().join(sent)));
        (managed != sent).then(|| format!("{file} {preset}: {managed:?}\n{sent:?}"))
    };
    lanes.filter_map(disagreement).collect()
}

/// Returns a conversation in which the third question or answer has this content.
fn with_empty(role: &str, content: &Value) -> Value {
    let mut messages = vec![json!({"role": "system", "content": "You tend a greenhouse."})];
    for n in 0..6 {
        for (kind, text) in [("user", "Read probe"), ("assistant", "I read probe")] {
            let content = if n == 2 && kind == role {
                content.clone()
            } else {
                format!("{text} {n}.").into()
            };
            messages.push(json!({"role": kind, "content": content}));
        }
    }
    messages.push(json!({"role": "user", "content": "Compare them."}));
    messages.push(json!({"role": "assistant", "content": "They agree."}));
    json!({"messages": messages})
}

/// Presets that leave a message without content out of a request or replace it by a text, with the role.
const LEFT_OUT: [(&str, &str); 10] = [
    ("adk", "assistant"),
    ("adk", "user"),
    ("ai-sdk", "assistant"),
    ("continue", "assistant"),
    ("continue", "user"),
    ("pi", "assistant"),
    ("pydantic-ai-history", "assistant"),
    ("pydantic-ai-history", "user"),
    ("qwen-code", "assistant"),
    ("strands", "assistant"),
];

#[test]
fn a_message_without_content_keeps_its_place_or_goes_as_in_the_system() {
    let presets = presets();
    let contents = [json!(""), Value::Null, json!([])];
    let of_role = |role: &'static str| contents.iter().map(move |content| (role, content));
    let cases: Vec<(&str, &Value)> = of_role("user").chain(of_role("assistant")).collect();
    let wrong = cases.par_iter().flat_map(|(role, content)| {
        let here = folder();
        let document = with_empty(role, content);
        fs::write(here.path().join("c.json"), document.to_string()).expect("it can be written");
        let source = document["messages"].as_array().expect("messages").clone();
        let empty = source.iter().find(|m| m["content"] == **content);
        let empty = empty.expect("one is empty").clone();
        let wrong_of = |preset: &String| {
            let out = format!("{preset}.json");
            let args = ["context", "c.json", "--policy", preset, "--at-call", "7", "-o", &out];
            plimsoll(here.path(), &args);
            let sent = messages(&here.path().join(&out));
            let is_left_out = LEFT_OUT.contains(&(preset.as_str(), *role));
            let is_right = sent.contains(&empty) != is_left_out && is_in_order(&sent, &source);
            (!is_right).then(|| format!("{preset}, {role} {content}: {sent:?}"))
        };
        presets.iter().filter_map(wrong_of).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns whether the first message is an instruction, and the recorded messages have their order.
fn is_in_order(sent: &[Value], source: &[Value]) -> bool {
    let mut left = source.iter();
    let follows = |m: &Value| !source.contains(m) || left.any(|source| source == m);
    sent[0]["role"] == source[0]["role"] && sent.iter().all(follows)
}

#[test]
fn the_given_conversations_with_empty_messages_keep_their_order() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/empty");
    let presets = presets();
    for name in ["empty8.json", "empty_assistant.json", "empty_anthropic.json"] {
        let file = cases.join(name).to_string_lossy().into_owned();
        let source = messages(Path::new(&file));
        let here = folder();
        presets.par_iter().for_each(|preset| {
            let out = format!("{preset}.json");
            let args = ["context", &*file, "--policy", preset, "--at-call", "8", "-o", &out];
            plimsoll(here.path(), &args);
            let sent = messages(&here.path().join(&out));
            assert!(is_in_order(&sent, &source), "{name}, {preset}: {sent:?}");
        });
    }
}

#[test]
fn a_summary_of_hermes_replaces_the_empty_content_beside_calls() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/empty/hermes_empty_content.json");
    let file = file.to_string_lossy().into_owned();
    let here = folder();
    let hermes = ["--policy", "hermes", "--window", "1900"];
    let args = ["context", &*file, "--at-call", "11", "-o", "out.json"];
    plimsoll(here.path(), &[&args[..], &hermes].concat());
    let sent = messages(&here.path().join("out.json"));
    let has_calls = |m: &&Value| m["tool_calls"].is_array();
    let contents: Vec<_> = sent.iter().filter(has_calls).map(|m| &m["content"]).collect();
    assert!(contents.iter().all(|content| content.is_string()), "{contents:?}");
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
        let output =
            plimsoll(here.path(), &[&args[..], &["--policy", "cowagent", "-o", &out]].concat());
        assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
        let sent = messages(&here.path().join(out));
        let shape =
            sent.iter().map(|m| (text(&m["role"]), m["tool_call_id"].as_str().unwrap_or_default()));
        let shape: Vec<_> = shape.collect();
        let shape: Vec<_> = shape.iter().map(|(role, call)| (&**role, *call)).collect();
        let expected =
            [("user", ""), ("assistant", ""), ("tool", "call_a"), ("tool", "call_b"), ("user", "")];
        assert_eq!(shape, expected, "{}", args[0]);
        assert!(text(&sent[2]["content"]).contains("Missing tool_result"));
    }
}

#[test]
fn a_forced_compaction_acts_below_the_trigger_of_a_system() {
    let here = folder();
    let file = samples().into_iter().find(|path| path.ends_with("slow-growth.jsonl"));
    let file = file.expect("the sample").to_string_lossy().into_owned();
    let forced = [
        "codex",
        "copilot-chat",
        "crush",
        "digitorn",
        "digitorn-document",
        "docker-agent",
        "gemini-cli",
        "hermes",
        "holmesgpt",
        "holmesgpt-v038",
        "kimi-cli",
        "langchain-summarization",
        "mistral-vibe",
        "openhands",
        "qwen-code",
        "roo-code",
    ];
    let idle: Vec<String> = forced
        .par_iter()
        .filter_map(|preset| {
            let out = format!("{preset}.json");
            let args = [
                "compact", &*file, "--force", "--json", "--window", "10M", "--policy", preset,
                "-o", &out,
            ];
            let compacted = json_of(here.path(), &args);
            (compacted["changed"] != true).then(|| format!("{preset}: {}", compacted["notes"]))
        })
        .collect();
    assert!(idle.is_empty(), "{}", idle.join("\n"));
}

/// A policy that moves results to files and keeps most of each.
const SPILL: &str = r#"
name  = "spill"
label = "Spill"
help  = "Moves long results to files."

[[stage]]
id   = "spill"
at   = "tool_result"
when = "true"
do   = { cut = { unit = "chars", over = "1000", keep = "1800", head = 1.0, marker = " {path}", spill = true } }
"#;

#[test]
fn the_output_path_does_not_decide_which_results_are_spilled() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    fs::write(here.path().join("spill.toml"), SPILL).expect("it can be written");
    let long = "a".repeat(120);
    fs::create_dir_all(here.path().join(&long)).expect("it can be made");
    let n_files = |out: &str| {
        let args = [
            "compact",
            "c.json",
            "--schedule",
            "replay",
            "--json",
            "-o",
            out,
            "--policy",
            "spill.toml",
        ];
        json_of(here.path(), &args)["sidecars"]["files"]["count"].clone()
    };
    let long = format!("{long}/{}.json", "b".repeat(120));
    assert_eq!(n_files("short.json"), 12);
    assert_eq!(n_files(&long), 12);
}
