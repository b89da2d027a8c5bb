//! Sentences of a recommendation: its reason, the cheapest and safest candidates, and why there is none.

use super::changed_settings::changed_settings;
use super::front::{CostUnit, cost_unit, narrow_front};
use super::gauge::{SAFE_PEAK, Score};
use super::risk::{LostFacts, Risk};
use super::space::Subject;
use super::sweep::{Point, ruled_out_counts};
use crate::analysis::facts::{FactKind, counted_facts};
use crate::figure::{counted, grouped, plural, usd, whole_percent};
use crate::units::Share;

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
                "{name} with its current settings is as good as any of the {} tried: it {does} {cost}{risk}; {peak}.",
                counted(n, "setting")
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

/// Describes the cheapest and the safest candidate; `None` if both are the recommended point.
pub(super) fn others(points: &[Point], [point, cheapest, safest]: [usize; 3]) -> Option<String> {
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
        format!(" with a peak up to {} of usable", whole_percent(SAFE_PEAK))
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

/// Formats `costs 31 % less than its current settings ($4.10 instead of $5.94)`.
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
        "{does} {} {how} than its current settings ({after} instead of {before})",
        whole_percent(Share(share.abs()))
    )
}

/// Returns the number of lost facts, or of references at risk: `4`, `at most 4`.
fn count_text(risk: Risk) -> String {
    match risk.lost {
        Some(lost) => grouped(lost.lost as u64),
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
        (CostUnit::Usd, Some(cost)) => usd(cost),
        _ => score.total.short(),
    }
}

/// Returns a sentence if the recommended point loses user constraints and no point keeps them all, otherwise an empty
/// text.
pub(super) fn all_lose(points: &[Point], point: usize) -> &'static str {
    let lost = points[point].valid().and_then(|score| score.risk.lost);
    let is_constraint = |lost: &LostFacts| lost.kind == Some(FactKind::Constraint) && lost.lost > 0;
    let keeps = points.iter().any(Point::keeps_constraints);
    if lost.as_ref().is_some_and(is_constraint) && !keeps {
        " No setting tried keeps every user constraint."
    } else {
        ""
    }
}

/// Returns why no candidate can be judged by its risk; `None` if one can.
pub(super) fn not_judged(points: &[Point], candidates: &[usize]) -> Option<String> {
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

/// Returns why no point can be recommended.
pub(super) fn nothing_works(points: &[Point]) -> String {
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
            "None of the {} tried works: {}.",
            counted(n, "setting"),
            reasons.join(", ")
        ),
    }
}
