//! Picks one point and says why.

use super::front::{Price, narrow_front, price_unit};
use super::gauge::Score;
use super::space::Subject;
use super::sweep::Point;
use crate::engine::{KnobValues, Policy};
use crate::units::{Share, Usd};

/// The next session may be a little longer than this one: of points that come deeper than this share of usable none is
/// picked while there are others.
const SAFE_PEAK: f64 = 0.95;

/// A picked point has to be better than the present settings by so much of what lies between cheapest and safest.
const LEAST_GAIN: f64 = 0.01;

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

/// Picks the point that is best by cost and references at risk, where the latter weigh so much (0: cost alone, 1: risk
/// alone).
///
/// # Errors
/// A sentence that says why there is none.
pub fn recommend(
    subjects: &[Subject],
    points: &[Point],
    weight: Share,
) -> Result<Recommendation, String> {
    let picked = Scale::of(points).and_then(|(scale, candidates)| {
        let point = pick(points, &scale, &candidates, weight)?;
        Some((point, *candidates.first()?, *candidates.last()?))
    });
    let (point, cheapest, safest) = picked.ok_or_else(|| nothing_works(points))?;
    Ok(Recommendation {
        point,
        cheapest,
        safest,
        text: sentence(subjects, points, point),
        others: others(points, [point, cheapest, safest]),
    })
}

fn pick(points: &[Point], scale: &Scale, candidates: &[usize], weight: Share) -> Option<usize> {
    let loss = |idx: usize| scale.loss_of(&points[idx], weight).unwrap_or(f64::INFINITY);
    let by_loss = |a: &usize, b: &usize| loss(*a).total_cmp(&loss(*b));
    let best = candidates.iter().copied().min_by(by_loss)?;
    // Nobody should turn knobs for nothing.
    let is_safe = |idx: usize| points[idx].valid().is_some_and(is_safe);
    let is_good = |idx: &usize| {
        let point = &points[*idx];
        let is_present = point.is_now && point.subject == points[best].subject;
        is_present && is_safe(*idx) >= is_safe(best) && loss(*idx) - loss(best) < LEAST_GAIN
    };
    (0..points.len()).find(is_good).or(Some(best))
}

fn is_safe(score: &Score) -> bool {
    score.peak_share.0 <= SAFE_PEAK
}

/// What lies between the cheapest and the safest of the points that can be picked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    unit: Price,
    cheapest: f64,
    costs: f64,
    safest: f64,
    risks: f64,
}

impl Scale {
    /// The scale, and the points that can be picked, cheapest first; none where nothing is valid.
    pub(super) fn of(points: &[Point]) -> Option<(Self, Vec<usize>)> {
        let mut candidates = narrow_front(points, is_safe);
        if candidates.is_empty() {
            candidates = narrow_front(points, |_| true);
        }
        let unit = price_unit(points);
        let ends = candidates.first().zip(candidates.last());
        let (first, last) = ends.and_then(|(a, b)| points[*a].valid().zip(points[*b].valid()))?;
        let risk = |score: &Score| score.at_risk as f64;
        let (cheapest, dearest) = (unit.of(first), unit.of(last));
        let (safest, riskiest) = (risk(last), risk(first));
        let scale = Self {
            unit,
            cheapest,
            // Differences of a few percent, or of one reference, are none to trade much for.
            costs: (dearest - cheapest).max(cheapest * 0.05).max(1e-9),
            safest,
            risks: (riskiest - safest).max(1.0),
        };
        Some((scale, candidates))
    }

    /// How far a point is from being the cheapest and the safest at once; none where it is out of the question.
    pub(super) fn loss_of(&self, point: &Point, weight: Share) -> Option<f64> {
        let score = point.valid()?;
        let weight = weight.0.clamp(0.0, 1.0);
        let dearer = (self.unit.of(score) - self.cheapest) / self.costs;
        let riskier = (score.at_risk as f64 - self.safest) / self.risks;
        Some((1.0 - weight) * dearer + weight * riskier)
    }
}

/// Why a point is recommended.
fn sentence(subjects: &[Subject], points: &[Point], idx: usize) -> String {
    let (point, unit) = (&points[idx], price_unit(points));
    let Some(score) = point.valid() else {
        return String::new();
    };
    let is_own = |p: &&Point| p.is_now && p.subject == point.subject;
    let now = points.iter().find(is_own).unwrap_or(point);
    let peak = format!("peak {} of usable", percent(score.peak_share));
    let subject = &subjects[point.subject];
    let name = &subject.lane;
    if point.is_now {
        let (cost, risk) = (amount(unit, score), references(score, None));
        let of = match points.len() {
            1 => String::new(),
            n => format!(" are as good as any of the {n} tried, and"),
        };
        let does = if unit == Price::Usd { "cost" } else { "send" };
        return format!("The present settings of {name}{of} {does} {cost}{risk}; {peak}.");
    }
    let settings = words(&subject.policy, &now.knobs, &point.knobs);
    let settings: Vec<_> = settings
        .iter()
        .map(|(knob, value)| format!("{knob} {value}"))
        .collect();
    let settings = settings.join(", ");
    let compared = match (now.valid(), now.rejected) {
        (Some(now), _) => {
            let (cost, risk) = (difference(unit, score, now), references(score, Some(now)));
            format!("{cost}{risk}; {peak}.")
        }
        (None, rejected) => {
            let does = if unit == Price::Usd { "costs" } else { "sends" };
            let (cost, risk) = (amount(unit, score), references(score, None));
            let why = rejected.map_or_else(String::new, |why| why.to_string());
            format!(
                "{does} {cost}{risk}; {peak}; the present settings are out of the question: {why}."
            )
        }
    };
    format!("{name} with {settings} {compared}")
}

/// What else could be picked: the ends of what there is to choose from.
fn others(points: &[Point], [point, cheapest, safest]: [usize; 3]) -> Option<String> {
    let unit = price_unit(points);
    let said = |what: &str, idx: usize| {
        let score = points[idx].valid().filter(|_| idx != point)?;
        Some(format!(
            "{what} {}{}",
            amount(unit, score),
            references(score, None)
        ))
    };
    let cheapest_word = if unit == Price::Usd {
        "the cheapest costs"
    } else {
        "the leanest sends"
    };
    let same = cheapest == safest;
    let ends = [
        said(cheapest_word, cheapest),
        said("the one with the fewest at risk", safest).filter(|_| !same),
    ];
    let ends: Vec<String> = ends.into_iter().flatten().collect();
    (!ends.is_empty()).then(|| format!("Of those tried {}.", ends.join(", ")))
}

/// `costs 31 % less than now ($4.10 instead of $5.94)`.
fn difference(unit: Price, score: &Score, now: &Score) -> String {
    let (is, was) = (unit.of(score), unit.of(now));
    let (does, less, more) = match unit {
        Price::Usd => ("costs", "less", "more"),
        Price::Sent => ("sends", "fewer tokens", "more tokens"),
    };
    let share = if was > 0.0 { (is - was) / was } else { 0.0 };
    let (said, before) = (amount(unit, score), amount(unit, now));
    if share.abs() < 0.005 || said == before {
        return format!("{does} {said}, as now");
    }
    let how = if share < 0.0 { less } else { more };
    format!(
        "{does} {} {how} than now ({said} instead of {before})",
        percent(Share(share.abs()))
    )
}

/// `, with 4 references at risk instead of 9`.
fn references(score: &Score, now: Option<&Score>) -> String {
    let said = match score.at_risk {
        0 => "no reference at risk".to_owned(),
        1 => "1 reference at risk".to_owned(),
        n => format!("{n} references at risk"),
    };
    match now.map(|now| now.at_risk) {
        Some(was) if was == score.at_risk => format!(", with {said}, as now"),
        Some(was) => format!(", with {said} instead of {was}"),
        None => format!(", with {said}"),
    }
}

fn amount(unit: Price, score: &Score) -> String {
    match (unit, score.cost) {
        (Price::Usd, Some(Usd(cost))) if cost >= 0.01 || cost <= 0.0 => format!("${cost:.2}"),
        (Price::Usd, Some(Usd(cost))) => format!("${cost:.4}"),
        _ => format!("{} tokens", score.sent.short()),
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
    let mut found: Vec<(&str, &str, usize)> = Vec::new();
    for why in points.iter().filter_map(|p| p.rejected.as_ref()) {
        match found.iter_mut().find(|(name, ..)| *name == why.name()) {
            Some((.., n)) => *n += 1,
            None => found.push((why.name(), why.told(), 1)),
        }
    }
    found.sort_by_key(|(name, _, n)| (std::cmp::Reverse(*n), *name));
    found
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
