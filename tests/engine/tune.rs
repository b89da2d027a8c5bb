//! Sweeps and recommendations. Expected figures are not computed by the program.

mod gate_checks;
mod recommendations;
mod robust;
mod settings;
mod sweeps;

use plimsoll_core::analysis::rereads::{Expected, RereadTotal};
use plimsoll_core::analysis::tune::{Axis, Point, Reason, RuledOut, Score, SweepSubject};
use plimsoll_core::engine::Policy;
use plimsoll_core::presets;
use plimsoll_core::units::{Share, Tokens, Usd};

fn truncate() -> Policy {
    presets::by_name("truncate").expect("bundled")
}

fn subject(policy: Policy, axes: Vec<Axis>) -> SweepSubject {
    SweepSubject { lane: policy.name.clone(), now: policy.defaults(), policy, axes }
}

/// Returns a score without re-reads and without constraints of the user. Each dollar is a million tokens.
fn score(paid: f64, peak: f64) -> Score {
    Score {
        cost: Some(Usd(paid)),
        sent: Tokens((paid * 1e6) as u64),
        total: Tokens((paid * 1e6) as u64),
        rereads: rereads(0.0, 0.0),
        blind_edits: 0,
        user_rules: None,
        peak: Tokens((peak * 1e5) as u64),
        peak_share: Share(peak),
        compactions: 3,
        acts: true,
        spilled: 0,
        overflows: 0,
        into_reserve: 0,
    }
}

/// Returns expected re-reads of this price: intervals reach from half to one and a half times the value.
fn rereads(files: f64, usd: f64) -> RereadTotal {
    let within = |value: f64| Expected { value, low: 0.5 * value, high: 1.5 * value };
    RereadTotal {
        removals: 12,
        files: within(files),
        tokens: within(1e5 * usd),
        sent: within(1e6 * usd),
        usd: Some(within(usd)),
    }
}

/// Returns [`score`] with expected re-reads: their number and their price.
fn reading_again(paid: f64, (files, usd): (f64, f64), peak: f64) -> Score {
    Score { rereads: rereads(files, usd), ..score(paid, peak) }
}

fn ruled_out(reason: Reason, times: usize, call: usize) -> RuledOut {
    RuledOut { reason, call, times }
}

/// Returns a point with these settings.
fn point(
    subject: &SweepSubject,
    settings: &[(&str, f64)],
    found: Result<Score, RuledOut>,
) -> Point {
    let mut knobs = subject.now.clone();
    for (knob, value) in settings {
        let set = subject.policy.set(&mut knobs, knob, *value);
        set.expect("in range");
    }
    Point {
        subject: 0,
        is_now: knobs == subject.now,
        knobs,
        score: found.ok(),
        ruled_out: found.err(),
    }
}

/// Returns points of one subject by `keep_recent`; 10 is its current value.
fn points(subject: &SweepSubject, all: &[(f64, Result<Score, RuledOut>)]) -> Vec<Point> {
    let point = |(keep, found): &(f64, Result<Score, RuledOut>)| {
        point(subject, &[("keep_recent", *keep)], *found)
    };
    all.iter().map(point).collect()
}
