//! Replays recorded conversations with presets and compares every call with what the systems' own code sent.
//!
//! The case files are described in `tests/replays/README.md`. Compares messages with their origin, mechanisms, counts,
//! summary requests and halts. Expected failures are listed in `tests/replays/known_differences.toml`.

mod case;
mod known_differences;
mod replay;
mod settings;
mod systems;

use crate::vector_runners::compare::difference;
use crate::{Tally, case_files, wrong_proof};
use case::{ExpectedCall, ReplayCase, Version};
use known_differences::known_differences;
use plimsoll::json::{Value, json};
use rayon::prelude::*;
use replay::{ActualCall, Origin, REFUSED, Replay, without_class};
use settings::{has_defaults, policy};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use systems::{BEFORE_IDS, BEFORE_PATHS, REFUSALS};

/// Result of a case.
enum Verdict {
    Passed,
    /// The first difference.
    Failed(String),
    /// The system has no preset.
    NotCovered,
}

#[test]
fn replays_send_what_the_systems_sent() {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replays");
    let mut results =
        Results { known: known_differences(), output: "\n".to_owned(), ..Results::default() };
    let bundled = case_files(&bundled);
    for judged in bundled.par_iter().map(|file| judged(file)).collect::<Vec<_>>() {
        let is_known = results.known.remove(&judged.name).is_some();
        if let Verdict::Passed = judged.verdict {
            let proven = results.proven.entry(judged.preset.clone()).or_default();
            proven.passed += 1;
            proven.version = std::mem::take(&mut proven.version).max(judged.version.clone());
            proven.with_defaults += usize::from(judged.has_defaults);
        }
        results.add(judged, is_known);
    }
    // Only the bundled cases are counted in presets.
    let listed = known_differences();
    let additional = std::env::var_os("PLIMSOLL_REPLAYS").map(PathBuf::from);
    for file in additional.iter().flat_map(|folder| case_files(folder)) {
        let case = judged(&file);
        let is_known = listed.contains_key(&case.name);
        results.add(case, is_known);
    }
    let Results { known, tallies, mut output, mut unexpected, proven } = results;
    let absent = known.keys().map(|name| format!("{name} is listed but is not a covered case"));
    unexpected.extend(absent);
    for (preset, proven) in &proven {
        unexpected.extend(wrong_proof(preset, proven.passed, Some(&proven.version.name)));
        if proven.with_defaults == 0 {
            unexpected.push(format!("{preset} has no case with the system's own defaults"));
        }
    }
    add_table(&mut output, &tallies);
    io::stdout().write_all(output.as_bytes()).unwrap();
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

/// Results of all cases.
#[derive(Default)]
struct Results {
    /// Listed cases that no file had so far, with the reasons.
    known: BTreeMap<String, String>,
    /// Numbers of cases by system.
    tallies: BTreeMap<String, Tally>,
    /// Lines about single cases.
    output: String,
    /// Results other than the expected ones.
    unexpected: Vec<String>,
    /// Bundled cases that passed, by preset.
    proven: BTreeMap<String, Proven>,
}

/// The bundled cases of a preset that passed.
#[derive(Default)]
struct Proven {
    passed: usize,
    /// Cases with the system's own defaults.
    with_defaults: usize,
    /// The newest version.
    version: Version,
}

impl Results {
    /// Adds a case. `is_known` says whether it is listed as one that differs.
    fn add(&mut self, judged: Judged, is_known: bool) {
        let name = judged.name;
        let tally = self.tallies.entry(judged.system).or_default();
        match judged.verdict {
            Verdict::Passed => {
                tally.passed += 1;
                if is_known {
                    let line = format!("{name} passes: remove it from the list");
                    self.unexpected.push(line);
                }
            }
            Verdict::Failed(why) if is_known => {
                tally.failed += 1;
                let _ = writeln!(self.output, "known difference {name}: {why}");
            }
            Verdict::Failed(why) => {
                tally.failed += 1;
                let _ = writeln!(self.output, "FAILED {name}: {why}");
                self.unexpected.push(format!("{name} fails"));
            }
            Verdict::NotCovered => tally.not_covered += 1,
        }
    }
}

fn add_table(output: &mut String, tallies: &BTreeMap<String, Tally>) {
    let _ = writeln!(output, "{:18}{:>8}{:>8}{:>13}", "replays", "passed", "failed", "not covered");
    let mut total = Tally::default();
    let mut add_row = |name: &str, tally: &Tally| {
        let (passed, failed) = (tally.passed, tally.failed);
        let _ = writeln!(output, "{name:18}{passed:8}{failed:8}{:13}", tally.not_covered);
    };
    for (system, tally) in tallies {
        add_row(system, tally);
        total.passed += tally.passed;
        total.failed += tally.failed;
        total.not_covered += tally.not_covered;
    }
    add_row("total", &total);
}

/// A case file that was compared.
struct Judged {
    name: String,
    system: String,
    preset: String,
    /// Version of the system that made the case.
    version: Version,
    /// Whether all settings have the values of the preset.
    has_defaults: bool,
    verdict: Verdict,
}

/// Compares a case file. An unreadable file is a failed case.
fn judged(file: &Path) -> Judged {
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    let stem = file.file_stem().unwrap_or_default();
    let name = format!("{}/{}", folder.display(), stem.display());
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
    match text.and_then(|text| ReplayCase::parse(&text)) {
        Ok(case) => {
            let verdict = catch_unwind(AssertUnwindSafe(|| judge(&case)));
            let panicked = || Verdict::Failed("panicked".to_owned());
            let verdict = verdict.unwrap_or_else(|_| panicked());
            let has_defaults = has_defaults(&case);
            let ReplayCase { system, preset, version, .. } = case;
            Judged { name, system, preset, version, has_defaults, verdict }
        }
        Err(why) => Judged {
            name,
            system: "unread".to_owned(),
            preset: String::new(),
            version: Version::default(),
            has_defaults: false,
            verdict: Verdict::Failed(why),
        },
    }
}

fn judge(case: &ReplayCase) -> Verdict {
    let policy = match policy(case) {
        Ok(Some(policy)) => policy,
        Ok(None) => return Verdict::NotCovered,
        Err(why) => return Verdict::Failed(why),
    };
    let compared = Replay::new(case, policy).and_then(|replay| {
        for (nth, expected) in case.rejected.iter().enumerate() {
            let actual = replay.rejected(nth)?;
            let believed = expected.believed.as_ref();
            let differs = difference(&normal(&expected.sent), &normal(&actual.sent))
                .or_else(|| difference(believed?, &json!(actual.believed)));
            differs
                .map_or(Ok(()), |why| Err(format!("rejected call {}{why}", expected.call + 1)))?;
        }
        for (nth, expected) in case.calls.iter().enumerate() {
            let of_call = |why: String| format!("call {}: {why}", nth + 1);
            let actual = replay.call(nth).map_err(of_call)?;
            differs(expected, &actual).map_or(Ok(()), |why| Err(of_call(why)))?;
            if nth + 1 == case.calls.len() {
                // A system that stopped may have sent nothing for the call at which it did.
                let halts = match (&case.halt, &*actual.halts) {
                    (Some(_), []) => replay.call(nth + 1)?.halts,
                    _ => actual.halts,
                };
                let expected: Vec<&String> = case.halt.iter().collect();
                let without_class = case.halt.as_deref().map(without_class);
                let is_it = halts.iter().map(String::as_str).eq(without_class);
                let differs = difference(&json!(expected), &json!(halts)).filter(|_| !is_it);
                differs.map_or(Ok(()), |why| Err(format!("halts{why}")))?;
            }
        }
        Ok(())
    });
    compared.map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// Returns the first difference between the expected call and the replay.
fn differs(expected: &ExpectedCall, actual: &ActualCall) -> Option<String> {
    let named = |name: &'static str, expected: &Value, actual: &Value| {
        difference(expected, actual).map(|why| format!("{name}{why}"))
    };
    named("fired", &names(&expected.fired), &json!(actual.fired_as(&expected.fired)))
        .or_else(|| {
            let actual = requests(&actual.asked, &expected.asked);
            named("asked", &requests(&expected.asked, &[]), &actual)
        })
        .or_else(|| named("sent", &normal(&expected.sent), &normal(&actual.sent)))
        .or_else(|| {
            // A message whose texts the system replaced may count as its own or as the recorded one.
            let expected_at = |nth: usize| expected.from.get(nth);
            let from = actual.from.iter().enumerate().map(|(nth, origins)| {
                let is_own = expected_at(nth).is_some_and(|from| *from == [None]);
                let index =
                    |origin: &Origin| origin.message.filter(|_| !(is_own && origin.is_replaced));
                let mut indices: Vec<_> = origins.iter().map(index).collect();
                // A message that is the system's own in all its parts has one origin.
                indices.dedup_by(|a, b| a.is_none() && b.is_none());
                indices
            });
            let from: Vec<_> = from.collect();
            named("from", &json!(expected.from), &json!(from))
        })
        .or_else(|| {
            let believed = expected.believed.as_ref()?;
            named("believed", believed, &json!(actual.believed))
        })
}

/// Returns the names of mechanisms in one notation: with hyphens, and refusals as [`REFUSED`].
fn names(fired: &[String]) -> Value {
    let name = |name: &String| match &**name {
        name if REFUSALS.contains(&name) => REFUSED.to_owned(),
        name if name.starts_with("failed: ") => name.to_owned(),
        name => name.replace('_', "-"),
    };
    fired.iter().map(name).collect()
}

/// Returns the compared members of messages.
fn normal(messages: &[Value]) -> Value {
    messages.iter().map(message).collect()
}

/// Returns the compared members of summary requests. A case may leave out the messages of a request.
fn requests(asked: &[Value], expected: &[Value]) -> Value {
    let request = |(nth, asked): (usize, &Value)| {
        let is_left_out =
            |expected: &Value| expected["messages"].as_array().is_some_and(Vec::is_empty);
        let messages = asked["messages"].as_array().into_iter().flatten();
        let messages: Value = match expected.get(nth) {
            Some(expected) if is_left_out(expected) => Value::Array(Vec::new()),
            _ => messages.map(message).collect(),
        };
        json!({"messages": messages, "max_tokens": asked["max_tokens"]})
    };
    asked.iter().enumerate().map(request).collect()
}

/// Returns the compared members of a message. Arguments are compared as JSON.
fn message(message: &Value) -> Value {
    let mut compared = plimsoll::json::Map::new();
    for key in ["role", "content", "tool_call_id"] {
        if let Some(value) = message.get(key) {
            compared.insert(key.to_owned(), without_path(value));
        }
    }
    if message["role"] == "assistant" && message["content"] == "" {
        compared.insert("content".to_owned(), Value::Null);
    }
    if let Some(calls) = message["tool_calls"].as_array() {
        // An answer without text has an empty one, null or none.
        if message["content"].as_str().is_none_or(str::is_empty) {
            compared.insert("content".to_owned(), Value::Null);
        }
        compared.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
    }
    Value::Object(compared)
}

/// Removes the path of a written file, which depends on the machine.
fn without_path(content: &Value) -> Value {
    let Some(text) = content.as_str() else {
        return content.clone();
    };
    let mut text = text.to_owned();
    if text.contains(BEFORE_IDS) {
        let parts = text.split(BEFORE_IDS).enumerate();
        let without_id = parts.map(|(nth, part)| match part.find(".md") {
            Some(end) if nth > 0 => &part[end..],
            _ => part,
        });
        text = without_id.collect::<Vec<_>>().join(BEFORE_IDS);
    }
    for phrase in BEFORE_PATHS {
        if let Some(at) = text.find(phrase).map(|at| at + phrase.len()) {
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
            text.replace_range(at..end, "PATH");
        }
    }
    Value::from(text)
}

fn call(call: &Value) -> Value {
    let function = &call["function"];
    let arguments = function["arguments"].as_str().unwrap_or_default();
    let parsed = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
    json!({"id": call["id"], "name": function["name"], "arguments": parsed})
}
