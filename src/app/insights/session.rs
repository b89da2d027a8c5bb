//! Insights of the session itself, and the further statements of its card.

use crate::analysis::Clause;
use crate::analysis::insight::{Insight, InsightInput, card_statements, insights};
use crate::app::cost::compute::Costs;
use crate::app::runs::replays::Runs;

/// Insights of a session.
#[derive(Debug)]
pub struct SessionInsights {
    /// Worst first.
    pub insights: Vec<Insight>,
    /// Statements on the card next to the verdict.
    pub statements: Vec<Clause>,
}

impl SessionInsights {
    /// Analyzes the session's text.
    pub fn new(runs: &Runs, costs: &Costs) -> Self {
        let input = InsightInput::new(
            &runs.case,
            &runs.recorded.outcome,
            runs.output_reserve,
            runs.trigger.clone(),
            costs.audit.as_ref(),
        );
        Self {
            insights: insights(&input),
            statements: card_statements(&input),
        }
    }
}
