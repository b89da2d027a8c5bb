//! A lane of a report: settings, figures, belief, events and findings.

use super::played::Played;
use super::redaction::{NameKind, Redactor, ReportText};
use super::removed::{removals, stage_of};
use super::{
    Belief, CurveKind, EventReport, Figures, FindingReport, LaneColumn, LaneReport, Peak,
    RereadsReport, SettingReport, SettingValue,
};
use crate::engine::{ActionKind, Case, Count, Effect, Event, Knob, Outcome, Policy, Sample};
use crate::tokens::Accuracy;
use std::collections::HashSet;

/// Maximum number of listed events; policies that thrash have thousands, and a browser shows a table of 400 rows at
/// once.
const MAX_EVENTS: usize = 400;
/// Maximum number of log lines of an event.
const MAX_LOG_LINES: usize = 3;
/// Maximum number of characters of such a line.
const MAX_LINE_CHARS: usize = 240;

/// Creates the report of a lane.
pub(super) fn lane_report(
    case: &Case,
    lane: &Played,
    kind: CurveKind,
    rereads: RereadsReport,
    redactor: &mut Redactor,
) -> LaneReport {
    let outcome = &lane.outcome;
    let rows = rows(&outcome.events);
    let removals = removals(case, lane, redactor);
    let findings = lane.findings.iter().map(|finding| FindingReport {
        kind: finding.kind,
        call: finding.call,
        text: redactor.sentence(&finding.text),
    });
    let findings = findings.collect();
    let warnings =
        outcome.warnings.iter().map(|warning| redactor.sentence(&warning.to_string())).collect();
    LaneReport {
        name: redactor.name(NameKind::Lane, &lane.lane),
        policy: match &lane.policy {
            None => ReportText::own("the recorded run"),
            Some(policy) => redactor.policy(policy),
        },
        kind,
        settings: settings(lane, redactor),
        figures: figures(case, lane, kind),
        rereads,
        columns: columns(case, outcome),
        belief: lane.policy.as_ref().and_then(|p| belief(p, outcome)),
        findings,
        more_events: rows.len().saturating_sub(MAX_EVENTS),
        events: rows.into_iter().take(MAX_EVENTS).map(|row| event_report(row, redactor)).collect(),
        removed: removals.listed,
        more_removed: removals.n_more,
        warnings,
    }
}

fn settings(lane: &Played, redactor: &mut Redactor) -> Vec<SettingReport> {
    let knobs = lane.policy.iter().flat_map(|policy| &policy.knobs);
    let setting = |knob: &Knob| {
        let value = lane.knobs.get(&knob.name).unwrap_or(knob.value);
        SettingReport {
            name: redactor.name(NameKind::Setting, &knob.name),
            value: setting_value(knob, value, redactor),
            usual: setting_value(knob, knob.value, redactor),
            unit: if knob.choices.is_empty() {
                redactor.name(NameKind::Unit, &knob.unit)
            } else {
                ReportText::own("")
            },
            is_changed: value != knob.value,
        }
    };
    knobs.map(setting).collect()
}

fn setting_value(knob: &Knob, value: f64, redactor: &mut Redactor) -> SettingValue {
    match knob.choices.get(value.max(0.0) as usize) {
        Some(choice) => SettingValue::Choice(redactor.name(NameKind::Setting, choice)),
        None => SettingValue::Number(value),
    }
}

fn figures(case: &Case, lane: &Played, kind: CurveKind) -> Figures {
    let outcome = &lane.outcome;
    let is_reported = |call: usize| {
        let call = case.session.calls.get(call);
        kind == CurveKind::Recorded && call.is_some_and(|s| s.usage.is_some())
    };
    let accuracy = |is_reported| {
        if is_reported { Accuracy::Reported } else { case.ledger.accuracy }
    };
    let samples = &outcome.samples;
    let peak = outcome.peak();
    Figures {
        peak: peak.map(|peak| Peak {
            call: peak.call,
            tokens: peak.tokens,
            pressure: outcome.peak_share(),
            accuracy: accuracy(peak.call.is_some_and(is_reported)),
        }),
        compactions: Some(outcome.compactions),
        overflows: outcome.overflows,
        into_reserve: outcome.into_reserve(),
        sent: outcome.tokens_sent(),
        rejected: outcome.tokens_rejected,
        summaries: outcome.summaries,
        accuracy: accuracy(!samples.is_empty() && samples.iter().all(|s| is_reported(s.call))),
    }
}

fn columns(case: &Case, outcome: &Outcome) -> Vec<LaneColumn> {
    let window = case.windows.largest();
    let removes: HashSet<usize> =
        outcome.events.iter().filter(|e| e.effect == Effect::Removed).map(|e| e.call).collect();
    let each = outcome.samples.len().div_ceil(LaneReport::COLUMNS).max(1);
    let column = |samples: &[Sample]| LaneColumn {
        fill: samples.iter().map(|s| s.tokens).max().unwrap_or_default().share_of(window),
        removes: samples.iter().any(|s| removes.contains(&s.call)),
        overflows: samples.iter().any(|s| s.overflows),
    };
    outcome.samples.chunks(each).map(column).collect()
}

/// Returns the call at which the system's own count is furthest from the actual one.
fn belief(policy: &Policy, outcome: &Outcome) -> Option<Belief> {
    let has_own_count = !matches!(policy.meter.count, Count::True);
    let samples = outcome.samples.iter();
    let worst = samples.max_by_key(|s| s.metered.0.abs_diff(s.tokens.0))?;
    let is_shown = has_own_count || worst.believed.is_some();
    is_shown.then_some(Belief {
        call: worst.call,
        counted: worst.metered,
        actual: worst.tokens,
        believed: worst.believed,
        pressure: worst.pressure,
    })
}

/// Groups routine events of consecutive calls into one row.
fn rows(events: &[Event]) -> Vec<&[Event]> {
    let is_routine = |e: &Event| {
        matches!(e.effect, Effect::Nothing | Effect::Logged) || e.action == ActionKind::Repair
    };
    let goes_on = |a: &Event, b: &Event| {
        let is_same = a.stage == b.stage && a.effect == b.effect && is_routine(a);
        is_same && b.call == a.call + 1
    };
    events.chunk_by(goes_on).collect()
}

fn event_report(row: &[Event], redactor: &mut Redactor) -> EventReport {
    let event = &row[0];
    let stage = match &*event.stage {
        Event::RECORDED => ReportText::own("the recorded program"),
        _ => stage_of(event, redactor),
    };
    EventReport {
        call: event.call,
        times: row.len(),
        stage,
        action: event.action,
        effect: event.effect,
        why: redactor.cause(&event.cause),
        messages: event.n_messages(),
        before: event.before,
        after: event.after,
        request: event.request,
        orphans: event.orphans,
        log: log(event, redactor),
    }
}

/// Returns the first lines of an event's log; a system may log a whole summary.
fn log(event: &Event, redactor: &Redactor) -> Vec<ReportText> {
    let lines = event.log.iter().map(|line| {
        let first = line.lines().next().unwrap_or_default();
        let short: String = first.chars().take(MAX_LINE_CHARS).collect();
        let is_cut = short.len() < line.trim_end().len();
        if is_cut { format!("{short}…") } else { short }
    });
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines.take(MAX_LOG_LINES).map(|line| redactor.sentence(&line)).collect()
}
