//! Complete exports: sidecars, files that a policy writes, and restore.

use plimsoll::engine::{
    Answer, Case, Estimator, ManualEdits, Reply, Request, Sample, Schedule, WindowPlan,
    WindowSource, drive, simulate,
};
use plimsoll::exec::{
    ExportJob, Exported, LoadOptions, Loaded, PolicyFolder, Summarizer, export, load, restore,
};
use plimsoll::formats;
use plimsoll::json::{Value, json};
use plimsoll::presets;
use plimsoll::tokens::{Progress, default_counter};
use plimsoll::units::Tokens;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn loaded(path: &Path) -> Loaded {
    let options = LoadOptions { counter: default_counter(), window: None, conversation: 0 };
    load(path, &options, &Progress::default()).expect("it reads")
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_sessions").join(name)
}

/// Returns all samples.
fn sources() -> impl Iterator<Item = PathBuf> {
    let samples = fs::read_dir(sample(""))
        .expect("there are samples")
        .map(|entry| entry.expect("it reads").path());
    samples.filter(|path| path.extension().is_some_and(|e| e == "json" || e == "jsonl"))
}

/// Returns a job with a preset's defaults in the format of the source.
fn job(source: &Path, preset: &str, output: PathBuf) -> ExportJob {
    let case = loaded(source).case;
    let policy = presets::by_name(preset).expect("bundled");
    let own = formats::by_name(case.session.source.format).filter(|f| f.is_writable());
    let any = formats::by_name("openai_chat").expect("bundled");
    ExportJob {
        knobs: policy.defaults(),
        format: own.unwrap_or(any),
        case,
        policy,
        schedule: Schedule::Replay,
        until: None,
        summarizer: Summarizer::Digest,
        output,
        files: None,
        given: Vec::new(),
    }
}

fn all_ok(exported: &Exported) {
    let failed: Vec<_> = exported.checks.iter().filter(|check| !check.ok).collect();
    assert!(failed.is_empty() && !exported.checks.is_empty(), "{failed:?}");
}

#[test]
fn a_last_call_with_another_context_is_not_the_start_of_an_export() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(sample("slow-growth.jsonl")).unwrap();
    let mut records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut answers = records.iter().filter(|record| record["message"]["usage"].is_object());
    let last = answers.next_back().unwrap()["message"]["id"].clone();
    for record in records.iter_mut().filter(|record| record["message"]["id"] == last) {
        record["message"]["model"] = json!("claude-haiku-4-5-20251001");
        record["message"]["usage"] = json!({"input_tokens": 12_000, "output_tokens": 10});
    }
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let source = folder.path().join("odd.jsonl");
    fs::write(&source, lines.join("\n")).unwrap();
    let export_of = |source: &Path, name: &str| {
        let mut job = job(source, "truncate", folder.path().join(name));
        job.schedule = Schedule::Now { force: true };
        export(&job).unwrap()
    };
    let whole = export_of(&sample("slow-growth.jsonl"), "whole.out");
    let odd = export_of(&source, "odd.out");
    all_ok(&odd);
    assert!(odd.before.0.abs_diff(whole.before.0) < 100, "{:?}", odd.before);
    let says = |exported: &Exported| {
        let notes = exported.notes.iter();
        notes
            .filter(|note| {
                note.contains("(claude-haiku-4-5-20251001) reports 12,000 tokens, fewer than")
            })
            .count()
    };
    assert_eq!((says(&whole), says(&odd)), (0, 1), "{:?}", odd.notes);
}

#[test]
fn a_stage_for_results_that_runs_too_late_is_noted_and_a_replay_runs_it_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let note = "spill left 1 tool result as recorded: it is changed only on arrival, and `--schedule replay` applies that from the first call";
    for (schedule, says) in [(Schedule::Now { force: false }, true), (Schedule::Replay, false)] {
        let output = folder.path().join(format!("{says}.json"));
        let mut job = job(&sample("giant-tool-result.json"), "holmesgpt", output);
        job.schedule = schedule;
        let exported = export(&job).unwrap();
        all_ok(&exported);
        let is_noted = exported.notes.iter().any(|said| said == note);
        assert_eq!(is_noted, says, "{:?}", exported.notes);
        let has_files = exported.sidecars.unwrap().files.is_some();
        assert_eq!(has_files, !says);
    }
}

#[test]
fn a_managed_file_without_messages_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let source = sample("slow-growth.jsonl");
    let mut clears = job(&source, "cowagent", folder.path().join("out.jsonl"));
    clears.schedule = Schedule::Now { force: true };
    let policy = clears.policy.clone();
    policy.set(&mut clears.knobs, "clear_context", 1.0).unwrap();
    let mut drops = job(&source, "none", folder.path().join("out.jsonl"));
    let dropped = (0..drops.case.session.messages.len()).collect();
    drops.case = drops.case.with_manual_edits(ManualEdits { dropped, ..ManualEdits::default() });
    for job in [clears, drops] {
        let why = export(&job).unwrap_err();
        assert!(
            why.starts_with("nothing was written: the managed file would have no messages"),
            "{why}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Writes a conversation with a result far above HolmesGPT's limit that contains an image.
fn with_giant_result(folder: &Path) -> PathBuf {
    let text = "2026-11-22 12:00:00 ERROR the database refused a connection\n".repeat(6_000);
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
    let messages = json!([
        {"role": "user", "content": "Why does checkout fail?"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c/1", "type": "function",
            "function": {"name": "kubectl logs", "arguments": "{\"pod\":\"checkout\"}"}}]},
        {"role": "tool", "tool_call_id": "c/1", "content": [{"type": "text", "text": text},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{png}")}}]},
        {"role": "assistant", "content": "The database refuses connections."},
    ]);
    let path = folder.join("incident.json");
    let body = json!({"model": "gpt-4o", "messages": messages});
    fs::write(&path, serde_json::to_vec_pretty(&body).expect("JSON")).expect("it can be written");
    path
}

#[test]
fn every_sample_is_restored_byte_for_byte_after_any_strategy() {
    let folder = tempfile::tempdir().unwrap();
    let mut n_written = 0;
    for (idx, source) in sources().enumerate() {
        for preset in ["truncate", "prune", "summarize", "cowagent", "picoclaw"] {
            let output = folder.path().join(format!("{idx}-{preset}.out"));
            let exported = export(&job(&source, preset, output.clone())).unwrap();
            if exported.output.is_none() {
                continue;
            }
            n_written += 1;
            let back = folder.path().join(format!("{idx}-{preset}.back"));
            restore(&output, Some(&back)).unwrap();
            assert_eq!(fs::read(&back).unwrap(), fs::read(&source).unwrap(), "{preset}");
        }
    }
    assert!(n_written > 5, "{n_written}");
}

/// Marks messages in turn: cleared, pinned, unmarked, dropped, unmarked. Instructions and the first request are kept.
fn marked_in_turn(job: &ExportJob) -> ManualEdits {
    let first = job.case.index.first_user.map_or(0, |m| m as usize);
    let messages = &job.case.session.messages;
    // The source's own summary is kept, too, since a conversation that starts with it must keep its start.
    let every = |nth: usize| {
        let nth = (first + 1..messages.len()).filter(move |m| m % 5 == nth);
        nth.filter(|m| messages[*m].in_history).collect()
    };
    ManualEdits { cleared: every(1), pinned: every(2), dropped: every(4) }
}

#[test]
fn manual_edits_without_a_policy_are_restored_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (mut n_written, mut stages) = (0, 0);
    for (idx, source) in sources().enumerate() {
        for schedule in [Schedule::Replay, Schedule::Now { force: false }] {
            let output = folder.path().join(format!("{idx}-{n_written}.out"));
            let mut job = job(&source, "none", output.clone());
            job.schedule = schedule;
            job.case = job.case.with_manual_edits(marked_in_turn(&job));
            let exported = export(&job).unwrap();
            all_ok(&exported);
            let (before, after) = (exported.before, exported.after);
            assert!(after < before, "{} {schedule:?}", source.display());
            n_written += 1;
            let sidecars = exported.sidecars.unwrap();
            let removed = fs::read_to_string(&sidecars.removed).unwrap();
            let lines = removed.lines().map(|line| serde_json::from_str(line).unwrap());
            let by_hand = |line: &Value| line["stage"] == "manually" && line["why"] == "manually";
            stages += lines.filter(by_hand).count();
            let manifest: Value =
                serde_json::from_slice(&fs::read(&sidecars.manifest).unwrap()).unwrap();
            let dropped = job.case.manual_edits.dropped.iter().map(|m| m + 1).collect::<Vec<_>>();
            assert_eq!(manifest["manual_edits"]["dropped"], json!(dropped));
            assert_eq!(manifest["events"][0]["stage"], "manually");
            let back = output.with_extension("back");
            restore(&output, Some(&back)).unwrap();
            assert_eq!(
                fs::read(&back).unwrap(),
                fs::read(&source).unwrap(),
                "{}",
                source.display()
            );
        }
    }
    assert!(n_written > 5 && stages > 50, "{n_written} files, {stages} pieces");
}

#[test]
fn a_spilled_result_and_its_image_are_files_and_the_pointer_has_their_real_path() {
    let folder = tempfile::tempdir().unwrap();
    let source = with_giant_result(folder.path());
    let output = folder.path().join("out.json");
    let exported = export(&job(&source, "holmesgpt", output.clone())).unwrap();
    all_ok(&exported);
    let wrote = exported.sidecars.unwrap().files.unwrap();
    let files = folder.path().join("out.files");
    assert_eq!((&wrote.path, wrote.n_files), (&files, 2));
    let text = files.join("kubectl_logs_c_1.txt");
    let spilled = fs::read_to_string(&text).unwrap();
    assert!(spilled.contains("refused a connection") && spilled.len() > 300_000);
    let picture = fs::read(files.join("kubectl_logs_c_1_img0.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"), "{picture:?}");
    let managed: Value = serde_json::from_slice(&fs::read(&output).unwrap()).unwrap();
    let pointer = managed["messages"][2]["content"].to_string();
    assert!(pointer.contains(text.to_str().unwrap()), "{pointer:.300}");
}

#[test]
fn a_folder_that_cannot_be_written_is_handled_as_missing_storage() {
    let folder = tempfile::tempdir().unwrap();
    let source = with_giant_result(folder.path());
    let taken = folder.path().join("taken");
    fs::write(&taken, "a file").unwrap();
    let output = folder.path().join("out.json");
    let job = ExportJob { files: Some(taken.clone()), ..job(&source, "holmesgpt", output.clone()) };
    let exported = export(&job).unwrap();
    assert!(
        exported.notes.iter().any(|note| note.contains("ran without storage")),
        "{:?}",
        exported.notes
    );
    assert_eq!(exported.sidecars.unwrap().files, None);
    let written = fs::read_to_string(&output).unwrap();
    assert!(written.contains("narrow down the result") && !written.contains("Saved to"));
    assert_eq!(fs::read_to_string(&taken).unwrap(), "a file");
}

#[test]
fn a_spill_never_overwrites_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let source = with_giant_result(folder.path());
    let files = folder.path().join("mine");
    fs::create_dir(&files).unwrap();
    fs::write(files.join("kubectl_logs_c_1.txt"), "mine").unwrap();
    let job = ExportJob {
        files: Some(files.clone()),
        ..job(&source, "holmesgpt", folder.path().join("out.json"))
    };
    let exported = export(&job).unwrap();
    assert!(exported.notes.iter().any(|note| note.contains("ran without storage")));
    assert_eq!(fs::read_to_string(files.join("kubectl_logs_c_1.txt")).unwrap(), "mine");
    assert_eq!(fs::read_dir(&files).unwrap().count(), 1);
}

#[test]
fn a_changed_managed_file_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let source = with_giant_result(folder.path());
    let output = folder.path().join("out.json");
    export(&job(&source, "holmesgpt", output.clone())).unwrap();
    let sidecar = folder.path().join("out.removed.jsonl");
    let kept = fs::read(&sidecar).unwrap();
    let mut changed = kept.clone();
    changed.push(b'\n');
    fs::write(&sidecar, &changed).unwrap();
    let error = restore(&output, None).unwrap_err();
    assert!(error.contains("out.removed.jsonl has changed since it was written"), "{error}");
    fs::write(&sidecar, &kept).unwrap();
    // The default name is taken by the source.
    let restored = restore(&output, None).unwrap();
    assert_eq!(restored.output, folder.path().join("incident-restored.json"));
    fs::remove_file(&output).unwrap();
    let error = restore(&output, None).unwrap_err();
    assert!(error.contains("interrupted"), "{error}");
}

/// Reads the files of a folder by name.
fn files_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable"));
    let files = entries.filter(|entry| entry.path().is_file());
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().expect("readable");
    files.map(|entry| (name(&entry), fs::read(entry.path()).expect("readable"))).collect()
}

#[test]
fn an_agent_that_replaces_its_messages_with_each_export_can_continue_for_many_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let (messages, next) =
        ["messages.json", "next.json"].map(|name| folder.path().join(name)).into();
    fs::copy(sample("handoff.json"), &messages).unwrap();
    for round in 1..=6 {
        let source = fs::read(&messages).unwrap();
        let before = files_in(folder.path());
        let mut job = job(&messages, "truncate", next.clone());
        job.schedule = Schedule::Now { force: true };
        job.policy.set(&mut job.knobs, "keep_recent", 4.0).unwrap();
        let exported = export(&job).unwrap();
        all_ok(&exported);
        assert_eq!(exported.output.as_ref(), Some(&next), "round {round}");
        // The sidecars of earlier rounds are kept.
        let after = files_in(folder.path());
        assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
        let says = exported.notes.iter().any(|note| {
            note == &format!("the sidecars of an earlier export to this name are kept, so these are named next-{round}")
        });
        assert_eq!(says, round > 1, "{:?}", exported.notes);
        fs::rename(&next, &messages).unwrap();
        let back = folder.path().join(format!("back-{round}"));
        restore(&messages, Some(&back)).unwrap();
        assert_eq!(fs::read(&back).unwrap(), source, "round {round}");
        // The agent continues.
        let mut body: Value = serde_json::from_slice(&fs::read(&messages).unwrap()).unwrap();
        let said = ["user", "assistant"].repeat(4);
        let said = said.iter().enumerate();
        let said =
            said.map(|(n, role)| json!({"role": role, "content": format!("{role} {round}.{n}")}));
        let all = body.get_mut("messages").expect("a body");
        all.as_array_mut().unwrap().extend(said);
        fs::write(&messages, body.to_string()).unwrap();
    }
    let error = restore(&messages, None).unwrap_err();
    assert!(error.contains("none of the 6 manifests in its folder matches its content"), "{error}");
}

#[test]
fn the_files_of_a_moved_export_are_kept_and_the_next_export_has_its_own_folder() {
    let folder = tempfile::tempdir().unwrap();
    let source = with_giant_result(folder.path());
    let output = folder.path().join("out.json");
    for (name, files) in [("a.json", "out.files"), ("b.json", "out-2.files")] {
        let exported = export(&job(&source, "holmesgpt", output.clone())).unwrap();
        all_ok(&exported);
        let wrote = exported.sidecars.unwrap().files;
        let expected = PolicyFolder { path: folder.path().join(files), n_files: 2 };
        assert_eq!(wrote, Some(expected));
        fs::rename(&output, folder.path().join(name)).unwrap();
    }
    // An incomplete export of a killed process does not interfere either.
    fs::remove_file(folder.path().join("out.manifest.json")).unwrap();
    let exported = export(&job(&source, "holmesgpt", output)).unwrap();
    let note =
        "the sidecars of an interrupted export to this name are kept, so these are named out-3";
    assert!(exported.notes.iter().any(|said| said == note));
    assert!(folder.path().join("out.removed.jsonl").is_file());
    for name in ["b.json", "out.json"] {
        let back = folder.path().join(format!("{name}.back"));
        restore(&folder.path().join(name), Some(&back)).unwrap();
        assert_eq!(fs::read(&back).unwrap(), fs::read(&source).unwrap());
    }
}

#[test]
fn removed_records_have_their_stage_and_trigger() {
    let folder = tempfile::tempdir().unwrap();
    let source = with_giant_result(folder.path());
    let output = folder.path().join("out.json");
    export(&job(&source, "holmesgpt", output)).unwrap();
    let text = fs::read_to_string(folder.path().join("out.removed.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let edited = lines.iter().find(|line| line["state"] == "edited").expect("the result");
    assert_eq!((&edited["stage"], &edited["messages"]), (&json!("spill"), &json!([3])));
    let source = fs::read(&source).unwrap();
    for line in &lines {
        let start = line["start"].as_u64().unwrap() as usize;
        let end = start + line["length"].as_u64().unwrap() as usize;
        assert_eq!(line["text"].as_str().unwrap().as_bytes(), &source[start..end]);
    }
}

/// Answers with the predicted text, as if a model had written it.
struct Scripted;

impl Answer for Scripted {
    fn answer(&mut self, case: &Case, request: &Request) -> Reply {
        match Estimator.answer(case, request) {
            Reply::Predicted(text) => Reply::Summary(text),
            reply => reply,
        }
    }
}

#[test]
fn a_run_with_real_summaries_of_the_predicted_size_equals_the_simulated_run() {
    let samples = fs::read_dir(sample("")).unwrap().map(|entry| entry.unwrap().path());
    let samples: Vec<_> = samples
        .filter(|path| path.extension().is_some_and(|e| e == "json" || e == "jsonl"))
        .collect();
    let requests = samples.par_iter().map(|source| {
        // A window so small that every policy acts.
        let whole = loaded(source).case;
        let total = whole.ledger.total().0;
        let calls = whole.session.calls.len();
        let window =
            WindowPlan::constant(Tokens((total / 2).max(4_000)), calls, WindowSource::User);
        let case = whole.with_windows(window);
        let requests = presets::PRESETS.par_iter().map(|preset| {
            let policy = preset.policy().unwrap();
            let knobs = policy.defaults();
            let simulated = simulate(&case, &policy, &knobs, None);
            let executed = drive(&case, &policy, &knobs, Schedule::Replay, None, &mut Scripted);
            let (name, file) = (preset.name, source.display());
            assert_eq!(executed.events, simulated.events, "{name}, {file}");
            assert_eq!(executed.samples.len(), simulated.samples.len());
            for (executed, simulated) in executed.samples.iter().zip(&simulated.samples) {
                // Equal summaries can stay in a cache, which is not assumed of predicted ones.
                let cached = executed.unchanged >= simulated.unchanged;
                assert!(cached, "{name}, {file}");
                let unchanged = executed.unchanged;
                let simulated = Sample { unchanged, ..*simulated };
                assert_eq!(*executed, simulated, "{name}, {file}");
            }
            executed.summaries.requests
        });
        requests.sum::<usize>()
    });
    let n_requests: usize = requests.sum();
    assert!(n_requests > 5, "the premise: {n_requests} summaries");
}
