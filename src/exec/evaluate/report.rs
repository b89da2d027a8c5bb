//! The result of an evaluation.

use super::contexts::PlayedSamples;
use super::question_counts::QuestionCounts;
use super::sender::Traffic;
use crate::analysis::canary::PlantedOutcome;
use crate::analysis::judge::JudgeOutcome;
use crate::analysis::next_action::ActionOutcome;
use crate::analysis::probes::ProbeOutcome;
use schemars::JsonSchema;
use serde::Serialize;

/// The result of an evaluation. It depends on the sessions, the policies and the answers alone, so that a log gives the same
/// result without a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The model and its host.
    pub model: String,
    /// Number of times that each lane was played with new summaries.
    pub samples: usize,
    /// Questions about each session.
    pub sessions: Vec<SessionReport>,
    /// Answers to the probes; null for other tiers.
    pub probes: Option<ProbeOutcome>,
    /// Judgements of the next recorded actions; null for other tiers.
    pub judge: Option<JudgeOutcome>,
    /// Agreement on the next action; null for other tiers.
    pub next_action: Option<ActionOutcome>,
    /// Survival of planted facts; null if none are planted.
    pub planted: Option<PlantedOutcome>,
    /// Summaries and context sizes of the lanes.
    pub lanes: Vec<LaneReport>,
    /// Requests and their tokens.
    pub requests: RequestCounts,
}

/// Questions about a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SessionReport {
    /// Name of the session.
    pub name: String,
    /// Number of calls directly after a compaction of any lane.
    pub compacted_calls: usize,
    /// Number of these calls that were selected for questions.
    pub asked_calls: usize,
    /// Number of these calls without a question: no removed message has a fact with a false option.
    pub calls_without_questions: usize,
    /// Number of probes.
    pub probes: usize,
    /// Number of probes above the maximum of a call.
    pub probes_above_maximum: usize,
    /// Number of facts for which the session has no false option.
    pub facts_without_distractor: usize,
    /// Number of facts.
    pub facts: usize,
    /// Problems, such as a context that cannot be sent.
    pub problems: Vec<String>,
}

/// Summaries and context size of a lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LaneReport {
    /// Name of the lane.
    pub lane: String,
    /// Number of summary requests over all sessions and samples.
    pub summary_requests: usize,
    /// Number of summaries that were rejected or missing.
    pub summaries_rejected: usize,
    /// Number of contexts at the selected calls.
    pub contexts: usize,
    /// Mean tokens of these contexts; null without one.
    pub context_tokens: Option<f64>,
}

/// Requests of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequestCounts {
    /// Number of questions in the plan.
    pub planned_questions: usize,
    /// Number of requests with an answer, including summaries.
    pub answered: usize,
    /// Number of these answers that are errors.
    pub failed: usize,
    /// Number of requests that were not sent, because the run ended early.
    pub not_sent: usize,
    /// Questions by result.
    pub questions: QuestionCounts,
    /// Tokens sent as reported by the provider; null if not reported.
    pub tokens_sent: Option<u64>,
    /// The part of the tokens sent that was read from the provider's cache; null if not reported.
    pub tokens_from_cache: Option<u64>,
    /// Tokens received as reported by the provider; null if not reported.
    pub tokens_received: Option<u64>,
}

impl RequestCounts {
    pub(super) fn new(planned_questions: usize, traffic: Traffic) -> Self {
        Self {
            planned_questions,
            answered: traffic.answered,
            failed: traffic.failed,
            not_sent: traffic.missing,
            questions: traffic.questions,
            tokens_sent: traffic.sent,
            tokens_from_cache: traffic.cache_read,
            tokens_received: traffic.received,
        }
    }
}

/// Sums of a lane over all sessions and samples.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneSums {
    requests: usize,
    rejected: usize,
    tokens: u64,
    contexts: usize,
}

impl LaneSums {
    pub(super) fn add(&mut self, played: &PlayedSamples) {
        for sample in &played.samples {
            self.requests += sample.requests.len();
            self.rejected += sample.requests.iter().filter(|r| r.failed.is_some()).count();
            for context in sample.contexts.iter().flatten() {
                self.tokens += context.tokens.0;
                self.contexts += 1;
            }
        }
    }

    pub(super) fn report(&self, lane: &str) -> LaneReport {
        let mean = self.tokens as f64 / self.contexts as f64;
        LaneReport {
            lane: lane.to_owned(),
            summary_requests: self.requests,
            summaries_rejected: self.rejected,
            contexts: self.contexts,
            context_tokens: (self.contexts > 0).then_some(mean),
        }
    }
}
