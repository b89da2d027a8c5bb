//! The requests of an evaluation, their price and the detectable difference, before anything is sent.

use super::actions::{ActionRequest, MAX_ACTION};
use super::job::{EvaluationJob, Tier};
use super::judge::{Actions, MAX_JUDGEMENT};
use super::points::{QuestionPoint, SessionPoints};
use super::questions::{MAX_ANSWER, SETS};
use crate::analysis::cost::{PrefixGroup, PrefixRequests, PriceRange, Quote};
use crate::analysis::probes::{Order, Probe};
use crate::analysis::statistics::{MIN_CLUSTERS, Power, design_effect};
use crate::engine::{Case, RequestSize, Schedule};
use crate::exec::export::{planned_requests, quote_at};
use crate::exec::summary::Model;
use crate::presets::prices::Prices;
use crate::units::Tokens;
use rayon::prelude::*;

/// The questions of an evaluation.
#[derive(Clone, Debug)]
pub struct EvaluationPlan {
    pub(super) sessions: Vec<SessionPoints>,
}

/// The estimated requests of a run, and the difference that it can detect.
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
    /// Price with the provider's cache. `None` if the price is unknown or the server is local.
    pub cached: Option<PriceRange>,
    /// Number of probes, actions or points that are compared.
    pub pairs: usize,
    /// Number of clusters: the points at which questions are asked.
    pub clusters: usize,
    /// The smallest difference of two lanes that the run detects with a power of 80 %; `None` if there are too few
    /// probes or clusters.
    pub detectable: Option<f64>,
}

impl EvaluationPlan {
    /// Creates the questions of all sessions.
    pub fn new(job: &EvaluationJob) -> Self {
        // Planted facts have points of their own.
        let has_points = !matches!(job.tier, Tier::Planted(_));
        let sessions = job.sessions.iter().filter(|_| has_points);
        Self { sessions: sessions.map(|session| SessionPoints::new(job, session)).collect() }
    }

    /// Returns the number of probes.
    pub fn n_probes(&self) -> usize {
        self.sessions.iter().map(SessionPoints::n_probes).sum()
    }

    /// Returns the number of questions. Every probe is asked in both orders, for each baseline and each sample of each
    /// lane.
    pub fn n_questions(&self, job: &EvaluationJob) -> usize {
        let groups = self.groups(job);
        groups.iter().map(|group| group.requests as usize).sum()
    }

    fn groups(&self, job: &EvaluationJob) -> Vec<PrefixGroup> {
        let sessions = job.sessions.iter().zip(&self.sessions);
        let of_session = sessions.flat_map(|(session, points)| {
            let points = points.points.iter();
            points.flat_map(|point| point_groups(job, &session.case, point))
        });
        of_session.collect()
    }

    /// Estimates what the run sends to a model.
    pub fn cost(&self, job: &EvaluationJob, model: &Model, prices: &Prices) -> PlanCost {
        let groups = self.groups(job);
        let summaries = self.summary_requests(job, model);
        let endpoint = &model.client.endpoint;
        let of_groups = groups.iter().flat_map(|group| {
            let n = group.requests;
            let each = RequestSize {
                sent: group.prefix + Tokens(group.rest.0 / n.max(1)),
                answer: Tokens(group.answers.0 / n.max(1)),
            };
            std::iter::repeat_n(each, n as usize)
        });
        let requests: Vec<_> = of_groups.chain(summaries.iter().copied()).collect();
        let once = summaries.iter().map(|summary| PrefixGroup {
            prefix: Tokens::ZERO,
            requests: 1,
            rest: summary.sent,
            answers: summary.answer,
        });
        let all: Vec<_> = groups.iter().copied().chain(once).collect();
        let all = PrefixRequests {
            model: &endpoint.model,
            marks_prefix: endpoint.api.marks_prefix,
            groups: &all,
        };
        let pairs = match job.tier {
            Tier::Probes => self.n_probes(),
            _ => self.n_compared_actions(job),
        };
        let clusters = self.n_points();
        let power = Power { design_effect: design_effect(pairs as f64 / clusters.max(1) as f64) };
        PlanCost {
            questions: groups.iter().map(|group| group.requests as usize).sum(),
            summaries: summaries.len(),
            tokens: requests.iter().map(|request| request.sent).sum(),
            answers: requests.iter().map(|request| request.answer).sum(),
            quote: quote_at(prices, endpoint, &requests),
            cached: (!endpoint.is_local()).then(|| all.cached_price(prices)).flatten(),
            pairs,
            clusters,
            detectable: power.detectable(pairs).filter(|_| clusters >= MIN_CLUSTERS),
        }
    }

    /// Returns the number of recorded actions to judge, or of points at which the model chooses its next action.
    fn n_compared_actions(&self, job: &EvaluationJob) -> usize {
        let sessions = job.sessions.iter().zip(&self.sessions);
        let of_session = sessions.map(|(session, points)| {
            let session = &session.case.session;
            let calls = points.points.iter().map(|point| point.call);
            match job.tier {
                Tier::Judge => calls.map(|call| Actions::after(session, call).n_judged()).sum(),
                _ if ActionRequest::new(session).is_none() => 0,
                _ => calls.count(),
            }
        });
        of_session.sum()
    }

    fn n_points(&self) -> usize {
        self.sessions.iter().map(|session| session.points.len()).sum()
    }

    /// Returns the summary requests of all samples.
    fn summary_requests(&self, job: &EvaluationJob, model: &Model) -> Vec<RequestSize> {
        if let Tier::Planted(planting) = job.tier {
            return planting.requests(job, model);
        }
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
                let schedule = Schedule::Replay;
                planned_requests(&case, &lane.policy, &lane.knobs, schedule, until, model)
            })
            .collect();
        of_runs.concat().repeat(job.samples)
    }
}

/// Questions that are asked once with each context of a point.
struct PointQuestions {
    n: usize,
    /// Tokens of all questions.
    tokens: Tokens,
    /// Maximum tokens of an answer.
    max_answer: u64,
    /// Number of times that they are asked without any context.
    no_context_runs: usize,
    /// Number of times that they are asked with the full context.
    full_context_runs: usize,
}

impl PointQuestions {
    /// Returns the questions at a point; `None` if there are none.
    fn new(job: &EvaluationJob, case: &Case, point: &QuestionPoint) -> Option<Self> {
        let weigh = |text: &str| case.ledger.weigh(text);
        match job.tier {
            Tier::Probes => {
                let both = |probe: &Probe| Order::BOTH.map(|order| weigh(&probe.text(order)));
                Some(Self {
                    n: point.probes.len() * Order::BOTH.len(),
                    tokens: point.probes.iter().flat_map(both).sum(),
                    max_answer: MAX_ANSWER,
                    no_context_runs: SETS,
                    full_context_runs: SETS,
                })
            }
            Tier::Judge => {
                let text = Actions::after(&case.session, point.call).request()?;
                Some(Self {
                    n: 1,
                    tokens: weigh(&text),
                    max_answer: MAX_JUDGEMENT,
                    no_context_runs: 0,
                    full_context_runs: 1,
                })
            }
            Tier::NextAction => {
                let request = ActionRequest::new(&case.session)?;
                Some(Self {
                    n: 1,
                    tokens: request.tokens(&case.ledger),
                    max_answer: MAX_ACTION,
                    no_context_runs: 0,
                    full_context_runs: job.samples,
                })
            }
            Tier::Planted(_) => None,
        }
    }

    /// Returns the requests that ask the questions `runs` times after one context.
    fn group(&self, context: Tokens, runs: usize) -> PrefixGroup {
        let requests = (self.n * runs) as u64;
        PrefixGroup {
            prefix: context,
            requests,
            rest: Tokens(self.tokens.0 * runs as u64),
            answers: Tokens(self.max_answer * requests),
        }
    }
}

/// Returns the requests of a point, grouped by the context that they share.
fn point_groups(job: &EvaluationJob, case: &Case, point: &QuestionPoint) -> Vec<PrefixGroup> {
    let Some(questions) = PointQuestions::new(job, case, point) else {
        return Vec::new();
    };
    let mut groups = vec![
        questions.group(Tokens::ZERO, questions.no_context_runs),
        questions.group(point.full_tokens, questions.full_context_runs),
    ];
    for (lane, tokens) in job.lanes.iter().zip(&point.lane_tokens) {
        let n = if point.is_asked(lane.is_recorded) { job.n_samples(lane) } else { 0 };
        groups.extend(std::iter::repeat_n(questions.group(*tokens, 1), n));
    }
    groups
}
