//! Plays the lanes of a command: the recorded run, the run without compaction, then the policies.

use super::lanes::Lane;
use crate::analysis::findings;
use crate::engine::{self, Case, KnobValues, simulate};
use crate::formats::records_compactions;
use crate::report::Played;
use crate::units::Tokens;
use rayon::prelude::*;

/// Plays all lanes, `recorded` and `none` first. Both use the output reserve of `none`, whatever the other lanes are.
pub(super) fn play(case: &Case, none: Lane, lanes: Vec<Lane>) -> Vec<Played> {
    let recorded = recorded(case, none.output_reserve(case));
    let all: Vec<Lane> = std::iter::once(none).chain(lanes).collect();
    let played = all.into_par_iter().map(|lane| {
        let mut outcome = simulate(case, &lane.policy, &lane.knobs, None);
        outcome.shrink_to_fit();
        Played {
            findings: findings(case, &lane.policy, &lane.knobs, &outcome),
            outcome,
            output_reserve: lane.output_reserve(case),
            lane: lane.name,
            policy: Some(lane.policy),
            knobs: lane.knobs,
        }
    });
    let mut result = vec![recorded];
    result.par_extend(played);
    result
}

/// Returns the lane of the recorded run.
pub(super) fn recorded(case: &Case, output_reserve: Tokens) -> Played {
    Played {
        lane: "recorded".to_owned(),
        policy: None,
        knobs: KnobValues::default(),
        output_reserve,
        outcome: engine::recorded(case, output_reserve, None),
        findings: Vec::new(),
    }
}

/// Returns the name of the lane's policy; `recorded` for the recorded run.
pub(super) fn policy_name(played: &Played) -> &str {
    let policy = played.policy.as_ref();
    policy.map_or("recorded", |policy| &policy.name)
}

/// Returns the number of compactions; `None` for the recorded run if the format does not record them.
pub(super) fn compactions(case: &Case, lane: &Played) -> Option<usize> {
    let is_known = lane.policy.is_some() || records_compactions(&case.session);
    is_known.then_some(lane.outcome.compactions)
}
