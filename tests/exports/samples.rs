//! Every export passes its own checks: all bundled samples under all presets, with small windows, so that every policy acts.

use plimsoll::engine::{Case, Schedule, WindowPlan, WindowSource};
use plimsoll::exec::{Check, ExportJob, LoadOptions, Summarizer, export, load};
use plimsoll::formats;
use plimsoll::presets::{self, PRESETS};
use plimsoll::tokens::{Progress, default_counter};
use plimsoll::units::Tokens;
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn case(path: &Path) -> Case {
    let options = LoadOptions { counter: default_counter(), window: None, conversation: 0 };
    load(path, &options, &Progress::default()).expect("it reads").case
}

fn case_file(name: &str) -> PathBuf {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports/cases");
    cases.join(name)
}

/// Returns the checks of an export in the format of the source; none if the policy changes nothing.
fn checks(case: &Case, preset: &str, schedule: Schedule, output: PathBuf) -> Vec<Check> {
    let policy = presets::by_name(preset).expect("bundled");
    let own = formats::by_name(case.session.source.format).filter(|format| format.is_writable());
    let job = ExportJob {
        case: case.clone(),
        knobs: policy.defaults(),
        policy,
        schedule,
        until: None,
        summarizer: Summarizer::Digest,
        format: own.unwrap_or(formats::by_name("openai_chat").expect("bundled")),
        output,
        given: Vec::new(),
        files: None,
    };
    match export(&job) {
        Ok(exported) => exported.checks,
        // A managed conversation without messages is refused.
        Err(reason) => {
            assert!(reason.starts_with("nothing was written"), "{preset}: {reason}");
            Vec::new()
        }
    }
}

#[test]
fn no_preset_fails_a_check_on_a_sample() {
    let folder = tempfile::tempdir().unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions");
    let samples = fs::read_dir(samples).unwrap().map(|entry| entry.unwrap().path());
    let samples =
        samples.filter(|path| path.extension().is_some_and(|e| e == "json" || e == "jsonl"));
    let cases: Vec<Case> = samples
        .flat_map(|path| {
            let recorded = case(&path);
            let (calls, total) = (recorded.session.calls.len(), recorded.ledger.total().0);
            let window = Tokens((total / 2).max(4_000));
            let small = WindowPlan::constant(window, calls, WindowSource::User);
            [recorded.clone(), recorded.with_windows(small)]
        })
        .collect();
    let runs: Vec<(usize, &str, Schedule)> = (0..cases.len())
        .flat_map(|at| PRESETS.iter().map(move |preset| (at, preset.name)))
        .flat_map(|(at, preset)| {
            let schedules = [Schedule::Replay, Schedule::Now { force: true }];
            schedules.map(|schedule| (at, preset, schedule))
        })
        .collect();
    let results: Vec<(usize, Vec<String>)> = runs
        .par_iter()
        .enumerate()
        .map(|(nth, (at, preset, schedule))| {
            let case = &cases[*at];
            let output = folder.path().join(format!("{nth}.out"));
            let checks = checks(case, preset, *schedule, output);
            let failed = checks.iter().filter(|check| !check.ok);
            let name = &case.session.source.name;
            let failed = failed.map(|check| {
                format!("{name}, {preset}, {schedule:?}: {}: {}", check.name, check.detail)
            });
            (usize::from(!checks.is_empty()), failed.collect())
        })
        .collect();
    let n_exports: usize = results.iter().map(|(n, _)| n).sum();
    let failed: Vec<String> = results.into_iter().flat_map(|(_, failed)| failed).collect();
    assert!(n_exports > 500, "the premise: {n_exports} exports");
    assert!(failed.is_empty(), "{} of {n_exports}: {failed:#?}", failed.len());
}

#[test]
fn parallel_calls_recorded_with_a_result_between_them_keep_their_ids() {
    let folder = tempfile::tempdir().unwrap();
    let source = case_file("claude-duplicate-uuid.jsonl");
    let case = case(&source);
    let kept: Vec<String> = ids(&fs::read_to_string(&source).unwrap());
    for preset in ["truncate", "prune", "claude-code", "summarize"] {
        for schedule in [Schedule::Replay, Schedule::Now { force: true }] {
            let output = folder.path().join(format!("{preset}-{schedule:?}.jsonl"));
            let checks = checks(&case, preset, schedule, output.clone());
            let failed: Vec<_> = checks.iter().filter(|check| !check.ok).collect();
            assert!(failed.is_empty(), "{preset} {schedule:?}: {failed:?}");
            let Ok(text) = fs::read_to_string(&output) else {
                continue;
            };
            let mut written = ids(&text);
            let n = written.len();
            assert!(written.iter().any(|id| kept.contains(id)));
            written.sort();
            written.dedup();
            assert_eq!(written.len(), n, "{preset} {schedule:?}");
        }
    }
}

#[test]
fn ids_of_any_length_are_no_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let sample =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions/giant-tool-result.json");
    let mut text = fs::read_to_string(sample).unwrap();
    let (mut ids, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find("\"call_").map(|start| at + start + 1) {
        let end = start + text[start..].find('"').unwrap();
        if !ids.contains(&text[start..end].to_owned()) {
            ids.push(text[start..end].to_owned());
        }
        at = end;
    }
    assert!(ids.len() > 3, "the premise: {ids:?}");
    for id in ids {
        text = text.replace(&id, &format!("{}{id}", "call".repeat(75)));
    }
    let source = folder.path().join("long.json");
    fs::write(&source, text).unwrap();
    let recorded = case(&source);
    let calls = recorded.session.calls.len();
    let small =
        recorded.with_windows(WindowPlan::constant(Tokens(20_000), calls, WindowSource::User));
    let failed: Vec<_> = PRESETS
        .par_iter()
        .flat_map_iter(|preset| {
            let output = folder.path().join(preset.name);
            let checks = checks(&small, preset.name, Schedule::Replay, output);
            checks.into_iter().filter(|check| !check.ok).map(|check| (preset.name, check))
        })
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let names = files_below(folder.path());
    assert!(names.iter().any(|name| name.len() > 100), "the premise: a name with an id");
    assert!(names.iter().all(|name| name.len() <= 130), "{names:?}");
}

fn files_below(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let names = entries.flat_map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files_below(&entry.path()),
        _ => vec![entry.file_name().to_string_lossy().into_owned()],
    });
    names.collect()
}

/// Returns the `uuid` of every record.
fn ids(text: &str) -> Vec<String> {
    let records = text.lines().map(|line| serde_json::from_str(line).expect("a record"));
    records
        .filter_map(|record: plimsoll::json::Value| Some(record["uuid"].as_str()?.to_owned()))
        .collect()
}

#[test]
fn a_context_without_a_mark_of_its_format_is_read_as_the_format_that_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let case = case(&case_file("anthropic-detected-as-openai.json"));
    let (mut n_exports, mut failed) = (0, Vec::new());
    for preset in PRESETS {
        let output = folder.path().join(preset.name);
        let checks = checks(&case, preset.name, Schedule::Now { force: true }, output);
        n_exports += usize::from(!checks.is_empty());
        failed.extend(checks.into_iter().filter(|c| !c.ok).map(|check| (preset.name, check)));
    }
    assert!(n_exports > 5, "the premise: {n_exports} exports");
    assert!(failed.is_empty(), "{failed:#?}");
}
