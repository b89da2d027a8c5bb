//! Planted facts: plays a copy of a session with canaries through successive compactions with real summaries.

use super::contexts::shared_answers;
use super::job::{EvaluatedLane, EvaluationJob, Planting};
use super::parallel::parallel;
use super::points::removals;
use super::sender::{Sender, Series};
use crate::analysis::canary::{Canary, FollowedCanary, PlantedOutcome, canaries, plant, state};
use crate::engine::{Case, RequestSize, Schedule, drive, simulate};
use crate::exec::export::planned_requests;
use crate::exec::summary::{Model, SummaryAnswerer};
use std::sync::Arc;

/// A copy of a session for one lane.
struct PlantedRun {
    lane: usize,
    case: Case,
    /// Indices of the messages with the canaries.
    messages: Vec<u32>,
    /// Index of the last call to play.
    until: usize,
}

impl Planting {
    fn canaries(self) -> Vec<Canary> {
        canaries(self.canaries, self.canaries as u64)
    }

    /// Plants the canaries before the first compaction of a lane; `None` if there is no compaction or no position.
    fn run(self, case: &Case, lane: &EvaluatedLane, lane_idx: usize) -> Option<PlantedRun> {
        let case = &lane.case(case);
        let first = *removals(&simulate(case, &lane.policy, &lane.knobs, None)).first()?;
        let end = case.session.calls.get(first)?.context_end;
        let planted = plant(&case.session, &self.canaries(), end)?;
        let ledger = case.ledger.recount(&planted.session);
        let windows = (*case.windows).clone();
        let case = Case::new(Arc::new(planted.session), ledger, windows);
        let outcome = simulate(&case, &lane.policy, &lane.knobs, None);
        let n_calls = case.session.calls.len();
        let calls = removals(&outcome).into_iter().filter(|call| *call < n_calls);
        Some(PlantedRun {
            lane: lane_idx,
            messages: planted.messages,
            until: calls.take(self.rounds).last()?,
            case,
        })
    }

    fn runs(self, job: &EvaluationJob) -> Vec<Vec<PlantedRun>> {
        let of_session = job.sessions.iter().map(|session| {
            let lanes = job.lanes.iter().enumerate();
            lanes.filter_map(|(idx, lane)| self.run(&session.case, lane, idx)).collect()
        });
        of_session.collect()
    }

    /// Returns the summary requests of all samples.
    pub(super) fn requests(self, job: &EvaluationJob, model: &Model) -> Vec<RequestSize> {
        let runs = self.runs(job);
        let calls = runs.iter().flatten().flat_map(|run| {
            let lane = &job.lanes[run.lane];
            let (policy, knobs) = (&lane.policy, &lane.knobs);
            let (schedule, until) = (Schedule::Replay, Some(run.until));
            planned_requests(&run.case, policy, knobs, schedule, until, model)
        });
        calls.collect::<Vec<_>>().repeat(job.samples)
    }

    /// Plays all runs and follows the canaries.
    pub(super) fn play(
        self,
        job: &EvaluationJob,
        sender: &Sender<'_>,
        concurrency: usize,
    ) -> PlantedOutcome {
        let sessions = self.runs(job);
        let left_out = sessions.iter().filter(|runs| runs.is_empty()).count();
        let runs: Vec<_> = sessions
            .iter()
            .flatten()
            .flat_map(|run| (0..job.samples).map(move |sample| (run, sample)))
            .enumerate()
            .collect();
        let canaries = self.canaries();
        let followed = parallel(concurrency, &runs, |(number, (run, sample))| {
            let lane = &job.lanes[run.lane];
            let exchanges = Series { sender, name: &format!("planted {} {sample}", lane.name) };
            let followed = self.follow(run, lane, &canaries, exchanges);
            followed
                .into_iter()
                .map(|canary| FollowedCanary { run: *number, ..canary })
                .collect::<Vec<_>>()
        });
        let followed: Vec<_> = followed.into_iter().flatten().collect();
        PlantedOutcome::new(self.canaries, left_out, &followed, &job.lane_names())
    }

    fn follow(
        self,
        run: &PlantedRun,
        lane: &EvaluatedLane,
        canaries: &[Canary],
        exchanges: Series<'_, '_>,
    ) -> Vec<FollowedCanary> {
        let summarizer = shared_answers(exchanges.sender);
        let mut answers = SummaryAnswerer::through(&summarizer, &exchanges);
        // Returns the outcome, and the call before which the first summary is missing.
        let mut play = |until| {
            answers.restart();
            let (policy, knobs) = (&lane.policy, &lane.knobs);
            let (schedule, until) = (Schedule::Replay, Some(until));
            let outcome = drive(&run.case, policy, knobs, schedule, until, &mut answers);
            let is_missing = answers.fatal.take().is_some();
            let missing = answers.records.last().filter(|_| is_missing);
            (outcome, missing.map(|request| request.call - 1))
        };
        // Real summaries may be shorter than predicted, so that a compaction comes later.
        let last = run.case.session.calls.len() - 1;
        let mut until = run.until;
        let calls = loop {
            let (outcome, missing) = play(until);
            let is_played = |call: &usize| missing.is_none_or(|missing| *call < missing);
            let calls: Vec<_> = removals(&outcome).into_iter().filter(is_played).collect();
            if calls.len() >= self.rounds || until == last || missing.is_some() {
                break calls;
            }
            until = (until + run.until.max(1)).min(last);
        };
        let mut followed = Vec::new();
        for (round, call) in (1..).zip(calls.into_iter().take(self.rounds)) {
            let (outcome, _) = play(call);
            let context_end = run.case.session.calls[call].context_end as u32;
            let states = canaries.iter().zip(&run.messages);
            let states = states.filter(|(_, message)| **message < context_end);
            followed.extend(states.map(|(canary, message)| FollowedCanary {
                round,
                lane: run.lane,
                run: 0,
                kind: canary.kind,
                state: state(&outcome.context, canary, *message),
            }));
        }
        followed
    }
}
