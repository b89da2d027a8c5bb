//! Sweeps over sessions, and the scores of single settings.

use super::{ruled_out, subject, truncate};
use crate::conversation::{Talk, case, part, text};
use plimsoll_core::analysis::cost::{Billing, Bills, price_lane};
use plimsoll_core::analysis::loss::{Names, blind_edits};
use plimsoll_core::analysis::rereads::{FileReads, RereadMeasure, RereadModel, RereadPrices};
use plimsoll_core::analysis::tune::{
    Axis, Gauge, LostRules, Point, Reason, Score, SweepSubject, plan, recommend, sweep,
};
use plimsoll_core::analysis::{FindingKind, findings};
use plimsoll_core::engine::{Case, recorded, simulate};
use plimsoll_core::presets::{self, prices::Prices};
use plimsoll_core::progress::{Cancelled, Progress};
use plimsoll_core::session::{Body, Role};
use plimsoll_core::units::Tokens;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Adds a tool call with its result.
fn tool(talk: &mut Talk, id: &str, arguments: &str, result: &str) {
    let call = Body::ToolCall { call: id.into(), tool: "tool".into(), arguments: arguments.into() };
    let result = Body::ToolResult {
        call: id.into(),
        tool: "tool".into(),
        is_error: false,
        text: result.into(),
    };
    talk.message(Role::Assistant, vec![part(call)]);
    talk.message(Role::Tool, vec![part(result)]);
}

/// Returns a session with a constraint that reads a file, makes 30 other calls, and edits a line of the file in the last.
fn needs_what_was_read() -> Case {
    let mut talk = Talk::new();
    let constraint = text("Never push to the main branch.");
    talk.message(Role::User, vec![constraint]);
    talk.turn(1, 20);
    let file = format!("fn settle_ledger_entry() {{}}\n{}", "line ".repeat(400));
    tool(&mut talk, "read", r#"{"path":"src/first.rs"}"#, &file);
    talk.turn(30, 200);
    talk.message(Role::User, vec![text("Now rename it.")]);
    let edit = r#"{"path":"src/first.rs","old_string":"fn settle_ledger_entry() {}","new_string":"fn settle() {}"}"#;
    tool(&mut talk, "edit", edit, "done");
    let mut case = case(&talk, 7_000);
    let mut session = (*case.session).clone();
    session.models = vec!["claude-sonnet-4-5-20250929".to_owned()];
    for call in &mut session.calls {
        call.model = Some(0);
    }
    case.session = Arc::new(session);
    case
}

/// Returns the policy with these values of `keep_recent` and a small reserve.
fn by_keep(keeps: &[f64]) -> [SweepSubject; 1] {
    let policy = truncate();
    let axis = Axis::listed(&policy, "keep_recent", keeps).expect("in range");
    let mut subject = subject(policy, vec![axis]);
    for (knob, value) in [("output_reserve", 1_000.0), ("cooldown", 0.0)] {
        subject.policy.set(&mut subject.now, knob, value).expect("in range");
    }
    [subject]
}

/// The indices of a session.
struct Indices {
    names: Names,
    files: FileReads,
}

impl Indices {
    fn new(case: &Case) -> Self {
        Self { names: Names::new(&case.session), files: FileReads::new(case) }
    }

    fn gauge<'a>(&'a self, case: &'a Case) -> Gauge<'a> {
        let bills = Bills::new(case, Billing::at(Prices::bundled()));
        Gauge::new(case, bills, &self.names, (&self.files, RereadModel::bundled()))
    }
}

fn swept_by(gauge: &Gauge<'_>, subjects: &[SweepSubject]) -> Vec<Point> {
    let points = plan(subjects, 1_000);
    sweep(gauge, subjects, points, &Progress::default(), &|_, _| {}).expect("nobody stops it")
}

fn swept(case: &Case, subjects: &[SweepSubject]) -> Vec<Point> {
    swept_by(&Indices::new(case).gauge(case), subjects)
}

#[test]
fn settings_that_leave_almost_nothing_are_rejected() {
    let mut talk = Talk::new();
    talk.turn(3, 50).call("giant", 30_000);
    talk.turn(3, 50);
    let case = case(&talk, 60_000);
    let subjects = ["truncate", "prune"].map(|name| {
        let policy = presets::by_name(name).unwrap();
        let axes = policy.knobs.iter().map(Axis::of).collect();
        let mut subject = subject(policy, axes);
        let reserve = ("output_reserve", 1_000.0);
        subject.policy.set(&mut subject.now, reserve.0, reserve.1).unwrap();
        subject
    });
    let (mut wiped, mut valid) = (0, 0);
    for point in swept(&case, &subjects) {
        let policy = &subjects[point.subject].policy;
        let outcome = simulate(&case, policy, &point.knobs, None);
        let found = findings(&case, policy, &point.knobs, &outcome);
        let is_told = found.iter().any(|found| found.kind == FindingKind::Wiped);
        match point.ruled_out {
            None => {
                assert!(!is_told, "{:?}", point.knobs);
                valid += 1;
            }
            Some(why) if why.reason == Reason::Wipes => {
                let finding = found.iter().find(|found| found.kind == FindingKind::Wiped);
                assert_eq!(
                    finding.map(|found| (found.times, found.call)),
                    Some((why.times, why.call))
                );
                wiped += 1;
            }
            Some(_) => {}
        }
    }
    assert!(wiped > 10 && valid > 10, "the premise: {wiped}, {valid}");
}

#[test]
fn settings_with_bad_findings_are_never_recommended() {
    let mut talk = Talk::new();
    talk.turn(4, 120).call("giant", 9_000);
    talk.turn(12, 150);
    let (mut flawed, mut valid) = (Vec::new(), 0);
    for window in [6_000, 14_000, 40_000] {
        let case = case(&talk, window);
        let indices = Indices::new(&case);
        let gauge = indices.gauge(&case);
        for preset in presets::PRESETS {
            let subjects = [subject(preset.policy().unwrap(), Vec::new())];
            let (policy, knobs) = (&subjects[0].policy, &subjects[0].now);
            let outcome = simulate(&case, policy, knobs, None);
            let found = findings(&case, policy, knobs, &outcome);
            let bad: Vec<FindingKind> =
                found.iter().map(|f| f.kind).filter(|k| k.is_bad()).collect();
            let points = plan(&subjects, 1);
            let points = sweep(&gauge, &subjects, points, &Progress::default(), &|_, _| {});
            let points = points.unwrap();
            let ruled_out = points[0].ruled_out;
            let name = preset.name;
            assert!(bad.is_empty() || ruled_out.is_some(), "{name} at {window}: {bad:?}");
            if let Some(why) = ruled_out
                && let Reason::Flawed(kind) = why.reason
            {
                let finding = found.iter().find(|f| f.kind == kind).unwrap();
                assert_eq!(
                    (finding.times, finding.call),
                    (why.times, why.call),
                    "{name} at {window}"
                );
                flawed.push(kind);
            }
            let recommended = recommend(&subjects, &points, None);
            assert_eq!(recommended.is_ok(), ruled_out.is_none(), "{name} at {window}");
            valid += usize::from(ruled_out.is_none());
            let reasons = gauge.assess(policy, knobs).reasons;
            assert!(bad.is_empty() || !reasons.is_empty(), "{}: {bad:?}", preset.name);
        }
    }
    flawed.sort();
    flawed.dedup();
    assert!(!flawed.is_empty() && valid > 10, "the premise: {flawed:?}, {valid}");
}

#[test]
fn a_sweep_gives_the_figures_of_a_replay() {
    let case = needs_what_was_read();
    let subjects = by_keep(&[2.0, 5.0, 10.0, 20.0, 40.0]);
    let points = swept(&case, &subjects);
    let Indices { names, files } = Indices::new(&case);
    let bills = Bills::new(&case, Billing::at(Prices::bundled()));
    let measure = RereadMeasure {
        model: RereadModel::bundled(),
        files: &files,
        prices: &RereadPrices::new(&bills, case.session.calls.len()),
    };
    let mut played = 0;
    for point in &points {
        let Some(score) = point.score else {
            continue;
        };
        played += 1;
        let outcome = simulate(&case, &subjects[0].policy, &point.knobs, None);
        assert_eq!(score.cost, price_lane(&bills, &outcome).total());
        assert_eq!(score.rereads, measure.total(&case, &outcome));
        let blind = blind_edits(&names, &case, &outcome);
        assert_eq!((score.blind_edits, blind.len()), (1, 1));
        // The constraint is the first message, and every setting removes it.
        let lost = Some(LostRules { lost: 1, unknown: 0, stated: 1 });
        assert_eq!(score.user_rules, lost);
        assert_eq!(
            (score.peak, score.compactions),
            (outcome.peak().unwrap().tokens, outcome.compactions)
        );
        assert_eq!(score.sent, outcome.tokens_sent());
        let all = outcome.tokens_sent() + outcome.tokens_rejected;
        assert_eq!(score.total, all);
    }
    assert!(played >= 4);
}

#[test]
fn keeping_more_costs_more_until_the_trigger_cannot_be_met() {
    let case = needs_what_was_read();
    let subjects = by_keep(&[4.0, 30.0, 200.0]);
    let points = swept(&case, &subjects);
    let by_keep =
        |keep: f64| points.iter().find(|p| p.knobs.get("keep_recent") == Some(keep)).unwrap();
    let (few, more) = (by_keep(4.0).valid().unwrap(), by_keep(30.0).valid().unwrap());
    assert!(few.cost < more.cost && few.peak_share.0 <= 1.0 && more.compactions > few.compactions);
    // Keeping less removes files that were read recently, which are read again more often.
    assert!(few.rereads.files.value > more.rereads.files.value);
    let price = |score: &Score| score.rereads.usd.expect("prices are known").value;
    assert!(price(few) > price(more));
    // A setting that keeps more messages than the session has is not replayed.
    let all = by_keep(200.0);
    assert_eq!(all.score, None);
    let Some(Reason::CannotGetBelow(stuck)) = all.ruled_out.map(|why| why.reason) else {
        panic!("{:?}", all.ruled_out);
    };
    assert!(stuck.least >= stuck.limit && stuck.in_all >= 3);
    // A replay confirms it: it removes nothing and overflows at the end.
    let outcome = simulate(&case, &subjects[0].policy, &all.knobs, None);
    let first = outcome.samples.iter().position(|s| s.tokens >= stuck.limit);
    assert_eq!(first, Some(stuck.call));
}

#[test]
fn one_large_message_rejects_no_setting() {
    let mut talk = Talk::new();
    talk.turn(40, 20);
    talk.call("giant", 5_300);
    talk.turn(60, 20);
    let case = case(&talk, 8_000);
    let points = swept(&case, &by_keep(&[8.0]));
    // That it leaves almost nothing after that message is a different reason.
    assert!(
        !points[1].ruled_out.is_some_and(|why| matches!(why.reason, Reason::CannotGetBelow(_))),
        "it is above the trigger for four calls only"
    );
}

#[test]
fn overflows_are_counted_with_the_first_call() {
    let mut talk = Talk::new();
    talk.turn(3, 20);
    talk.call("giant", 9_000);
    talk.turn(3, 20);
    let case = case(&talk, 8_000);
    let points = swept(&case, &by_keep(&[4.0]));
    let why = points[1].ruled_out.unwrap();
    let outcome = simulate(&case, &truncate(), &points[1].knobs, None);
    let first = outcome.samples.iter().find(|s| s.overflows).unwrap().call;
    assert_eq!(why, ruled_out(Reason::Overflows, outcome.overflows, first));
    assert!(why.to_string().ends_with(&format!("call {}", first + 1)));
}

#[test]
fn a_sweep_reports_every_point_and_can_be_cancelled() {
    let case = needs_what_was_read();
    let subjects = by_keep(&[2.0, 5.0, 10.0, 20.0, 40.0]);
    let all = plan(&subjects, 1_000);
    let indices = Indices::new(&case);
    let gauge = indices.gauge(&case);
    let heard = Mutex::new(vec![None; all.len()]);
    let hear = |idx: usize, point: &Point| heard.lock().unwrap()[idx] = Some(point.clone());
    let found = sweep(&gauge, &subjects, all.clone(), &Progress::default(), &hear).unwrap();
    let heard: Vec<_> = heard.into_inner().unwrap().into_iter().flatten().collect();
    assert_eq!(heard, found);
    let (progress, n) = (Progress::default(), AtomicUsize::new(0));
    let stop = |_: usize, _: &Point| {
        n.fetch_add(1, Ordering::Relaxed);
        progress.cancel();
    };
    let policy = truncate();
    let axis = Axis::of(policy.knob("keep_recent").unwrap());
    let many = [subject(policy, vec![axis])];
    let stopped = sweep(&gauge, &many, plan(&many, 400), &progress, &stop);
    assert_eq!(stopped, Err(Cancelled));
    assert!(n.into_inner() < 100);
}

#[test]
fn more_blind_edits_than_in_the_recorded_run_rule_a_setting_out() {
    let case = needs_what_was_read();
    let (indices, subjects) = (Indices::new(&case), by_keep(&[4.0]));
    let gauge = indices.gauge(&case);
    assert_eq!(swept_by(&gauge, &subjects)[1].ruled_out, None);
    let gauge = gauge.against(&recorded(&case, Tokens(1_000), None));
    let run = gauge.recorded().expect("it was given");
    assert_eq!((run.blind_edits, run.rereads.removals), (0, 0));
    assert_eq!(run.user_rules, Some(LostRules { lost: 0, unknown: 0, stated: 1 }));
    let why = swept_by(&gauge, &subjects)[1].ruled_out;
    let last = case.session.calls.len() - 1;
    let blind = Reason::EditsBlindly { recorded: 0 };
    assert_eq!(why, Some(ruled_out(blind, 1, last)));
}
