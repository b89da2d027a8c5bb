//! The verdict with what else belongs on its card: who filled the context, the cache, and how well we count.

use super::course::FEW;
use super::{Facts, percent, those};
use crate::analysis::{Clause, Link, verdict};
use crate::tokens::Basis;
use crate::units::{Share, Tokens};

/// The verdict's clauses and those of the card, each noun a link.
pub fn card(facts: &Facts<'_>) -> Vec<Clause> {
    let mut said = verdict(
        facts.case,
        facts.recorded,
        facts.output_reserve,
        facts.trigger,
    )
    .clauses;
    let mut say = |text: String, link: Option<Link>| said.push(Clause { text, link });
    let heaviest = facts.retained.heaviest(&facts.case.session, FEW);
    if let Some(first) = heaviest.first() {
        let share = percent(facts.retained.share(&heaviest));
        say(format!(" Of all tokens sent {share} are "), None);
        let what = match heaviest.len() {
            1 => "one message".to_owned(),
            n => format!("the {n} most-carried messages"),
        };
        say(what, Some(Link::Message(first.message)));
        say(".".to_owned(), None);
    }
    if let Some(audit) = facts.audit {
        let sent: Tokens = facts.retained.sent;
        let read = percent(audit.recorded.share_of(sent));
        say(format!(" The cache served {read}"), None);
        let lost: Tokens = audit.breaks.iter().map(|found| found.tokens).sum();
        if let Some(worst) = audit.breaks.first() {
            let n: usize = audit.breaks.iter().map(|found| found.calls).sum();
            say("; ".to_owned(), None);
            say(those(n, "miss", "misses"), Some(Link::Step(worst.first)));
            say(format!(" sent {} tokens again.", lost.short()), None);
        } else {
            say(", without a miss.".to_owned(), None);
        }
    }
    if let Basis::Calibrated(Share(error)) = facts.case.ledger.basis {
        say(
            format!(" Our count errs by {} on average.", percent(Share(error))),
            None,
        );
    }
    said
}
