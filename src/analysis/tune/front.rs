//! What no other setting beats in everything: cost, references at risk and peak together.

use super::gauge::Score;
use super::sweep::Point;
use crate::engine::KnobValues;

/// What stands for the cost of points that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// Dollars.
    Usd,
    /// Tokens sent: a price is not known.
    Sent,
}

impl Price {
    /// The cost of a score in this unit.
    pub fn of(self, score: &Score) -> f64 {
        match (self, score.cost) {
            (Self::Usd, Some(cost)) => cost.0,
            _ => score.total.as_f64(),
        }
    }
}

/// Dollars where all prices are known, else tokens.
pub fn price_unit(points: &[Point]) -> Price {
    let mut scores = points.iter().filter_map(|p| p.score.as_ref());
    if scores.all(|score| score.cost.is_some()) {
        Price::Usd
    } else {
        Price::Sent
    }
}

/// What is compared of a point: cost, references at risk, peak as a share of usable. Less is better.
type Measure = [f64; 3];

fn measure(score: &Score, unit: Price) -> Measure {
    let at_risk = references(score);
    [unit.of(score), at_risk, score.peak_share.0]
}

/// Returns the references at risk as a number to compare.
pub(super) fn references(score: &Score) -> f64 {
    score.risk.references as f64
}

/// Indices of the points that no other beats in everything, cheapest first. Of those that come to the very same, the one
/// that changes least of the present settings.
pub fn front(points: &[Point]) -> Vec<usize> {
    nondominated(points, 3, |_| true)
}

/// The same by cost and references at risk alone.
pub fn trade_off(points: &[Point]) -> Vec<usize> {
    narrow_front(points, |_| true)
}

/// The same of points of which this holds.
pub(super) fn narrow_front(points: &[Point], holds: impl Fn(&Score) -> bool) -> Vec<usize> {
    nondominated(points, 2, holds)
}

/// By the first so many measures; the others decide only between equals.
fn nondominated(points: &[Point], n_measures: usize, holds: impl Fn(&Score) -> bool) -> Vec<usize> {
    let unit = price_unit(points);
    let mut all: Vec<(Measure, usize, usize)> = points
        .iter()
        .enumerate()
        .filter_map(|(idx, point)| {
            let score = point.valid().filter(|score| holds(score))?;
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
    // Whatever beats a point, or is its equal, stands before it.
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

/// How many knobs a point sets other than they are now.
pub(super) fn changes(points: &[Point], idx: usize) -> usize {
    let point = &points[idx];
    let now = points
        .iter()
        .find(|p| p.is_now && p.subject == point.subject);
    now.map_or(0, |now| differences(&now.knobs, &point.knobs))
}

/// How many knobs differ.
pub(super) fn differences(a: &KnobValues, b: &KnobValues) -> usize {
    a.iter().zip(b.iter()).filter(|(a, b)| a != b).count()
}
