//! A sweep of 1,000 settings over sessions of 1,000 to 100,000 messages, with cost and references at risk.

mod common;
#[path = "common/loaded.rs"]
mod loaded;

use plimsoll::analysis::cost::{Billing, Bills, price_lane};
use plimsoll::analysis::loss::{Names, references_at_risk};
use plimsoll::analysis::tune::{
    Axis, Gauge, Point, Preference, Subject, front, plan, recommend, sweep,
};
use plimsoll::engine::{Case, simulate};
use plimsoll::presets::{self, prices::Prices};
use plimsoll::progress::Progress;
use plimsoll::units::Share;
use std::sync::LazyLock;

const POINTS: usize = 1_000;
const POLICIES: [&str; 3] = ["truncate", "prune", "summarize"];

/// A session with the index of its names.
struct Indexed {
    case: Case,
    names: Names,
}

/// Returns the session of all benchmarks with names: every result defines some, every call uses eight of earlier results,
/// most of them read recently. (Long recorded sessions have eight or nine such references per call.)
fn file(messages: usize) -> Vec<u8> {
    let text = String::from_utf8(common::file_of(messages)).expect("JSON");
    let named = |(idx, line): (usize, &str)| {
        let names = |of: usize| (0..3).map(move |nth| format!("entry_{of}_{nth}"));
        let earlier = |nth: usize| {
            let back = 1 + (idx * 31 + nth * 17) % 7 * ((idx + nth * nth) % 23) * nth;
            (idx / 2).saturating_sub(back) * 2
        };
        let used: Vec<String> = (0..8)
            .filter_map(|nth| names(earlier(nth)).nth(nth % 3))
            .collect();
        let used = format!(r#""input":{{"as":"{}","#, used.join(" "));
        let defined: Vec<String> = names(idx).collect();
        let defined = format!(r#""content":"{} "#, defined.join(" "));
        line.replace(r#""input":{"#, &used)
            .replace(r#","content":""#, &format!(",{defined}"))
    };
    let lines: Vec<String> = text.lines().enumerate().map(named).collect();
    lines.join("\n").into_bytes()
}

fn indexed(messages: usize) -> Indexed {
    let case = loaded::loaded(file(messages)).case;
    let names = Names::new(&case.session);
    Indexed { case, names }
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
fn subjects(policies: &[&str]) -> Vec<Subject> {
    let subject = |name: &&str| {
        let policy = presets::by_name(name).expect("bundled");
        Subject {
            lane: (*name).to_owned(),
            now: policy.defaults(),
            axes: Axis::usual(&policy),
            policy,
        }
    };
    policies.iter().map(subject).collect()
}

fn swept(gauge: &Gauge<'_>, subjects: &[Subject]) -> Vec<Point> {
    let points = plan(subjects, POINTS);
    assert!(
        points.len() >= POINTS - subjects.len(),
        "the plan has this many settings"
    );
    sweep(gauge, subjects, points, &Progress::default(), &|_, _| {}).expect("never cancelled")
}

fn gauge(session: &Indexed) -> Gauge<'_> {
    let bills = Bills::new(&session.case, Billing::at(Prices::bundled()));
    Gauge::new(&session.case, bills, &session.names)
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

/// One replay, without its cost and references at risk.
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
fn one_count_of_references(bencher: divan::Bencher<'_, '_>, policy: &str) {
    let policy = presets::by_name(policy).expect("bundled");
    let outcome = simulate(&USUAL.case, &policy, &policy.defaults(), None);
    bencher.bench(|| references_at_risk(&USUAL.names, &USUAL.case, &outcome));
}

/// The front and the recommendation, which follow the sweep.
#[divan::bench]
fn front_and_recommendation(bencher: divan::Bencher<'_, '_>) {
    let subjects = subjects(&POLICIES);
    let points = swept(&gauge(&USUAL), &subjects);
    let taste = Preference {
        weight: Share(0.5),
        recorded: None,
    };
    bencher.bench(|| (front(&points), recommend(&subjects, &points, taste)));
}
