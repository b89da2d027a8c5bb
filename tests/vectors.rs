//! Holds our reproductions of real systems to case files: what the systems' own functions returned for an input.
//!
//! Reads every case of a folder (`tests/vectors`, or the one that `PLIMSOLL_VECTORS` names), runs the same functions
//! that a replay runs, compares exactly, and prints one line a system and stage. A case that cannot be run is *not
//! covered*, with the reason, and never passed. It is a program of its own so that the table is always shown.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

#[path = "vector_runners/mod.rs"]
mod vector_runners;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vector_runners::{Case, Verdict, judge};

/// What came of the cases of one system and stage.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    not_covered: usize,
}

fn main() -> ExitCode {
    let folder = std::env::var_os("PLIMSOLL_VECTORS").map_or_else(bundled, PathBuf::from);
    let files = case_files(&folder);
    let mut tallies: BTreeMap<(String, String), Tally> = BTreeMap::new();
    let mut told = Vec::new();
    for file in &files {
        let Some((case, verdict)) = verdict(file) else {
            continue;
        };
        let tally = tallies
            .entry((case.system.clone(), case.stage.clone()))
            .or_default();
        match verdict {
            Verdict::Passed => tally.passed += 1,
            Verdict::Failed(why) => {
                tally.failed += 1;
                told.push(format!("FAILED {}/{}: {why}", case.system, case.id));
            }
            Verdict::NotCovered(why) => {
                tally.not_covered += 1;
                told.push(format!("not covered {}/{}: {why}", case.system, case.id));
            }
        }
    }
    for line in &told {
        println!("{line}");
    }
    report(&folder, &tallies)
}

/// Prints the table; failed if a case failed or nothing was judged.
fn report(folder: &Path, tallies: &BTreeMap<(String, String), Tally>) -> ExitCode {
    let mut total = Tally::default();
    for ((system, stage), tally) in tallies {
        println!(
            "{system:10} {stage:24} passed {:4}  failed {:4}  not covered {:4}",
            tally.passed, tally.failed, tally.not_covered
        );
        total.passed += tally.passed;
        total.failed += tally.failed;
        total.not_covered += tally.not_covered;
    }
    println!(
        "vectors in {}: {} passed; {} failed; {} not covered",
        folder.display(),
        total.passed,
        total.failed,
        total.not_covered
    );
    if total.failed == 0 && total.passed > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

/// Every JSON file under a folder, by name.
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

/// A case and what came of it; none for a file that is no case.
fn verdict(file: &Path) -> Option<(Case, Verdict)> {
    let text = fs::read_to_string(file).ok()?;
    let id = file.file_stem()?.to_string_lossy().into_owned();
    match Case::parse(&id, &text) {
        Ok(case) => {
            let verdict = judge(&case);
            Some((case, verdict))
        }
        Err(why) => {
            let unread = Case {
                id,
                system: "unread".to_owned(),
                stage: "unread".to_owned(),
                config: Value::Null,
                input: Value::Null,
                expected: Value::Null,
                whole: Value::Null,
            };
            Some((unread, Verdict::Failed(why)))
        }
    }
}
