//! Recommends one point with a reason.
//!
//! The loss of a point is the product of cost and risk, each to the power of its weight. The risk is the number of references, or
//! the percentage of lost facts. The choice depends on ratios only, not on units or on other points. If some point keeps every
//! user constraint, no other is recommended.

use super::front::{CostUnit, cost_unit, narrow_front, risk};
use super::gauge::Score;
use super::risk::{LostFacts, Risk};
use super::ruled_out::Reason;
use super::space::Subject;
use super::sweep::Point;
use crate::analysis::facts::{FactKind, counted_facts};
use crate::engine::{KnobValues, Policy};
use crate::figure::{plural, whole_percent};
use crate::units::{Share, Usd};

/// Maximum peak of a recommended point as a share of usable, as the next session may be longer. Points above it are only
/// recommended if there are no others.
const SAFE_PEAK: f64 = 0.95;

/// Minimum improvement over the current settings.
const MIN_GAIN: f64 = 0.01;

/// Added to counts of references and percentages of facts before they are compared, so that 1 is not infinitely worse than 0.
const ADDED: f64 = 10.0;

/// The user's preference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preference {
    /// Weight of references at risk: 0 compares cost only, 1 risk only.
    pub weight: Share,
    /// References at risk of the recorded run. Lower counts are not better.
    pub noise: usize,
}

/// The recommended point.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// Index of the point.
    pub point: usize,
    /// Index of the cheapest candidate.
    pub cheapest: usize,
    /// Index of the candidate with the fewest references at risk.
    pub safest: usize,
    /// The reason, as a sentence.
    pub text: String,
    /// The cheapest and safest candidates, as a sentence, if there are others.
    pub others: Option<String>,
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
    let keeping = |idx: &usize| keeps_constraints(&points[*idx]);
    let keeping: Vec<usize> = candidates.iter().copied().filter(keeping).collect();
    let point = match &keeping[..] {
        [] => pick(points, &candidates, preference),
        _ if preference.weight.0 <= 0.0 => pick(points, &candidates, preference),
        keeping => pick(points, keeping, preference),
    };
    if preference.weight.0 > 0.0
        && let Some(why) = not_judged(points, &candidates)
    {
        return Err(why);
    }
    let ends = candidates.first().zip(candidates.last());
    let (point, (cheapest, safest)) = point.zip(ends).ok_or_else(|| nothing_works(points))?;
    Ok(Recommendation {
        point,
        cheapest: *cheapest,
        safest: *safest,
        text: sentence(subjects, points, point) + all_lose(points, point),
        others: others(points, [point, *cheapest, *safest]),
    })
}

/// Returns why the candidates cannot be judged by their risk, if they cannot.
fn not_judged(points: &[Point], candidates: &[usize]) -> Option<String> {
    let mut risks = candidates
        .iter()
        .filter_map(|idx| Some(points[*idx].valid()?.risk));
    let lost = risks.clone().next()?.lost?;
    risks.all(|risk| !risk.is_judged()).then(|| {
        format!(
            "The session states no {}, so no setting can be judged by them. Choose another risk, or compare cost only.",
            lost.label()
        )
    })
}

/// Returns a sentence if the recommended point loses user constraints, since no point keeps them all.
fn all_lose(points: &[Point], point: usize) -> &'static str {
    let lost = points[point].valid().and_then(|score| score.risk.lost);
    let is_constraint = |lost: &LostFacts| lost.kind == Some(FactKind::Constraint) && lost.lost > 0;
    let keeps = points.iter().any(keeps_constraints);
    if lost.as_ref().is_some_and(is_constraint) && !keeps {
        " No setting tried keeps every user constraint."
    } else {
        ""
    }
}

/// Returns the candidates, cheapest first: points that no other beats in cost and references at risk. Points with a peak
/// above 95 % of usable are excluded if others work.
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

/// Returns whether a point keeps every user constraint, and these are the risk to compare.
fn keeps_constraints(point: &Point) -> bool {
    let lost = point.valid().and_then(|score| score.risk.lost);
    lost.is_some_and(|lost| lost.kind == Some(FactKind::Constraint) && lost.lost == 0)
}

fn pick(points: &[Point], candidates: &[usize], preference: Preference) -> Option<usize> {
    let unit = cost_unit(points);
    let loss = |idx: usize| loss(unit, &points[idx], preference).unwrap_or(f64::INFINITY);
    let by_loss = |a: &usize, b: &usize| loss(*a).total_cmp(&loss(*b));
    let best = candidates.iter().copied().min_by(by_loss)?;
    // A change of settings must improve something.
    let is_safe = |idx: usize| points[idx].valid().is_some_and(is_safe);
    let is_good = |idx: &usize| {
        let point = &points[*idx];
        let is_present = point.is_now && point.subject == points[best].subject;
        is_present
            && is_safe(*idx) >= is_safe(best)
            && keeps_constraints(point) >= keeps_constraints(&points[best])
            && regret(loss(*idx), loss(best)) < MIN_GAIN
    };
    (0..points.len()).find(is_good).or(Some(best))
}

/// Returns the logarithm of a point's loss; none if it is ruled out.
pub(super) fn loss(unit: CostUnit, point: &Point, preference: Preference) -> Option<f64> {
    let score = point.valid()?;
    let weight = preference.weight.0.clamp(0.0, 1.0);
    let cost = unit.of(score).max(1e-9).ln();
    let risk = match score.risk.lost {
        Some(lost) => 100.0 * lost.lost as f64 / lost.stated.max(1) as f64,
        None => risk(score).max(preference.noise as f64),
    };
    let risk = (risk + ADDED).ln();
    Some((1.0 - weight) * cost + weight * risk)
}

/// Returns the relative difference between two losses.
pub(super) fn regret(loss: f64, least: f64) -> f64 {
    (loss - least).exp_m1()
}

/// Returns the reason for a point, as a sentence.
pub(super) fn sentence(subjects: &[Subject], points: &[Point], idx: usize) -> String {
    let (point, unit) = (&points[idx], cost_unit(points));
    let Some(score) = point.valid() else {
        return String::new();
    };
    let is_own = |p: &&Point| p.is_now && p.subject == point.subject;
    let now = points.iter().find(is_own).unwrap_or(point);
    let peak = format!("peak {} of usable", whole_percent(score.peak_share));
    let (subject, does) = (&subjects[point.subject], does(unit));
    let (name, cost, risk) = (&subject.lane, amount(unit, score), with_risk(score));
    if point.is_now {
        return match points.len() {
            1 => format!("{name} with its current settings {does} {cost}{risk}; {peak}."),
            n => format!(
                "{name} with its current settings is as good as any of the {n} settings tried: it {does} {cost}{risk}; {peak}."
            ),
        };
    }
    let settings = changed_settings(&subject.policy, &now.knobs, &point.knobs);
    let settings: Vec<_> = settings
        .iter()
        .map(|setting| format!("{} {}", setting.knob, setting.value))
        .collect();
    let settings = settings.join(", ");
    if let Some(before) = now.valid() {
        let cost = difference(unit, score, before);
        let (was, is) = (before.risk.count(), score.risk.count());
        let keeps_all = score.risk.lost.is_some_and(|lost| lost.lost == 0);
        let is_judged = score.risk.is_judged();
        let instead = if !is_judged {
            String::new()
        } else if was == is {
            ", as now".to_owned()
        } else if keeps_all {
            format!(" (now {was} lost)")
        } else {
            format!(" instead of {}", count_text(before.risk))
        };
        let comma = if is_judged { "," } else { "" };
        return format!("{name} with {settings} {cost}{comma}{risk}{instead}; {peak}.");
    }
    let why = now
        .ruled_out
        .map_or_else(String::new, |why| format!(": {why}"));
    format!(
        "{name} with {settings} {does} {cost}{risk}; {peak}. The current settings are ruled out{why}."
    )
}

fn does(unit: CostUnit) -> &'static str {
    match unit {
        CostUnit::Usd => "costs",
        CostUnit::Tokens => "sends",
    }
}

/// Describes the cheapest and the safest candidate.
fn others(points: &[Point], [point, cheapest, safest]: [usize; 3]) -> Option<String> {
    let unit = cost_unit(points);
    let describe = |idx: usize| {
        let score = points[idx].valid().filter(|_| idx != point)?;
        let risk = match score.risk.lost {
            Some(lost) => format!("{} lost", lost.of_stated()),
            None => format!("{} at risk", score.risk.references_text()),
        };
        Some(format!("{} with {risk}", amount(unit, score)))
    };
    let (which, does) = match unit {
        CostUnit::Usd => ("cheapest", "costs"),
        CostUnit::Tokens => ("leanest", "sends"),
    };
    // A setting with an even lower risk may have a peak that is too high.
    let risk = |idx: usize| points[idx].valid().map(|score| score.risk.count());
    let lowest = narrow_front(points, |_| true)
        .last()
        .and_then(|idx| risk(*idx));
    let is_limited = lowest < risk(safest);
    let limit = if is_limited {
        format!(
            " with a peak up to {} of usable",
            whole_percent(Share(SAFE_PEAK))
        )
    } else {
        String::new()
    };
    let safe = describe(safest).filter(|_| cheapest != safest);
    match (describe(cheapest), safe) {
        (Some(cheap), Some(safe)) => Some(format!(
            "The {which} tried {does} {cheap}, the safest{limit} {safe}."
        )),
        (Some(cheap), None) => Some(format!("The {which} tried {does} {cheap}.")),
        (None, Some(safe)) => Some(format!("The safest tried{limit} {does} {safe}.")),
        (None, None) => None,
    }
}

/// Formats `costs 31 % less than now ($4.10 instead of $5.94)`.
fn difference(unit: CostUnit, score: &Score, now: &Score) -> String {
    let (is, was) = (unit.of(score), unit.of(now));
    let (less, more) = match unit {
        CostUnit::Usd => ("less", "more"),
        CostUnit::Tokens => ("fewer tokens", "more tokens"),
    };
    let does = does(unit);
    let share = if was > 0.0 { (is - was) / was } else { 0.0 };
    let (after, before) = (figure(unit, score), figure(unit, now));
    if share.abs() < 0.005 || after == before {
        return format!("{does} {}, as now", amount(unit, score));
    }
    let how = if share < 0.0 { less } else { more };
    format!(
        "{does} {} {how} than now ({after} instead of {before})",
        whole_percent(Share(share.abs()))
    )
}

/// Returns the lost facts, or the references at risk: `4`, `at most 4`.
fn count_text(risk: Risk) -> String {
    match risk.lost {
        Some(lost) => lost.lost.to_string(),
        None => risk.references_text(),
    }
}

/// Returns ` with 4 references at risk`, ` with at most 4 references at risk`, or ` and loses 4 of 20 files`.
fn with_risk(score: &Score) -> String {
    match score.risk.lost {
        Some(lost) if lost.stated == 0 => {
            return format!(" (the session states no {})", lost.label());
        }
        Some(lost) if lost.lost == 0 && lost.kind == Some(FactKind::Constraint) => {
            return " and keeps every user constraint".to_owned();
        }
        Some(lost) if lost.lost == 0 => {
            let all = if lost.stated > 1 { "all " } else { "" };
            return format!(" and keeps {all}{}", counted_facts(lost.kind, lost.stated));
        }
        Some(lost) => return format!(" and loses {}", lost.of_stated()),
        None => {}
    }
    match score.risk.references {
        0 => " with no reference at risk".to_owned(),
        n => format!(
            " with {} reference{} at risk",
            score.risk.references_text(),
            plural(n, "reference")
        ),
    }
}

fn amount(unit: CostUnit, score: &Score) -> String {
    match unit {
        CostUnit::Usd => figure(unit, score),
        CostUnit::Tokens => format!("{} tokens", figure(unit, score)),
    }
}

fn figure(unit: CostUnit, score: &Score) -> String {
    match (unit, score.cost) {
        (CostUnit::Usd, Some(Usd(cost))) if cost >= 0.01 || cost <= 0.0 => format!("${cost:.2}"),
        (CostUnit::Usd, Some(Usd(cost))) => format!("${cost:.4}"),
        _ => score.total.short(),
    }
}

/// A setting that differs from another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedSetting {
    /// Name of the setting.
    pub knob: String,
    /// Its value in the syntax of `--set`.
    pub value: String,
}

impl std::fmt::Display for ChangedSetting {
    /// Formats it as `--set` takes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.knob, self.value)
    }
}

/// Returns the settings that differ from `base`.
pub fn changed_settings(
    policy: &Policy,
    base: &KnobValues,
    knobs: &KnobValues,
) -> Vec<ChangedSetting> {
    let changed = |(name, value): (&str, f64)| {
        let choices = policy.knob(name).map_or(&[][..], |knob| &knob.choices);
        let choice = choices.get(value as usize).filter(|_| value >= 0.0);
        let value = choice.cloned().unwrap_or_else(|| value.to_string());
        ChangedSetting {
            knob: name.to_owned(),
            value,
        }
    };
    let differs = |(name, value): &(&str, f64)| base.get(name) != Some(*value);
    knobs.iter().filter(differs).map(changed).collect()
}

/// The number of points that are ruled out for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuledOutCount {
    /// The reason.
    pub reason: Reason,
    /// Number of points.
    pub n: usize,
}

impl RuledOutCount {
    /// Returns what these settings do, to follow their number.
    pub fn description(&self) -> &'static str {
        self.reason.description(self.n)
    }
}

/// Counts the points that are ruled out by reason, the most frequent first.
pub fn ruled_out_counts(points: &[Point]) -> Vec<RuledOutCount> {
    let mut counts: Vec<RuledOutCount> = Vec::new();
    for reason in points.iter().filter_map(|p| Some(p.ruled_out?.reason)) {
        match counts.iter_mut().find(|c| c.reason.name() == reason.name()) {
            Some(count) => count.n += 1,
            None => counts.push(RuledOutCount { reason, n: 1 }),
        }
    }
    counts.sort_by_key(|count| (std::cmp::Reverse(count.n), count.reason.name()));
    counts
}

fn nothing_works(points: &[Point]) -> String {
    let reasons: Vec<String> = ruled_out_counts(points)
        .iter()
        .map(|count| format!("{} {}", count.n, count.description()))
        .collect();
    match points.len() {
        0 => "No setting was tried.".to_owned(),
        1 => format!(
            "The only setting tried does not work: {}.",
            points[0]
                .ruled_out
                .map_or_else(String::new, |why| why.to_string())
        ),
        n => format!(
            "None of the {n} settings tried works: {}.",
            reasons.join(", ")
        ),
    }
}
