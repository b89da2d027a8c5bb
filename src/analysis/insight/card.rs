//! The verdict card: the verdict, the messages that fill the context, the cache, and the accuracy of the counts.

use super::course::FEW;
use super::{Facts, percent, those};
use crate::analysis::{Clause, Link, verdict};
use crate::tokens::Basis;
use crate::units::{Share, Tokens, Usd};

/// Returns the clauses of the verdict and of the card, with links.
pub fn card(facts: &Facts<'_>) -> Vec<Clause> {
    let mut said = verdict(
        facts.case,
        facts.recorded,
        facts.output_reserve,
        &facts.trigger,
    )
    .clauses;
    said.extend(besides(facts));
    said
}

/// Formats the error of the calibration: `0.7 %`, `12 %`.
fn error_percent(error: f64) -> String {
    let value = error * 100.0;
    match value {
        0.05..9.95 => format!("{value:.1} %"),
        9.95.. => format!("{value:.0} %"),
        0.0 => "0.0 %".to_owned(),
        _ => "<0.1 %".to_owned(),
    }
}

/// Returns the clauses of the card that follow the verdict.
pub fn besides(facts: &Facts<'_>) -> Vec<Clause> {
    let mut said = Vec::new();
    let mut say = |text: String, link: Option<Link>| said.push(Clause { text, link });
    let heaviest = facts.retained.heaviest(&facts.case.session, FEW);
    let share = facts.retained.share(&heaviest);
    // A share of the sent tokens is meaningless if calls report fewer tokens than the file holds.
    if let Some(first) = heaviest.first().filter(|_| share.0 <= 1.0) {
        let share = percent(share);
        let (what, verb) = match heaviest.len() {
            1 => ("1 message".to_owned(), "accounts"),
            n => (format!("{n} messages"), "account"),
        };
        say(" ".to_owned(), None);
        say(what, Some(Link::Carried(first.message)));
        say(format!(" {verb} for {share} of all tokens sent."), None);
    }
    if let Some(audit) = facts.audit {
        let sent: Tokens = facts.retained.sent;
        let read = percent(audit.recorded.share_of(sent));
        say(" Cache hit rate ".to_owned(), None);
        say(read, Some(Link::Cache(None)));
        let lost: Tokens = audit.breaks.iter().map(|found| found.tokens).sum();
        if let Some(worst) = audit.breaks.first() {
            let n: usize = audit.breaks.iter().map(|found| found.calls).sum();
            let more: Option<Usd> = audit.breaks.iter().map(|found| found.usd).sum();
            let more = more.map_or(String::new(), |usd| format!(", for ${:.2} more", usd.0));
            say("; ".to_owned(), None);
            let misses = those(n, "miss", "misses");
            say(misses, Some(Link::Cache(Some(worst.first))));
            say(format!(" sent {} tokens again{more}.", lost.short()), None);
        } else {
            say(", without a miss.".to_owned(), None);
        }
    }
    if let Basis::Calibrated(Share(error)) = facts.case.ledger.basis {
        say(
            " Token counts are calibrated; the error is ".to_owned(),
            None,
        );
        say(error_percent(error), Some(Link::Count));
        say(" on average.".to_owned(), None);
    }
    said
}
