//! The replayed lanes of a report.

use super::CurveKind;
use crate::analysis::{Finding, PlayedLane};
use crate::engine::{KnobValues, Outcome, Policy};
use crate::units::Tokens;

/// A replayed lane.
#[derive(Clone, Debug)]
pub struct Played {
    /// Name of the lane.
    pub lane: String,
    /// Its policy; none for the recorded run.
    pub policy: Option<Policy>,
    /// Its settings.
    pub knobs: KnobValues,
    /// Its output reserve.
    pub output_reserve: Tokens,
    /// Its run.
    pub outcome: Outcome,
    /// Findings of the run.
    pub findings: Vec<Finding>,
}

impl Played {
    /// Returns the kind of its line. `policies_before` is its position among the policies.
    pub(super) fn kind(&self, policies_before: usize) -> CurveKind {
        match &self.policy {
            None => CurveKind::Recorded,
            Some(policy) if policy.stages.is_empty() => CurveKind::Unmanaged,
            Some(_) => CurveKind::Policy(policies_before),
        }
    }

    /// Returns the lane if it has a policy.
    pub fn lane(&self) -> Option<PlayedLane<'_>> {
        Some(PlayedLane {
            name: &self.lane,
            policy: self.policy.as_ref()?,
            knobs: &self.knobs,
            outcome: &self.outcome,
        })
    }
}
