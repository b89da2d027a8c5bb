//! Puts a summary in the place of messages. The text is asked for with a request; this is only the frame around it.

use crate::engine::expr::Expr;

/// Settings of the action `summarize`.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarize {
    /// The summary may not weigh more than this (tokens), its prefix included.
    pub max_tokens: Expr,
    /// What stands before the summary's own text.
    pub prefix: String,
    /// Name of the prompt that asks for it.
    pub prompt: String,
}
