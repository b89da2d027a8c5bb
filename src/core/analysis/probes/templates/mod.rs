//! Templates of questions, one file each.

mod constraint;
mod error;
mod modified;
mod order;
mod outcome;
mod plan;
mod value;

use super::known_facts::KnownFacts;
use super::probe::{Probe, option};
use crate::analysis::facts::Fact;
use crate::analysis::statistics::Generator;

/// A kind of question and the function that writes its questions.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Name in JSON.
    pub name: &'static str,
    /// Subject of the questions, for people.
    pub label: &'static str,
    /// Writes the questions.
    write: fn(&KnownFacts<'_>, &mut Draws) -> Vec<ProbeDraft>,
}

/// All templates, in the order in which they are shown.
pub const TEMPLATES: [Template; 7] = [
    constraint::TEMPLATE,
    plan::TEMPLATE,
    modified::TEMPLATE,
    outcome::TEMPLATE,
    error::TEMPLATE,
    value::TEMPLATE,
    order::TEMPLATE,
];

/// The probes of a template at one call.
pub(super) struct TemplateProbes {
    pub(super) probes: Vec<Probe>,
    /// Number of facts for which the session has no plausible false option.
    pub(super) without_distractor: usize,
}

impl Template {
    /// Returns the template with this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        TEMPLATES.iter().find(|template| template.name == name)
    }

    /// Writes the probes about the facts known at a call.
    pub(super) fn probes(&self, known: &KnownFacts<'_>) -> TemplateProbes {
        let drafts = (self.write)(known, &mut Draws(Generator::new(known.call as u64)));
        let n_drafts = drafts.len();
        let drafts = drafts.into_iter();
        let probes: Vec<_> =
            drafts.filter_map(|draft| draft.into_probe(self.name, known)).collect();
        TemplateProbes { without_distractor: n_drafts - probes.len(), probes }
    }
}

/// A question whose options may be equal or missing.
pub(super) struct ProbeDraft {
    question: String,
    truth: String,
    /// The false option; `None` if the session has no plausible one.
    distractor: Option<String>,
    /// Position of the truth.
    message: u32,
    part: u32,
    span: std::ops::Range<usize>,
}

impl ProbeDraft {
    fn new(
        fact: &Fact,
        question: impl Into<String>,
        truth: &str,
        distractor: Option<&str>,
    ) -> Self {
        Self {
            question: question.into(),
            truth: option(truth),
            distractor: distractor.map(option),
            message: fact.message,
            part: fact.part,
            span: fact.span.clone(),
        }
    }

    /// Returns the probe if it has two different options.
    fn into_probe(self, template: &'static str, known: &KnownFacts<'_>) -> Option<Probe> {
        let distractor = self.distractor.filter(|other| *other != self.truth)?;
        Some(Probe {
            template,
            question: self.question,
            truth: self.truth,
            distractor,
            message: self.message,
            part: self.part,
            span: self.span,
            call: known.call,
        })
    }
}

/// Draws false options, the same ones in every run.
pub(super) struct Draws(Generator);

impl Draws {
    /// Draws one of the items; `None` if there are none.
    fn one<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> Option<&'a T> {
        let idx = self.0.index(items.len());
        items.get(idx).copied()
    }
}

/// Formats text as code in a question. Replaces backticks, which would end the code.
fn code(text: &str) -> String {
    format!("`{}`", option(text).replace('`', "'"))
}
