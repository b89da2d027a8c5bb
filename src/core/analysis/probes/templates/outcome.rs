//! Whether a command passed when it was last run.

use super::{Draws, ProbeDraft, Template, code};
use crate::analysis::facts::FactKind;
use crate::analysis::probes::known_facts::KnownFacts;

pub(super) const TEMPLATE: Template =
    Template { name: "outcome", label: "outcomes of commands", write };

const PASSED: &str = "It passed.";
const FAILED: &str = "It failed.";

fn write(known: &KnownFacts<'_>, _draws: &mut Draws) -> Vec<ProbeDraft> {
    let commands = known.now(FactKind::Command).filter_map(|fact| {
        let (truth, other) = match &*fact.detail {
            "passed" => (PASSED, FAILED),
            detail if detail.starts_with("failed") => (FAILED, PASSED),
            _ => return None,
        };
        let question =
            format!("Did the command {} pass or fail when it was last run?", code(&fact.text));
        Some(ProbeDraft::new(fact, question, truth, Some(other)))
    });
    commands.collect()
}
