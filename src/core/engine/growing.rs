//! A case whose session grows, for a conversation that is still going on.

use crate::engine::case::Case;
use crate::engine::case::budget::WindowPlan;
use crate::engine::case::index::GrowingIndex;
use crate::engine::meter::Meter;
use crate::session::Session;
use crate::tokens::TokenLedger;
use std::sync::Arc;

/// A case whose session grows. Nothing of the past is counted or compared again.
#[derive(Debug)]
pub struct GrowingCase {
    case: Case,
    index: GrowingIndex,
    /// The meter whose weights are kept up to date.
    meter: Meter,
}

impl GrowingCase {
    /// Creates a case from a session without messages, the weights of it, and the context windows of all calls.
    pub fn new(session: Session, ledger: TokenLedger, windows: WindowPlan, meter: Meter) -> Self {
        let case = Case::new(Arc::new(session), ledger, windows);
        Self { case, index: GrowingIndex::default(), meter }
    }

    /// Returns the case.
    pub fn case(&self) -> &Case {
        &self.case
    }

    /// Adds messages and calls to the session. Existing ones must not change.
    ///
    /// # Panics
    /// If somebody else holds a part of the case, which its owner never lends out.
    pub fn grow(&mut self, add: impl FnOnce(&mut Session)) {
        let key = self.meter.key();
        if let Some(mut column) = self.case.grow(add, &mut self.index, &key)
            && let Some(weights) = Arc::get_mut(&mut column)
        {
            self.meter.grow(&self.case, weights);
            self.case.meter_columns().get_or_make(&key, || column);
        }
    }
}
