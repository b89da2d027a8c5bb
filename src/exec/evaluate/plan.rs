//! What an evaluation will send, with its price and what it can detect, before anything is sent.

use super::job::EvaluationJob;
use super::points::{Point, SessionPoints};
use crate::analysis::cost::{PrefixGroup, Quote, cached_price};
use crate::analysis::probes::Order;
use crate::analysis::statistics::{Power, design_effect};
use crate::engine::{Case, Schedule};
use crate::exec::export::{planned_requests, quote_at};
use crate::exec::summary::Model;
use crate::presets::prices::Prices;
use crate::units::{Tokens, Usd};
use rayon::prelude::*;

/// Maximum tokens of the answer to a probe, including reasoning.
pub(super) const MAX_ANSWER: u64 = 512;

/// Number of sets of baseline answers: one selects the probes, the other scores them.
pub(super) const SETS: usize = 2;

/// The questions of an evaluation.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) sessions: Vec<SessionPoints>,
}

/// What a run sends and what it can detect.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanCost {
    /// Number of questions.
    pub questions: usize,
    /// Number of summary requests, if every summary has the predicted size.
    pub summaries: usize,
    /// Tokens of all requests.
    pub tokens: Tokens,
    /// Maximum tokens of all answers.
    pub answers: Tokens,
    /// Price without the provider's cache.
    pub quote: Quote,
    /// Price with the provider's cache: without answers, and with answers of maximum length. `None` if the price is unknown or the
    /// server is this machine.
    pub cached: Option<(Usd, Usd)>,
    /// Number of probes.
    pub pairs: usize,
    /// Number of clusters.
    pub clusters: usize,
    /// The smallest difference of two lanes that the run detects with a power of 80 %; `None` if there are too few probes.
    pub detectable: Option<f64>,
}

impl Plan {
    /// Writes the questions of all sessions.
    pub fn new(job: &EvaluationJob) -> Self {
        let sessions = job.sessions.iter();
        Self {
            sessions: sessions
                .map(|session| SessionPoints::new(job, session))
                .collect(),
        }
    }

    /// Returns the number of probes.
    pub fn n_probes(&self) -> usize {
        self.sessions.iter().map(SessionPoints::n_probes).sum()
    }

    /// Returns the number of questions: every probe in both orders, for each baseline and each sample of each lane.
    pub fn n_questions(&self, job: &EvaluationJob) -> usize {
        self.n_probes() * Order::BOTH.len() * (2 * SETS + job.lanes.len() * job.samples)
    }

    /// Estimates what the run sends to a model.
    pub fn cost(&self, job: &EvaluationJob, model: &Model) -> PlanCost {
        let mut groups = Vec::new();
        for (session, points) in job.sessions.iter().zip(&self.sessions) {
            for point in &points.points {
                groups.extend(point_groups(job, &session.case, point));
            }
        }
        let summaries = self.summary_requests(job, model);
        let endpoint = &model.client.endpoint;
        let of_groups = groups.iter().flat_map(|group| {
            let n = group.requests;
            let each = group.prefix + Tokens(group.rest.0 / n.max(1));
            std::iter::repeat_n((each, Tokens(MAX_ANSWER)), n as usize)
        });
        let requests: Vec<_> = of_groups.chain(summaries.iter().copied()).collect();
        let once = summaries.iter().map(|(sent, most)| PrefixGroup {
            prefix: Tokens::ZERO,
            requests: 1,
            rest: *sent,
            answers: *most,
        });
        let all: Vec<_> = groups.iter().copied().chain(once).collect();
        let marks_cache = endpoint.api.name == "anthropic";
        let cached = || cached_price(Prices::bundled(), &endpoint.model, marks_cache, &all);
        let (pairs, clusters) = (self.n_probes(), self.n_points());
        let power = Power {
            design_effect: design_effect(pairs as f64 / clusters.max(1) as f64),
        };
        PlanCost {
            questions: self.n_questions(job),
            summaries: summaries.len(),
            tokens: requests.iter().map(|(sent, _)| *sent).sum(),
            answers: requests.iter().map(|(_, most)| *most).sum(),
            quote: quote_at(endpoint, &requests),
            cached: (!endpoint.is_local()).then(cached).flatten(),
            pairs,
            clusters,
            detectable: power.detectable(pairs),
        }
    }

    fn n_points(&self) -> usize {
        self.sessions
            .iter()
            .map(|session| session.points.len())
            .sum()
    }

    /// Returns sent tokens and maximum answer tokens of the summary requests of all samples.
    fn summary_requests(&self, job: &EvaluationJob, model: &Model) -> Vec<(Tokens, Tokens)> {
        let sessions = job.sessions.iter().zip(&self.sessions);
        let runs: Vec<_> = sessions
            .flat_map(|(session, points)| job.lanes.iter().map(move |lane| (session, points, lane)))
            .collect();
        let of_runs: Vec<Vec<_>> = runs
            .into_par_iter()
            .map(|(session, points, lane)| {
                let Some(last) = points.points.last() else {
                    return Vec::new();
                };
                let (case, until) = (lane.case(&session.case), Some(last.call));
                let policy = (&lane.policy, &lane.knobs);
                planned_requests(&case, policy, Schedule::Replay, until, model)
            })
            .collect();
        let calls = of_runs.into_iter().flatten();
        let each: Vec<_> = calls.map(|call| (call.input, call.most_output)).collect();
        each.repeat(job.samples)
    }
}

/// Returns the requests of a point by the context that they share.
fn point_groups(job: &EvaluationJob, case: &Case, point: &Point) -> Vec<PrefixGroup> {
    let orders = point
        .probes
        .iter()
        .flat_map(|probe| Order::BOTH.map(|order| probe.text(order)));
    let rest: Tokens = orders.map(|text| case.ledger.weigh(&text)).sum();
    let n = (point.probes.len() * Order::BOTH.len()) as u64;
    let group = |prefix: Tokens, sets: u64| PrefixGroup {
        prefix,
        requests: n * sets,
        rest: Tokens(rest.0 * sets),
        answers: Tokens(MAX_ANSWER * n * sets),
    };
    let sets = SETS as u64;
    let mut groups = vec![group(Tokens::ZERO, sets), group(point.full_tokens, sets)];
    for tokens in &point.lane_tokens {
        groups.extend(std::iter::repeat_n(group(*tokens, 1), job.samples));
    }
    groups
}
