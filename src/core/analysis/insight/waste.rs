//! Insights about unused tokens: results no longer referenced, duplicates, and results that were too broad.

use super::breadth::Breadth;
use super::{Certainty, Insight, InsightInput, InsightKind, Level, counted, those, whole_percent};
use crate::analysis::attribution::{SourceKind, SourceRow};
use crate::analysis::resent::ResentMessage;
use crate::analysis::tools::AnsweredCall;
use crate::figure::{grouped, usd};
use crate::session::Kind;
use crate::units::{Tokens, Usd};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Minimum share of all sent tokens to report. Chosen: removing less changes the cost of a session by less than the
/// error of most calibrations. In two recorded sessions, results after their last use were 9 % and 12 % of all tokens
/// sent.
const REPORTED: f64 = 0.02;
/// Minimum tokens of a result. Chosen: clearing a smaller one saves little, and rewrites the cached prefix all the
/// same.
const LARGE: Tokens = Tokens(1_000);
/// Number of calls after its last use from which a resent result counts as dead. Chosen: at fewer, the agent may still
/// work with it without naming it.
const RESENT: usize = 5;
/// Minimum tokens of broad results. Chosen: about 400 lines of code or paths, more than an agent reads to find a single
/// one.
const BROAD: Tokens = Tokens(4_000);
/// Maximum share of the lines of a broad result that is named later. Chosen: at a tenth, a search that is ten times
/// narrower would have done. A whole file that was edited in one place is below it, and is reported.
const MAX_NAMED: f64 = 0.1;

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
        input: &InsightInput<'_>,
        mut unused: Vec<ResentMessage>,
        what: impl FnOnce(&[ResentMessage]) -> String,
    ) -> Vec<Insight> {
        unused.sort_by_key(|v| (Reverse(v.cumulative()), v.message));
        let all: Tokens = unused.iter().map(ResentMessage::cumulative).sum();
        let share = input.share_of_sent(all);
        let Some(first) = unused.first().filter(|_| share.0 >= REPORTED) else {
            return Vec::new();
        };
        vec![Insight {
            call: input.case.session.first_call_with(first.message),
            message: Some(first.message),
            text: format!("{}: {} of all tokens sent.", what(&unused), whole_percent(share)),
            evidence: format!("{} tokens × calls; {}", all.short(), examples(input, &unused)),
            advice: self.advice,
            stake: all,
            ..Insight::new(self.kind, Level::Warning, self.certainty)
        }]
    }
}

impl InsightInput<'_> {
    /// Returns a result and the calls that sent it.
    fn result(&self, used: &AnsweredCall<'_>) -> ResentMessage {
        ResentMessage { tokens: used.tokens, ..self.resent.messages[used.message] }
    }
}

fn examples(input: &InsightInput<'_>, unused: &[ResentMessage]) -> String {
    let one = |v: &ResentMessage| {
        format!("{} ({} × {})", input.name(v.message), v.tokens.short(), v.calls)
    };
    unused.iter().take(3).map(one).collect::<Vec<_>>().join(", ")
}

/// Reports large results that were resent after their last use.
pub(super) fn dead_results(input: &InsightInput<'_>) -> Vec<Insight> {
    let unused = input.tools.iter().filter(|used| used.tokens >= LARGE).filter_map(|used| {
        let calls = input.calls_after(used.message, input.uses.of_message(used.message));
        (calls >= RESENT).then_some(ResentMessage { calls, ..input.result(used) })
    });
    let waste = Waste {
        kind: InsightKind::DeadResults,
        certainty: Certainty::Inferred,
        advice: "Clear old tool results, or write large ones to a file and keep a reference.",
    };
    waste.insight(input, unused.collect(), |unused| {
        let is_never = |v: &&ResentMessage| input.uses.of_message(v.message).is_none();
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
pub(super) fn duplicate_results(input: &InsightInput<'_>) -> Vec<Insight> {
    let repeats = &input.case.index.repeats;
    let mut seen: HashMap<usize, usize> = HashMap::new();
    let mut unused = Vec::new();
    for used in input.tools.iter().filter(|used| used.tokens >= Tokens(300)) {
        let first = repeats.identical(used.part).unwrap_or(used.part);
        let earlier = seen.insert(first, used.message);
        let resent = input.result(used);
        let joined = input.case.session.first_call_with(used.message);
        let is_there = |earlier: usize| input.resent.messages[earlier].last >= joined;
        if earlier.is_some_and(is_there) && resent.calls > 0 {
            unused.push(resent);
        }
    }
    let waste = Waste {
        kind: InsightKind::DuplicateResults,
        certainty: Certainty::Certain,
        advice: "Keep only the newest of identical results, or let the tool report that nothing changed.",
    };
    waste.insight(input, unused, |unused| {
        format!(
            "{} that was still in the context",
            those(unused.len(), "call returned a result", "calls returned a result")
        )
    })
}

/// Reports large reads, listings and searches of which few lines were named later.
pub(super) fn broad_results(input: &InsightInput<'_>) -> Vec<Insight> {
    let broad = |used: &AnsweredCall<'_>| {
        let breadth = used.breadth().filter(|_| used.tokens >= BROAD)?;
        let lines = input.uses.lines(used.message, used.text);
        // If fewer than 20 lines hold a name, one of them decides about the share, so their use is unknown.
        let is_unused = lines.used_later as f64 <= MAX_NAMED * lines.all as f64;
        let is_reported = lines.all >= 20 && is_unused;
        let unused = ResentMessage {
            tokens: Tokens((used.tokens.as_f64() * (1.0 - MAX_NAMED)) as u64),
            ..input.result(used)
        };
        (is_reported && unused.calls >= RESENT).then_some((breadth, unused))
    };
    let all: Vec<(Breadth, ResentMessage)> = input.tools.iter().filter_map(broad).collect();
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
    waste.insight(input, unused, |_| {
        format!("{} of which at most one line in ten was named later", kinds.join(", "))
    })
}

/// Reports images and documents, which are resent with every call.
pub(super) fn images(input: &InsightInput<'_>) -> Vec<Insight> {
    let index = &input.case.index;
    let media = index.kinds.iter().enumerate().filter(|(_, kind)| **kind == Kind::Media);
    let unused = media.map(|(part, _)| {
        let message = index.message_of[part] as usize;
        ResentMessage { tokens: input.case.ledger.part(part), ..input.resent.messages[message] }
    });
    let unused: Vec<ResentMessage> = unused.filter(|v| v.calls >= RESENT).collect();
    let waste = Waste {
        kind: InsightKind::ImagesResent,
        certainty: Certainty::Likely,
        advice: "Remove images after their first use, or replace them with a description.",
    };
    waste.insight(input, unused, |unused| {
        format!(
            "{} resent with every later call",
            those(unused.len(), "image or document", "images or documents")
        )
    })
}

/// Reports definitions of tools that every call sends and none used: by MCP server, and those of the program together.
pub(super) fn unused_tools(input: &InsightInput<'_>) -> Vec<Insight> {
    let Some(attribution) = input.attribution else {
        return Vec::new();
    };
    let (servers, own): (Vec<&SourceRow>, Vec<&SourceRow>) =
        attribution.unused().partition(|row| row.source.kind == SourceKind::Server);
    let mut found = Vec::new();
    for row in servers {
        found.extend(unused(input, &row.source.name, std::slice::from_ref(&row), row.tools));
    }
    let n_own = own.len();
    // A tool of the program cannot always be switched off.
    found.extend(unused(input, "the program", &own, n_own).map(|own| Insight {
        level: Level::Note,
        advice: "Allow only the tools that the task needs, if the program has such a setting.",
        ..own
    }));
    found
}

/// Returns the insight about unused tools of one origin if their share is large.
fn unused(
    input: &InsightInput<'_>,
    origin: &str,
    rows: &[&SourceRow],
    n_tools: usize,
) -> Option<Insight> {
    let all: Tokens = rows.iter().map(|row| row.cumulative).sum();
    let share = input.share_of_sent(all);
    let message = rows.iter().filter_map(|row| row.message).min()?;
    if share.0 < REPORTED {
        return None;
    }
    let tokens: Tokens = rows.iter().map(|row| row.tokens).sum();
    let calls = rows.iter().map(|row| row.calls).max().unwrap_or_default();
    let paid: Option<Usd> = rows.iter().map(|row| row.usd).sum();
    let price = paid.map_or_else(String::new, |paid| format!(": {} over this session", usd(paid)));
    Some(Insight {
        call: input.case.session.first_call_with(message),
        message: Some(message),
        text: format!(
            "{origin}: {}, {} tokens in {}, never used{price}.",
            counted(n_tools, "tool"),
            grouped(tokens.0),
            counted(calls, "call"),
        ),
        evidence: format!(
            "{} tokens × calls, {} of all tokens sent",
            all.short(),
            whole_percent(share)
        ),
        advice: "Switch the server off for this project, or let the program load its tools when they are needed.",
        stake: all,
        ..Insight::new(InsightKind::UnusedTools, Level::Warning, Certainty::Certain)
    })
}
