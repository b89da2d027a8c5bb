//! Which item of the plan is still open; the other one is done.

use super::{Draws, ProbeDraft, Template};
use crate::analysis::facts::FactKind;
use crate::analysis::probes::known_facts::KnownFacts;

pub(super) const TEMPLATE: Template = Template { name: "plan", label: "plan items", write };

fn write(known: &KnownFacts<'_>, draws: &mut Draws) -> Vec<ProbeDraft> {
    let items =
        |state: &'static str| known.now(FactKind::Plan).filter(move |fact| &*fact.detail == state);
    let done: Vec<&str> = items("done").map(|fact| &*fact.text).collect();
    let drafts = items("open").map(|fact| {
        let question = "Which of these items of the plan is still open?";
        ProbeDraft::new(fact, question, &fact.text, draws.one(&done))
    });
    drafts.collect()
}
