//! One lane of a report: settings, figures, beliefs, events and findings.

use super::build::Played;
use super::removed::{removals, stage_of};
use super::shown::{Shown, Teller, What};
use super::{
    Belief, Column, CountIs, CurveKind, EventReport, Figures, FindingReport, LaneReport, Peak,
    Setting, SettingValue,
};
use crate::engine::{self, Budget, Case, Count, Did, Event, Knob, Outcome, Policy, Sample};
use crate::tokens::Basis;
use std::collections::HashSet;

/// Events listed; of thrashing policies there are thousands.
const MOST_EVENTS: usize = 400;
/// Lines shown of what a system logs in one event.
const MOST_LOG: usize = 3;
/// Characters shown of such a line.
const LONGEST: usize = 240;

/// What one lane did.
pub(super) fn lane_report(
    case: &Case,
    lane: &Played,
    kind: CurveKind,
    teller: &mut Teller,
) -> LaneReport {
    let outcome = &lane.outcome;
    let rows = rows(&outcome.events);
    let (removed, more_removed) = removals(case, lane, teller);
    let findings = lane.findings.iter().map(|finding| FindingReport {
        kind: finding.kind,
        step: finding.step,
        text: teller.said(&finding.text),
    });
    let findings = findings.collect();
    let warnings = outcome.warnings.iter().map(|w| teller.said(w)).collect();
    LaneReport {
        name: teller.name(What::Lane, &lane.lane),
        policy: match &lane.policy {
            None => Shown::own("the recorded run"),
            Some(policy) => teller.policy(policy),
        },
        kind,
        settings: settings(lane, teller),
        figures: figures(case, lane, kind),
        columns: columns(case, outcome),
        belief: lane.policy.as_ref().and_then(|p| belief(p, outcome)),
        findings,
        more_events: rows.len().saturating_sub(MOST_EVENTS),
        events: rows
            .into_iter()
            .take(MOST_EVENTS)
            .map(|row| event_report(row, teller))
            .collect(),
        removed,
        more_removed,
        warnings,
    }
}

fn settings(lane: &Played, teller: &mut Teller) -> Vec<Setting> {
    let knobs = lane.policy.iter().flat_map(|policy| &policy.knobs);
    let setting = |knob: &Knob| {
        let value = lane.knobs.get(&knob.name).unwrap_or(knob.value);
        Setting {
            name: teller.name(What::Setting, &knob.name),
            value: setting_value(knob, value, teller),
            usual: setting_value(knob, knob.value, teller),
            unit: if knob.choices.is_empty() {
                teller.name(What::Unit, &knob.unit)
            } else {
                Shown::own("")
            },
            is_changed: value != knob.value,
        }
    };
    knobs.map(setting).collect()
}

fn setting_value(knob: &Knob, value: f64, teller: &mut Teller) -> SettingValue {
    match knob.choices.get(value.max(0.0) as usize) {
        Some(choice) => SettingValue::Choice(teller.name(What::Setting, choice)),
        None => SettingValue::Number(value),
    }
}

fn figures(case: &Case, lane: &Played, kind: CurveKind) -> Figures {
    let outcome = &lane.outcome;
    let of_case = match case.ledger.basis {
        Basis::Reported => CountIs::Reported,
        Basis::Exact => CountIs::Exact,
        Basis::Calibrated(error) => CountIs::Calibrated(error),
        Basis::Estimated => CountIs::Estimated,
    };
    let is_reported = |step: usize| {
        let step = case.session.calls.get(step);
        kind == CurveKind::Recorded && step.is_some_and(|s| s.usage.is_some())
    };
    let known = |is_reported| {
        if is_reported {
            CountIs::Reported
        } else {
            of_case
        }
    };
    let samples = &outcome.samples;
    let peak = outcome.peak();
    let summaries = outcome.summaries;
    let last = samples.len().saturating_sub(1);
    let pressure = |peak: engine::Peak| {
        let budget = Budget {
            window: case.windows.at(peak.step.unwrap_or(last)),
            output_reserve: lane.output_reserve,
        };
        budget.pressure(peak.tokens)
    };
    Figures {
        peak: peak.map(|peak| Peak {
            step: peak.step,
            tokens: peak.tokens,
            pressure: pressure(peak),
            known: known(peak.step.is_some_and(is_reported)),
        }),
        compactions: Some(outcome.compactions),
        overflows: outcome.overflows,
        sent: outcome.tokens_sent(),
        rejected: outcome.tokens_rejected,
        summaries: (summaries.requests, summaries.sent, summaries.received),
        known: known(!samples.is_empty() && samples.iter().all(|s| is_reported(s.step))),
        has_predicted: summaries.requests > 0,
    }
}

fn columns(case: &Case, outcome: &Outcome) -> Vec<Column> {
    let window = case.windows.largest();
    let removes: HashSet<usize> = outcome
        .events
        .iter()
        .filter(|e| e.did == Did::Removed)
        .map(|e| e.step)
        .collect();
    let each = outcome.samples.len().div_ceil(LaneReport::COLUMNS).max(1);
    let column = |samples: &[Sample]| Column {
        fill: samples
            .iter()
            .map(|s| s.tokens)
            .max()
            .unwrap_or_default()
            .share_of(window),
        removes: samples.iter().any(|s| removes.contains(&s.step)),
        overflows: samples.iter().any(|s| s.overflows),
    };
    outcome.samples.chunks(each).map(column).collect()
}

/// The call at which the system's own count was furthest from the true one.
fn belief(policy: &Policy, outcome: &Outcome) -> Option<Belief> {
    let counts_truly = matches!(policy.meter.count, Count::True);
    let samples = outcome.samples.iter();
    let worst = samples.max_by_key(|s| s.metered.0.abs_diff(s.tokens.0))?;
    let is_told = !counts_truly || worst.believed.is_some();
    is_told.then_some(Belief {
        step: worst.step,
        counted: worst.metered,
        truly: worst.tokens,
        believed: worst.believed,
        pressure: worst.pressure,
    })
}

/// What is done anew before call after call is one row.
fn rows(events: &[Event]) -> Vec<&[Event]> {
    let is_routine = |e: &Event| matches!(e.did, Did::Nothing | Did::Told) || e.action == "repair";
    let goes_on = |a: &Event, b: &Event| {
        let is_same = a.stage == b.stage && a.did == b.did && is_routine(a);
        is_same && b.step == a.step + 1
    };
    events.chunk_by(goes_on).collect()
}

fn event_report(row: &[Event], teller: &mut Teller) -> EventReport {
    let event = &row[0];
    let stage = match &*event.stage {
        Event::RECORDED => Shown::own("the source itself"),
        _ => stage_of(event, teller),
    };
    EventReport {
        step: event.step,
        times: row.len(),
        stage,
        action: event.action,
        did: event.did,
        why: teller.cause(&event.cause),
        messages: event.n_messages(),
        before: event.before,
        after: event.after,
        request: event.request,
        orphans: event.orphans,
        log: log(event, teller),
    }
}

/// The first lines; a system may log a whole summary.
fn log(event: &Event, teller: &Teller) -> Vec<Shown> {
    let lines = event.log.iter().map(|line| {
        let first = line.lines().next().unwrap_or_default();
        let short: String = first.chars().take(LONGEST).collect();
        let is_cut = short.len() < line.trim_end().len();
        if is_cut { format!("{short}…") } else { short }
    });
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines
        .take(MOST_LOG)
        .map(|line| teller.said(&line))
        .collect()
}
