//! Puts a summary in the place of messages. The text is asked for with a request; this is only the frame around it.

use crate::engine::expr::Expr;
use serde::Deserialize;

/// Settings of the action `summarize`.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarize {
    /// The summary may not weigh more than this (tokens), its prefix included.
    pub max_tokens: Expr,
    /// What stands before the summary's own text.
    pub prefix: String,
    /// Name of the prompt that asks for it.
    pub prompt: String,
    /// Where it stands.
    pub place: Place,
    /// Only its provider can read it: nothing but its size is told by a run.
    pub is_opaque: bool,
}

/// Where a message of ours stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Where the first message stood that it stands for.
    #[default]
    First,
    /// Where the last of them stood: behind what was kept among them.
    Last,
}
