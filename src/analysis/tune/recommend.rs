//! Picks one point and says why.
//!
//! Cost and references at risk are multiplied, each to the power of its weight: the pick depends on ratios alone, not on
//! units, nor on what else was tried.

use super::front::{Price, narrow_front, price_unit, references};
use super::gauge::{Rejection, Score};
use super::space::Subject;
use super::sweep::Point;
use crate::engine::{KnobValues, Policy};
use crate::units::{Share, Usd};

/// The next session may be a little longer than this one: of points that come deeper than this share of usable none is
/// picked while there are others.
const SAFE_PEAK: f64 = 0.95;

/// The present settings are left alone unless something is better by so much.
const LEAST_GAIN: f64 = 0.01;

/// So many are added before counts of references are compared: 1 is not infinitely worse than 0.
const ADDED: f64 = 10.0;

/// What is preferred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taste {
    /// How much references at risk weigh against cost: 0 is cost alone, 1 risk alone.
    pub weight: Share,
    /// References at risk that are found on the session as it was really sent. Fewer are no better than so many.
    pub noise: usize,
}

/// The point that is recommended.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// Its index.
    pub point: usize,
    /// Index of the cheapest that could have been picked.
    pub cheapest: usize,
    /// Index of the one with the fewest references at risk.
    pub safest: usize,
    /// Why, as one sentence.
    pub text: String,
    /// What else there is to choose from, as one sentence, if anything.
    pub others: Option<String>,
}

/// Picks the point that is best by cost and references at risk.
///
/// # Errors
/// A sentence that says why there is none.
pub fn recommend(
    subjects: &[Subject],
    points: &[Point],
    taste: Taste,
) -> Result<Recommendation, String> {
    let candidates = candidates(points);
    let point = pick(points, &candidates, taste);
    let ends = candidates.first().zip(candidates.last());
    let (point, (cheapest, safest)) = point.zip(ends).ok_or_else(|| nothing_works(points))?;
    Ok(Recommendation {
        point,
        cheapest: *cheapest,
        safest: *safest,
        text: sentence(subjects, points, point),
        others: others(points, [point, *cheapest, *safest]),
    })
}

/// Settings that can be picked, cheapest first: those that no other beats in cost and references at risk. What leaves
/// too little room for a longer session is left out while anything else works.
pub fn candidates(points: &[Point]) -> Vec<usize> {
    let safe = narrow_front(points, is_safe);
    if safe.is_empty() {
        narrow_front(points, |_| true)
    } else {
        safe
    }
}

pub(super) fn is_safe(score: &Score) -> bool {
    score.peak_share.0 <= SAFE_PEAK
}

fn pick(points: &[Point], candidates: &[usize], taste: Taste) -> Option<usize> {
    let unit = price_unit(points);
    let loss = |idx: usize| loss(unit, &points[idx], taste).unwrap_or(f64::INFINITY);
    let by_loss = |a: &usize, b: &usize| loss(*a).total_cmp(&loss(*b));
    let best = candidates.iter().copied().min_by(by_loss)?;
    // Nobody should turn knobs for nothing.
    let is_safe = |idx: usize| points[idx].valid().is_some_and(is_safe);
    let is_good = |idx: &usize| {
        let point = &points[*idx];
        let is_present = point.is_now && point.subject == points[best].subject;
        is_present && is_safe(*idx) >= is_safe(best) && regret(loss(*idx), loss(best)) < LEAST_GAIN
    };
    (0..points.len()).find(is_good).or(Some(best))
}

/// What cost and risk of a point come to together, as a logarithm; none where it is out of the question.
pub(super) fn loss(unit: Price, point: &Point, taste: Taste) -> Option<f64> {
    let score = point.valid()?;
    let weight = taste.weight.0.clamp(0.0, 1.0);
    let cost = unit.of(score).max(1e-9).ln();
    let risk = (references(score).max(taste.noise as f64) + ADDED).ln();
    Some((1.0 - weight) * cost + weight * risk)
}

/// How much worse one loss is than another, as a share of it.
pub(super) fn regret(loss: f64, least: f64) -> f64 {
    (loss - least).exp_m1()
}

/// Why a point is recommended.
pub(super) fn sentence(subjects: &[Subject], points: &[Point], idx: usize) -> String {
    let (point, unit) = (&points[idx], price_unit(points));
    let Some(score) = point.valid() else {
        return String::new();
    };
    let is_own = |p: &&Point| p.is_now && p.subject == point.subject;
    let now = points.iter().find(is_own).unwrap_or(point);
    let peak = format!("peak {} of usable", percent(score.peak_share));
    let (subject, does) = (&subjects[point.subject], does(unit));
    let (name, cost, risk) = (&subject.lane, amount(unit, score), with_risk(score));
    if point.is_now {
        return match points.len() {
            1 => format!("{name} as it is set {does} {cost}{risk}; {peak}."),
            n => format!(
                "{name} as it is set is as good as any of the {n} settings tried: it {does} {cost}{risk}; {peak}."
            ),
        };
    }
    let settings = words(&subject.policy, &now.knobs, &point.knobs);
    let settings: Vec<_> = settings
        .iter()
        .map(|(knob, value)| format!("{knob} {value}"))
        .collect();
    let settings = settings.join(", ");
    if let Some(before) = now.valid() {
        let cost = difference(unit, score, before);
        let (was, is) = (before.risk.references, score.risk.references);
        let instead = if was == is {
            ", as now".to_owned()
        } else {
            format!(" instead of {was}")
        };
        return format!("{name} with {settings} {cost},{risk}{instead}; {peak}.");
    }
    let why = now
        .rejected
        .map_or_else(String::new, |why| format!(": {why}"));
    format!(
        "{name} with {settings} {does} {cost}{risk}; {peak}. As it is set now it is out of the question{why}."
    )
}

fn does(unit: Price) -> &'static str {
    match unit {
        Price::Usd => "costs",
        Price::Sent => "sends",
    }
}

/// What else could be picked: the ends of what there is to choose from.
fn others(points: &[Point], [point, cheapest, safest]: [usize; 3]) -> Option<String> {
    let unit = price_unit(points);
    let said = |idx: usize| {
        let score = points[idx].valid().filter(|_| idx != point)?;
        let references = score.risk.references;
        Some(format!("{} with {references} at risk", amount(unit, score)))
    };
    let (which, does) = match unit {
        Price::Usd => ("cheapest", "costs"),
        Price::Sent => ("leanest", "sends"),
    };
    match (said(cheapest), said(safest).filter(|_| cheapest != safest)) {
        (Some(cheap), Some(safe)) => Some(format!(
            "The {which} tried {does} {cheap}, the safest {safe}."
        )),
        (Some(cheap), None) => Some(format!("The {which} tried {does} {cheap}.")),
        (None, Some(safe)) => Some(format!("The safest tried {does} {safe}.")),
        (None, None) => None,
    }
}

/// `costs 31 % less than now ($4.10 instead of $5.94)`.
fn difference(unit: Price, score: &Score, now: &Score) -> String {
    let (is, was) = (unit.of(score), unit.of(now));
    let (less, more) = match unit {
        Price::Usd => ("less", "more"),
        Price::Sent => ("fewer tokens", "more tokens"),
    };
    let does = does(unit);
    let share = if was > 0.0 { (is - was) / was } else { 0.0 };
    let (said, before) = (figure(unit, score), figure(unit, now));
    if share.abs() < 0.005 || said == before {
        return format!("{does} {}, as now", amount(unit, score));
    }
    let how = if share < 0.0 { less } else { more };
    format!(
        "{does} {} {how} than now ({said} instead of {before})",
        percent(Share(share.abs()))
    )
}

/// Returns ` with 4 references at risk`.
fn with_risk(score: &Score) -> String {
    match score.risk.references {
        0 => " with no reference at risk".to_owned(),
        1 => " with 1 reference at risk".to_owned(),
        n => format!(" with {n} references at risk"),
    }
}

fn amount(unit: Price, score: &Score) -> String {
    match unit {
        Price::Usd => figure(unit, score),
        Price::Sent => format!("{} tokens", figure(unit, score)),
    }
}

fn figure(unit: Price, score: &Score) -> String {
    match (unit, score.cost) {
        (Price::Usd, Some(Usd(cost))) if cost >= 0.01 || cost <= 0.0 => format!("${cost:.2}"),
        (Price::Usd, Some(Usd(cost))) => format!("${cost:.4}"),
        _ => score.total.short(),
    }
}

fn percent(share: Share) -> String {
    format!("{:.0} %", share.0 * 100.0)
}

/// The knobs that differ from `base`, each with its value as `--set` takes it.
pub fn words(policy: &Policy, base: &KnobValues, knobs: &KnobValues) -> Vec<(String, String)> {
    let word = |(name, value): (&str, f64)| {
        let choices = policy.knob(name).map_or(&[][..], |knob| &knob.choices);
        let choice = choices.get(value as usize).filter(|_| value >= 0.0);
        let value = choice.cloned().unwrap_or_else(|| value.to_string());
        (name.to_owned(), value)
    };
    let differs = |(name, value): &(&str, f64)| base.get(name) != Some(*value);
    knobs.iter().filter(differs).map(word).collect()
}

/// How many points are out of the question, by reason: name, how it is told, how many.
pub fn rejections(points: &[Point]) -> Vec<(&'static str, &'static str, usize)> {
    let mut found: Vec<(&Rejection, usize)> = Vec::new();
    for why in points.iter().filter_map(|p| p.rejected.as_ref()) {
        match found
            .iter_mut()
            .find(|(known, _)| known.name() == why.name())
        {
            Some((_, n)) => *n += 1,
            None => found.push((why, 1)),
        }
    }
    found.sort_by_key(|(why, n)| (std::cmp::Reverse(*n), why.name()));
    let said = |(why, n): (&Rejection, usize)| (why.name(), why.told(n), n);
    found.into_iter().map(said).collect()
}

fn nothing_works(points: &[Point]) -> String {
    let reasons: Vec<String> = rejections(points)
        .into_iter()
        .map(|(_, told, n)| format!("{n} {told}"))
        .collect();
    match points.len() {
        0 => "No setting was tried.".to_owned(),
        1 => format!(
            "The one setting tried does not work: {}.",
            points[0]
                .rejected
                .map_or_else(String::new, |why| why.to_string())
        ),
        n => format!(
            "None of the {n} settings tried works: {}.",
            reasons.join(", ")
        ),
    }
}
