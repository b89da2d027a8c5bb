//! `plimsoll inspect` on sample sessions.

use crate::program::{command, plimsoll};
use crate::support::{
    folder, json, names_in, rejected, sample, samples, stderr, stdout, write_conversation,
};
use plimsoll::json::Value;
use std::fs;

#[test]
fn totals_add_up_for_every_sample() {
    let here = folder();
    for sample in samples() {
        let found =
            json(&plimsoll(here.path(), &["inspect", "--json", sample.to_str().expect("Unicode")]));
        let name = sample.display();
        for number in ["messages", "turns", "calls", "characters"] {
            assert!(
                found[number].as_u64().is_some_and(|n| n > 0),
                "{name}: {number} is {}",
                found[number]
            );
        }
        let total = found["tokens"]["total"].as_u64().expect("a total");
        let kinds = found["tokens"]["by_kind"].as_object().expect("kinds");
        assert_eq!(
            kinds.keys().map(String::as_str).collect::<Vec<_>>(),
            [
                "system",
                "tools",
                "user",
                "assistant",
                "thinking",
                "tool_call",
                "tool_result",
                "media",
                "summary",
                "notice"
            ],
            "{name}"
        );
        let sum: u64 = kinds.values().map(|n| n.as_u64().expect("a count")).sum();
        let not_recorded = found["tokens"]["not_recorded"].as_u64().expect("a count");
        assert_eq!(sum + not_recorded, total, "{name}: the kinds do not add up");
        let roles = found["roles"].as_object().expect("roles");
        let sum: u64 = roles.values().map(|n| n.as_u64().expect("a count")).sum();
        assert_eq!(found["messages"], sum, "{name}: the roles do not add up");
        let tools = found["tokens"]["by_tool"].as_object().expect("tools");
        assert!(tools.values().all(|n| n.as_u64().is_some_and(|n| n <= total)), "{name}");
        let largest: Vec<u64> = found["largest"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|part| part["tokens"].as_u64().expect("a count"))
            .collect();
        assert!(largest.is_sorted_by(|a, b| a >= b) && !largest.is_empty(), "{name}: {largest:?}");
        assert!(
            ["reported", "exact", "calibrated", "estimated"]
                .contains(&found["tokens"]["accuracy"].as_str().expect("a word"))
        );
        assert!(
            found["recorded"]["calls_with_usage"].as_u64().is_some()
                && found["recorded"]["compactions"].is_array()
        );
        let usage = found["recorded"]["calls_with_usage"].as_u64() > Some(0);
        assert_eq!(found["recorded"]["largest_call_tokens"].as_u64().is_some(), usage, "{name}");
        assert!(
            found["warnings"].is_array()
                && found["issues"].is_array()
                && found["models"].is_array()
        );
        assert!(
            ["openai_chat", "anthropic_messages", "claude_code", "codex_rollout"]
                .contains(&found["format"].as_str().expect("a name"))
        );
    }
    assert_eq!(names_in(here.path()), Vec::<String>::new(), "inspect wrote something");
}

#[test]
fn tokens_that_are_not_recorded_are_no_system_prompt() {
    let here = folder();
    let file = sample("slow-growth.jsonl");
    let found = json(&plimsoll(here.path(), &["inspect", &file, "--json"]));
    assert_eq!(found["source"]["recorded_data"]["system_prompt"], "unsupported");
    assert_eq!(found["tokens"]["by_kind"]["system"], 0);
    assert!(found["tokens"]["not_recorded"].as_u64() > Some(0), "{found}");
    let text = stdout(&plimsoll(here.path(), &["inspect", &file]));
    assert!(text.contains("\n  not recorded  ") && !text.contains("\n  system  "), "{text}");
    assert!(text.contains(" window ("), "the share of the peak names its whole: {text}");
}

#[test]
fn all_commands_count_the_same_messages() {
    let here = folder();
    let file = sample("compacted.jsonl");
    let run = |args: &[&str]| json(&plimsoll(here.path(), &[args, &["--json"]].concat()));
    let messages = run(&["inspect", &file])["messages"].clone();
    assert_eq!(run(&["sessions", &file, "--no-state"])["sessions"][0]["messages"], messages);
    let converted = run(&["convert", &file, "--to", "openai_chat", "-o", "c.json"]);
    assert_eq!(converted["messages"], messages);
}

#[test]
fn message_numbers_do_not_exceed_the_number_of_messages() {
    let here = folder();
    let mut has_both = false;
    for sample in samples() {
        let file = sample.to_str().expect("Unicode");
        let found = json(&plimsoll(here.path(), &["inspect", "--json", file]));
        let messages = found["messages"].as_u64().expect("a count");
        let of_compactions = found["compaction_messages"].as_u64().expect("a count");
        has_both |= of_compactions > 0;
        let text = stdout(&plimsoll(here.path(), &["inspect", file])).replace(',', "");
        assert!(text.contains(&format!("messages     {messages} (")), "{text}");
        let replay = json(&plimsoll(here.path(), &["replay", "--json", file]));
        let events = replay["lanes"]
            .as_array()
            .expect("lanes")
            .iter()
            .flat_map(|lane| lane["events"].as_array().expect("events"));
        let named = events.flat_map(|event| event["messages"].as_array().expect("messages"));
        let largest = found["largest"].as_array().expect("a list");
        let named = named.chain(largest.iter().map(|part| &part["message"]));
        let highest = named.filter_map(Value::as_u64).max();
        assert!(
            highest <= Some(messages + of_compactions),
            "{file}: {highest:?} of {messages} and {of_compactions}"
        );
    }
    assert!(has_both, "no sample was compacted by its own program");
}

#[test]
fn a_session_is_read_from_standard_input() {
    let here = folder();
    write_conversation(here.path(), "c.json");
    let file = fs::File::open(here.path().join("c.json")).expect("it is there");
    let piped = command(here.path(), &["inspect", "-", "--json"])
        .stdin(file)
        .output()
        .expect("the program starts");
    let (piped, read) =
        (json(&piped), json(&plimsoll(here.path(), &["inspect", "c.json", "--json"])));
    assert_eq!(piped["tokens"], read["tokens"]);
    rejected(here.path(), &["compact", "-", "--policy", "truncate"]);
}

#[test]
fn a_reserve_as_large_as_the_window_is_reported_with_the_remedy() {
    let here = folder();
    let output = plimsoll(here.path(), &["inspect", &sample("compacted.jsonl"), "--window", "20k"]);
    let text = stdout(&output);
    assert!(
        text.contains("leaves no usable tokens in the window (20k) at call 1: lower the reserve or enlarge the window."),
        "{text}"
    );
    assert!(!text.contains("Crossed the trigger"), "{text}");
    assert!(
        text.contains(
            "\ntrigger      none: the reserve leaves no usable tokens; set a smaller --output-reserve"
        ),
        "{text}"
    );
    let note = "an output reserve of 32,000 leaves no usable tokens in a context window of 20,000:";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
}

#[test]
fn the_trigger_and_the_numbers_of_messages_are_explained() {
    let here = folder();
    let text = stdout(&plimsoll(here.path(), &["inspect", &sample("compacted.jsonl")]));
    assert!(text.contains("\ntrigger      126,000 of truncate, the default policy"), "{text}");
    assert!(
        text.contains("\nwindow       200,000 (of the model), reserve 32,000, usable 168,000\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "at call 29: Bash python3 -m ledger.cli --db var/try.db st… (message 80, +10.3k)."
        ),
        "{text}"
    );
    assert!(
        text.contains("; 1 more written by the recorded compaction, numbered 1 to 137\n"),
        "{text}"
    );
}

#[test]
fn if_no_policy_works_inspect_and_diagnose_name_a_preset_that_does() {
    let here = folder();
    let file = sample("giant-tool-result.json");
    let file = file.as_str();
    let sentence = |arguments: &[&str], field: &str| {
        let mut all = arguments.to_vec();
        all.extend([file, "--json"]);
        let found = json(&plimsoll(here.path(), &all));
        let text = found[field].as_str().expect("a text").to_owned();
        let at = text.find(" keeps the context within the window; ");
        at.map(|at| text[at..].to_owned())
    };
    let named = sentence(&["inspect"], "verdict").expect("no generic preset works");
    let command = "compare it with `plimsoll replay --policy ";
    let preset = named.split(command).nth(1).expect("a command");
    let preset = preset.trim_end_matches("`.");
    assert_eq!(sentence(&["diagnose"], "summary").as_ref(), Some(&named));
    let replay = ["replay", file, "--policy", preset, "--json"];
    let replay = json(&plimsoll(here.path(), &replay));
    let lanes = replay["lanes"].as_array().expect("lanes");
    let lane = lanes.iter().find(|lane| lane["policy"] == preset);
    let lane = lane.expect("the preset");
    assert_eq!(lane["overflows"], 0, "{preset}");
    let peak = lane["peak_tokens"].as_u64().expect("a peak");
    let share = format!("keeps it at {} %", (peak * 100 + 64_000) / 128_000);
    assert!(named.contains(&share), "{named}: {share}");
    // The preset works, so nothing is missing.
    assert_eq!(sentence(&["diagnose", "--policy", preset], "summary"), None);
    let fitting = sample("slow-growth.jsonl");
    let fitting = ["inspect", fitting.as_str(), "--json"];
    let fitting = json(&plimsoll(here.path(), &fitting));
    assert!(!fitting["verdict"].as_str().expect("a text").contains("--policy"));
}
