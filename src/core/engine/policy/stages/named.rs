//! Runs an action of a real system: see [`crate::engine::named::Rewrite`].

use crate::engine::expr::{Expr, Moment};
use crate::engine::named::{NamedAction, Rewrite};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A named action with the settings of a preset.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its entry in the registry.
    pub spec: &'static NamedAction,
    /// The action.
    pub rewrite: Arc<dyn Rewrite>,
    /// Its numbers by name.
    pub numbers: Vec<(&'static str, Expr)>,
    /// Assumed tokens of an answer to its own request in a simulation; the system's maximum if none.
    pub answer_tokens: Option<Expr>,
}

impl Named {
    /// Replaces names by their expressions.
    pub(crate) fn bind(&self, names: &BTreeMap<String, Expr>) -> Self {
        let numbers = self.numbers.iter();
        Self {
            numbers: numbers.map(|(name, expr)| (*name, expr.bind(names))).collect(),
            answer_tokens: self.answer_tokens.as_ref().map(|expr| expr.bind(names)),
            ..self.clone()
        }
    }

    /// Returns the expressions in its settings.
    pub(super) fn expressions(&self) -> Vec<&Expr> {
        let numbers = self.numbers.iter().map(|(_, expr)| expr);
        numbers.chain(&self.answer_tokens).collect()
    }

    /// Returns the values of its numbers.
    pub(crate) fn values(&self, moment: &Moment) -> Vec<(&'static str, f64)> {
        let numbers = self.numbers.iter();
        numbers.map(|(name, expr)| (*name, expr.value(moment))).collect()
    }
}

/// Equal if the action, its settings, its numbers and the assumed answer are equal.
impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.spec.name == other.spec.name
            && self.numbers == other.numbers
            && self.answer_tokens == other.answer_tokens
            && format!("{:?}", self.rewrite) == format!("{:?}", other.rewrite)
    }
}
