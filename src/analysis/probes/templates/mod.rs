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

/// Writes questions of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Name in JSON.
    pub name: &'static str,
    /// Subject of the questions, for people.
    pub label: &'static str,
    /// Writes the questions.
    write: fn(&KnownFacts<'_>, &mut Draws) -> Vec<Draft>,
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

impl Template {
    /// Returns the template with this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        TEMPLATES.iter().find(|template| template.name == name)
    }

    /// Returns its questions, and the number of facts for which there is no false option.
    pub(super) fn probes(&self, known: &KnownFacts<'_>) -> (Vec<Probe>, usize) {
        let drafts = (self.write)(known, &mut Draws(Generator::new(known.call as u64)));
        let n = drafts.len();
        let probes: Vec<_> = drafts
            .into_iter()
            .filter_map(|d| d.probe(self.name, known))
            .collect();
        let left_out = n - probes.len();
        (probes, left_out)
    }
}

/// A question before it is checked.
pub(super) struct Draft {
    question: String,
    truth: String,
    /// `None` if the session has no plausible one.
    distractor: Option<String>,
    /// Position of the truth.
    message: u32,
    part: u32,
    span: std::ops::Range<usize>,
}

impl Draft {
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

    /// Returns the probe if its options differ.
    fn probe(self, template: &'static str, known: &KnownFacts<'_>) -> Option<Probe> {
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

/// Draws false options: the same ones in every run.
pub(super) struct Draws(Generator);

impl Draws {
    /// Draws one of the items.
    fn one<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> Option<&'a T> {
        let idx = self.0.index(items.len());
        items.get(idx).copied()
    }
}

/// Writes code in a question, without line breaks and backticks that would end it.
fn code(text: &str) -> String {
    format!("`{}`", option(text).replace('`', "'"))
}
