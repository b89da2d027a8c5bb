//! Insights about the file: impossible usage, windows, unpaired calls and results, and the accuracy of the counts.

use super::{Certainty, Insight, InsightInput, InsightKind, Level, those, whole_percent};
use crate::session::{ImplausibleUsage, IssueKind, Usage, issues};
use crate::tokens::Accuracy;
use crate::units::Share;

/// Error of the calibration from which it is reported. Chosen: at 10 %, the fill of a window of 200,000 tokens is
/// uncertain by 20,000 tokens, a large result. The fits of two complete recorded sessions were off by 2 % and 3 %.
const ERRS: f64 = 0.1;

/// Reports usage that contradicts itself or is impossible and therefore ignored.
pub(super) fn impossible_usage(input: &InsightInput<'_>) -> Vec<Insight> {
    let calls = &input.case.session.calls;
    let contradicts = |usage: Usage| {
        let cached = usage.cache_read.unwrap_or_default() + usage.cache_write.unwrap_or_default();
        cached > usage.input
    };
    let wrong: Vec<usize> =
        (0..calls.len()).filter(|at| calls[*at].usage.is_some_and(contradicts)).collect();
    let mut found = Vec::new();
    if let Some(first) = wrong.first() {
        found.push(Insight {
            text: format!(
                "{} more cached tokens than input tokens.",
                those(wrong.len(), "call reports", "calls report")
            ),
            evidence: format!("first at call {}", first + 1),
            advice: "Do not trust cost and pressure at these calls.",
            call: Some(*first),
            ..Insight::new(InsightKind::ImpossibleUsage, Level::Warning, Certainty::Certain)
        });
    }
    let left_out = || (0..calls.len()).filter_map(|at| Some((at, calls[at].left_out?)));
    let is_placeholder = |(_, left_out): &(usize, ImplausibleUsage)| left_out.times.is_none();
    if let Some((first, placeholder)) = left_out().find(is_placeholder) {
        found.push(Insight {
            text: format!(
                "{} calls report {} input tokens each although the conversation grows: this is a placeholder and is \
                 ignored in all figures.",
                left_out().filter(is_placeholder).count(),
                placeholder.reported.short(),
            ),
            evidence: format!("first at call {}", first + 1),
            advice: "A policy that uses reported usage never compacts here. Record with a client that reports real usage.",
            call: Some(first),
            ..Insight::new(InsightKind::ImpossibleUsage, Level::Warning, Certainty::Certain)
        });
    }
    let ratios = || left_out().filter_map(|(at, found)| Some((at, found.reported, found.times?)));
    if let Some((first, reported, first_times)) = ratios().next() {
        let n = ratios().count();
        let up_to = if n == 1 { "" } else { "up to " };
        let times = ratios().map(|(_, _, times)| times).fold(0.0, f64::max);
        found.push(Insight {
            text: format!(
                "{} {up_to}{} times the context of adjacent calls: this is impossible and is ignored in all figures.",
                those(n, "call reports", "calls report"),
                if times < 10.0 { format!("{times:.1}") } else { format!("{times:.0}") },
            ),
            evidence: format!(
                "{} tokens reported at call {}, {first_times:.1} times the adjacent calls",
                reported.short(),
                first + 1
            ),
            advice: "A policy that uses reported usage would compact here by mistake.",
            call: Some(first),
            ..Insight::new(InsightKind::ImpossibleUsage, Level::Warning, Certainty::Likely)
        });
    }
    found
}

/// Reports answers that stopped because they reached their maximum length.
pub(super) fn cut_answers(input: &InsightInput<'_>) -> Vec<Insight> {
    let calls = &input.case.session.calls;
    let cut = || (0..calls.len()).filter_map(|at| Some((at, calls[at].cut?)));
    let Some((first, _)) = cut().next() else {
        return Vec::new();
    };
    let n = those(cut().count(), "answer", "answers");
    let context = |call: usize| {
        let sample = input.recorded.samples.iter().find(|s| s.call == call)?;
        Some((sample.tokens, sample.window))
    };
    let evidence = context(first).map_or_else(String::new, |(tokens, window)| {
        format!(
            "first at call {}, with {} tokens in the context; the window is {}",
            first + 1,
            tokens.short(),
            window.short()
        )
    });
    let own = cut().find_map(|(call, cut)| Some((call, cut.window?)));
    let (text, advice) = match own {
        Some((_, window)) => (
            format!(
                "{n} stopped for the length: the program's own limit is a context of {} tokens.",
                window.short()
            ),
            "Set the program's context window to the model's, or compact earlier: it allows an answer only what its own window has left.",
        ),
        None => (
            format!("{n} stopped for the length before they were complete."),
            "Allow longer answers, or compact earlier: a tool call that is cut off fails.",
        ),
    };
    vec![Insight {
        text,
        evidence,
        advice,
        call: Some(first),
        ..Insight::new(InsightKind::AnswerCut, Level::Warning, Certainty::Certain)
    }]
}

/// Reports calls that exceed the listed context window of the model.
pub(super) fn window_mismatch(input: &InsightInput<'_>) -> Vec<Insight> {
    let warnings = input.case.windows.warnings.iter();
    warnings
        .map(|warning| Insight {
            text: format!("{warning}."),
            evidence: format!("largest window assumed: {}", input.case.windows.largest().short()),
            advice: "Set the context window with --window if you know it.",
            ..Insight::new(InsightKind::WindowMismatch, Level::Note, Certainty::Certain)
        })
        .collect()
}

/// Reports calls without results and results without calls.
pub(super) fn orphans(input: &InsightInput<'_>) -> Vec<Insight> {
    let all = issues(&input.case.session);
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
            advice: "Find what removed the call: a compaction must keep both or neither.",
            ..Insight::new(InsightKind::OrphanedPairs, Level::Bad, Certainty::Certain)
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
            advice: "An export adds a short result if the format requires one.",
            ..Insight::new(InsightKind::OrphanedPairs, Level::Note, Certainty::Certain)
        });
    }
    found
}

/// Reports counts that differ from the provider's.
pub(super) fn counts_differ(input: &InsightInput<'_>) -> Vec<Insight> {
    let ledger = &input.case.ledger;
    let is_assumed = ledger.fit.is_some_and(|fit| fit.is_assumed());
    let (error, what) = match (ledger.distrusted, ledger.accuracy) {
        (Some(fit), _) => (
            fit.error,
            "The reported usage does not match the text in this file, so counts of messages and lanes are not calibrated \
             with it.",
        ),
        (None, Accuracy::Calibrated(error)) if error.0 > ERRS && is_assumed => {
            (error, "Too few calls report usage for a calibration, so the error is assumed.")
        }
        (None, Accuracy::Calibrated(error)) if error.0 > ERRS => (
            error,
            "Token counts are poorly calibrated to the reported usage, so figures between calls are rough.",
        ),
        _ => return Vec::new(),
    };
    vec![Insight {
        text: what.to_owned(),
        evidence: format!("mean error {}", whole_percent(Share(error.0))),
        advice: "Single figures are rough; compare lanes with each other.",
        ..Insight::new(InsightKind::CountsDiffer, Level::Warning, Certainty::Certain)
    }]
}
