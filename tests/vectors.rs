//! Compares the reproductions of real systems with case files: what the systems' own functions returned for an input.
//!
//! Reads every case of a folder (`tests/vectors`, or the one that `PLIMSOLL_VECTORS` names) and runs the functions that
//! a replay runs. Compares exactly. A case that cannot be run counts as *not covered*, with the reason. The table of
//! results bypasses the capture of the test harness, so that it is always shown.

#[path = "replay_runner/mod.rs"]
mod replay_runner;
#[path = "vector_runners/mod.rs"]
mod vector_runners;

use plimsoll::engine::Proof;
use plimsoll::presets;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use vector_runners::{Case, Verdict, judge};

/// Numbers of cases by verdict.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    not_covered: usize,
}

#[test]
fn reproductions_return_what_the_systems_returned() {
    let folder = std::env::var_os("PLIMSOLL_VECTORS").map_or_else(bundled_folder, PathBuf::from);
    let mut tallies: BTreeMap<(String, String), Tally> = BTreeMap::new();
    let mut output = "\n".to_owned();
    let files = case_files(&folder);
    let verdicts: Vec<_> = files.par_iter().map(|file| verdict(file)).collect();
    for (file, (system, stage, verdict)) in files.iter().zip(verdicts) {
        let case = file.file_stem().unwrap_or_default().display();
        let tally = tallies.entry((system.clone(), stage)).or_default();
        match verdict {
            Verdict::Passed => tally.passed += 1,
            Verdict::Failed(why) => {
                tally.failed += 1;
                writeln!(output, "FAILED {system}/{case}: {why}").unwrap();
            }
            Verdict::NotCovered(why) => {
                tally.not_covered += 1;
                writeln!(output, "not covered {system}/{case}: {why}").unwrap();
            }
        }
    }
    let total = add_table(&mut output, &tallies);
    writeln!(
        output,
        "vectors in {}: {} passed; {} failed; {} not covered",
        folder.display(),
        total.passed,
        total.failed,
        total.not_covered
    )
    .unwrap();
    io::stdout().write_all(output.as_bytes()).unwrap();
    assert!(
        total.failed == 0 && total.passed > 0,
        "{} cases failed, {} passed",
        total.failed,
        total.passed
    );
    if folder == bundled_folder() {
        let mut proven: BTreeMap<String, usize> = BTreeMap::new();
        for ((system, _), tally) in tallies {
            *proven.entry(system).or_default() += tally.passed;
        }
        let wrong = proven.iter().filter_map(|(preset, passed)| wrong_proof(preset, *passed, None));
        let wrong: Vec<_> = wrong.collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Compares the number of bundled cases that pass, and the version that they ran if they name it, with those that the
/// preset states. Returns the difference.
fn wrong_proof(preset: &str, passed: usize, ran: Option<&str>) -> Option<String> {
    let stated = presets::by_name(preset)?.proof;
    let is_right = match &stated {
        Some(Proof::Cases { cases, version }) => {
            *cases == passed && ran.is_none_or(|ran| ran == version)
        }
        _ => false,
    };
    let ran = ran.unwrap_or("…");
    let right = format!("proof = {{ cases = {passed}, version = \"{ran}\" }}");
    (!is_right).then(|| format!("{preset}: write {right} in its preset"))
}

/// Adds a line for each system and stage. Returns the sums.
fn add_table(output: &mut String, tallies: &BTreeMap<(String, String), Tally>) -> Tally {
    let mut total = Tally::default();
    for ((system, stage), tally) in tallies {
        let _ = writeln!(
            output,
            "{system:10} {stage:24} passed {:4}  failed {:4}  not covered {:4}",
            tally.passed, tally.failed, tally.not_covered
        );
        total.passed += tally.passed;
        total.failed += tally.failed;
        total.not_covered += tally.not_covered;
    }
    total
}

fn bundled_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

/// Returns the JSON files below a folder, sorted.
fn case_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns the system, the stage and the verdict of a case file. An unreadable file is a failed case.
fn verdict(file: &Path) -> (String, String, Verdict) {
    let text = fs::read_to_string(file).map_err(|error| error.to_string());
    match text.and_then(|text| Case::parse(&text)) {
        Ok(case) => {
            let verdict = judge(&case);
            (case.system, case.stage, verdict)
        }
        Err(why) => {
            let unread = || "unread".to_owned();
            (unread(), unread(), Verdict::Failed(why))
        }
    }
}
