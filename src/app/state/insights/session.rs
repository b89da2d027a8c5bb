//! Insights about the recorded session, and the details on its card.

use crate::analysis::Clause;
use crate::analysis::attribution::Attribution;
use crate::analysis::cost::{Bills, price_recorded};
use crate::analysis::insight::{Insight, InsightInput, card_statements, insights};
use crate::app::state::cost::compute::Costs;
use crate::app::state::model::runs::replays::Runs;

/// Insights about a recorded session.
#[derive(Debug)]
pub struct SessionInsights {
    /// Worst first.
    pub insights: Vec<Insight>,
    /// Statements on the card next to the verdict.
    pub statements: Vec<Clause>,
}

impl SessionInsights {
    /// Analyzes the recorded run and its costs.
    pub fn new(runs: &Runs, costs: &Costs) -> Self {
        let case = &runs.case;
        let attribution = attribution(runs);
        let input = InsightInput::new(
            case,
            &runs.recorded.outcome,
            runs.output_reserve,
            runs.trigger.clone(),
            costs.audit.as_ref(),
        )
        .with_attribution(&attribution);
        Self { insights: insights(&input), statements: card_statements(&input) }
    }
}

/// Computes what each source contributed to the recorded run.
fn attribution(runs: &Runs) -> Attribution {
    let prices = runs.config.billing.prices();
    let bills = Bills::new(&runs.case, runs.config.billing.at(&prices));
    let recorded = &runs.recorded.outcome;
    Attribution::new(&runs.case, recorded, &bills, &price_recorded(&bills, recorded))
}
