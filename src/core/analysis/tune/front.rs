//! The Pareto front: settings that no other beats in cost with expected re-reads, peak and lost rules of the user
//! together.

use super::changed_settings::changes;
use super::cost_unit::{CostUnit, cost_unit};
use super::gauge::Score;
use super::recommend::candidates;
use super::sweep::Point;

/// Cost, peak as a share of the usable window, and lost rules of the user: what money does not hold. Less is better.
type FrontMeasure = [f64; 3];

fn measure(score: &Score, unit: CostUnit) -> FrontMeasure {
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
///
/// In ascending order, a point can only be beaten by one before it. A point that is beaten by one outside of the front
/// is also beaten by one of the front, so comparing with the front is enough.
fn nondominated(points: &[Point], n_measures: usize, counts: impl Fn(usize) -> bool) -> Vec<usize> {
    let unit = cost_unit(points);
    let mut all: Vec<(FrontMeasure, usize, usize)> = points
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
    let mut front: Vec<(FrontMeasure, usize)> = Vec::new();
    for (measure, _, idx) in all {
        let beats = |(other, _): &(FrontMeasure, usize)| {
            let pairs = other.iter().zip(&measure).take(n_measures);
            pairs.into_iter().all(|(other, own)| other <= own)
        };
        if !front.iter().any(beats) {
            front.push((measure, idx));
        }
    }
    front.into_iter().map(|(_, idx)| idx).collect()
}
