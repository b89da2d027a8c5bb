//! References at risk in every lane, the hindsight optimum and the reuse distances, computed once for text and JSON.

use super::lane_cost::LaneCost;
use crate::analysis::cost::{Bills, Cost, price_lane};
use crate::analysis::insight::{Insight, loss_insights};
use crate::analysis::loss::{
    CheapestRun, Distances, Loss, Names, ReuseCurves, hindsight, reuse_distances, saved,
};
use crate::engine::{Case, KnobRole};
use crate::units::{Share, Tokens};
use rayon::prelude::*;

/// Losses of all lanes of a session.
pub(super) struct Losses {
    pub(super) names: Names,
    /// Loss of each lane, `recorded` first.
    pub(super) lanes: Vec<LaneLoss>,
    pub(super) hindsight: Hindsight,
    pub(super) curves: ReuseCurves,
    /// Settings of the lanes that the curves can be compared with.
    pub(super) current: Vec<Current>,
}

/// Loss of one lane.
pub(super) struct LaneLoss {
    pub(super) lane: String,
    pub(super) loss: Loss,
    /// Tokens saved, as a share of the lossless maximum.
    pub(super) saved: Option<Share>,
}

/// The hindsight optimum: each tool result is cleared right after its last use.
pub(super) struct Hindsight {
    pub(super) sent: Tokens,
    pub(super) peak: Tokens,
    pub(super) clearings: usize,
    pub(super) cost: Cost,
    /// The optimum in money, if prices are known.
    pub(super) cheapest: Option<CheapestRun>,
}

/// The value of a lane's setting on a curve.
pub(super) struct Current {
    pub(super) lane: String,
    pub(super) role: KnobRole,
    pub(super) value: u64,
    pub(super) miss: Share,
}

/// Computes the losses. The first lane must be `recorded` and the second `none`.
pub(super) fn losses(
    case: &Case,
    bills: &Bills<'_>,
    lanes: &[LaneCost<'_>],
    reserve: Tokens,
) -> Losses {
    let names = Names::new(&case.session);
    let (hindsight, shares) = compare_with_hindsight(&names, case, bills, lanes, reserve);
    let curves = reuse_distances(&names, case);
    let of_lane = |(lane, saved): (&LaneCost<'_>, Option<Share>)| LaneLoss {
        lane: lane.played.lane.clone(),
        loss: Loss::of(&names, case, &lane.played.outcome),
        saved,
    };
    Losses {
        lanes: lanes.par_iter().zip(shares).map(of_lane).collect(),
        current: current(lanes, &curves),
        hindsight,
        curves,
        names,
    }
}

/// Returns the figures of the hindsight optimum, and the tokens that each lane saved as a share of it.
fn compare_with_hindsight(
    names: &Names,
    case: &Case,
    bills: &Bills<'_>,
    lanes: &[LaneCost<'_>],
    reserve: Tokens,
) -> (Hindsight, Vec<Option<Share>>) {
    let best = hindsight(names, case, reserve);
    let none = lanes.get(1).map(|lane| &lane.played.outcome);
    let share = |lane: &LaneCost<'_>| saved(none?, &best, &lane.played.outcome);
    let shares = lanes.iter().map(share).collect();
    let hindsight = Hindsight {
        sent: best.tokens_sent(),
        peak: best.peak().map_or(Tokens::ZERO, |peak| peak.tokens),
        clearings: best.compactions,
        cost: price_lane(bills, &best),
        cheapest: lanes.first().and_then(|recorded| {
            let runs = (&recorded.played.outcome, &best);
            CheapestRun::find(names, case, bills, reserve, runs)
        }),
    };
    (hindsight, shares)
}

/// Returns the insights about these losses.
pub(super) fn insights(case: &Case, losses: &Losses) -> Vec<Insight> {
    let Some(recorded) = losses.lanes.first() else {
        return Vec::new();
    };
    let lanes = losses.lanes.iter().enumerate();
    let found = lanes.flat_map(|(idx, lane)| {
        let name = (idx > 0).then_some(lane.lane.as_str());
        loss_insights(case, &losses.names, name, &lane.loss, &recorded.loss)
    });
    found.collect()
}

fn current(lanes: &[LaneCost<'_>], curves: &ReuseCurves) -> Vec<Current> {
    let roles = [KnobRole::KeepRecent, KnobRole::PruneProtect];
    let mut found = Vec::new();
    for lane in lanes {
        let Some(policy) = &lane.played.policy else {
            continue;
        };
        for role in roles {
            let knob = policy.knob_for(role);
            let Some(value) = knob.and_then(|knob| lane.played.knobs.get(&knob.name)) else {
                continue;
            };
            let value = value.max(0.0) as u64;
            found.push(Current {
                lane: lane.played.lane.clone(),
                role,
                value,
                miss: curve(curves, role).miss(value),
            });
        }
    }
    found
}

/// Returns the curve for settings of this role.
fn curve(curves: &ReuseCurves, role: KnobRole) -> &Distances {
    if role == KnobRole::PruneProtect {
        &curves.results
    } else {
        &curves.messages
    }
}

/// Values of `keep_recent` that are listed, in messages.
pub(super) const MESSAGES: [u64; 8] = [5, 10, 20, 40, 80, 160, 320, 640];
/// Values of `prune_protect` that are listed, in tokens.
pub(super) const RESULTS: [u64; 8] = [
    5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000,
];
/// Largest shares of missed uses for which the smallest setting is listed.
pub(super) const MISSES: [Share; 2] = [Share(0.05), Share(0.01)];
