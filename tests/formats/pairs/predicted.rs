//! Compares what the preset of a program predicts for its own sessions with what the program did: the calls at which it
//! compacted, and the request of every call.
//!
//! Summaries are compared by their place: the replay has no model that writes the recorded text.

use super::content::{Content, Piece};
use super::{Pair, SentBy, all_pairs, context};
use crate::program::plimsoll;
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

/// The text that takes the place of every summary.
const SUMMARY: &str = "SUMMARY";

/// Pairs that cannot be predicted from some call on, with that call and the reason.
const UNPREDICTABLE: [(&str, usize, &str); 6] = [
    ("claude-code/manual-compact", 3, "The user compacted."),
    ("gemini-cli/parallel", 4, SENT_TWICE),
    ("gemini-cli/smoke", 4, SENT_TWICE),
    ("gemini-cli/summary-fails", 6, SENT_TWICE),
    ("gemini-cli/two-compactions", 5, SENT_TWICE),
    (
        "opencode/summary-fails",
        3,
        "The request for the summary failed; a replay has no such failure.",
    ),
];
const SENT_TWICE: &str = "After a resume Gemini CLI sends each earlier result twice; a replay sends what was recorded once.";

/// Comparison of a program.
#[derive(Default)]
struct Tally {
    pairs: usize,
    calls: usize,
    equal: usize,
    happened: usize,
    predicted: usize,
}

#[test]
fn presets_predict_what_their_programs_did() {
    let pairs = all_pairs();
    let results: Vec<Option<(Tally, Vec<String>)>> = pairs.par_iter().map(check).collect();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut problems = Vec::new();
    for (pair, result) in pairs.iter().zip(results) {
        let Some((found, of_pair)) = result else { continue };
        let tally = tallies.entry(pair.program()).or_default();
        tally.pairs += found.pairs;
        tally.calls += found.calls;
        tally.equal += found.equal;
        tally.happened += found.happened;
        tally.predicted += found.predicted;
        problems.extend(of_pair.into_iter().map(|text| format!("{}: {text}", pair.name)));
    }
    let mut table = "\npreset          pairs  calls  equal  compactions  predicted\n".to_owned();
    for (program, t) in &tallies {
        let Tally { pairs, calls, equal, happened, predicted } = t;
        writeln!(
            table,
            "{program:<14} {pairs:>6} {calls:>6} {equal:>6} {happened:>12} {predicted:>10}"
        )
        .expect("a text");
    }
    io::stderr().write_all(table.as_bytes()).expect("standard error");
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Compares a pair; `None` if nothing of it can be predicted.
fn check(pair: &Pair) -> Option<(Tally, Vec<String>)> {
    let args = policy(pair)?;
    let (mut tally, mut problems) = (Tally { pairs: 1, ..Tally::default() }, Vec::new());
    let home = tempfile::tempdir().expect("a folder");
    let file = pair.main_file();
    let end = UNPREDICTABLE.iter().find(|row| row.0 == pair.name).map_or(usize::MAX, |row| row.1);
    let mut happened = pair.compactions_in_file();
    happened.retain(|call| (*call as usize) < end);
    match compactions(home.path(), &file, &args) {
        Err(why) => problems.push(format!("replay fails: {why}")),
        Ok(mut found) => {
            found.retain(|call| (*call as usize) < end);
            tally.happened = happened.len();
            tally.predicted = found.iter().filter(|call| happened.contains(call)).count();
            if found != happened {
                problems.push(format!("compacted before calls {happened:?}, predicted {found:?}"));
            }
        }
    }
    for sent in pair.sent_by_calls(&file) {
        // Other files are those of sub-agents and forks: pairs of their own.
        if sent.call >= end || sent.file != file {
            continue;
        }
        tally.calls += 1;
        match difference(pair, home.path(), &sent, &args) {
            None => tally.equal += 1,
            Some(what) => problems.push(format!("call {}: {what}", sent.call)),
        }
    }
    Some((tally, problems))
}

/// Returns the options that select the preset of the program with the settings of the run.
fn policy(pair: &Pair) -> Option<Vec<String>> {
    let meta = &pair.meta;
    let mut args = vec!["--policy".to_owned(), pair.program().to_owned()];
    let mut set = |name: &str, value: &Value| {
        if !value.is_null() {
            args.extend(["--set".to_owned(), format!("{name}={value}")]);
        }
    };
    let mut window = &meta["window"];
    match pair.program() {
        "claude-code" => set("reckon_up_to", &meta["env"]["CLAUDE_CODE_AUTO_COMPACT_WINDOW"]),
        "codex" => {
            set("compact_at", &meta["limit"]);
            // The file records it.
            window = &Value::Null;
        }
        "continue-cli" => set("max_tokens", &meta["output"]),
        "gemini-cli" => {
            set("compression_trigger", &meta["settings"]["model"]["compressionThreshold"]);
            // Gemini CLI assumes the same window for every model.
            args.extend(["--window".to_owned(), "1048576".to_owned()]);
            window = &Value::Null;
        }
        "opencode" => {
            set("max_output", &meta["output"]);
            set("keep_recent_tokens", &meta["compaction"]["preserve_recent_tokens"]);
            window = &meta["context"];
        }
        "pi" => set("keep_recent_tokens", &meta["settings"]["compaction"]["keepRecentTokens"]),
        "qwen-code" => {
            // Qwen Code keeps the history if a summary saves nothing. Those of the server have about ten words.
            set("summary_max_tokens", &100.into());
        }
        // The pairs do not state the window of Cline's runs.
        _ => return None,
    }
    if !window.is_null() {
        args.extend(["--window".to_owned(), window.to_string()]);
    }
    Some(args)
}

/// Returns the calls before which the policy compacts.
fn compactions(home: &Path, file: &Path, policy: &[String]) -> Result<Vec<u64>, String> {
    let file = file.to_str().expect("a path");
    let policy = policy.iter().map(String::as_str);
    let args: Vec<&str> =
        ["replay", file, "--json", "--no-state"].into_iter().chain(policy).collect();
    let output = plimsoll(home, &args);
    let replayed: Value = serde_json::from_slice(&output.stdout)
        .map_err(|why| format!("{why}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let lane = replayed["lanes"].as_array().and_then(|lanes| lanes.last()).ok_or("no lane")?;
    let events = lane["events"].as_array().ok_or("no events")?;
    let summaries = events.iter().filter(|event| event["action"] == "summarize");
    Ok(summaries.filter_map(|event| event["call"].as_u64()).collect())
}

/// Returns the first difference between the request of a call and the predicted context.
fn difference(pair: &Pair, home: &Path, sent: &SentBy<'_>, policy: &[String]) -> Option<String> {
    let text = format!("text:{SUMMARY}");
    let policy = policy.iter().map(String::as_str);
    let args: Vec<&str> = policy.chain(["--summarizer", &text]).collect();
    let mut found = match context(home, sent, &args) {
        Ok(found) => found,
        Err(why) => return Some(format!("no context: {why}")),
    };
    let mut expected = super::of_request(&sent.received.api, &sent.received.body);
    for of in [&mut found, &mut expected] {
        pair.replace_summaries(of);
        if pair.program() == "claude-code" {
            // Reminders depend on the time, and the text around a summary is the vendor's.
            of.remove_tagged("system-reminder");
            of.shorten_to(SUMMARY);
        }
    }
    pair.difference(expected, found)
}

impl Pair {
    /// Writes [`SUMMARY`] in the place of each summary that the server wrote.
    fn replace_summaries(&self, content: &mut Content) {
        let written = self.received.iter().filter(|of| of.role == "summary" && !of.text.is_empty());
        let written: Vec<String> = written.map(|of| super::content::spaced(&of.text)).collect();
        for piece in &mut content.pieces {
            let Piece::Text { text, .. } = piece else { continue };
            for summary in &written {
                *text = text.replace(summary, SUMMARY);
            }
        }
    }
}
