//! Survival: the facts that the last call of a run still received, by kind, and those that it lost.

use super::{FactHistory, FactKind, FactState, Facts, ScoredText};
use crate::engine::{Case, Outcome};
use crate::session::Session;
use crate::units::{Share, Tokens};

/// The facts of a kind at a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindSurvival {
    /// Facts that were stated before the call and not replaced since.
    pub stated: usize,
    /// Of these, those whose message the run ever removed or shortened.
    pub removed: usize,
    /// Those that the context holds verbatim.
    pub verbatim: usize,
    /// Those that it holds partly.
    pub partial: usize,
    /// Those that it lacks.
    pub gone: usize,
    /// Those that only a summary may hold whose text is not known.
    pub unknown: usize,
}

impl KindSurvival {
    /// Returns the number of facts in a state.
    pub fn count(self, state: FactState) -> usize {
        match state {
            FactState::Verbatim => self.verbatim,
            FactState::Partial => self.partial,
            FactState::Unknown => self.unknown,
            FactState::Gone => self.gone,
        }
    }

    /// Returns the share that the context holds verbatim or partly; none without facts, or if every fact is unknown.
    pub fn share(&self) -> Option<Share> {
        let known = self.stated - self.unknown;
        (known > 0).then(|| Share((self.verbatim + self.partial) as f64 / known as f64))
    }

    /// Returns the lowest and highest possible share of all stated facts: the unknown ones count as lost, and as held.
    pub fn bounds(&self) -> Option<[Share; 2]> {
        let held = self.verbatim + self.partial;
        let of_all = |n: usize| Share(n as f64 / self.stated as f64);
        (self.stated > 0).then(|| [of_all(held), of_all(held + self.unknown)])
    }

    /// Returns the survival if only facts that the context holds verbatim count as held.
    #[must_use]
    pub fn verbatim_only(self) -> Self {
        Self { partial: 0, gone: self.gone + self.partial, ..self }
    }

    fn add(&mut self, state: FactState, is_removed: bool) {
        self.stated += 1;
        self.removed += usize::from(is_removed);
        match state {
            FactState::Verbatim => self.verbatim += 1,
            FactState::Partial => self.partial += 1,
            FactState::Gone => self.gone += 1,
            FactState::Unknown => self.unknown += 1,
        }
    }
}

/// A fact that a call of a run lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostFact {
    /// Its index in [`Facts::all`].
    pub fact: usize,
    /// Index of the first call without it; none for a conversation without calls.
    pub left_at: Option<usize>,
    /// Index of the first later call with it again.
    pub back_at: Option<usize>,
    /// Index of the first call that lacked it and whose answer uses it.
    pub used_at: Option<usize>,
    /// Whether the last call lacks it, and no later fact replaced it.
    pub is_gone: bool,
}

/// Survival of a session's facts in a run.
#[derive(Clone, Debug)]
pub struct LaneSurvival {
    /// The state of each fact at each call.
    pub history: FactHistory,
    /// The facts at the last call, in the order of [`FactKind::ALL`].
    pub kinds: [KindSurvival; FactKind::ALL.len()],
    /// The facts that a call lacked: those used while they were lost first.
    pub lost: Vec<LostFact>,
    /// The facts that the last call had partly and that were not replaced before, by index.
    pub partial: Vec<usize>,
    /// True tokens of the context of the last call.
    pub tokens: Tokens,
    /// Whether the run removed or shortened a message that states a fact.
    pub has_removed: bool,
}

impl LaneSurvival {
    /// Follows the facts of a case's session through a run.
    pub fn new(facts: &Facts, case: &Case, outcome: &Outcome) -> Self {
        let history = FactHistory::new(facts, case, outcome);
        let last = outcome.samples.last();
        let kinds = history.last_call.map_or_else(Default::default, |call| {
            let end = case.session.calls[call].context_end;
            survival(facts, &history, call, end)
        });
        let partial = history.last_call.map(|call| {
            let end = case.session.calls[call].context_end;
            let states = current_states(facts, &history, call, end);
            let partial = states.filter(|(_, state)| *state == FactState::Partial);
            partial.map(|(idx, _)| idx).collect()
        });
        Self {
            lost: lost(facts, case, &history),
            partial: by_kind(facts, partial.unwrap_or_default()),
            has_removed: (0..facts.all().len()).any(|fact| history.is_removed(fact)),
            tokens: last.map_or(Tokens::ZERO, |last| last.tokens),
            kinds,
            history,
        }
    }

    /// Counts the facts in a conversation that anything else wrote, given as its texts. Facts that were replaced before
    /// the end of the session do not count.
    pub fn of_texts(
        facts: &Facts,
        session: &Session,
        texts: &[ScoredText<'_>],
        tokens: Tokens,
    ) -> Self {
        let states = facts.in_texts(session, texts);
        let current = |idx: &usize| facts.all()[*idx].until.is_none();
        let mut kinds = [KindSurvival::default(); FactKind::ALL.len()];
        let (mut lost, mut partial) = (Vec::new(), Vec::new());
        for idx in (0..states.len()).filter(current) {
            let state = states[idx];
            kinds[facts.all()[idx].kind as usize].add(state, state != FactState::Verbatim);
            if state == FactState::Partial {
                partial.push(idx);
            } else if state == FactState::Gone {
                lost.push(LostFact {
                    fact: idx,
                    left_at: None,
                    back_at: None,
                    used_at: None,
                    is_gone: true,
                });
            }
        }
        lost.sort_by_key(|lost| (facts.all()[lost.fact].kind, lost.fact));
        Self {
            history: FactHistory::default(),
            has_removed: total(&kinds).removed > 0,
            kinds,
            lost,
            partial: by_kind(facts, partial),
            tokens,
        }
    }

    /// Counts the facts at a call, in the order of [`FactKind::ALL`].
    pub fn at(
        &self,
        facts: &Facts,
        case: &Case,
        call: usize,
    ) -> [KindSurvival; FactKind::ALL.len()] {
        let end = case.session.calls[call].context_end;
        survival(facts, &self.history, call, end)
    }

    /// Returns the facts that were stated before a call and not replaced since, by index, with their states at the
    /// call.
    pub fn states_at<'a>(
        &'a self,
        facts: &'a Facts,
        case: &Case,
        call: usize,
    ) -> impl Iterator<Item = (usize, FactState)> + use<'a> {
        current_states(facts, &self.history, call, case.session.calls[call].context_end)
    }

    /// Returns the facts of a kind, or of all kinds.
    pub fn of(&self, kind: Option<FactKind>) -> KindSurvival {
        match kind {
            Some(kind) => self.kinds[kind as usize],
            None => total(&self.kinds),
        }
    }
}

/// Sorts facts by kind and place.
fn by_kind(facts: &Facts, mut indices: Vec<usize>) -> Vec<usize> {
    indices.sort_by_key(|idx| (facts.all()[*idx].kind, *idx));
    indices
}

/// Returns the sum of all kinds.
pub fn total(kinds: &[KindSurvival]) -> KindSurvival {
    let mut sum = KindSurvival::default();
    for kind in kinds {
        sum.stated += kind.stated;
        sum.removed += kind.removed;
        sum.verbatim += kind.verbatim;
        sum.partial += kind.partial;
        sum.gone += kind.gone;
        sum.unknown += kind.unknown;
    }
    sum
}

/// Counts the facts at a call of a run, by kind.
fn survival(
    facts: &Facts,
    history: &FactHistory,
    call: usize,
    context_end: usize,
) -> [KindSurvival; FactKind::ALL.len()] {
    let mut kinds = [KindSurvival::default(); FactKind::ALL.len()];
    for (idx, state) in current_states(facts, history, call, context_end) {
        kinds[facts.all()[idx].kind as usize].add(state, history.is_removed(idx));
    }
    kinds
}

fn current_states<'a>(
    facts: &'a Facts,
    history: &'a FactHistory,
    call: usize,
    context_end: usize,
) -> impl Iterator<Item = (usize, FactState)> + use<'a> {
    let all = facts.all().iter().enumerate();
    let current = all.filter(move |(_, fact)| fact.is_current(context_end));
    current.filter_map(move |(idx, _)| Some((idx, history.at(idx, call)?)))
}

/// Returns the facts that a call of a run lacked: those used while they were lost first, then by kind and place.
fn lost(facts: &Facts, case: &Case, history: &FactHistory) -> Vec<LostFact> {
    let mut found: Vec<LostFact> =
        (0..facts.all().len()).filter_map(|idx| lost_fact(facts, case, history, idx)).collect();
    found.sort_by_key(|lost| {
        let fact = &facts.all()[lost.fact];
        (lost.used_at.is_none(), !lost.is_gone, fact.kind, lost.fact)
    });
    found
}

fn lost_fact(facts: &Facts, case: &Case, history: &FactHistory, idx: usize) -> Option<LostFact> {
    let changes = history.changes(idx);
    let first = changes.iter().position(|change| change.state == FactState::Gone)?;
    let back = changes[first..]
        .iter()
        .find(|change| matches!(change.state, FactState::Verbatim | FactState::Partial));
    let fact = &facts.all()[idx];
    let left_at = changes[first].call as usize;
    let is_current_at = |call: usize| fact.is_current(case.session.calls[call].context_end);
    if !is_current_at(left_at) {
        return None;
    }
    let is_lost_at =
        |call: &usize| is_current_at(*call) && history.at(idx, *call) == Some(FactState::Gone);
    Some(LostFact {
        fact: idx,
        left_at: Some(left_at),
        back_at: back.map(|change| change.call as usize),
        used_at: fact.calls_with_uses().find(is_lost_at),
        is_gone: history.last_call.is_some_and(|last| is_lost_at(&last)),
    })
}
