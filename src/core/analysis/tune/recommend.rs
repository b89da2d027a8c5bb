//! Recommends one point with a reason.
//!
//! Money is the measure: what the run costs plus the price of the re-reads that its removals are expected to cause.
//! That price has an interval. Points whose intervals overlap are as good as each other; of those, the one with the
//! fewest changes to the current settings is recommended. What money does not hold comes first: a point that keeps
//! every constraint and decision of the user, and a peak with room for a longer session, if there is one.

use super::changed_settings::changes;
use super::cost_unit::{CostUnit, cost_unit};
use super::gauge::{SAFE_PEAK, Score};
use super::recommendation_text::{all_lose, cheapest_text, idle, nothing_works, sentence};
use super::space::SweepSubject;
use super::sweep::Point;

/// Minimum improvement over a simpler setting, whatever the intervals: the error of a calibrated count is about this
/// large.
pub(super) const MIN_GAIN: f64 = 0.01;

/// The recommended point.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// Index of the point.
    pub point: usize,
    /// Index of the cheapest candidate.
    pub cheapest: usize,
    /// Number of candidates that are as good: their intervals overlap with that of the cheapest.
    pub as_good: usize,
    /// The reason, in sentences.
    pub text: String,
    /// Whether the point never acts in this session.
    pub never_acts: bool,
    /// The best point that acts, if the recommended one never does.
    pub acting: Option<Acting>,
    /// The cheapest candidate, as a sentence, if it is another one.
    pub others: Option<String>,
}

/// The best point that acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acting {
    /// Index of the point.
    pub point: usize,
    /// The reason, in sentences.
    pub text: String,
}

/// Recommends the best point by cost with expected re-reads. `recorded` is the recorded run, if it is known.
///
/// # Errors
/// The reason why nothing is recommended, as a sentence.
pub fn recommend(
    subjects: &[SweepSubject],
    points: &[Point],
    recorded: Option<&Score>,
) -> Result<Recommendation, String> {
    let all = candidates(points);
    let picked = pick(points, &all).ok_or_else(|| nothing_works(subjects, points))?;
    let text = |idx: usize| sentence(subjects, points, idx, recorded) + all_lose(points, idx);
    let never_acts = !points[picked.point].acts();
    let acting = never_acts.then(|| {
        let acting = candidates_that(points, |score| score.acts);
        pick(points, &acting).map(|picked| picked.point)
    });
    let acting = acting.flatten();
    let finding = never_acts.then(|| format!("{} ", idle(acting.is_some())));
    Ok(Recommendation {
        point: picked.point,
        cheapest: picked.cheapest,
        as_good: picked.as_good,
        text: finding.unwrap_or_default() + &text(picked.point),
        never_acts,
        acting: acting.map(|point| Acting { point, text: text(point) }),
        others: cheapest_text(points, picked.point, picked.cheapest),
    })
}

/// Returns the candidates, cheapest first: of the points that work, those that lose no constraint and no decision of
/// the user, if there are any; of these, those with a peak of at most 95 % of the usable window, if there are any.
pub fn candidates(points: &[Point]) -> Vec<usize> {
    candidates_that(points, |_| true)
}

fn candidates_that(points: &[Point], holds: impl Fn(&Score) -> bool) -> Vec<usize> {
    let unit = cost_unit(points);
    let works = |idx: &usize| points[*idx].valid().is_some_and(&holds);
    let mut found: Vec<usize> = (0..points.len()).filter(works).collect();
    let lost = |idx: &usize| points[*idx].lost_rules();
    if found.iter().map(lost).min() == Some(0) {
        found.retain(|idx| lost(idx) == 0);
    }
    let is_safe = |idx: &usize| points[*idx].valid().is_some_and(Score::is_safe);
    if found.iter().any(is_safe) {
        found.retain(is_safe);
    }
    let cost = |idx: &usize| cost(unit, points, *idx);
    found.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    found
}

/// Returns the cost of a point; infinite if it does not work.
pub(super) fn cost(unit: CostUnit, points: &[Point], idx: usize) -> f64 {
    points[idx].valid().map_or(f64::INFINITY, |score| unit.of(score))
}

/// A choice among candidates.
struct Picked {
    point: usize,
    cheapest: usize,
    as_good: usize,
}

/// Picks the simplest of the candidates that are as good as the cheapest.
fn pick(points: &[Point], candidates: &[usize]) -> Option<Picked> {
    let unit = cost_unit(points);
    let cheapest = *candidates.first()?;
    let best = points[cheapest].valid()?;
    let (least, high) = (unit.of(best), unit.interval(best).high);
    let is_as_good = |idx: &usize| {
        points[*idx].valid().is_some_and(|score| {
            unit.interval(score).low <= high || unit.of(score) < least * (1.0 + MIN_GAIN)
        })
    };
    let as_good: Vec<usize> = candidates.iter().copied().filter(is_as_good).collect();
    // Of several policies, the cheapest one's: changes count from the settings of the same policy.
    let of_policy = as_good.iter().copied();
    let of_policy = of_policy.filter(|idx| points[*idx].subject == points[cheapest].subject);
    // An idle setting is no simpler form of one that acts: what it leaves out may be needed in a longer session.
    let of_policy = of_policy.filter(|idx| points[*idx].acts() == best.acts);
    let simplest = of_policy.min_by(|a, b| {
        let by_changes = changes(points, *a).cmp(&changes(points, *b));
        by_changes.then(cost(unit, points, *a).total_cmp(&cost(unit, points, *b)))
    })?;
    Some(Picked { point: simplest, cheapest, as_good: as_good.len() })
}

/// Returns the share of a point's cost above the least one.
pub(super) fn regret(cost: f64, least: f64) -> f64 {
    if least > 0.0 { cost / least - 1.0 } else { 0.0 }
}

impl Score {
    /// Returns whether the peak is at most [`SAFE_PEAK`].
    pub(super) fn is_safe(&self) -> bool {
        self.peak_share.0 <= SAFE_PEAK.0
    }
}
