//! The points of a session at which questions are asked: the call after each compaction of any lane.

use super::job::{EvaluatedSession, EvaluationJob, Tier};
use crate::analysis::probes::{KnownFacts, Probe, SelectedProbes, write};
use crate::engine::{Case, Effect, ManualEdits, MessageStatus, Outcome, recorded, simulate};
use crate::session::Session;
use crate::units::Tokens;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// A call with whose context questions are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QuestionPoint {
    /// Index of the call.
    pub(super) call: usize,
    /// The questions.
    pub(super) probes: Vec<Probe>,
    /// By lane: number of its compactions so far.
    pub(super) compactions: Vec<usize>,
    /// By lane: predicted tokens of its context.
    pub(super) lane_tokens: Vec<Tokens>,
    /// Tokens of the full context.
    pub(super) full_tokens: Tokens,
    /// The call is the first after a recorded compaction that is a lane. The full context is then the one without it.
    pub(super) is_recorded_compaction: bool,
}

impl QuestionPoint {
    /// Returns whether questions are asked with the context of the recorded run, or with that of another lane.
    pub(super) fn is_asked(&self, of_recorded: bool) -> bool {
        !of_recorded || self.is_recorded_compaction
    }
}

/// The points of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SessionPoints {
    /// Points at which something is asked, in order.
    pub(super) points: Vec<QuestionPoint>,
    /// Number of calls after a compaction.
    pub(super) n_compacted: usize,
    /// Number of points without a question: nothing that a lane removed is a fact with a false option.
    pub(super) n_empty: usize,
    /// Number of facts without a false option, over all points.
    pub(super) without_distractor: usize,
    /// Number of probes above the maximum, over all points.
    pub(super) above_maximum: usize,
}

impl SessionPoints {
    /// Finds the points of a session by playing every lane with predicted summaries.
    pub(super) fn new(job: &EvaluationJob, session: &EvaluatedSession) -> Self {
        let case = &session.case;
        let played: Vec<(Case, Outcome)> = job
            .lanes
            .par_iter()
            .map(|lane| {
                let case = lane.case(case);
                let outcome = if lane.is_recorded {
                    recorded(&case, Tokens::ZERO, None)
                } else {
                    simulate(&case, &lane.policy, &lane.knobs, None)
                };
                (case, outcome)
            })
            .collect();
        let n_calls = case.session.calls.len();
        let removals = played.iter().map(|(_, outcome)| removals(outcome));
        let removals: Vec<Vec<usize>> = removals.collect();
        let calls: BTreeSet<usize> = removals.iter().flatten().copied().collect();
        let calls: Vec<usize> = calls.into_iter().filter(|call| *call < n_calls).collect();
        let unedited = case.with_manual_edits(ManualEdits::default());
        let runs =
            SessionRuns { played, removals, full_run: recorded(&unedited, Tokens::ZERO, None) };
        let points: Vec<(QuestionPoint, SelectedProbes)> = evenly(&calls, job.max_points)
            .into_par_iter()
            .map(|call| point(job, session, &runs, call))
            .collect();
        let mut all = Self { n_compacted: calls.len(), ..Self::default() };
        for (point, written) in points {
            all.without_distractor += written.without_distractor;
            all.above_maximum += written.above_maximum;
            let is_empty = job.tier == Tier::Probes && written.probes.is_empty();
            all.n_empty += usize::from(is_empty);
            if !is_empty {
                all.points.push(QuestionPoint { probes: written.probes, ..point });
            }
        }
        all
    }

    /// Returns the number of probes.
    pub(super) fn n_probes(&self) -> usize {
        self.points.iter().map(|point| point.probes.len()).sum()
    }
}

/// The runs of a session over all calls.
struct SessionRuns {
    /// By lane: the session as the lane plays it, and its run.
    played: Vec<(Case, Outcome)>,
    /// By lane: the calls before which it removed something.
    removals: Vec<Vec<usize>>,
    /// The recorded run without manual edits.
    full_run: Outcome,
}

/// Returns the point of a call without its questions, and the questions.
fn point(
    job: &EvaluationJob,
    session: &EvaluatedSession,
    runs: &SessionRuns,
    call: usize,
) -> (QuestionPoint, SelectedProbes) {
    let (case, played) = (&session.case, &runs.played);
    let is_recorded_compaction = job.lanes.iter().any(|lane| lane.is_recorded)
        && case.session.compactions.iter().any(|c| c.call == call);
    let before = is_recorded_compaction.then(|| uncompacted(case, call));
    let written = if job.tier == Tier::Probes {
        let full = recorded_messages(&before.as_ref().unwrap_or(case).session, call);
        let kept_by_lane = kept_by_lane(job, played, call);
        questions(session, call, &full, &kept_by_lane, job.max_probes)
    } else {
        SelectedProbes::default()
    };
    let full_tokens = match &before {
        Some(before) => recorded(before, Tokens::ZERO, Some(call)).context.tokens(),
        None => tokens_at(&runs.full_run, call),
    };
    let so_far = |removals: &Vec<usize>| removals.iter().filter(|c| **c <= call).count();
    let point = QuestionPoint {
        call,
        probes: Vec::new(),
        compactions: runs.removals.iter().map(so_far).collect(),
        lane_tokens: played.iter().map(|(_, run)| tokens_at(run, call)).collect(),
        full_tokens,
        is_recorded_compaction,
    };
    (point, written)
}

/// Returns the messages that the context of each lane has unchanged at a call.
fn kept_by_lane(job: &EvaluationJob, played: &[(Case, Outcome)], call: usize) -> Vec<HashSet<u32>> {
    let kept = job.lanes.iter().zip(played).map(|(lane, (case, _))| {
        if lane.is_recorded {
            return recorded_messages(&case.session, call);
        }
        kept(&simulate(case, &lane.policy, &lane.knobs, Some(call)), case)
    });
    kept.collect()
}

/// Returns the calls before which the policy removed something.
pub(super) fn removals(outcome: &Outcome) -> Vec<usize> {
    let events = outcome.events.iter();
    let removing = events.filter(|event| event.effect == Effect::Removed && !event.is_manual());
    let calls: BTreeSet<usize> = removing.map(|event| event.call).collect();
    calls.into_iter().collect()
}

/// Returns at most `most` of the calls, evenly.
fn evenly(calls: &[usize], most: usize) -> Vec<usize> {
    let n = calls.len().min(most);
    (0..n).map(|nth| calls[nth * calls.len() / n]).collect()
}

/// Returns the messages that a context has unchanged.
fn kept(outcome: &Outcome, case: &Case) -> HashSet<u32> {
    let statuses = outcome.context.statuses(case.session.messages.len());
    (0..)
        .zip(statuses)
        .filter(|(_, (status, _))| *status == MessageStatus::Kept)
        .map(|(message, _)| message)
        .collect()
}

/// Returns the messages of the recorded context of a call.
fn recorded_messages(session: &Session, call: usize) -> HashSet<u32> {
    let context = session.real_context(session.calls[call].context_end);
    context.into_iter().map(|message| message as u32).collect()
}

/// Writes the questions about facts that the full context has and at least one lane does not.
fn questions(
    session: &EvaluatedSession,
    call: usize,
    full: &HashSet<u32>,
    kept_by_lane: &[HashSet<u32>],
    most: usize,
) -> SelectedProbes {
    let conversation = &session.case.session;
    let known = KnownFacts::new(conversation, &session.facts, call);
    write(&known, most, |probe| {
        let is_removed = kept_by_lane.iter().any(|kept| !kept.contains(&probe.message));
        is_removed && full.contains(&probe.message)
    })
}

/// Returns the tokens of the context of a call.
fn tokens_at(outcome: &Outcome, call: usize) -> Tokens {
    let idx = outcome.samples.binary_search_by_key(&call, |sample| sample.call);
    idx.map_or(Tokens::ZERO, |idx| outcome.samples[idx].tokens)
}

/// Returns the session without the recorded compactions directly before a call.
pub(super) fn uncompacted(case: &Case, call: usize) -> Case {
    let mut session = (*case.session).clone();
    session.compactions.retain(|c| c.call != call);
    session.revisions.retain(|revision| revision.call != call);
    let (ledger, windows) = (Arc::clone(&case.ledger), Arc::clone(&case.windows));
    let case = Case::new(Arc::new(session), ledger, windows);
    case.with_manual_edits(ManualEdits::default())
}

#[cfg(test)]
mod tests {
    use super::evenly;

    #[test]
    fn the_points_of_many_compactions_are_spread_evenly() {
        let calls: Vec<usize> = (100..200).collect();
        assert_eq!(evenly(&calls, 4), [100, 125, 150, 175]);
        assert_eq!(evenly(&calls[..3], 4), [100, 101, 102]);
        assert!(evenly(&[], 4).is_empty());
    }
}
