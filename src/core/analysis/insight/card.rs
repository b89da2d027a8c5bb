//! The verdict card: the verdict, the messages that fill the context, the cache, and the accuracy of the counts.

use super::course::FEW;
use super::{InsightInput, those, whole_percent};
use crate::analysis::{Clause, Link, verdict};
use crate::tokens::Accuracy;
use crate::units::{Share, Tokens, Usd};

/// Returns the verdict and the statements that follow it, with links.
pub fn card(input: &InsightInput<'_>) -> Vec<Clause> {
    let mut clauses =
        verdict(input.case, input.recorded, input.output_reserve, &input.trigger).clauses;
    clauses.extend(card_statements(input));
    clauses
}

/// Returns the statements of the card that follow the verdict.
pub fn card_statements(input: &InsightInput<'_>) -> Vec<Clause> {
    let mut clauses = final_compaction(input);
    clauses.extend(heaviest_messages(input));
    clauses.extend(cache(input));
    clauses.extend(accuracy(input));
    clauses
}

fn text(text: impl Into<String>) -> Clause {
    Clause { text: text.into(), link: None }
}

fn link(text: impl Into<String>, link: Link) -> Clause {
    Clause { text: text.into(), link: Some(link) }
}

/// Returns `The session ends with a compaction: the next call would send 31.2k tokens.`
fn final_compaction(input: &InsightInput<'_>) -> Vec<Clause> {
    let n_calls = input.case.session.calls.len();
    let last = input.recorded.events.last();
    if n_calls == 0 || !last.is_some_and(|event| event.is_recorded() && event.call >= n_calls) {
        return Vec::new();
    }
    let end = input.recorded.end.short();
    let about = input.case.ledger.accuracy.mark();
    vec![text(format!(
        " The session ends with a compaction: the next call would send {about}{end} tokens."
    ))]
}

/// Returns `10 messages account for 14 % of all tokens sent.`
fn heaviest_messages(input: &InsightInput<'_>) -> Vec<Clause> {
    let heaviest = input.resent.heaviest(&input.case.session, FEW);
    let share = input.resent.share(&heaviest);
    // A share of the sent tokens is meaningless if calls report fewer tokens than the file holds.
    let Some(first) = heaviest.first().filter(|_| share.0 <= 1.0) else {
        return Vec::new();
    };
    let messages = those(heaviest.len(), "message accounts", "messages account");
    let share = whole_percent(share);
    vec![
        text(" "),
        link(messages, Link::Resent(first.message)),
        text(format!(" for {share} of all tokens sent.")),
    ]
}

/// Returns `Cache hit rate 84 %; 2 misses resent 126k tokens, for $0.40 more.`
fn cache(input: &InsightInput<'_>) -> Vec<Clause> {
    let Some(audit) = input.audit else {
        return Vec::new();
    };
    let hit_rate = whole_percent(audit.hit_rate(input.recorded));
    let mut clauses = vec![text(" Cache hit rate "), link(hit_rate, Link::Cache(None))];
    let Some(worst) = audit.breaks.first() else {
        clauses.push(text(", without a miss."));
        return clauses;
    };
    let misses: usize = audit.breaks.iter().map(|found| found.calls).sum();
    let resent: Tokens = audit.breaks.iter().map(|found| found.tokens).sum();
    let cost: Option<Usd> = audit.breaks.iter().map(|found| found.usd).sum();
    let cost = cost.map_or(String::new(), |usd| format!(", for ${:.2} more", usd.0));
    let misses = those(misses, "miss", "misses");
    clauses.extend([
        text("; "),
        link(misses, Link::Cache(Some(worst.first))),
        text(format!(" resent {} tokens{cost}.", resent.short())),
    ]);
    clauses
}

/// Returns `Token counts are calibrated to within 0.7 %.`
fn accuracy(input: &InsightInput<'_>) -> Vec<Clause> {
    let Accuracy::Calibrated(Share(error)) = input.case.ledger.accuracy else {
        return Vec::new();
    };
    vec![
        text(" Token counts are calibrated to within "),
        link(error_percent(error), Link::Count),
        text("."),
    ]
}

/// Formats the error of the calibration, such as `0.7 %` or `12 %`.
fn error_percent(error: f64) -> String {
    let value = error * 100.0;
    match value {
        0.05..9.95 => format!("{value:.1} %"),
        9.95.. => format!("{value:.0} %"),
        0.0 => "0.0 %".to_owned(),
        _ => "<0.1 %".to_owned(),
    }
}
