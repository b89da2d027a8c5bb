//! Insights about recorded compactions and the provider's cache.

use super::{Certainty, Facts, Insight, InsightKind, Level, counted, those, whole_percent};
use crate::analysis::cost::{Break, Cause};
use crate::units::{Share, Tokens};
use std::collections::HashSet;

/// Smallest share freed by a useful compaction.
const LITTLE: f64 = 0.15;
/// Smallest share of all sent tokens for which cache misses are reported.
const BREAKS: f64 = 0.02;
/// Messages after a compaction in which repeated calls are counted, and the minimum number to report.
const AGAIN: (usize, usize) = (40, 3);

/// Reports recorded compactions that freed little or nothing.
pub(super) fn grew_or_freed_little(facts: &Facts<'_>) -> Vec<Insight> {
    let mut found = Vec::new();
    for event in &facts.recorded.events {
        let freed = Share(1.0 - event.after.as_f64() / event.before.as_f64().max(1.0));
        if freed.0 >= LITTLE || event.before == Tokens::ZERO {
            continue;
        }
        let grew = event.after >= event.before;
        let compaction = facts
            .case
            .session
            .compactions
            .iter()
            .find(|c| c.call == event.call);
        let is_reported = compaction.is_some_and(|c| c.tokens_before.and(c.tokens_after).is_some());
        let what = if grew {
            "made the context no smaller"
        } else {
            "freed little"
        };
        found.push(Insight {
            kind: if grew {
                InsightKind::CompactionGrew
            } else {
                InsightKind::CompactionFreedLittle
            },
            level: if grew { Level::Bad } else { Level::Warning },
            certainty: if is_reported {
                Certainty::Certain
            } else {
                Certainty::Likely
            },
            lane: None,
            call: Some(
                event
                    .call
                    .min(facts.case.session.calls.len().saturating_sub(1)),
            ),
            message: None,
            text: if event.call < facts.case.session.calls.len() {
                let call = event.call + 1;
                format!("The recorded compaction before call {call} {what}.")
            } else {
                format!("The recorded compaction after the last call {what}.")
            },
            evidence: format!("{} → {} tokens", event.before.short(), event.after.short()),
            advice: "Keep less of the newest messages, or clear tool results before summarizing.",
            stake: Tokens::ZERO,
        });
    }
    found
}

/// Reports calls that were repeated soon after a compaction removed their results.
pub(super) fn repeated_calls(facts: &Facts<'_>) -> Vec<Insight> {
    let mut found = Vec::new();
    let session = &facts.case.session;
    for compaction in &session.compactions {
        let (at, call) = (compaction.before_message, compaction.call);
        let split = facts.tools.partition_point(|used| used.message < at);
        let (before, after) = facts.tools.split_at(split);
        let kept = |message: &usize| compaction.kept.contains(message);
        let gone = before.iter().filter(|used| !kept(&used.message));
        let known: HashSet<(&str, &str)> = gone.map(|used| (used.tool, used.arguments)).collect();
        let soon = after.iter().take_while(|used| used.message < at + AGAIN.0);
        let again: Vec<_> = soon
            .filter(|used| known.contains(&(used.tool, used.arguments)))
            .collect();
        let Some(first) = again.first().filter(|_| again.len() >= AGAIN.1) else {
            continue;
        };
        let tokens: Tokens = again.iter().map(|used| used.tokens).sum();
        found.push(Insight {
            kind: InsightKind::RepeatedCalls,
            level: Level::Note,
            certainty: Certainty::Certain,
            lane: None,
            call: Some(call),
            message: Some(first.message),
            text: format!(
                "{} an earlier call within {} messages after the compaction before call {}.",
                those(again.len(), "call repeats", "calls repeat"),
                AGAIN.0,
                call + 1
            ),
            evidence: format!(
                "{} tokens came back, first by {}",
                tokens.short(),
                facts.name(first.message)
            ),
            advice: "Keep files in use through a compaction, or name them in its summary.",
            stake: tokens,
        });
    }
    found
}

/// Reports calls that did not read an earlier prefix from the cache.
pub(super) fn cache_breaks(facts: &Facts<'_>) -> Vec<Insight> {
    let breaks = facts.audit.map_or(&[][..], |audit| &audit.breaks);
    let is_reported = |b: &&Break| facts.share_of_sent(b.tokens).0 >= BREAKS;
    let reported = breaks
        .iter()
        .filter(is_reported)
        .filter(|b| b.cause != Cause::Compaction);
    reported
        .map(|found| Insight {
            kind: InsightKind::CacheBreaks,
            level: Level::Warning,
            certainty: Certainty::Certain,
            lane: None,
            call: Some(found.first),
            message: None,
            text: format!(
                "{} missed the provider's cache: {}.",
                counted(found.calls, "call"),
                because(found.cause)
            ),
            evidence: format!(
                "{} tokens resent at the full input price, {} of all tokens sent{}",
                found.tokens.short(),
                whole_percent(facts.share_of_sent(found.tokens)),
                found
                    .usd
                    .map_or(String::new(), |usd| format!(", ${:.2} more", usd.0))
            ),
            advice: advice(found.cause),
            stake: found.tokens,
        })
        .collect()
}

fn because(cause: Cause) -> &'static str {
    match cause {
        Cause::Compaction => "the history had been compacted",
        Cause::ModelChange => "another model answered",
        Cause::EffortChange => "the reasoning effort changed",
        Cause::ToolChange => "tool definitions were added",
        Cause::Gap => "the pause was longer than the cache lifetime",
        Cause::Abort => "the call before was aborted or failed",
        Cause::UserTurn => "a new user message, which often changes earlier reasoning or reminders",
        Cause::Unexplained => "no cause found in the file",
    }
}

fn advice(cause: Cause) -> &'static str {
    match cause {
        Cause::Gap => {
            "Request the longer cache lifetime, or compact right after a pause, when it costs nothing extra."
        }
        Cause::ModelChange => {
            "Change models when the context is small, such as right after a compaction."
        }
        Cause::EffortChange => {
            "Change the effort when the context is small, such as right after a compaction."
        }
        Cause::ToolChange => "Load all tools at the start.",
        Cause::Compaction | Cause::Abort | Cause::UserTurn | Cause::Unexplained => {
            "Keep the start of the prompt unchanged from call to call; put changing content at its end."
        }
    }
}
