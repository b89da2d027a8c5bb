//! Replaces messages by a summary. A request asks for the text; this module defines its settings.

use crate::engine::expr::Expr;
use crate::engine::vocabulary::SummaryPosition;
use std::collections::BTreeMap;

/// Settings of the action `summarize`.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarize {
    /// Maximum tokens of the summary, including its prefix.
    pub max_tokens: Expr,
    /// Assumed tokens of what the system adds to the summary: part of `max_tokens` that the model does not write.
    pub added: Expr,
    /// Text before the summary.
    pub prefix: String,
    /// Name of the prompt that asks for it.
    pub prompt: String,
    /// Position of the summary.
    pub place: SummaryPosition,
    /// Whether only the provider can read the summary: a run reports only its size.
    pub is_opaque: bool,
}

impl Summarize {
    /// Returns the expressions in its settings.
    pub(super) fn expressions(&self) -> Vec<&Expr> {
        vec![&self.max_tokens, &self.added]
    }

    /// Replaces names by their expressions.
    pub(super) fn bind(&self, names: &BTreeMap<String, Expr>) -> Self {
        Self {
            max_tokens: self.max_tokens.bind(names),
            added: self.added.bind(names),
            ..self.clone()
        }
    }
}
