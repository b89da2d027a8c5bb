//! Sentences of a recommendation: its reason, the cheapest and safest candidates, and why there is none.

use super::changed_settings::changed_settings;
use super::front::{CostUnit, cost_unit, narrow_front};
use super::gauge::{Preference, SAFE_PEAK, Score};
use super::risk::{LostFacts, Risk};
use super::space::Subject;
use super::sweep::{Point, ruled_out_counts};
use crate::analysis::facts::{FactKind, counted_facts};
use crate::figure::{counted, grouped, plural, usd, whole_percent};
use crate::units::Share;
use std::fmt::Write as _;

/// Returns the reason for a point, in sentences. Compares it with the recorded run first, then with the current settings
/// of its policy.
pub(super) fn sentence(
    subjects: &[Subject],
    points: &[Point],
    idx: usize,
    preference: Preference,
) -> String {
    let (point, unit) = (&points[idx], cost_unit(points));
    let Some(score) = point.valid() else {
        return String::new();
    };
    let is_own = |p: &&Point| p.is_now && p.subject == point.subject;
    let now = points.iter().find(is_own).unwrap_or(point);
    let before = now.valid().filter(|_| !point.is_now);
    let recorded = preference.recorded.as_ref();
    let subject = &subjects[point.subject];
    let peak = format!("peak {} of usable", whole_percent(score.peak_share));
    let mut text = format!(
        "{} with {} {}{}; {peak}.",
        subject.lane,
        settings(subject, now, point, points.len()),
        cost(unit, score, recorded, before),
        risk_text(score, before),
    );
    if let Some(more) = recorded.and_then(|recorded| more_than_recorded(score, recorded)) {
        text.push_str(&more);
    }
    if score.spilled > 0 {
        let results = counted(score.spilled, "tool result");
        let _ = write!(
            text,
            " It puts {results} into files before a call reads them; calls get a preview."
        );
    }
    text.push_str(&not_offered(subject, now, point));
    if let Some(why) = now.ruled_out.filter(|_| before.is_none() && !point.is_now) {
        let why = why.text(&subject.policy);
        let _ = write!(text, " The current settings are ruled out: {why}.");
    }
    text
}

/// Returns `keep_recent 24, compression_trigger 0.5`, or a phrase for the current settings.
fn settings(subject: &Subject, now: &Point, point: &Point, n_points: usize) -> String {
    if point.is_now && n_points > 1 {
        let n = counted(n_points, "setting");
        return format!("its current settings is as good as any of the {n} tried: it");
    }
    if point.is_now {
        return "its current settings".to_owned();
    }
    let changed = changed_settings(&subject.policy, &now.knobs, &point.knobs);
    let changed = changed.iter().map(|c| format!("{} {}", c.knob, c.value));
    changed.collect::<Vec<_>>().join(", ")
}

/// Returns `saves 24 % of $4.82 (recorded run) and costs $3.66, 40 % less than its current settings ($6.10)`.
fn cost(unit: CostUnit, score: &Score, recorded: Option<&Score>, now: Option<&Score>) -> String {
    let does = does(unit);
    let change = recorded.and_then(|recorded| Change::new(unit, score, recorded));
    let own = match &change {
        Some(change) if change.share < 0.0 => format!(
            "saves {} of {} (recorded run) and {does} {}",
            whole_percent(Share(-change.share)),
            change.before,
            amount(unit, score),
        ),
        Some(change) => format!(
            "{does} {}, {} than the recorded run ({})",
            amount(unit, score),
            change.text(unit),
            change.before,
        ),
        None if recorded.is_some_and(|recorded| has_cost(unit, recorded)) => {
            format!("{does} {}, as the recorded run", amount(unit, score))
        }
        None => format!("{does} {}", amount(unit, score)),
    };
    let Some(now) = now else {
        return own;
    };
    match Change::new(unit, score, now) {
        Some(change) => format!(
            "{own}, {} than its current settings ({})",
            change.text(unit),
            change.before
        ),
        None => format!("{own}, as its current settings"),
    }
}

/// Returns whether a score has a figure in this unit.
fn has_cost(unit: CostUnit, score: &Score) -> bool {
    unit == CostUnit::Tokens || score.cost.is_some()
}

/// A visible difference in cost.
struct Change {
    /// Difference as a share of the cost before.
    share: f64,
    /// The cost before.
    before: String,
}

impl Change {
    fn new(unit: CostUnit, score: &Score, before: &Score) -> Option<Self> {
        let (is, was) = (unit.of(score), unit.of(before));
        let share = if was > 0.0 { (is - was) / was } else { 0.0 };
        let text = figure(unit, before);
        let is_visible = share.abs() >= 0.005 && figure(unit, score) != text;
        (has_cost(unit, before) && is_visible).then_some(Self {
            share,
            before: text,
        })
    }

    /// Returns `24 % less`, or `3 % more tokens`.
    fn text(&self, unit: CostUnit) -> String {
        let [less, more] = match unit {
            CostUnit::Usd => ["less", "more"],
            CostUnit::Tokens => ["fewer tokens", "more tokens"],
        };
        let how = if self.share < 0.0 { less } else { more };
        format!("{} {how}", whole_percent(Share(self.share.abs())))
    }
}

/// Returns `, with 4 references at risk instead of 9`, compared with the current settings.
fn risk_text(score: &Score, now: Option<&Score>) -> String {
    let own = with_risk(score);
    let Some(now) = now.filter(|_| score.risk.is_judged()) else {
        return own;
    };
    let (was, is) = (now.risk.count(), score.risk.count());
    if was == is {
        format!(",{own}, as now")
    } else if score.risk.lost.is_some_and(|lost| lost.lost == 0) {
        format!(",{own} (now {was} lost)")
    } else {
        format!(",{own} instead of {}", count_text(now.risk))
    }
}

/// Returns a sentence if a setting loses more than the recorded run lost.
fn more_than_recorded(score: &Score, recorded: &Score) -> Option<String> {
    let lost = recorded.risk.count();
    (score.risk.is_judged() && score.risk.count() > lost).then(|| {
        let what = match score.risk.lost {
            Some(_) => "lost",
            None => "at risk",
        };
        let lost = grouped(lost as u64);
        format!(" It loses more than the recorded run, which had {lost} {what}.")
    })
}

/// Returns a sentence if a point changes what the system offers no setting for.
fn not_offered(subject: &Subject, now: &Point, point: &Point) -> String {
    let policy = &subject.policy;
    let changed = changed_settings(policy, &now.knobs, &point.knobs).into_iter();
    let is_fixed = |name: &String| policy.knob(name).is_some_and(|knob| !knob.is_offered);
    let fixed: Vec<String> = changed.map(|c| c.knob).filter(is_fixed).collect();
    match &fixed[..] {
        [] => String::new(),
        fixed => format!(
            " {} offers no setting for {}.",
            policy.label,
            fixed.join(", ")
        ),
    }
}

/// Returns a sentence for a recommended point that never acts. `has_other`: whether another one acts.
pub(super) fn idle(has_other: bool) -> &'static str {
    if has_other {
        "This session fits: this setting never acts."
    } else {
        "This session fits: neither this setting nor any other that works ever acts."
    }
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
pub(super) fn nothing_works(subjects: &[Subject], points: &[Point]) -> String {
    let reasons: Vec<String> = ruled_out_counts(points)
        .iter()
        .map(|count| format!("{} {}", count.n, count.description()))
        .collect();
    match points.len() {
        0 => "No setting was tried.".to_owned(),
        1 => format!(
            "The only setting tried does not work: {}.",
            points[0].ruled_out.map_or_else(String::new, |why| {
                why.text(&subjects[points[0].subject].policy)
            })
        ),
        n => format!(
            "None of the {} tried works: {}.",
            counted(n, "setting"),
            reasons.join(", ")
        ),
    }
}
