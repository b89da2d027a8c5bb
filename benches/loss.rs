//! Time to measure loss on sessions of 1,000 to 100,000 messages: the index of a session, the figures of a run, and a
//! sweep of a thousand settings.

#[path = "common/loaded.rs"]
mod loaded;
#[path = "common/reuse.rs"]
mod reuse;

use plimsoll::analysis::cost::{Billing, Bills, price_lane};
use plimsoll::analysis::loss::{Names, hindsight, references_at_risk, reuse_distances, standing};
use plimsoll::engine::{Case, KnobValues, Outcome, Policy, simulate};
use plimsoll::presets::{self, prices::Prices};
use plimsoll::units::Tokens;
use rayon::prelude::*;
use std::sync::LazyLock;

/// Messages of the sessions.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const POLICIES: [&str; 3] = ["truncate", "prune", "summarize"];

struct Made {
    case: Case,
    names: Names,
}

static SESSIONS: [LazyLock<Made>; 3] = [
    LazyLock::new(|| made(SIZES[0])),
    LazyLock::new(|| made(SIZES[1])),
    LazyLock::new(|| made(SIZES[2])),
];

fn made(messages: usize) -> Made {
    let case = loaded::loaded(reuse::file(messages)).case;
    let names = Names::new(&case.session);
    Made { case, names }
}

fn of_size(messages: usize) -> &'static Made {
    let at = SIZES.iter().position(|size| *size == messages);
    &SESSIONS[at.expect("one of the sizes")]
}

fn main() {
    divan::main();
}

fn policy(name: &str) -> (Policy, KnobValues) {
    let policy = presets::by_name(name).expect("bundled");
    let knobs = policy.defaults();
    (policy, knobs)
}

fn played(made: &Made, name: &str) -> Outcome {
    let (policy, knobs) = policy(name);
    simulate(&made.case, &policy, &knobs, None)
}

#[divan::bench(args = SIZES, sample_count = 10, max_time = 5)]
fn index(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let made = of_size(messages);
    bencher.bench(|| Names::new(&made.case.session));
}

#[divan::bench(args = SIZES, consts = [0, 1, 2], sample_count = 20, max_time = 3)]
fn replay<const POLICY: usize>(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let made = of_size(messages);
    let (policy, knobs) = policy(POLICIES[POLICY]);
    bencher.bench(|| simulate(&made.case, &policy, &knobs, None));
}

#[divan::bench(args = SIZES, consts = [0, 1, 2], sample_count = 20, max_time = 3)]
fn at_risk<const POLICY: usize>(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let made = of_size(messages);
    let outcome = played(made, POLICIES[POLICY]);
    bencher.bench(|| references_at_risk(&made.names, &made.case, &outcome));
}

#[divan::bench(args = SIZES, sample_count = 20, max_time = 3)]
fn cost(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let made = of_size(messages);
    let outcome = played(made, "truncate");
    let bills = Bills::new(&made.case, Billing::at(Prices::bundled()));
    bencher.bench(|| price_lane(&bills, &outcome));
}

#[divan::bench(args = SIZES, sample_count = 20, max_time = 3)]
fn instructions(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let made = of_size(messages);
    let outcome = played(made, "truncate");
    bencher.bench(|| standing(&made.names, &made.case, &outcome));
}

#[divan::bench(args = SIZES, sample_count = 20, max_time = 3)]
fn distances(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let made = of_size(messages);
    bencher.bench(|| reuse_distances(&made.names, &made.case));
}

#[divan::bench(args = SIZES, sample_count = 10, max_time = 3)]
fn best_by_hindsight(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let made = of_size(messages);
    bencher.bench(|| hindsight(&made.names, &made.case, Tokens(32_000)));
}

/// A thousand settings of three policies: triggers by what is kept.
fn settings() -> Vec<(Policy, KnobValues)> {
    let mut all = Vec::new();
    for at in 0..1_000 {
        let name = POLICIES[at % POLICIES.len()];
        let (policy, mut knobs) = policy(name);
        let share = |n: usize| (at / n % 10) as f64 / 10.0;
        let mut set = |knob: &str, value: f64| {
            policy.set(&mut knobs, knob, value.round()).ok();
        };
        set("keep_recent", 10.0 + 200.0 * share(10));
        set("prune_protect", 10_000.0 + 80_000.0 * share(10));
        policy
            .set(&mut knobs, "compression_trigger", 0.3 + 0.6 * share(100))
            .expect("within its range");
        all.push((policy, knobs));
    }
    all
}

/// Token totals of a thousand runs, on all cores.
#[divan::bench(args = [SIZES[0], SIZES[1]], sample_count = 3, max_time = 10)]
fn sweep_of_totals(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let (made, settings) = (of_size(messages), settings());
    bencher.bench(|| {
        let runs = settings.par_iter();
        let sent =
            runs.map(|(policy, knobs)| simulate(&made.case, policy, knobs, None).tokens_sent());
        sent.sum::<Tokens>()
    });
}

/// Cost and references at risk of a thousand runs, on all cores.
#[divan::bench(args = [SIZES[0], SIZES[1]], sample_count = 3, max_time = 10)]
fn sweep_of_cost_and_risk(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let (made, settings) = (of_size(messages), settings());
    let bills = Bills::new(&made.case, Billing::at(Prices::bundled()));
    bencher.bench(|| {
        let runs = settings.par_iter();
        let points = runs.map(|(policy, knobs)| {
            let outcome = simulate(&made.case, policy, knobs, None);
            let risk = references_at_risk(&made.names, &made.case, &outcome);
            (price_lane(&bills, &outcome).total(), risk.faults.len())
        });
        points.collect::<Vec<_>>()
    });
}
