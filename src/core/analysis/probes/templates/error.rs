//! Which error a command raised; the other one was raised by something else in the session.

use super::{Draws, ProbeDraft, Template, code};
use crate::analysis::facts::{Fact, FactKind};
use crate::analysis::probes::known_facts::KnownFacts;

pub(super) const TEMPLATE: Template = Template { name: "error", label: "errors", write };

fn write(known: &KnownFacts<'_>, draws: &mut Draws) -> Vec<ProbeDraft> {
    let errors: Vec<&Fact> = known.ever(FactKind::Error).collect();
    let commands: Vec<&Fact> = known.ever(FactKind::Command).collect();
    let cause = |error: &Fact| {
        let call = known.call_part(error.part);
        let is_cause = |fact: &&&Fact| known.call_part(fact.part) == call;
        commands.iter().find(is_cause).map(|fact| &*fact.text)
    };
    let caused: Vec<_> = errors.iter().filter_map(|e| Some((*e, cause(e)?))).collect();
    let drafts = caused.iter().filter_map(|(error, command)| {
        let of_command = || caused.iter().filter(|(_, other)| other == command);
        // The question is about the last failure.
        if of_command().any(|(other, _)| other.message > error.message) {
            return None;
        }
        let others: Vec<&str> = errors
            .iter()
            .filter(|other| of_command().all(|(own, _)| own.text != other.text))
            .map(|other| &*other.text)
            .collect();
        let question =
            format!("Which error did the command {} raise when it last failed?", code(command));
        Some(ProbeDraft::new(error, question, &error.text, draws.one(&others)))
    });
    drafts.collect()
}
