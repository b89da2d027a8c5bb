//! Measures the analyses of removed content on sessions of 1,000 to 100,000 messages: the indices of names and files,
//! the analyses of a run, and a sweep of 1,000 settings.

#[path = "common/loaded.rs"]
mod loaded;
#[path = "common/reuse.rs"]
mod reuse;

use plimsoll::analysis::cost::{Billing, Bills, price_lane};
use plimsoll::analysis::loss::{Names, references_at_risk, standing};
use plimsoll::analysis::rereads::{
    FileReads, RereadMeasure, RereadModel, RereadPrices, retention_curves,
};
use plimsoll::engine::{Case, KnobValues, Outcome, Policy, simulate};
use plimsoll::presets::{self, prices::Prices};
use plimsoll::units::Tokens;
use rayon::prelude::*;
use std::sync::LazyLock;

/// Number of messages of the sessions.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const POLICIES: [&str; 3] = ["truncate", "prune", "summarize"];

/// A session and its indices.
struct Indexed {
    case: Case,
    names: Names,
    files: FileReads,
    prices: RereadPrices,
}

impl Indexed {
    fn rereads(&self) -> RereadMeasure<'_> {
        RereadMeasure { model: RereadModel::bundled(), files: &self.files, prices: &self.prices }
    }
}

fn bills(case: &Case) -> Bills<'static> {
    Bills::new(case, Billing::at(Prices::bundled()))
}

static SESSIONS: [LazyLock<Indexed>; 3] = [
    LazyLock::new(|| indexed(SIZES[0])),
    LazyLock::new(|| indexed(SIZES[1])),
    LazyLock::new(|| indexed(SIZES[2])),
];

fn indexed(messages: usize) -> Indexed {
    let case = loaded::loaded(reuse::file(messages)).case;
    Indexed {
        names: Names::new(&case.session),
        files: FileReads::new(&case),
        prices: RereadPrices::new(&bills(&case), case.session.calls.len()),
        case,
    }
}

fn of_size(messages: usize) -> &'static Indexed {
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

fn played(indexed: &Indexed, name: &str) -> Outcome {
    let (policy, knobs) = policy(name);
    simulate(&indexed.case, &policy, &knobs, None)
}

#[divan::bench(args = SIZES, sample_count = 10, max_time = 5)]
fn index_of_names(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let indexed = of_size(messages);
    bencher.bench(|| Names::new(&indexed.case.session));
}

#[divan::bench(args = SIZES, sample_count = 10, max_time = 5)]
fn index_of_files(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let indexed = of_size(messages);
    bencher.bench(|| FileReads::new(&indexed.case));
}

#[divan::bench(args = SIZES, consts = [0, 1, 2], sample_count = 20, max_time = 3)]
fn replay<const POLICY: usize>(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let indexed = of_size(messages);
    let (policy, knobs) = policy(POLICIES[POLICY]);
    bencher.bench(|| simulate(&indexed.case, &policy, &knobs, None));
}

#[divan::bench(args = SIZES, consts = [0, 1, 2], sample_count = 20, max_time = 3)]
fn at_risk<const POLICY: usize>(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let indexed = of_size(messages);
    let outcome = played(indexed, POLICIES[POLICY]);
    bencher.bench(|| references_at_risk(&indexed.names, &indexed.case, &outcome));
}

#[divan::bench(args = SIZES, consts = [0, 1, 2], sample_count = 20, max_time = 3)]
fn rereads<const POLICY: usize>(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let indexed = of_size(messages);
    let outcome = played(indexed, POLICIES[POLICY]);
    bencher.bench(|| indexed.rereads().total(&indexed.case, &outcome));
}

#[divan::bench(args = SIZES, sample_count = 20, max_time = 3)]
fn cost(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let indexed = of_size(messages);
    let outcome = played(indexed, "truncate");
    let bills = bills(&indexed.case);
    bencher.bench(|| price_lane(&bills, &outcome));
}

#[divan::bench(args = SIZES, sample_count = 20, max_time = 3)]
fn instructions(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let indexed = of_size(messages);
    let outcome = played(indexed, "truncate");
    bencher.bench(|| standing(&indexed.names, &indexed.case, &outcome));
}

#[divan::bench(args = SIZES, sample_count = 20, max_time = 3)]
fn retention(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let indexed = of_size(messages);
    bencher.bench(|| retention_curves(&indexed.rereads(), &indexed.case));
}

/// Returns 1,000 settings of three policies, with different triggers and kept content.
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

/// Tokens sent in 1,000 runs, on all cores.
#[divan::bench(args = [SIZES[0], SIZES[1]], sample_count = 3, max_time = 10)]
fn sweep_of_totals(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let (indexed, settings) = (of_size(messages), settings());
    bencher.bench(|| {
        let runs = settings.par_iter();
        let sent =
            runs.map(|(policy, knobs)| simulate(&indexed.case, policy, knobs, None).tokens_sent());
        sent.sum::<Tokens>()
    });
}

/// Cost and expected re-reads of 1,000 runs, on all cores.
#[divan::bench(args = [SIZES[0], SIZES[1]], sample_count = 3, max_time = 10)]
fn sweep_of_cost_and_rereads(bencher: divan::Bencher<'_, '_>, messages: usize) {
    let (indexed, settings) = (of_size(messages), settings());
    let bills = bills(&indexed.case);
    bencher.bench(|| {
        let runs = settings.par_iter();
        let points = runs.map(|(policy, knobs)| {
            let outcome = simulate(&indexed.case, policy, knobs, None);
            let rereads = indexed.rereads().total(&indexed.case, &outcome);
            (price_lane(&bills, &outcome).total(), rereads)
        });
        points.collect::<Vec<_>>()
    });
}
