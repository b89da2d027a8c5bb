//! The verdict card: the verdict, the messages that fill the context, the cache, and the accuracy of the counts.

use super::course::FEW;
use super::{InsightInput, those, whole_percent};
use crate::analysis::{Clause, Link, verdict};
use crate::tokens::Basis;
use crate::units::{Share, Tokens, Usd};

/// Returns the clauses of the verdict and of the card, with links.
pub fn card(input: &InsightInput<'_>) -> Vec<Clause> {
    let mut clauses = verdict(
        input.case,
        input.recorded,
        input.output_reserve,
        &input.trigger,
    )
    .clauses;
    clauses.extend(card_details(input));
    clauses
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
pub fn card_details(input: &InsightInput<'_>) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut say = |text: String, link: Option<Link>| clauses.push(Clause { text, link });
    let heaviest = input.resent.heaviest(&input.case.session, FEW);
    let share = input.resent.share(&heaviest);
    // A share of the sent tokens is meaningless if calls report fewer tokens than the file holds.
    if let Some(first) = heaviest.first().filter(|_| share.0 <= 1.0) {
        say(" ".to_owned(), None);
        let messages = those(heaviest.len(), "message accounts", "messages account");
        say(messages, Some(Link::Resent(first.message)));
        let share = whole_percent(share);
        say(format!(" for {share} of all tokens sent."), None);
    }
    if let Some(audit) = input.audit {
        let read = whole_percent(audit.hit_rate(input.recorded));
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
            say(format!(" resent {} tokens{more}.", lost.short()), None);
        } else {
            say(", without a miss.".to_owned(), None);
        }
    }
    if let Basis::Calibrated(Share(error)) = input.case.ledger.basis {
        say(" Token counts are calibrated to within ".to_owned(), None);
        say(error_percent(error), Some(Link::Count));
        say(".".to_owned(), None);
    }
    clauses
}
