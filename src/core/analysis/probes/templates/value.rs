//! The value after a label; the other one belongs to another label of the session.

use super::{Draws, ProbeDraft, Template, code};
use crate::analysis::facts::{Fact, FactKind};
use crate::analysis::probes::known_facts::KnownFacts;

pub(super) const TEMPLATE: Template = Template { name: "value", label: "values", write };

fn write(known: &KnownFacts<'_>, draws: &mut Draws) -> Vec<ProbeDraft> {
    let values: Vec<(&Fact, &str)> =
        known.now(FactKind::Value).filter_map(|fact| Some((fact, label(fact)?))).collect();
    let drafts = values.iter().map(|(fact, label)| {
        let mut same = values.iter().filter(|(_, other)| other == label);
        let is_ambiguous = same.any(|(other, _)| other.detail != fact.detail);
        let others = |is_alike: fn(&str, &str) -> bool| -> Vec<&str> {
            let others = values.iter().map(|(other, _)| &*other.detail);
            others
                .filter(|other| *other != &*fact.detail && is_alike(other, &fact.detail))
                .collect()
        };
        let alike = others(|a, b| a.len() == b.len() && unit(a) == unit(b));
        let other = draws.one(&alike).or_else(|| draws.one(&others(|a, b| unit(a) == unit(b))));
        let question = format!("What is the value of {} in this conversation?", code(label));
        ProbeDraft::new(fact, question, &fact.detail, other.filter(|_| !is_ambiguous))
    });
    drafts.collect()
}

/// Returns the text before or after the number.
fn label(fact: &Fact) -> Option<&str> {
    let number = &*fact.detail;
    let at = fact.text.rfind(number).filter(|_| !number.is_empty())?;
    let is_joint = |c: char| c.is_whitespace() || matches!(c, ':' | '=' | '"' | '\'' | ',');
    let before = fact.text[..at].trim_matches(is_joint);
    let after = fact.text[at + number.len()..].trim_matches(is_joint);
    [before, after].into_iter().find(|text| text.chars().any(char::is_alphabetic))
}

/// Returns the characters that are no digits: the unit, the sign and the points.
fn unit(value: &str) -> String {
    value.chars().filter(|c| !c.is_ascii_digit()).collect()
}
