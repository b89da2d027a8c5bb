//! Which of two actions happened later.

use super::{Draws, ProbeDraft, Template, code};
use crate::analysis::facts::{Fact, FactKind};
use crate::analysis::probes::known_facts::KnownFacts;

pub(super) const TEMPLATE: Template = Template { name: "order", label: "order of actions", write };

fn write(known: &KnownFacts<'_>, draws: &mut Draws) -> Vec<ProbeDraft> {
    let edits =
        known.now(FactKind::File).filter(|fact| matches!(&*fact.detail, "edited" | "created"));
    let mut actions: Vec<(&Fact, String)> =
        edits.chain(known.now(FactKind::Command)).map(|fact| (fact, action(fact))).collect();
    actions.sort_by_key(|(fact, _)| (fact.message, fact.part, fact.span.start));
    let drafts = actions.iter().enumerate().skip(1).map(|(idx, (fact, text))| {
        let is_before = |other: &&(&Fact, String)| other.0.message < fact.message;
        let before = actions[..idx].iter().filter(is_before);
        let before: Vec<&str> = before.map(|(_, text)| &**text).collect();
        let question = "Which of these happened later, counting only the last time of each?";
        ProbeDraft::new(fact, question, text, draws.one(&before))
    });
    drafts.collect()
}

fn action(fact: &Fact) -> String {
    let verb = match fact.kind {
        FactKind::Command => "The command was run:",
        _ => "The file was modified:",
    };
    format!("{verb} {}", code(&fact.text))
}
