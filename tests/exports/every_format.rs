//! Managed conversations in every format that can be written: manually edited fixtures are written, pass every check, and
//! are restored.

use crate::fixtures::{Fixture, fixtures, read};
use plimsoll::engine::{Case, ManualEdits, Schedule, WindowPlan, WindowSource};
use plimsoll::exec::{ExportJob, Exported, Summarizer, export, restore};
use plimsoll::presets;
use plimsoll::session::{Body, Role, Session};
use plimsoll::tokens::{Accuracy, Fit, Progress, TokenLedger, default_counter};
use plimsoll::units::Tokens;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

fn case(session: Session) -> Option<Case> {
    let ledger = TokenLedger::count(&session, default_counter(), &Progress::default()).ok()?;
    let n = session.calls.len().max(1);
    let windows = WindowPlan::constant(Tokens(100_000), n, WindowSource::User);
    Some(Case::new(Arc::new(session), ledger, windows))
}

/// Returns the main conversation of every fixture that can be written.
fn written() -> Vec<(Fixture, Case)> {
    let all = fixtures().into_iter();
    let all = all.filter(|fixture| fixture.writer().is_some());
    all.filter_map(|fixture| {
        let parsed = read(&fixture.name, &fixture.bytes).ok()?;
        let case = case(parsed.sessions.into_iter().next()?)?;
        Some((fixture, case))
    })
    .collect()
}

fn job(fixture: &Fixture, case: Case, output: PathBuf) -> Option<ExportJob> {
    let policy = presets::by_name("none")?;
    Some(ExportJob {
        knobs: policy.defaults(),
        format: plimsoll::formats::by_name(fixture.format)?,
        case,
        policy,
        schedule: Schedule::Now { force: false },
        until: None,
        summarizer: Summarizer::Digest,
        output,
        files: None,
        given: Vec::new(),
    })
}

fn failed(exported: &Exported) -> Vec<String> {
    let failed = exported.checks.iter().filter(|check| !check.ok);
    failed.map(|check| format!("{}: {}", check.name, check.detail)).collect()
}

/// Fixtures that lose content when a message is dropped: unknown records of a tool's answer are removed with it, and the tokens
/// of reasoning are in the response to the last message.
const NOT_WITHOUT: [&str; 2] = ["llama_factory/picture.json", "openai_responses/logged.json"];

/// Returns the tool results in the last recorded context.
fn answers(session: &Session) -> Vec<usize> {
    let is_answer = |idx: &usize| {
        let parts = session.parts_of(&session.messages[*idx]);
        parts.iter().any(|part| matches!(part.body, Body::ToolResult { .. }))
    };
    let context = session.real_context(session.messages.len());
    context.into_iter().filter(is_answer).collect()
}

#[test]
fn a_copy_with_cleared_tool_results_passes_every_check_and_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let (mut wrong, mut formats) = (Vec::new(), Vec::new());
    for (at, (fixture, case)) in written().into_iter().enumerate() {
        let cleared = answers(&case.session);
        let marks = ManualEdits { cleared, ..ManualEdits::default() };
        let output = folder.path().join(at.to_string());
        let job = job(&fixture, case.with_manual_edits(marks), output.clone()).unwrap();
        let exported = match export(&job) {
            Ok(exported) => exported,
            Err(why) => {
                wrong.push(format!("{}: {why}", fixture.name));
                continue;
            }
        };
        if exported.output.is_none() {
            continue;
        }
        formats.push(fixture.format);
        wrong.extend(failed(&exported).iter().map(|why| format!("{}: {why}", fixture.name)));
        let back = output.with_extension("back");
        restore(&output, Some(&back)).unwrap();
        assert!(fs::read(&back).unwrap() == fixture.bytes, "{}", fixture.name);
    }
    formats.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(formats.len() > 9, "{formats:?}");
}

#[test]
fn a_copy_with_only_a_summary_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let policy = presets::by_name("baseagent").unwrap();
    let (mut wrong, mut n) = (Vec::new(), 0);
    for (at, (fixture, case)) in written().into_iter().enumerate() {
        let output = folder.path().join(at.to_string());
        let job = ExportJob {
            knobs: policy.defaults(),
            policy: policy.clone(),
            schedule: Schedule::Now { force: true },
            ..job(&fixture, case, output.clone()).unwrap()
        };
        let Ok(exported) = export(&job) else {
            continue;
        };
        if exported.output.is_none() {
            continue;
        }
        n += 1;
        let failed = failed(&exported);
        wrong.extend(failed.iter().map(|why| format!("{}: {why}", fixture.name)));
        let back = output.with_extension("back");
        restore(&output, Some(&back)).unwrap();
        assert!(fs::read(&back).unwrap() == fixture.bytes, "{}", fixture.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n > 20, "{n}");
}

#[test]
fn a_copy_has_the_token_counts_of_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let (mut wrong, mut formats) = (Vec::new(), Vec::new());
    let all = written().into_iter().enumerate();
    for (at, (fixture, case)) in all.filter(|(_, (f, _))| !NOT_WITHOUT.contains(&&*f.name)) {
        let Accuracy::Calibrated(error) = case.ledger.accuracy else {
            continue;
        };
        // An assumed error grows with the contexts that no call confirms, which the copy may lack.
        let is_assumed = case.ledger.fit.as_ref().is_some_and(Fit::is_assumed);
        let context = case.session.real_context(case.session.messages.len());
        let marks = ManualEdits {
            dropped: context.last().copied().into_iter().collect(),
            ..ManualEdits::default()
        };
        let output = folder.path().join(at.to_string());
        let job = job(&fixture, case.with_manual_edits(marks), output.clone()).unwrap();
        let Ok(exported) = export(&job) else {
            continue;
        };
        if exported.output.is_none() {
            continue;
        }
        assert_eq!(failed(&exported), [""; 0], "{}", fixture.name);
        let parsed = read(&fixture.name, &fs::read(&output).unwrap()).unwrap();
        let copy = self::case(parsed.sessions.into_iter().next().unwrap()).unwrap();
        let held = copy.session.real_context(copy.session.messages.len());
        let held: Tokens = held.iter().map(|idx| copy.ledger.message(*idx)).sum();
        let weighed = copy.ledger.overhead + held;
        let is_equal = matches!(
            copy.ledger.accuracy,
            Accuracy::Calibrated(found) if found == error || is_assumed && found.0 < error.0
        );
        if weighed != exported.after || !is_equal {
            wrong.push(format!(
                "{}: {weighed:?} {:?}, not {:?} {error:?}",
                fixture.name, copy.ledger.accuracy, exported.after
            ));
        }
        formats.push(fixture.format);
    }
    formats.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(formats.len() > 5, "{formats:?}");
}

/// Returns the message with which the conversation must start.
fn first_words(session: &Session) -> usize {
    let context = session.real_context(session.messages.len());
    let is_first = |idx: &usize| session.messages[*idx].role != Role::System;
    context.into_iter().find(is_first).unwrap_or(0)
}

#[test]
fn a_copy_without_middle_messages_passes_every_check_and_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let (mut wrong, mut n) = (Vec::new(), 0);
    let all = written().into_iter().enumerate();
    for (at, (fixture, case)) in all.filter(|(_, (f, _))| !NOT_WITHOUT.contains(&&*f.name)) {
        let context = case.session.real_context(case.session.messages.len());
        // Calls and results are dropped together.
        let first = first_words(&case.session);
        for nth in (0..context.len()).filter(|nth| context[*nth] > first) {
            let marks = ManualEdits {
                dropped: [context[nth]].into_iter().collect(),
                ..ManualEdits::default()
            };
            let output = folder.path().join(format!("{at}-{nth}"));
            let job = job(&fixture, case.with_manual_edits(marks), output.clone()).unwrap();
            let exported = match export(&job) {
                Ok(exported) => exported,
                Err(why) => {
                    wrong.push(format!("{} without {nth}: {why}", fixture.name));
                    continue;
                }
            };
            if exported.output.is_none() {
                continue;
            }
            n += 1;
            let failed = failed(&exported);
            wrong.extend(failed.iter().map(|why| format!("{} without {nth}: {why}", fixture.name)));
            let back = output.with_extension("back");
            restore(&output, Some(&back)).unwrap();
            assert!(fs::read(&back).unwrap() == fixture.bytes, "{}", fixture.name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n > 50, "{n}");
}

/// Writes a fixture without these messages and parses the copy.
fn copied(name: &str, dropped: &[usize]) -> Option<(String, Session)> {
    let folder = tempfile::tempdir().ok()?;
    let mut all = written().into_iter();
    let (fixture, case) = all.find(|(fixture, _)| fixture.name == name)?;
    let marks = ManualEdits { dropped: dropped.to_vec(), ..ManualEdits::default() };
    let output = folder.path().join("copy");
    let job = job(&fixture, case.with_manual_edits(marks), output.clone())?;
    export(&job).ok()?;
    let bytes = fs::read(&output).ok()?;
    let session = read(name, &bytes).ok()?.sessions.into_iter().next()?;
    Some((String::from_utf8(bytes).ok()?, session))
}

/// Returns the texts with their roles, one line each.
fn lines(session: &Session) -> Vec<String> {
    let line = |message: &plimsoll::session::Message| {
        let texts: Vec<&str> =
            session.parts_of(message).iter().map(|part| part.body.text()).collect();
        format!("{}: {}", message.role.name(), texts.join(" / "))
    };
    session.messages.iter().map(line).collect()
}

#[test]
fn a_copy_of_opencode_has_no_hidden_messages_and_no_usage_of_the_source() {
    let (text, session) = copied("opencode/export.json", &[11]).unwrap();
    assert_eq!(
        lines(&session),
        [
            "user: What did we do so far?",
            "assistant: The shop was read and tested.",
            "user: Continue"
        ]
    );
    assert!(session.messages.iter().all(|m| m.in_history));
    assert!(session.compactions.is_empty() && session.messages[0].is_injected);
    assert!(session.calls.iter().all(|call| call.usage.is_none()));
    assert!(!text.contains("\"compaction\"") && !text.contains("\"summary\": true"), "{text}");
    // Pruned content does not return through its flag.
    let (text, session) = copied("opencode/list.json", &[3]).unwrap();
    assert!(lines(&session)[2].starts_with("tool: [Old tool result content cleared]"));
    assert!(!text.contains("compacted") && session.compactions.is_empty(), "{text}");
    assert_eq!(text.matches("\"mime\": \"image/png\"").count(), 1, "{text}");
}

#[test]
fn in_a_copy_of_goose_all_messages_are_visible_and_two_answers_stay_separate() {
    let (text, session) = copied("goose/export.json", &[4]).unwrap();
    assert_eq!(
        lines(&session),
        [
            "user: The user asked about rain; it will rain.",
            "assistant: I will continue from there.",
            "assistant: Sun."
        ]
    );
    assert!(session.messages.iter().all(|m| m.in_history) && session.compactions.is_empty());
    assert!(!text.contains("false"), "{text}");
}
