//! Insights about the file itself: usage that cannot be right, windows, pairs, and how well we count.

use super::{Certainty, Facts, Insight, InsightKind, Level, percent, those};
use crate::session::{IssueKind, Usage, issues};
use crate::tokens::Basis;
use crate::units::{Share, Tokens};

/// A report that jumps by this factor and back, while our account does not, counts something twice.
const SPIKE: f64 = 1.8;
/// Our account may have grown by this much in the same call.
const STEADY: f64 = 1.3;
/// Smaller contexts are not judged.
const LEAST: Tokens = Tokens(20_000);
/// A fit that errs more than this is told.
const ERRS: f64 = 0.1;

fn insight(kind: InsightKind, level: Level, step: Option<usize>) -> Insight {
    Insight {
        kind,
        level,
        certainty: Certainty::Certain,
        lane: None,
        step,
        message: None,
        text: String::new(),
        evidence: String::new(),
        advice: "",
        stake: Tokens::ZERO,
    }
}

/// Reports that contradict themselves, or jump to about twice the context and back.
pub(super) fn impossible_usage(facts: &Facts<'_>) -> Vec<Insight> {
    let steps = &facts.case.session.steps;
    let contradicts = |usage: Usage| {
        let cached = usage.cache_read.unwrap_or_default() + usage.cache_write.unwrap_or_default();
        cached > usage.input
    };
    let wrong: Vec<usize> = (0..steps.len())
        .filter(|at| steps[*at].usage.is_some_and(contradicts))
        .collect();
    let mut found = Vec::new();
    if let Some(first) = wrong.first() {
        found.push(Insight {
            text: format!(
                "{} more cached tokens than tokens.",
                those(wrong.len(), "call reports", "calls report")
            ),
            evidence: format!("first at call {}", first + 1),
            advice: "Do not trust cost and pressure at these calls.",
            ..insight(InsightKind::ImpossibleUsage, Level::Warning, Some(*first))
        });
    }
    let samples = &facts.recorded.samples;
    let ours = |at: usize| {
        samples[at]
            .by_kind
            .iter()
            .map(|n| u64::from(*n))
            .sum::<u64>() as f64
    };
    let is_spike = |at: &usize| {
        let (before, now, after) = (samples[at - 1], samples[*at], samples[at + 1]);
        let all = [before, now, after].map(|s| s.tokens.as_f64());
        let reported = [before, now, after]
            .iter()
            .all(|s| steps.get(s.step).is_some_and(|s| s.usage.is_some()));
        let is_steady = ours(*at) <= STEADY * ours(at - 1) && ours(at + 1) <= STEADY * ours(*at);
        reported
            && before.tokens >= LEAST
            && all[1] > SPIKE * all[0]
            && all[1] > SPIKE * all[2]
            && is_steady
    };
    let spikes: Vec<usize> = (1..samples.len().saturating_sub(1))
        .filter(is_spike)
        .collect();
    if let Some(first) = spikes.first() {
        let (now, before) = (samples[*first].tokens, samples[first - 1].tokens);
        found.push(Insight {
            certainty: Certainty::Likely,
            text: format!(
                "{} about twice the context that calls before and after it report: something was counted twice.",
                those(spikes.len(), "call reports", "calls report")
            ),
            evidence: format!("{} after {} tokens at call {}", now.short(), before.short(), samples[*first].step + 1),
            advice: "A policy that triggers on reported usage fires here by mistake.",
            ..insight(InsightKind::ImpossibleUsage, Level::Warning, Some(samples[*first].step))
        });
    }
    found
}

/// More was sent than the model's window is listed with.
pub(super) fn window_mismatch(facts: &Facts<'_>) -> Vec<Insight> {
    let warnings = facts.case.windows.warnings.iter();
    warnings
        .map(|warning| Insight {
            text: format!("{warning}."),
            evidence: format!(
                "largest window taken: {}",
                facts.case.windows.largest().short()
            ),
            advice: "Set the window by hand (--window) if you know it.",
            ..insight(InsightKind::WindowMismatch, Level::Note, None)
        })
        .collect()
}

/// Calls and results without their partner in the file.
pub(super) fn orphans(facts: &Facts<'_>) -> Vec<Insight> {
    let all = issues(&facts.case.session);
    let of = |kind: IssueKind| all.iter().filter(move |issue| issue.kind == kind);
    let mut found = Vec::new();
    if let Some(first) = of(IssueKind::ResultWithoutCall).next() {
        found.push(Insight {
            message: Some(first.message),
            text: format!(
                "{} no call before it: a provider rejects such a request.",
                those(
                    of(IssueKind::ResultWithoutCall).count(),
                    "tool result has",
                    "tool results have"
                )
            ),
            evidence: format!("first in message {}", first.message + 1),
            advice: "Look at what removed the call; whoever compacts must keep both or neither.",
            ..insight(InsightKind::OrphanedPairs, Level::Bad, None)
        });
    }
    if let Some(first) = of(IssueKind::CallWithoutResult).next() {
        found.push(Insight {
            message: Some(first.message),
            text: format!(
                "{} in the file: aborted, or still running when it ends.",
                those(
                    of(IssueKind::CallWithoutResult).count(),
                    "tool call has no result",
                    "tool calls have no result"
                )
            ),
            evidence: format!("first in message {}", first.message + 1),
            advice: "An export puts a short result in their place where a format needs one.",
            ..insight(InsightKind::OrphanedPairs, Level::Note, None)
        });
    }
    found
}

/// Our count does not follow what the provider reported.
pub(super) fn counts_differ(facts: &Facts<'_>) -> Vec<Insight> {
    let ledger = &facts.case.ledger;
    let (error, what) = match (ledger.distrusted, ledger.basis) {
        (Some(fit), _) => (
            fit.error,
            "The reported usage does not belong to the text in this file: it is not gone by.",
        ),
        (None, Basis::Calibrated(error)) if error.0 > ERRS => (
            error,
            "The fit to the reported usage is rough: figures between calls are, too.",
        ),
        _ => return Vec::new(),
    };
    vec![Insight {
        text: what.to_owned(),
        evidence: format!("mean error {}", percent(Share(error.0))),
        advice: "Take single figures as rough; compare lanes with each other.",
        ..insight(InsightKind::CountsDiffer, Level::Warning, None)
    }]
}
