//! Recommends one point with a reason.
//!
//! The weighted score of a point is the product of cost and risk, each to the power of its weight. The risk is the number
//! of references, or the percentage of lost facts. The choice depends on ratios only, not on units or on other points. If
//! some point keeps every user constraint, no other is recommended.

use super::front::{CostUnit, cost_unit, narrow_front, risk};
use super::gauge::{Preference, Score};
use super::recommendation_text::{all_lose, idle, not_judged, nothing_works, others, sentence};
use super::space::Subject;
use super::sweep::Point;

/// Minimum improvement over the current settings.
const MIN_GAIN: f64 = 0.01;

/// Added to counts of references and percentages of facts before they are compared, so that 1 is not infinitely worse than 0.
const ADDED: f64 = 10.0;

/// The recommended point.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// Index of the point.
    pub point: usize,
    /// Index of the cheapest candidate.
    pub cheapest: usize,
    /// Index of the candidate with the fewest references at risk.
    pub safest: usize,
    /// The reason, in sentences.
    pub text: String,
    /// Whether the point never acts in this session.
    pub never_acts: bool,
    /// The best point that acts, if the recommended one never does.
    pub acting: Option<Acting>,
    /// The cheapest and safest candidates, as a sentence, if there are others.
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

/// Recommends the best point by cost and references at risk.
///
/// # Errors
/// The reason why nothing is recommended, as a sentence.
pub fn recommend(
    subjects: &[Subject],
    points: &[Point],
    preference: Preference,
) -> Result<Recommendation, String> {
    let candidates = candidates(points);
    let point = choose(points, &candidates, preference);
    if preference.weight.0 > 0.0
        && let Some(why) = not_judged(points, &candidates)
    {
        return Err(why);
    }
    let ends = candidates.first().zip(candidates.last());
    let none = || nothing_works(subjects, points);
    let (point, (cheapest, safest)) = point.zip(ends).ok_or_else(none)?;
    let text = |idx: usize| sentence(subjects, points, idx, preference) + all_lose(points, idx);
    let never_acts = !points[point].acts();
    let acting = never_acts
        .then(|| best_acting(points, preference))
        .flatten();
    let finding = never_acts.then(|| format!("{} ", idle(acting.is_some())));
    Ok(Recommendation {
        point,
        cheapest: *cheapest,
        safest: *safest,
        text: finding.unwrap_or_default() + &text(point),
        never_acts,
        acting: acting.map(|point| Acting {
            point,
            text: text(point),
        }),
        others: others(points, [point, *cheapest, *safest]),
    })
}

/// Returns the best point that acts.
fn best_acting(points: &[Point], preference: Preference) -> Option<usize> {
    choose(
        points,
        &candidates_that(points, |score| score.acts),
        preference,
    )
}

/// Returns the best candidate: one that keeps every user constraint, if there is one.
fn choose(points: &[Point], candidates: &[usize], preference: Preference) -> Option<usize> {
    let keeping = |idx: &usize| points[*idx].keeps_constraints();
    let keeping: Vec<usize> = candidates.iter().copied().filter(keeping).collect();
    if keeping.is_empty() || preference.weight.0 <= 0.0 {
        pick(points, candidates, preference)
    } else {
        pick(points, &keeping, preference)
    }
}

/// Returns the candidates, cheapest first: points that no other beats in cost and references at risk. Points with a peak
/// above 95 % of the usable window are excluded if others work.
pub fn candidates(points: &[Point]) -> Vec<usize> {
    candidates_that(points, |_| true)
}

fn candidates_that(points: &[Point], holds: impl Fn(&Score) -> bool) -> Vec<usize> {
    let safe = narrow_front(points, |score| score.is_safe() && holds(score));
    if safe.is_empty() {
        narrow_front(points, holds)
    } else {
        safe
    }
}

fn pick(points: &[Point], candidates: &[usize], preference: Preference) -> Option<usize> {
    let unit = cost_unit(points);
    let score =
        |idx: usize| weighted_score(unit, &points[idx], preference).unwrap_or(f64::INFINITY);
    let by_score = |a: &usize, b: &usize| score(*a).total_cmp(&score(*b));
    let best = candidates.iter().copied().min_by(by_score)?;
    // A change of settings must improve something.
    let is_safe = |idx: usize| points[idx].valid().is_some_and(Score::is_safe);
    let is_good = |idx: &usize| {
        let point = &points[*idx];
        let is_present = point.is_now && point.subject == points[best].subject;
        is_present
            && point.acts() == points[best].acts()
            && is_safe(*idx) >= is_safe(best)
            && point.keeps_constraints() >= points[best].keeps_constraints()
            && regret(score(*idx), score(best)) < MIN_GAIN
    };
    (0..points.len()).find(is_good).or(Some(best))
}

/// Returns the logarithm of a point's weighted score; none if it is ruled out.
pub(super) fn weighted_score(unit: CostUnit, point: &Point, preference: Preference) -> Option<f64> {
    let score = point.valid()?;
    let weight = preference.weight.0.clamp(0.0, 1.0);
    let cost = unit.of(score).max(1e-9).ln();
    let risk = match score.risk.lost {
        Some(lost) => 100.0 * lost.lost as f64 / lost.stated.max(1) as f64,
        None => risk(score).max(preference.noise() as f64),
    };
    let risk = (risk + ADDED).ln();
    Some((1.0 - weight) * cost + weight * risk)
}

/// Returns the relative difference between two weighted scores.
pub(super) fn regret(score: f64, least: f64) -> f64 {
    (score - least).exp_m1()
}
