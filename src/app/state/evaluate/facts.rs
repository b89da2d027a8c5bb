//! The facts that each lane kept at a call, and those that it lost.

use crate::analysis::facts::{FactKind, FactState, Facts, KindSurvival, LaneSurvival, total};
use crate::app::state::model::runs::replays::{LaneRun, Runs};
use crate::engine::Case;
use crate::units::Tokens;
use rayon::prelude::*;
use std::sync::Arc;

/// The facts that all lanes kept.
#[derive(Debug)]
pub struct Evaluation {
    /// The recorded lane.
    pub recorded: LaneFacts,
    /// One entry per lane.
    pub lanes: Vec<LaneFacts>,
}

/// The facts that one lane kept.
#[derive(Debug)]
pub struct LaneFacts {
    /// The facts through all calls.
    pub survival: Arc<LaneSurvival>,
    /// The facts at the call, in the order of [`FactKind::ALL`].
    pub kinds: [KindSurvival; FactKind::ALL.len()],
    /// Tokens of the context of that call; `None` for a session without calls.
    pub tokens: Option<Tokens>,
    /// Number of facts that an answer up to the call used while they were lost.
    pub used_while_lost: usize,
    /// The facts to list: those used while they were lost, the other gone facts, and the unknown facts.
    pub listed: Vec<ListedFact>,
    run: Arc<LaneRun>,
}

/// A fact that a lane lost, or that only a predicted summary may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFact {
    /// Its index in [`Facts::all`].
    pub fact: usize,
    /// First call without it.
    pub left_at: usize,
    /// First later call with it again.
    pub back_at: Option<usize>,
    /// First call that lacked it and whose answer uses it.
    pub used_at: Option<usize>,
    /// Only a predicted summary may contain the fact, so the loss is not certain.
    pub is_unknown: bool,
}

impl Evaluation {
    /// Follows the facts through all lanes and counts them at a call (default: the last). Does not follow unchanged lanes
    /// again.
    pub fn new(runs: &Runs, facts: &Facts, call: Option<usize>, before: Option<&Self>) -> Self {
        // An identical run implies an identical case and the same facts.
        let followed = |run: &Arc<LaneRun>| {
            let same =
                before.and_then(|before| before.all().find(|lane| Arc::ptr_eq(&lane.run, run)));
            let survival = same.map_or_else(
                || Arc::new(LaneSurvival::new(facts, &runs.case, &run.outcome)),
                |lane| Arc::clone(&lane.survival),
            );
            LaneFacts::new(facts, &runs.case, run, survival, call)
        };
        Self {
            recorded: followed(&runs.recorded),
            lanes: runs.lanes.par_iter().map(followed).collect(),
        }
    }

    /// Returns the facts of a lane, or of the recorded one.
    pub fn of(&self, lane: Option<usize>) -> Option<&LaneFacts> {
        match lane {
            Some(lane) => self.lanes.get(lane),
            None => Some(&self.recorded),
        }
    }

    fn all(&self) -> impl Iterator<Item = &LaneFacts> {
        std::iter::once(&self.recorded).chain(&self.lanes)
    }
}

impl LaneFacts {
    fn new(
        facts: &Facts,
        case: &Case,
        run: &Arc<LaneRun>,
        survival: Arc<LaneSurvival>,
        chosen: Option<usize>,
    ) -> Self {
        let samples = &run.outcome.samples;
        let at = |call: usize| samples.iter().find(|sample| sample.call == call);
        let sample = chosen.map_or(samples.last(), at);
        let kinds = match chosen {
            Some(call) => survival.at(facts, case, call),
            None => survival.kinds,
        };
        let is_used = |used: usize| chosen.is_none_or(|call| used <= call);
        let lost = survival.lost.iter();
        let used_while_lost = lost.filter(|lost| lost.used_at.is_some_and(is_used));
        Self {
            kinds,
            used_while_lost: used_while_lost.count(),
            tokens: sample.map(|sample| sample.tokens),
            listed: listed(facts, case, &survival, chosen),
            survival,
            run: Arc::clone(run),
        }
    }

    /// Returns the facts of a kind at the call, or of all kinds.
    pub fn of(&self, kind: Option<FactKind>) -> KindSurvival {
        match kind {
            Some(kind) => self.kinds[kind as usize],
            None => total(&self.kinds),
        }
    }
}

/// Lists the facts that are gone at the chosen call, or at any call without one; then those that are unknown at the
/// chosen call or the last one.
fn listed(
    facts: &Facts,
    case: &Case,
    survival: &LaneSurvival,
    chosen: Option<usize>,
) -> Vec<ListedFact> {
    let history = &survival.history;
    let Some(call) = chosen.or(history.last_call) else {
        return Vec::new();
    };
    let mut is_listed = vec![false; facts.all().len()];
    let mut all = Vec::new();
    for lost in &survival.lost {
        let is_gone_at = |call| history.at(lost.fact, call) == Some(FactState::Gone);
        if let Some(left_at) = lost.left_at
            && chosen.is_none_or(is_gone_at)
        {
            is_listed[lost.fact] = true;
            all.push(ListedFact {
                fact: lost.fact,
                left_at,
                back_at: lost.back_at,
                used_at: lost.used_at,
                is_unknown: false,
            });
        }
    }
    let states = survival.states_at(facts, case, call);
    let unknown = states.filter(|(fact, state)| *state == FactState::Unknown && !is_listed[*fact]);
    let mut unknown: Vec<ListedFact> = unknown
        .filter_map(|(fact, _)| {
            let changes = history.changes(fact).iter();
            let mut left = changes.filter(|change| change.state == FactState::Unknown);
            let used = facts.all()[fact].calls_with_uses();
            let used = used
                .filter(|call| history.at(fact, *call) == Some(FactState::Unknown))
                .find(|call| facts.all()[fact].is_current(case.session.calls[*call].context_end));
            Some(ListedFact {
                fact,
                left_at: left.next()?.call as usize,
                back_at: None,
                used_at: used,
                is_unknown: true,
            })
        })
        .collect();
    unknown.sort_by_key(|row| (row.used_at.is_none(), facts.all()[row.fact].kind, row.fact));
    all.append(&mut unknown);
    all
}
