//! Sentences of a recommendation: its reason, the cheapest candidate, and the reason for no recommendation.

use super::changed_settings::changed_settings;
use super::cost_unit::{CostUnit, cost_unit};
use super::gauge::{LostRules, Score};
use super::space::SweepSubject;
use super::sweep::{Point, ruled_out_counts};
use crate::analysis::rereads::rereads_number;
use crate::figure::{counted, usd, whole_percent};
use crate::units::{Share, Tokens, Usd};
use std::fmt::Write as _;

/// Returns the reason for a point, in sentences. Compares it with the recorded run first, then with the current
/// settings of its policy.
pub(super) fn sentence(
    subjects: &[SweepSubject],
    points: &[Point],
    idx: usize,
    recorded: Option<&Score>,
) -> String {
    let (point, unit) = (&points[idx], cost_unit(points));
    let Some(score) = point.valid() else {
        return String::new();
    };
    let is_own = |p: &&Point| p.is_now && p.subject == point.subject;
    let now = points.iter().find(is_own).unwrap_or(point);
    let before = now.valid().filter(|_| !point.is_now);
    let subject = &subjects[point.subject];
    let peak = format!("peak {} of usable", whole_percent(score.peak_share));
    let mut text = format!(
        "{} with {} {}{}; {peak}.",
        subject.lane,
        settings(subject, now, point, points.len()),
        cost(unit, score, recorded, before),
        rules_text(score),
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
fn settings(subject: &SweepSubject, now: &Point, point: &Point, n_points: usize) -> String {
    if point.is_now && n_points > 1 {
        let n = counted(n_points, "setting");
        return format!("its current settings, as good as any of the {n} tried,");
    }
    if point.is_now {
        return "its current settings".to_owned();
    }
    let changed = changed_settings(&subject.policy, &now.knobs, &point.knobs);
    let changed = changed.iter().map(|c| format!("{} {}", c.knob, c.value));
    changed.collect::<Vec<_>>().join(", ")
}

/// Returns `saves 24 % of $4.82 (recorded run) and costs $3.66 ($0.03 of it for about 1.3 re-reads), 40 % less than its
/// current settings ($6.10)`.
fn cost(unit: CostUnit, score: &Score, recorded: Option<&Score>, now: Option<&Score>) -> String {
    let does = does(unit);
    let change = recorded.and_then(|recorded| CostDifference::of_recorded(unit, score, recorded));
    let amount =
        |unit, score: &Score| format!("{}{}", amount(unit, score), rereads_part(unit, score));
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
    match CostDifference::new(unit, score, now) {
        Some(change) => {
            format!("{own}, {} than its current settings ({})", change.text(unit), change.before)
        }
        None => format!("{own}, as its current settings"),
    }
}

/// Returns whether a score has a figure in this unit.
fn has_cost(unit: CostUnit, score: &Score) -> bool {
    unit == CostUnit::Tokens || score.cost.is_some()
}

/// A visible difference in cost.
struct CostDifference {
    /// Difference as a share of the cost before.
    share: f64,
    /// The cost before.
    before: String,
}

impl CostDifference {
    fn new(unit: CostUnit, score: &Score, before: &Score) -> Option<Self> {
        has_cost(unit, before).then(|| Self::between(unit, unit.of(score), unit.of(before)))?
    }

    /// Returns the difference from the recorded run, whose re-reads happened: they are part of what it cost.
    fn of_recorded(unit: CostUnit, score: &Score, recorded: &Score) -> Option<Self> {
        has_cost(unit, recorded)
            .then(|| Self::between(unit, unit.of(score), unit.paid(recorded)))?
    }

    fn between(unit: CostUnit, is: f64, was: f64) -> Option<Self> {
        let share = if was > 0.0 { (is - was) / was } else { 0.0 };
        let before = figure(unit, was);
        let is_visible = share.abs() >= 0.005 && figure(unit, is) != before;
        is_visible.then_some(Self { share, before })
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

/// Returns ` ($0.03 of it for about 1.3 re-reads)`; nothing if none are expected.
fn rereads_part(unit: CostUnit, score: &Score) -> String {
    if score.rereads.is_none() {
        return String::new();
    }
    let n = score.rereads.number();
    let noun = if n == "1.0" { "re-read" } else { "re-reads" };
    let price = figure(unit, unit.rereads(score).value);
    let whole = match unit {
        CostUnit::Usd => "it",
        CostUnit::Tokens => "them",
    };
    format!(" ({price} of {whole} for about {n} {noun})")
}

/// Returns `, keeps every constraint and decision of the user`, or how many it loses; nothing if there are none.
fn rules_text(score: &Score) -> String {
    match score.user_rules {
        None => String::new(),
        Some(rules) if rules.lost > 0 => format!(", loses {} of the user", rules.of_stated()),
        Some(rules) if rules.unknown > 0 => {
            ", leaves the constraints and decisions of the user to its summaries".to_owned()
        }
        Some(_) => ", keeps every constraint and decision of the user".to_owned(),
    }
}

impl LostRules {
    /// Returns `1 of 2 constraints and decisions`.
    fn of_stated(self) -> String {
        let noun =
            if self.stated == 1 { "constraint or decision" } else { "constraints and decisions" };
        format!("{} of {} {noun}", self.lost, self.stated)
    }
}

/// Returns a sentence if a setting is expected to cause more re-reads than the recorded run's compactions.
fn more_than_recorded(score: &Score, recorded: &Score) -> Option<String> {
    // Intervals that overlap show no difference.
    (score.rereads.files.low > recorded.rereads.files.high && !score.rereads.is_none()).then(|| {
        format!(
            " More re-reads are expected than after the compactions of the recorded run ({}).",
            rereads_number(recorded.rereads.files.value)
        )
    })
}

/// Returns a sentence if a point changes what the system offers no setting for.
fn not_offered(subject: &SweepSubject, now: &Point, point: &Point) -> String {
    let policy = &subject.policy;
    let changed = changed_settings(policy, &now.knobs, &point.knobs).into_iter();
    let is_fixed = |name: &String| policy.knob(name).is_some_and(|knob| !knob.is_offered);
    let fixed: Vec<String> = changed.map(|c| c.knob).filter(is_fixed).collect();
    match &fixed[..] {
        [] => String::new(),
        fixed => format!(" {} offers no setting for {}.", policy.label, fixed.join(", ")),
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

/// Describes the cheapest candidate; `None` if it is the recommended point.
pub(super) fn cheapest_text(points: &[Point], point: usize, cheapest: usize) -> Option<String> {
    let unit = cost_unit(points);
    let score = points[cheapest].valid().filter(|_| cheapest != point)?;
    let (which, does) = match unit {
        CostUnit::Usd => ("cheapest", "costs"),
        CostUnit::Tokens => ("leanest", "sends"),
    };
    let interval = unit.interval(score);
    let [low, high] = [interval.low, interval.high].map(|end| figure(unit, end));
    let range = if low == high { String::new() } else { format!(" ({low} to {high})") };
    Some(format!(
        "The {which} setting tried {does} {}{range}: the difference is below 1 % or within the error of the expected re-reads, and it changes more settings.",
        amount(unit, score),
    ))
}

fn amount(unit: CostUnit, score: &Score) -> String {
    let figure = figure(unit, unit.of(score));
    match unit {
        CostUnit::Usd => figure,
        CostUnit::Tokens => format!("{figure} tokens"),
    }
}

/// Formats a cost.
fn figure(unit: CostUnit, cost: f64) -> String {
    match unit {
        CostUnit::Usd => usd(Usd(cost)),
        CostUnit::Tokens => Tokens(cost as u64).short(),
    }
}

/// Returns a sentence if the recommended point loses constraints or decisions of the user and no point that works keeps
/// them all, otherwise an empty text.
pub(super) fn all_lose(points: &[Point], point: usize) -> &'static str {
    let mut works = points.iter().filter(|point| point.valid().is_some());
    if points[point].lost_rules() > 0 && works.all(|point| point.lost_rules() > 0) {
        " No setting tried keeps every constraint and decision."
    } else {
        ""
    }
}

/// Returns why no point can be recommended.
pub(super) fn nothing_works(subjects: &[SweepSubject], points: &[Point]) -> String {
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
                .map_or_else(String::new, |why| { why.text(&subjects[points[0].subject].policy) })
        ),
        n => format!("None of the {} tried works: {}.", counted(n, "setting"), reasons.join(", ")),
    }
}
