//! Indices and prices of a session, computed once for the losses and expected re-reads of all lanes.

use crate::analysis::cost::Bills;
use crate::analysis::loss::Names;
use crate::analysis::rereads::{
    FileReads, RereadMeasure, RereadModel, RereadPrices, RetentionCurves, retention_curves,
};
use crate::app::state::model::runs::replays::Runs;
use crate::engine::Case;
use std::sync::Arc;

/// The indices of a session, which depend on no setting.
#[derive(Debug)]
pub struct SessionIndex {
    /// The names that the agent used.
    pub names: Names,
    /// The files that it read and edited.
    pub files: FileReads,
}

impl SessionIndex {
    /// Searches the session.
    pub fn new(case: &Case) -> Self {
        Self { names: Names::new(&case.session), files: FileReads::new(case) }
    }
}

/// The measure of expected re-reads in a session. It depends on token counts and prices, but on no policy.
#[derive(Debug)]
pub struct SessionRereads {
    /// The indices of the session.
    pub index: Arc<SessionIndex>,
    /// Expected re-reads of a compaction by how much it keeps.
    pub curves: RetentionCurves,
    model: Arc<RereadModel>,
    prices: RereadPrices,
}

impl SessionRereads {
    /// Prices the session and computes the curves.
    pub fn new(runs: &Runs, index: Arc<SessionIndex>) -> Self {
        let billing = &runs.config.billing;
        let table = billing.prices();
        let bills = Bills::new(&runs.case, billing.at(&table));
        let mut found = Self {
            prices: RereadPrices::new(&bills, runs.case.session.calls.len()),
            model: Arc::clone(&runs.config.reread_model),
            curves: RetentionCurves::default(),
            index,
        };
        found.curves = retention_curves(&found.measure(), &runs.case);
        found
    }

    /// Returns the measure.
    pub fn measure(&self) -> RereadMeasure<'_> {
        RereadMeasure { model: &self.model, files: &self.index.files, prices: &self.prices }
    }
}
