//! Insights about a policy's run: its findings, limits proven before it runs, and whether its compactions pay.

use super::{Certainty, Insight, InsightKind, Level, advice, counted, sort};
use crate::analysis::cost::BreakEven;
use crate::analysis::lower_bound::{self, LowerBounds};
use crate::analysis::{Finding, FindingKind};
use crate::engine::{Case, KnobValues, Outcome, Policy, Warning};
use crate::units::Usd;

/// A policy with its run.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a> {
    /// Name of the lane.
    pub name: &'a str,
    /// The policy.
    pub policy: &'a Policy,
    /// Values of the policy's settings.
    pub knobs: &'a KnobValues,
    /// Outcome of the run.
    pub outcome: &'a Outcome,
    /// Findings of the run.
    pub findings: &'a [Finding],
    /// Costs and savings of the compactions.
    pub break_even: &'a [BreakEven],
}

/// Returns the insights about a run, worst first.
pub fn lane_insights(case: &Case, lane: Lane<'_>) -> Vec<Insight> {
    let mut found: Vec<Insight> =
        lane.findings.iter().map(|finding| of_finding(&lane, finding)).collect();
    let proof = cannot_get_below(case, &lane);
    // A proof replaces the findings that it explains.
    found.retain(|f| proof.is_none() || f.kind != InsightKind::Finding(FindingKind::Thrashing));
    found.extend(proof);
    found.extend(summary_too_long(case, &lane));
    found.extend(not_paid(&lane));
    found.extend(lane.outcome.warnings.iter().map(|warning| odd(&lane, warning)));
    sort(&mut found);
    found
}

fn of_lane(lane: &Lane<'_>, kind: InsightKind, level: Level) -> Insight {
    Insight { lane: Some(lane.name.to_owned()), ..Insight::new(kind, level, Certainty::Certain) }
}

fn of_finding(lane: &Lane<'_>, finding: &Finding) -> Insight {
    Insight {
        text: finding.text.clone(),
        evidence: match finding.times {
            1 => format!("at call {}", finding.call + 1),
            times => format!("{times} times, first at call {}", finding.call + 1),
        },
        advice: advice::advice(finding.kind),
        call: Some(finding.call),
        ..of_lane(lane, InsightKind::Finding(finding.kind), advice::level(finding.kind))
    }
}

/// Reports a warning of the run, at its call.
fn odd(lane: &Lane<'_>, warning: &Warning) -> Insight {
    let call = warning.call.filter(|call| *call < lane.outcome.samples.len());
    let text = match call {
        Some(_) => warning.text.clone(),
        None => warning.to_string(),
    };
    Insight { call, text, ..of_lane(lane, InsightKind::Odd, Level::Warning) }
}

/// Reports a policy whose minimum context is above its trigger, proven from its settings and the session.
fn cannot_get_below(case: &Case, lane: &Lane<'_>) -> Option<Insight> {
    let floors = LowerBounds::new(case);
    let stuck = floors.stuck(lane.policy, lane.knobs)?;
    let calls = format!(
        "from call {} on, the content that it always keeps is above it, at {} in a row, {} in total.",
        stuck.call + 1,
        counted(stuck.in_a_row, "call"),
        stuck.in_all
    );
    // The recommendation rules out settings with a bad insight.
    let (level, text, advice) = if lower_bound::waits_for_minimum(lane.policy) {
        (
            Level::Note,
            format!("Its trigger is always met: {calls} It acts whenever it can remove enough."),
            "The minimum to remove decides when it acts. Raise the trigger if it is to act later.",
        )
    } else {
        let level = match floors.hopeless(lane.policy, lane.knobs) {
            Some(_) => Level::Bad,
            None => Level::Warning,
        };
        (
            level,
            format!("It cannot get below its own trigger: {calls}"),
            "Keep fewer messages or tokens, raise the trigger, or add a stage that summarizes.",
        )
    };
    Some(Insight {
        text,
        evidence: format!(
            "always keeps at least {} tokens; the trigger is at {}",
            stuck.least.short(),
            stuck.limit.short()
        ),
        advice,
        call: Some(stuck.call),
        ..of_lane(lane, InsightKind::CannotGetBelow, level)
    })
}

/// Reports summary requests that overflow the window.
fn summary_too_long(case: &Case, lane: &Lane<'_>) -> Option<Insight> {
    let requests = || {
        lane.outcome.events.iter().filter_map(|event| {
            let request = event.request?;
            let window = case.windows.at(event.call);
            (request.total() > window).then_some((event.call, request.sent, window))
        })
    };
    let (call, sent, window) = requests().next()?;
    Some(Insight {
        text: format!(
            "{} for a summary would overflow the context window.",
            counted(requests().count(), "request")
        ),
        evidence: format!(
            "{} tokens in a window of {} at call {}",
            sent.short(),
            window.short(),
            call + 1
        ),
        advice: "Compact earlier, clear tool results first, or summarize in pieces.",
        call: Some(call),
        ..of_lane(lane, InsightKind::SummaryTooLong, Level::Bad)
    })
}

/// Reports compactions that cost more than they saved by the end of the session.
fn not_paid(lane: &Lane<'_>) -> Option<Insight> {
    let unpaid: Vec<&BreakEven> =
        lane.break_even.iter().filter(|b| b.has_paid() == Some(false)).collect();
    let first = unpaid.first()?;
    let short_of = |b: &BreakEven| {
        let saved = b.per_call.map_or(0.0, |usd| usd.0) * b.left as f64;
        Usd(b.once.map_or(0.0, |usd| usd.0) - saved)
    };
    let lost: Usd = unpaid.iter().map(|b| short_of(b)).sum();
    // The last compaction before the end rarely pays; a few cents are not reported.
    if unpaid.len() < 2 && lost.0 < 0.05 {
        return None;
    }
    let they = if unpaid.len() == 1 { "it" } else { "they" };
    Some(Insight {
        certainty: Certainty::Likely,
        text: format!(
            "{} of {} cost more than {they} saved by the session's end.",
            unpaid.len(),
            counted(lane.break_even.len(), "compaction")
        ),
        evidence: format!(
            "${:.2} lost in total; the one at call {} breaks even after {:.1} calls, {} were left",
            lost.0,
            first.call + 1,
            first.calls.unwrap_or_default(),
            first.left
        ),
        advice: "Remove more at once and less often, or compact right after a pause, when the cache has expired.",
        call: Some(first.call),
        ..of_lane(lane, InsightKind::NotPaid, Level::Note)
    })
}
