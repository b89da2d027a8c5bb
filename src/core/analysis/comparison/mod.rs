//! Compares two sessions: their figures, messages, tools and facts.
//!
//! Used for a session before and after a change of its prompt, for two agents with the same task, and for a session and
//! its managed conversation.

mod figures;
mod messages;
mod notes;
mod tools_and_facts;

pub use figures::{
    Figure, Quantity, SessionFigures, charges, composition, figures, has_different_sources,
};
pub use messages::MessageMatches;
pub use notes::notes;
pub use tools_and_facts::{FactDifference, OnlyFact, ToolMix, tool_mix};

use crate::analysis::cost::Billing;
use crate::engine::Case;
use crate::units::Tokens;

/// One of the two sessions, with the assumptions of its figures.
#[derive(Clone, Copy, Debug)]
pub struct ComparedSession<'a> {
    /// Session, token counts and context windows.
    pub case: &'a Case,
    /// Tokens of the context window that are kept for the answer.
    pub output_reserve: Tokens,
    /// Prices and cache rules.
    pub billing: Billing<'a>,
    /// Whether the format records compactions.
    pub records_compactions: bool,
}

/// The comparison of two sessions, A and B.
#[derive(Debug)]
pub struct Comparison {
    /// Figures of each session.
    pub sessions: [SessionFigures; 2],
    /// Messages of both, matched by their content.
    pub messages: MessageMatches,
    /// Use of each tool, most used first.
    pub tools: Vec<ToolMix>,
    /// Facts that only one session states.
    pub facts: FactDifference,
}

impl Comparison {
    /// Compares two sessions. Cost: linear in their text.
    pub fn new(sessions: [ComparedSession<'_>; 2]) -> Self {
        let cases = sessions.map(|session| session.case);
        let of_both = || {
            rayon::join(|| SessionFigures::new(sessions[0]), || SessionFigures::new(sessions[1]))
        };
        let content = || rayon::join(|| MessageMatches::new(cases), || FactDifference::new(cases));
        let ((a, b), (messages, facts)) = rayon::join(of_both, content);
        Self { sessions: [a, b], messages, tools: tool_mix(cases), facts }
    }
}
