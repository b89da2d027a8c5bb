//! Insights about unused tokens: results no longer referenced, duplicates, and results that were too broad.

use super::tool_use::{Breadth, ToolUse};
use super::{Certainty, Facts, Insight, InsightKind, Level, counted, those, whole_percent};
use crate::session::Kind;
use crate::units::Tokens;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Minimum share of all sent tokens to report.
const REPORTED: f64 = 0.02;
/// Minimum tokens of a result.
const LARGE: Tokens = Tokens(1_000);
/// Number of calls after its last use from which a resent result counts as dead.
const RESENT: usize = 5;
/// Minimum tokens of broad results, and the maximum share of their lines that is named later.
const WIDE: (Tokens, f64) = (Tokens(4_000), 0.1);

/// A result that was resent without use.
#[derive(Clone, Copy, Debug)]
struct UnusedResult {
    message: usize,
    tokens: Tokens,
    calls: usize,
}

impl UnusedResult {
    fn sent(&self) -> Tokens {
        Tokens(self.tokens.0.saturating_mul(self.calls as u64))
    }
}

/// Kinds of unused results.
struct Waste {
    kind: InsightKind,
    certainty: Certainty,
    advice: &'static str,
}

impl Waste {
    /// Returns the insight about unused results if their share is large. `what` describes them, largest first.
    fn insight(
        self,
        facts: &Facts<'_>,
        mut unused: Vec<UnusedResult>,
        what: impl FnOnce(&[UnusedResult]) -> String,
    ) -> Vec<Insight> {
        unused.sort_by_key(|v| (Reverse(v.sent()), v.message));
        let all: Tokens = unused.iter().map(UnusedResult::sent).sum();
        let share = facts.share_of_sent(all);
        let Some(first) = unused.first().filter(|_| share.0 >= REPORTED) else {
            return Vec::new();
        };
        vec![Insight {
            kind: self.kind,
            level: Level::Warning,
            certainty: self.certainty,
            lane: None,
            call: first_call(facts, first.message),
            message: Some(first.message),
            text: format!(
                "{}: {} of all tokens sent.",
                what(&unused),
                whole_percent(share)
            ),
            evidence: format!(
                "{} tokens × calls; {}",
                all.short(),
                examples(facts, &unused)
            ),
            advice: self.advice,
            stake: all,
        }]
    }
}

fn examples(facts: &Facts<'_>, unused: &[UnusedResult]) -> String {
    let one = |v: &UnusedResult| {
        format!(
            "{} ({} × {})",
            facts.name(v.message),
            v.tokens.short(),
            v.calls
        )
    };
    unused
        .iter()
        .take(3)
        .map(one)
        .collect::<Vec<_>>()
        .join(", ")
}

fn first_call(facts: &Facts<'_>, message: usize) -> Option<usize> {
    facts
        .case
        .session
        .calls
        .iter()
        .position(|call| call.context_end > message)
}

/// Reports large results that were resent after their last use.
pub(super) fn dead_results(facts: &Facts<'_>) -> Vec<Insight> {
    let unused = facts
        .tools
        .iter()
        .filter(|used| used.tokens >= LARGE)
        .filter_map(|used| {
            let calls = facts.calls_after(used.message, facts.uses.of_message(used.message));
            (calls >= RESENT).then_some(UnusedResult {
                message: used.message,
                tokens: used.tokens,
                calls,
            })
        });
    let waste = Waste {
        kind: InsightKind::DeadResults,
        certainty: Certainty::Inferred,
        advice: "Clear old tool results, or write large ones to a file and keep a reference.",
    };
    waste.insight(facts, unused.collect(), |unused| {
        let is_never = |v: &&UnusedResult| facts.uses.of_message(v.message).is_none();
        format!(
            "{} resent after the last use of {} content{}",
            counted(unused.len(), "large tool result"),
            if unused.len() == 1 { "its" } else { "their" },
            match unused.iter().filter(is_never).count() {
                0 => String::new(),
                n => format!(" ({n} never used)"),
            },
        )
    })
}

/// Reports repeated calls with an identical result that was still in the context.
pub(super) fn duplicate_results(facts: &Facts<'_>) -> Vec<Insight> {
    let mut seen: HashMap<(&str, &str, &str), usize> = HashMap::new();
    let mut unused = Vec::new();
    for used in facts.tools.iter().filter(|used| used.tokens >= Tokens(300)) {
        let key = (used.tool, used.arguments, used.text);
        let earlier = seen.insert(key, used.message);
        let resent = facts.resent.messages[used.message];
        let joined = first_call(facts, used.message);
        let is_there = |earlier: usize| facts.resent.messages[earlier].last >= joined;
        if earlier.is_some_and(is_there) && resent.calls > 0 {
            unused.push(UnusedResult {
                message: used.message,
                tokens: used.tokens,
                calls: resent.calls,
            });
        }
    }
    let waste = Waste {
        kind: InsightKind::DuplicateResults,
        certainty: Certainty::Certain,
        advice: "Keep only the newest of identical results, or let the tool report that nothing changed.",
    };
    waste.insight(facts, unused, |unused| {
        format!(
            "{} that was still in the context",
            those(
                unused.len(),
                "call returned a result",
                "calls returned a result"
            )
        )
    })
}

/// Reports large reads, listings and searches of which few lines were named later.
pub(super) fn broad_results(facts: &Facts<'_>) -> Vec<Insight> {
    let wide = |used: &ToolUse<'_>| {
        let breadth = used.breadth().filter(|_| used.tokens >= WIDE.0)?;
        let (named_later, named) = facts.uses.lines(used.message, used.text);
        // If few lines hold a name, their use is unknown.
        let is_reported = named >= 20 && named_later as f64 <= WIDE.1 * named as f64;
        let calls = facts.resent.messages[used.message].calls;
        let unused = Tokens((used.tokens.as_f64() * (1.0 - WIDE.1)) as u64);
        let unused = UnusedResult {
            message: used.message,
            tokens: unused,
            calls,
        };
        (is_reported && calls >= RESENT).then_some((breadth, unused))
    };
    let all: Vec<(Breadth, UnusedResult)> = facts.tools.iter().filter_map(wide).collect();
    let count = |breadth: Breadth| all.iter().filter(|(known, _)| *known == breadth).count();
    let kinds = [
        (Breadth::WholeFile, "whole-file read", "whole-file reads"),
        (Breadth::Listing, "recursive listing", "recursive listings"),
        (Breadth::Search, "broad search", "broad searches"),
    ];
    let kinds = kinds.map(|(breadth, one, many)| (count(breadth), one, many));
    let kinds = kinds.iter().filter(|(n, ..)| *n > 0);
    let kinds: Vec<String> = kinds.map(|(n, one, many)| those(*n, one, many)).collect();
    let unused = all.iter().map(|(_, unused)| *unused).collect();
    let waste = Waste {
        kind: InsightKind::BroadResults,
        certainty: Certainty::Inferred,
        advice: "Request a range of lines, one folder, or the first matches; limit the size of results.",
    };
    waste.insight(facts, unused, |_| {
        format!(
            "{} of which at most one line in ten was named later",
            kinds.join(", ")
        )
    })
}

/// Reports images and documents, which are resent with every call.
pub(super) fn images(facts: &Facts<'_>) -> Vec<Insight> {
    let index = &facts.case.index;
    let media = index
        .kinds
        .iter()
        .enumerate()
        .filter(|(_, kind)| **kind == Kind::Media);
    let unused = media.map(|(part, _)| {
        let message = index.message_of[part] as usize;
        UnusedResult {
            message,
            tokens: facts.case.ledger.part(part),
            calls: facts.resent.messages[message].calls,
        }
    });
    let unused: Vec<UnusedResult> = unused.filter(|v| v.calls >= RESENT).collect();
    let waste = Waste {
        kind: InsightKind::ImagesResent,
        certainty: Certainty::Likely,
        advice: "Remove images after their first use, or replace them with a description.",
    };
    waste.insight(facts, unused, |unused| {
        format!(
            "{} resent with every later call",
            those(unused.len(), "image or document", "images or documents")
        )
    })
}
