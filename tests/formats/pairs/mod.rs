//! Compares what the program reads from a session file with the requests that the model server received, call by call.
//!
//! Runs the command line over the pairs of `tests/pairs` and of the folder that `PLIMSOLL_PAIRS` names. The table of results
//! bypasses the capture of the test harness, so that it is always shown.

mod content;
mod predicted;
mod requests;

use crate::program::plimsoll;
use crate::repository::repository;
use content::{Content, of_request};
use rayon::prelude::*;
use requests::Received;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Length of a piece in a message about a difference.
const SHOWN: usize = 160;

/// A session file and the requests that its program sent.
struct Pair {
    folder: PathBuf,
    /// `PROGRAM/CASE`.
    name: String,
    meta: Value,
    received: Vec<Received>,
}

/// A request that a call of a session file sent.
struct SentBy<'a> {
    received: &'a Received,
    file: PathBuf,
    /// Number of the call, from 1.
    call: usize,
}

/// Numbers of a program.
#[derive(Default)]
struct Tally {
    pairs: usize,
    calls: usize,
    equal: usize,
    /// Calls whose request no file contains any more.
    unknown: usize,
    /// Calls whose instructions or tools are recorded and equal.
    with_system: usize,
    with_tools: usize,
}

#[test]
fn recorded_contexts_equal_the_requests_that_the_server_received() {
    let pairs = all_pairs();
    let results: Vec<(Tally, Vec<String>)> = pairs.par_iter().map(Pair::check).collect();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut problems = Vec::new();
    for (pair, (found, of_pair)) in pairs.iter().zip(results) {
        tallies.entry(pair.program()).or_default().add(&found);
        problems.extend(of_pair.into_iter().map(|text| format!("{}: {text}", pair.name)));
    }
    let mut table =
        "\nprogram         pairs  calls  equal  not in the file  system  tools\n".to_owned();
    for (program, t) in &tallies {
        let Tally { pairs, calls, equal, unknown, with_system, with_tools } = t;
        writeln!(
            table,
            "{program:<14} {pairs:>6} {calls:>6} {equal:>6} {unknown:>16} {with_system:>7} {with_tools:>6}"
        )
        .expect("a text");
    }
    io::stderr().write_all(table.as_bytes()).expect("standard error");
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.calls += other.calls;
        self.equal += other.equal;
        self.unknown += other.unknown;
        self.with_system += other.with_system;
        self.with_tools += other.with_tools;
    }
}

impl Pair {
    fn program(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// Compares all calls and compactions. Returns the numbers and a description of each difference.
    fn check(&self) -> (Tally, Vec<String>) {
        let mut tally = Tally { pairs: 1, ..Tally::default() };
        let mut problems = Vec::new();
        let home = tempfile::tempdir().expect("a folder");
        let file = self.main_file();
        let inspected = inspect(home.path(), &file);
        let sent = self.sent_by_calls(&file);
        for sent in &sent {
            tally.calls += 1;
            if self.is_not_rebuildable(sent.received.number) {
                tally.unknown += 1;
                continue;
            }
            let expected = of_request(&sent.received.api, &sent.received.body);
            match context(home.path(), sent, &[]) {
                Err(why) => problems.push(format!("call {}: no context: {why}", sent.call)),
                Ok(found) => {
                    tally.with_system += usize::from(found.system == expected.system);
                    tally.with_tools +=
                        usize::from(!found.tools.is_empty() && found.tools == expected.tools);
                    match self.difference(expected, found) {
                        None => tally.equal += 1,
                        Some(what) => problems.push(format!("call {}: {what}", sent.call)),
                    }
                }
            }
        }
        match inspected {
            Err(why) => problems.push(format!("inspect fails: {why}")),
            Ok(inspected) => problems.extend(self.other_differences(&inspected, sent.len())),
        }
        (tally, problems)
    }

    /// Compares the number of calls, the compactions, and whether what cannot be known is reported as such.
    fn other_differences(&self, inspected: &Value, n_sent: usize) -> Vec<String> {
        let mut problems = Vec::new();
        let by_file = self.meta.get("by_file").is_some();
        let calls = inspected["calls"].as_u64().unwrap_or_default() as usize;
        if !by_file && calls != n_sent {
            problems.push(format!("{n_sent} calls were made, {calls} are read"));
        }
        let listed = inspected["recorded"]["compactions"].as_array();
        let found: Vec<_> = listed.into_iter().flatten().map(|c| c["call"].clone()).collect();
        let found: Vec<_> = found.iter().filter_map(Value::as_u64).collect();
        // A file whose earlier calls were overwritten begins with the summary that replaced them.
        let mut found = found;
        found.retain(|call| !(self.begins_with_summary() && *call == 1));
        let happened = self.compactions_in_file();
        if found != happened {
            problems.push(format!("compactions before calls {happened:?}, read {found:?}"));
        }
        let lacks_calls = self.meta["not_rebuildable"].as_array().is_some_and(|n| !n.is_empty());
        let warnings = inspected["warnings"].as_array().map_or(0, Vec::len);
        if lacks_calls && warnings == 0 {
            problems.push("no warning names the calls whose context is not in the file".to_owned());
        }
        problems
    }

    /// Returns the requests of the agent that are in the file, in order.
    fn agents_requests(&self) -> impl Iterator<Item = &Received> {
        let lost = self.meta["lost"].as_u64().unwrap_or_default() as usize;
        self.received.iter().filter(|r| !r.failed && r.role == "main").skip(lost)
    }

    fn sent_by_calls(&self, file: &Path) -> Vec<SentBy<'_>> {
        if let Some(by_file) = self.meta["by_file"].as_object() {
            let answered = self.received.iter().filter(|received| !received.failed);
            let listed = answered.filter_map(|received| {
                let place = by_file.get(&received.number.to_string())?;
                let file = self.folder.join(place[0].as_str()?);
                Some(SentBy { received, file, call: place[1].as_u64()? as usize })
            });
            return listed.collect();
        }
        let file = || file.to_owned();
        let numbered = self.agents_requests().enumerate();
        numbered.map(|(at, received)| SentBy { received, file: file(), call: at + 1 }).collect()
    }

    /// Returns the calls before which a compaction happened: each first call after a successful summary.
    fn compactions(&self) -> Vec<u64> {
        if let Some(listed) = self.meta["compactions"].as_array() {
            return listed.iter().filter_map(Value::as_u64).collect();
        }
        let agents: Vec<u64> = self.agents_requests().map(|received| received.number).collect();
        let mut found = Vec::new();
        let mut is_summarized = false;
        for received in self.received.iter().filter(|received| !received.failed) {
            let at = agents.iter().position(|number| *number == received.number);
            match (received.role.as_str(), at) {
                ("summary", _) => is_summarized = true,
                ("main", Some(at)) if is_summarized => {
                    found.push(at as u64 + 1);
                    is_summarized = false;
                }
                _ => {}
            }
        }
        found
    }

    fn begins_with_summary(&self) -> bool {
        self.meta["lost"].as_u64().is_some_and(|lost| lost > 0)
    }

    /// Returns the calls before which a compaction happened that the file still shows.
    fn compactions_in_file(&self) -> Vec<u64> {
        let mut happened = self.compactions();
        happened.retain(|call| !(self.is_lost(*call) || self.begins_with_summary() && *call == 1));
        happened
    }

    /// Returns whether no file contains the context of this call, from 1, any more.
    fn is_lost(&self, call: u64) -> bool {
        let received = self.agents_requests().nth(call as usize - 1);
        received.is_some_and(|received| self.is_not_rebuildable(received.number))
    }

    fn is_not_rebuildable(&self, number: u64) -> bool {
        let listed = self.meta["not_rebuildable"].as_array();
        listed.is_some_and(|numbers| numbers.contains(&Value::from(number)))
    }

    /// Returns the first difference of the conversations, if any.
    fn difference(&self, mut sent: Content, mut found: Content) -> Option<String> {
        if self.program() == "qwen-code" {
            // Its reminders are in no file.
            sent.remove_tagged("system-reminder");
            found.remove_tagged("system-reminder");
        }
        let n = sent.pieces.len().max(found.pieces.len());
        let at = (0..n).find(|at| sent.pieces.get(*at) != found.pieces.get(*at))?;
        let piece = |of: &Content| {
            let text = format!("{:?}", of.pieces.get(at));
            text.chars().take(SHOWN).collect::<String>()
        };
        Some(format!("piece {at}: received {}, read {}", piece(&sent), piece(&found)))
    }

    /// Returns the file that a user opens: the one named after the session, or else the largest.
    fn main_file(&self) -> PathBuf {
        let listed = self.meta["files"].as_array().expect("files");
        let mut files: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
        files.retain(|file| *file != "meta.json" && !file.contains('/'));
        if self.program() == "cline" {
            files.retain(|file| file.ends_with(".messages.json"));
        }
        let session = self.meta["sid"].as_str();
        let named = session.and_then(|id| files.iter().find(|file| file.contains(id)));
        let size = |file: &&&str| fs::metadata(self.folder.join(file)).map_or(0, |file| file.len());
        let file = named.or_else(|| files.iter().max_by_key(size)).expect("a session file");
        self.folder.join(file)
    }
}

/// Reads the pairs of this repository and those of the folder that `PLIMSOLL_PAIRS` names.
fn all_pairs() -> Vec<Pair> {
    let mut folders = vec![repository().join("tests/pairs")];
    folders.extend(std::env::var_os("PLIMSOLL_PAIRS").map(PathBuf::from));
    let pairs: Vec<Pair> = folders.iter().flat_map(|folder| read_pairs(folder)).collect();
    assert!(pairs.len() >= 36, "the pairs of this repository are there");
    pairs
}

/// Reads all pairs of a folder, sorted by name.
fn read_pairs(folder: &Path) -> Vec<Pair> {
    let folders = |of: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(of).expect("a folder of pairs");
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect()
    };
    let cases = folders(folder).into_iter().flat_map(|program| folders(&program));
    let mut cases: Vec<PathBuf> = cases.filter(|case| case.join("meta.json").is_file()).collect();
    cases.sort();
    let names: HashSet<&PathBuf> = cases.iter().collect();
    assert_eq!(names.len(), cases.len());
    let pair = |folder: PathBuf| {
        let names = folder.components().rev().take(2).map(|c| c.as_os_str().to_string_lossy());
        let names: Vec<_> = names.collect();
        let meta = fs::read_to_string(folder.join("meta.json")).expect("a description");
        Pair {
            name: format!("{}/{}", names[1], names[0]),
            meta: serde_json::from_str(&meta).expect("a description"),
            received: requests::read(&folder.join("requests.jsonl")),
            folder: folder.clone(),
        }
    };
    cases.into_iter().map(pair).collect()
}

fn inspect(home: &Path, file: &Path) -> Result<Value, String> {
    let file = file.to_str().expect("a path");
    let output = plimsoll(home, &["inspect", file, "--json", "--no-state"]);
    serde_json::from_slice(&output.stdout)
        .map_err(|why| format!("{why}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Runs `context` for a call, with further options, and reads what it wrote.
fn context(home: &Path, sent: &SentBy<'_>, options: &[&str]) -> Result<Content, String> {
    let written = tempfile::tempdir_in(home).expect("a folder");
    let written = written.path().join("context.json");
    let (file, call) = (sent.file.to_str().expect("a path"), sent.call.to_string());
    let to = written.to_str().expect("a path");
    let args = ["context", file, "--at-call", &call, "--format", "openai_chat", "-o", to];
    let output = plimsoll(home, &[&args[..], options, &["--no-state"]].concat());
    let Ok(text) = fs::read(&written) else {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    };
    let body: Map<String, Value> = serde_json::from_slice(&text).map_err(|why| why.to_string())?;
    Ok(of_request("chat", &body))
}
