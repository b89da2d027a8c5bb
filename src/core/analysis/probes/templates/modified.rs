//! Which of two files was modified; the other one was only read.

use super::{Draws, ProbeDraft, Template};
use crate::analysis::facts::FactKind;
use crate::analysis::probes::known_facts::KnownFacts;
use std::collections::BTreeSet;

pub(super) const TEMPLATE: Template = Template { name: "modified", label: "modified files", write };

fn write(known: &KnownFacts<'_>, draws: &mut Draws) -> Vec<ProbeDraft> {
    let is_change = |detail: &str| matches!(detail, "edited" | "created");
    let files = || known.ever(FactKind::File);
    let changed: BTreeSet<&str> =
        files().filter(|fact| is_change(&fact.detail)).map(|fact| &*fact.text).collect();
    let read: BTreeSet<&str> = files()
        .filter(|fact| &*fact.detail == "read" && !changed.contains(&*fact.text))
        .map(|fact| &*fact.text)
        .collect();
    let read: Vec<&str> = read.into_iter().collect();
    let mut open = changed;
    let mut latest: Vec<_> = files().filter(|fact| is_change(&fact.detail)).collect();
    latest.reverse();
    latest.retain(|fact| open.remove(&*fact.text));
    let drafts = latest.into_iter().map(|fact| {
        let question = "Which of these files has been modified in this conversation?";
        ProbeDraft::new(fact, question, &fact.text, draws.one(&read))
    });
    drafts.collect()
}
