//! A sweep of 1,000 settings over sessions of 1,000 to 100,000 messages, with cost and expected re-reads.

mod common;
#[path = "common/loaded.rs"]
mod loaded;

use plimsoll::analysis::cost::{Billing, Bills, price_lane};
use plimsoll::analysis::loss::Names;
use plimsoll::analysis::rereads::{FileReads, RereadModel};
use plimsoll::analysis::tune::{Axis, Gauge, Point, SweepSubject, front, plan, recommend, sweep};
use plimsoll::engine::{Case, simulate};
use plimsoll::presets::{self, prices::Prices};
use plimsoll::progress::Progress;
use std::sync::LazyLock;

/// Number of settings, that of the goal in `docs/decisions/0026-one-replay.md`.
const POINTS: usize = 1_000;
const POLICIES: [&str; 3] = ["truncate", "prune", "summarize"];

/// A session with the indices of its names and files.
struct Indexed {
    case: Case,
    names: Names,
    files: FileReads,
}

/// Returns the session of all benchmarks with files that are used again: every result begins with a line of its own,
/// and every fifth call edits that line of a file that was read before, mostly recently.
fn file(messages: usize) -> Vec<u8> {
    let text = String::from_utf8(common::file_of(messages)).expect("JSON");
    let line_of = |read: usize| format!("let total_{read} = entry_{read}.settle(ledger);");
    let used = |(idx, line): (usize, &str)| {
        if idx.is_multiple_of(2) {
            let read = idx.saturating_sub(1);
            let result = format!(r#""t{read}","content":""#);
            return line.replace(&result, &format!(r"{result}{}\n", line_of(read)));
        }
        if idx % 10 != 5 {
            return line.to_owned();
        }
        let n = idx / 10;
        // Never another edit.
        let back = 1 + 5 * (n * 31 % 7 * (n % 5));
        let earlier = idx.saturating_sub(2 * back).max(1);
        let edit = format!(
            r#""name":"Edit","input":{{"old_string":"{}","new_string":"","file_path":"src/file_{earlier}.rs""#,
            line_of(earlier)
        );
        let read = format!(r#""name":"Read","input":{{"file_path":"src/file_{idx}.rs""#);
        line.replace(&read, &edit)
    };
    let lines: Vec<String> = text.lines().enumerate().map(used).collect();
    lines.join("\n").into_bytes()
}

fn indexed(messages: usize) -> Indexed {
    let case = loaded::loaded(file(messages)).case;
    Indexed { names: Names::new(&case.session), files: FileReads::new(&case), case }
}

static SMALL: LazyLock<Indexed> = LazyLock::new(|| indexed(1_000));
static USUAL: LazyLock<Indexed> = LazyLock::new(|| indexed(common::MESSAGES));
static LARGE: LazyLock<Indexed> = LazyLock::new(|| indexed(100_000));

fn of_size(messages: usize) -> &'static Indexed {
    match messages {
        1_000 => &SMALL,
        common::MESSAGES => &USUAL,
        _ => &LARGE,
    }
}

fn main() {
    // Reading the file is not measured.
    LazyLock::force(&USUAL);
    divan::main();
}

/// Returns the policies with every setting that is usually varied, over its whole range.
fn subjects(policies: &[&str]) -> Vec<SweepSubject> {
    let subject = |name: &&str| {
        let policy = presets::by_name(name).expect("bundled");
        SweepSubject {
            lane: (*name).to_owned(),
            now: policy.defaults(),
            axes: Axis::usual(&policy),
            policy,
        }
    };
    policies.iter().map(subject).collect()
}

fn swept(gauge: &Gauge<'_>, subjects: &[SweepSubject]) -> Vec<Point> {
    let points = plan(subjects, POINTS);
    assert!(points.len() >= POINTS - subjects.len(), "the plan has this many settings");
    sweep(gauge, subjects, points, &Progress::default(), &|_, _| {}).expect("never cancelled")
}

fn gauge(session: &Indexed) -> Gauge<'_> {
    let bills = Bills::new(&session.case, Billing::at(Prices::bundled()));
    let rereads = (&session.files, RereadModel::bundled());
    Gauge::new(&session.case, bills, &session.names, rereads)
}

/// 1,000 settings of one policy.
#[divan::bench(args = POLICIES, sample_count = 5, max_time = 10)]
fn one_policy(bencher: divan::Bencher<'_, '_>, policy: &str) {
    let subjects = subjects(&[policy]);
    bencher.bench(|| swept(&gauge(&USUAL), &subjects));
}

/// 1,000 settings shared among the three policies.
#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 3, max_time = 20)]
fn three_policies(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let (session, subjects) = (of_size(messages), subjects(&POLICIES));
    bencher.bench(|| swept(&gauge(session), &subjects));
}

/// One replay, without its cost and expected re-reads.
#[divan::bench(args = POLICIES)]
fn one_replay(bencher: divan::Bencher<'_, '_>, policy: &str) {
    let policy = presets::by_name(policy).expect("bundled");
    let knobs = policy.defaults();
    bencher.bench(|| simulate(&USUAL.case, &policy, &knobs, None));
}

#[divan::bench(args = POLICIES)]
fn one_price(bencher: divan::Bencher<'_, '_>, policy: &str) {
    let policy = presets::by_name(policy).expect("bundled");
    let outcome = simulate(&USUAL.case, &policy, &policy.defaults(), None);
    let bills = Bills::new(&USUAL.case, Billing::at(Prices::bundled()));
    bencher.bench(|| price_lane(&bills, &outcome));
}

#[divan::bench(args = POLICIES)]
fn one_count_of_rereads(bencher: divan::Bencher<'_, '_>, policy: &str) {
    let policy = presets::by_name(policy).expect("bundled");
    let outcome = simulate(&USUAL.case, &policy, &policy.defaults(), None);
    let gauge = gauge(&USUAL);
    bencher.bench(|| gauge.measure().total(&USUAL.case, &outcome));
}

/// The front and the recommendation, which follow the sweep.
#[divan::bench]
fn front_and_recommendation(bencher: divan::Bencher<'_, '_>) {
    let subjects = subjects(&POLICIES);
    let points = swept(&gauge(&USUAL), &subjects);
    bencher.bench(|| (front(&points), recommend(&subjects, &points, None)));
}
