//! The losses of `plimsoll diagnose`, on sample sessions and on long shared ones.

use crate::real_sessions;
use crate::support::{folder, json, sample, stdout};
use plimsoll::json::{Value, json as value};
use std::fs;
use std::process::Output;

pub(crate) fn diagnose(args: &[&str]) -> Output {
    crate::program::plimsoll(folder().path(), &[&["diagnose"], args].concat())
}

pub(crate) fn diagnosed(args: &[&str]) -> Value {
    json(&diagnose(&[args, &["--json"]].concat()))
}

/// Returns the lane of a name.
pub(crate) fn lane<'a>(lanes: &'a Value, name: &str) -> &'a Value {
    let mut lanes = lanes["lanes"].as_array().into_iter().flatten();
    lanes.find(|lane| lane["lane"] == name).unwrap_or(&Value::Null)
}

/// Returns the row of a lane below a heading.
pub(crate) fn row<'a>(text: &'a str, heading: &str, lane: &str) -> &'a str {
    let below = text.split(heading).nth(1).unwrap_or_default();
    let mut lines = below.lines().map(str::trim_start);
    let is_row = |line: &&str| line.split_whitespace().next() == Some(lane);
    lines.find(is_row).unwrap_or_default()
}

pub(crate) fn len(list: &Value) -> Option<u64> {
    list.as_array().map(|list| list.len() as u64)
}

#[test]
fn text_and_json_agree_for_every_lane() {
    let file = sample("compacted.jsonl");
    let args = [&*file, "--set", "compression_trigger=0.1"];
    let (found, text) = (diagnosed(&args), stdout(&diagnose(&args)));
    let loss = &found["loss"];
    for name in ["recorded", "none", "truncate", "prune", "summarize"] {
        let lane = lane(loss, name);
        let (low, high) = (&lane["fewest_at_risk"], &lane["at_risk"]);
        let range = if low == high { high.to_string() } else { format!("{low}-{high}") };
        let counts = format!(" {range}/{} ", lane["references"]);
        let row = row(&text, "\nwhat was removed: ", name);
        assert!(row.contains(&counts), "{name}: {counts} in\n{text}");
        assert_eq!(high.as_u64(), len(&lane["references_at_risk"]));
    }
    assert_eq!(lane(loss, "none")["at_risk"], 0);
    let caveat = "They describe what was removed; they do not predict what the agent reads again.";
    assert!(text.contains(caveat) && text.contains("noise floor"), "{text}");
    assert_eq!(
        len(&loss["compactions"]),
        Some(text.matches("\nafter the compaction before call").count() as u64)
    );
    assert!(len(&loss["compactions"]) > Some(0));
}

/// Returns a session of Codex whose context consists of a summary and a question after a compaction.
fn compacted_by_codex(compaction: &Value) -> String {
    let line = |second: usize, kind: &str, payload: &Value| {
        let time = format!("2026-03-01T10:00:{second:02}.000Z");
        value!({"timestamp": time, "type": kind, "payload": payload}).to_string()
    };
    let message = |second: usize, role: &str, kind: &str, text: &str| {
        let content = value!([{"type": kind, "text": text}]);
        let payload = value!({"type": "message", "role": role, "content": content});
        line(second, "response_item", &payload)
    };
    let user = |second, text| message(second, "user", "input_text", text);
    let agent = |second, text| message(second, "assistant", "output_text", text);
    let id = value!({"id": "019c0000-0000-7000-8000-000000000001"});
    let lines = [
        line(0, "session_meta", &id),
        user(1, "Which function rounds the amounts?"),
        agent(2, "It is settle_rows_7q, in the ledger."),
        user(3, "Thanks. Read the tests, too."),
        agent(4, "They pass."),
        line(5, "compacted", compaction),
        user(6, "Now change the function."),
        agent(7, "I changed settle_rows_7q."),
    ];
    lines.join("\n")
}

#[test]
fn what_an_encrypted_summary_may_contain_is_unknown() {
    let here = folder();
    let sealed = value!([{"type": "compaction", "encrypted_content": "Z0FBQUFBQnBlbmNyeXB0ZWQ="}]);
    let compactions = [
        ("plain", value!({"message": "All tests pass."})),
        ("encrypted", value!({"message": "", "replacement_history": sealed})),
    ];
    for (name, compaction) in compactions {
        let file = here.path().join(format!("{name}.jsonl"));
        fs::write(&file, compacted_by_codex(&compaction)).expect("writable");
        let file = file.to_string_lossy().into_owned();
        let found = diagnosed(&[&file]);
        let loss = &found["loss"];
        let recorded = lane(loss, "recorded");
        let is_known = name == "plain";
        assert_eq!(recorded["summaries_known"], is_known, "{name}");
        assert_eq!(recorded["at_risk"], 1, "{name}: {recorded}");
        assert_eq!(recorded["fewest_at_risk"], u64::from(is_known), "{name}");
        let names = &lane(&loss["compactions"][0], "recorded")["names"];
        let (gone, other) = if is_known { ("missing", "unknown") } else { ("unknown", "missing") };
        assert_eq!(names[gone], value!(["settle_rows_7q"]), "{name}: {names}");
        assert_eq!(names[other], value!([]), "{name}: {names}");
        let text = stdout(&diagnose(&[&file]));
        assert_eq!(text.contains("(summary not known)"), !is_known, "{text}");
        let at_risk = if is_known { " 1/" } else { " 0-1/" };
        let row = row(&text, "\nwhat was removed: ", "recorded");
        assert!(row.contains(at_risk), "{row}");
    }
}

#[test]
fn facts_that_an_encrypted_summary_may_contain_are_no_losses() {
    let here = folder();
    let file = here.path().join("encrypted.jsonl");
    let sealed = value!([{"type": "compaction", "encrypted_content": "Z0FBQUFBQnBlbmNyeXB0ZWQ="}]);
    let compaction = value!({"message": "", "replacement_history": sealed});
    let text = compacted_by_codex(&compaction);
    let rule = "Never delete the file data/rates.csv. Which function";
    fs::write(&file, text.replace("Which function", rule)).expect("writable");
    let evaluate = ["evaluate", "encrypted.jsonl", "--json"];
    let found = json(&crate::program::plimsoll(here.path(), &evaluate));
    let recorded = &found["sessions"][0]["lanes"][0];
    assert_eq!(recorded["lane"], "recorded");
    let total = &recorded["total"];
    assert!(total["unknown"].as_u64() > Some(0), "{total}");
    assert_eq!(total["gone"], 0, "{total}");
    assert_eq!(recorded["lost"], value!([]));
}

#[test]
fn the_whole_history_loses_nothing() {
    let Some(folder) = real_sessions::folder() else {
        return;
    };
    let files = std::fs::read_dir(folder.join("claude_code")).expect("a folder of the format");
    let mut n = 0;
    for file in files.flatten().map(|file| file.path()) {
        let file = file.to_string_lossy().into_owned();
        let found = diagnosed(&[&file, "--set", "compression_trigger=0.4"]);
        let none = lane(&found, "none");
        assert_eq!(none["expected_rereads"]["removals"], 0, "{file}");
        let loss = &found["loss"];
        let none = lane(loss, "none");
        assert_eq!(none["at_risk"], 0, "{file}");
        assert_eq!(none["blind_edits"].as_array().map(Vec::len), Some(0), "{file}");
        for name in ["truncate", "prune", "summarize", "recorded"] {
            let lane = lane(loss, name);
            let (most, least) = (lane["at_risk"].as_u64(), lane["fewest_at_risk"].as_u64());
            assert!(least <= most, "{file}: {name}");
            assert!(most <= lane["references"].as_u64(), "{file}: {name}");
        }
        n += 1;
    }
    assert!(n > 0, "no session in the folder");
}
