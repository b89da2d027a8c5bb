//! What there is to know about the session itself, and what its card says beside the verdict.

use crate::analysis::Clause;
use crate::analysis::insight::{Facts, Insight, besides, insights};
use crate::app::costs::Costs;
use crate::app::runs::Runs;

/// What there is to know about a session.
#[derive(Debug)]
pub struct SessionInsights {
    /// Worst first.
    pub insights: Vec<Insight>,
    /// What the card says beside the verdict.
    pub besides: Vec<Clause>,
}

impl SessionInsights {
    /// Looks through the session's text.
    pub fn new(runs: &Runs, costs: &Costs) -> Self {
        let audit = costs.audit.as_ref();
        let facts = Facts::new(
            &runs.case,
            &runs.recorded.outcome,
            runs.yardstick.clone(),
            audit,
        );
        Self {
            insights: insights(&facts),
            besides: besides(&facts),
        }
    }
}
