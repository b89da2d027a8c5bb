//! The Pareto front: settings that no other beats in cost with expected re-reads, peak and lost rules of the user together.

use super::gauge::Score;
use super::recommend::candidates;
use super::sweep::Point;
use crate::analysis::rereads::Expected;
use crate::analysis::statistics::Interval;
use crate::engine::KnobValues;
use schemars::JsonSchema;
use serde::Serialize;

/// The unit by which settings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostUnit {
    /// Cost in USD.
    Usd,
    /// Tokens in total, because a price is unknown.
    Tokens,
}

impl CostUnit {
    /// Returns what the run of a score costs in this unit, without expected re-reads.
    pub fn paid(self, score: &Score) -> f64 {
        match (self, score.cost) {
            (Self::Usd, Some(cost)) => cost.0,
            _ => score.total.as_f64(),
        }
    }

    /// Returns the cost of the re-reads that a score expects.
    pub fn rereads(self, score: &Score) -> Expected {
        match (self, score.rereads.usd) {
            (Self::Usd, Some(usd)) => usd,
            _ => score.rereads.sent,
        }
    }

    /// Returns the cost of a score in this unit, with its expected re-reads.
    pub fn of(self, score: &Score) -> f64 {
        self.paid(score) + self.rereads(score).value
    }

    /// Returns the 95 % interval of [`Self::of`].
    pub fn interval(self, score: &Score) -> Interval {
        let (paid, rereads) = (self.paid(score), self.rereads(score));
        Interval { low: paid + rereads.low, high: paid + rereads.high }
    }
}

/// Returns dollars if all prices are known, otherwise tokens.
pub fn cost_unit(points: &[Point]) -> CostUnit {
    let mut scores = points.iter().filter_map(|p| p.score.as_ref());
    if scores.all(|score| score.cost.is_some()) { CostUnit::Usd } else { CostUnit::Tokens }
}

/// Cost, peak as a share of the usable window, and lost rules of the user: what money does not hold. Less is better.
type Measure = [f64; 3];

fn measure(score: &Score, unit: CostUnit) -> Measure {
    let rules = score.user_rules.map_or(0, |rules| rules.lost);
    [unit.of(score), score.peak_share.0, rules as f64]
}

/// Returns the indices of the points that no other beats in all three figures, cheapest first. Of equal points, the one
/// with the fewest changes to the current settings.
pub fn front(points: &[Point]) -> Vec<usize> {
    nondominated(points, 3, |_| true)
}

/// Returns the front by cost and peak of the points that may be recommended ([`candidates`]).
pub fn trade_off(points: &[Point]) -> Vec<usize> {
    let candidates = candidates(points);
    nondominated(points, 2, |idx| candidates.contains(&idx))
}

/// Returns the front by the first `n_measures`; the others decide between equal points.
fn nondominated(points: &[Point], n_measures: usize, counts: impl Fn(usize) -> bool) -> Vec<usize> {
    let unit = cost_unit(points);
    let mut all: Vec<(Measure, usize, usize)> = points
        .iter()
        .enumerate()
        .filter_map(|(idx, point)| {
            let score = point.valid().filter(|_| counts(idx))?;
            Some((measure(score, unit), changes(points, idx), idx))
        })
        .collect();
    all.sort_by(|a, b| {
        let by_measure = a.0.iter().zip(&b.0).map(|(a, b)| a.total_cmp(b));
        by_measure
            .fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
            .then(a.1.cmp(&b.1))
            .then(a.2.cmp(&b.2))
    });
    let mut front: Vec<(Measure, usize)> = Vec::new();
    // Points that beat or equal a point come before it.
    for (measure, _, idx) in all {
        let beats = |(other, _): &(Measure, usize)| {
            let pairs = other.iter().zip(&measure).take(n_measures);
            pairs.into_iter().all(|(other, own)| other <= own)
        };
        if !front.iter().any(beats) {
            front.push((measure, idx));
        }
    }
    front.into_iter().map(|(_, idx)| idx).collect()
}

/// Returns the number of settings that a point changes.
pub(super) fn changes(points: &[Point], idx: usize) -> usize {
    let point = &points[idx];
    let now = points.iter().find(|p| p.is_now && p.subject == point.subject);
    now.map_or(0, |now| differences(&now.knobs, &point.knobs))
}

/// Returns the number of different settings.
pub(super) fn differences(a: &KnobValues, b: &KnobValues) -> usize {
    a.iter().zip(b.iter()).filter(|(a, b)| a != b).count()
}
