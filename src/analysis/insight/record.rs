//! Insights about the file itself: usage that cannot be right, windows, pairs, and how well we count.

use super::{Certainty, Facts, Insight, InsightKind, Level, percent, those};
use crate::session::{IssueKind, Usage, issues};
use crate::tokens::Basis;
use crate::units::{Share, Tokens};

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

/// Reports that contradict themselves, or were left out since they cannot be right.
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
    let left_out = || (0..steps.len()).filter_map(|at| Some((at, steps[at].left_out?)));
    let worst = left_out().map(|(_, left_out)| left_out.times);
    if let Some((first, reported)) = left_out().next() {
        let n = left_out().count();
        let up_to = if n == 1 { "" } else { "up to " };
        let times = worst.fold(0.0, f64::max);
        found.push(Insight {
            certainty: Certainty::Likely,
            text: format!(
                "{} {up_to}{} times the context that calls around it report: that cannot be right, and is left out of all figures.",
                those(n, "call reports", "calls report"),
                if times < 10.0 { format!("{times:.1}") } else { format!("{times:.0}") },
            ),
            evidence: format!(
                "{} tokens reported at call {}, {:.1} times what is around it",
                reported.reported.short(),
                first + 1,
                reported.times
            ),
            advice: "A policy that triggers on reported usage fires here by mistake.",
            ..insight(InsightKind::ImpossibleUsage, Level::Warning, Some(first))
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
                "{}: a provider rejects such a request.",
                those(
                    of(IssueKind::ResultWithoutCall).count(),
                    "tool result has no call before it",
                    "tool results have no call before them"
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
