//! Expected re-reads of every lane and what it removed, computed once for text and JSON.

use super::lane_cost::LaneCost;
use crate::analysis::facts::is_encrypted;
use crate::analysis::insight::{Insight, loss_insights};
use crate::analysis::loss::{Loss, Names};
use crate::analysis::rereads::{ExpectedRereads, FileReads, RereadMeasure};
use crate::engine::{Case, Outcome};
use rayon::prelude::*;

/// Losses of all lanes of a session.
pub(super) struct Losses {
    pub(super) names: Names,
    /// Loss of each lane, `recorded` first.
    pub(super) lanes: Vec<LaneLoss>,
}

/// Loss of one lane.
pub(super) struct LaneLoss {
    pub(super) lane: String,
    pub(super) expected: ExpectedRereads,
    pub(super) loss: Loss,
}

/// Computes the losses. The first lane must be `recorded`.
pub(super) fn losses(case: &Case, measure: RereadMeasure<'_>, lanes: &[LaneCost<'_>]) -> Losses {
    let names = Names::new(&case.session);
    let of_lane = |lane: &LaneCost<'_>| {
        let outcome = &lane.played.outcome;
        LaneLoss {
            lane: lane.played.lane.clone(),
            expected: measure.rereads(case, outcome),
            loss: match lane.played.policy {
                Some(_) => Loss::of(&names, case, outcome),
                None => recorded_loss(&names, case, outcome),
            },
        }
    };
    Losses { lanes: lanes.par_iter().map(of_lane).collect(), names }
}

/// Returns the loss of the recorded run. An encrypted summary may contain what counts as missing, as a predicted one
/// may.
fn recorded_loss(names: &Names, case: &Case, outcome: &Outcome) -> Loss {
    let mut loss = Loss::of(names, case, outcome);
    let compactions = &case.session.compactions;
    let are_encrypted = compactions.iter().map(|c| is_encrypted(&case.session, &c.kept));
    let are_encrypted: Vec<bool> = are_encrypted.collect();
    for (left, is_encrypted) in loss.survival.iter_mut().zip(&are_encrypted) {
        if let Some(left) = left {
            left.is_predicted |= is_encrypted;
        }
    }
    let is_known_at = |call: usize| {
        let last = compactions.iter().rposition(|compaction| compaction.call <= call);
        !last.is_some_and(|last| are_encrypted[last])
    };
    let faults = loss.at_risk.faults.iter();
    loss.at_risk.fewest = faults.filter(|fault| is_known_at(fault.call)).count();
    loss.is_predicted |= are_encrypted.contains(&true);
    loss
}

/// Returns the insights about these losses.
pub(super) fn insights(case: &Case, files: &FileReads, losses: &Losses) -> Vec<Insight> {
    let Some(recorded) = losses.lanes.first() else {
        return Vec::new();
    };
    let lanes = losses.lanes.iter().enumerate();
    let found = lanes.flat_map(|(idx, lane)| {
        let name = (idx > 0).then_some(lane.lane.as_str());
        loss_insights(
            case,
            (&losses.names, files),
            name,
            (&lane.loss, &lane.expected),
            &recorded.loss,
        )
    });
    found.collect()
}
