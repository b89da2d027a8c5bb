//! Cost and usage of the recorded run alone.

use super::json_output::{self, AuditEntry, BreakEvenEntry, ModelEntry};
use super::lane_cost::LaneCost;
use crate::analysis::cost::{Audit, Billing, Bills, audit};
use crate::cli::billing::{ModelPrice, model_prices};
use crate::cli::cost_json::{CostEntry, cost};
use crate::engine::Case;
use crate::presets::prices::Prices;
use crate::report::Played;
use crate::session::Session;
use serde::Serialize;

/// Cost and usage of the recorded run.
pub(crate) struct RecordedCost<'a> {
    session: &'a Session,
    prices: Vec<ModelPrice<'a>>,
    lane: LaneCost<'a>,
    audit: Option<Audit>,
}

/// Cost and usage of the recorded run, as `diagnose` prints them for the lane `recorded`.
#[derive(Serialize)]
pub(crate) struct RecordedCostOutput<'a> {
    models: Vec<ModelEntry<'a>>,
    cost: CostEntry<'a>,
    cache_audit: Option<AuditEntry<'a>>,
    break_even: Vec<BreakEvenEntry<'a>>,
}

impl<'a> RecordedCost<'a> {
    /// Prices the calls of the recorded run.
    pub(crate) fn new(case: &'a Case, recorded: &'a Played) -> Self {
        let billing = Billing::at(Prices::in_use());
        let bills = Bills::new(case, billing);
        let mut audit = audit(case, &bills, &recorded.outcome);
        if let Some(audit) = &mut audit {
            audit.calls.clear();
        }
        let mut lane = LaneCost::new(&bills, recorded);
        lane.drop_calls();
        Self { session: &case.session, prices: model_prices(&case.session, billing), lane, audit }
    }

    /// Returns the JSON output, without single calls.
    pub(crate) fn json_output(&self) -> RecordedCostOutput<'_> {
        RecordedCostOutput {
            models: self.prices.iter().map(json_output::model).collect(),
            cost: cost(&self.lane.cost, self.session),
            cache_audit: self.audit.as_ref().map(|audit| json_output::audit(audit, self.session)),
            break_even: self.lane.break_even.iter().map(json_output::break_even).collect(),
        }
    }
}
