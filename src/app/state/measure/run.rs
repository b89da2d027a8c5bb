//! The run of a measurement: consent with its price, the requests, and the result.

use crate::analysis::probes::AnsweredProbe;
use crate::app::state::measure::draft::MeasureDraft;
use crate::app::state::measure::partial::{PartialResult, ScoredProbes};
use crate::engine::Case;
use crate::exec::Model;
use crate::exec::evaluate::{
    Budget, CONCURRENCY, EvaluatedLane, EvaluatedSession, Evaluation, EvaluationJob, EvaluationLog,
    EvaluationPlan, PlanCost, RECORDED, RunOptions, Stopped, Tier, run,
};
use crate::exec::model::context_length;
use crate::presets::prices::Prices;
use crate::progress::Progress;
use crate::units::Usd;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The lanes to measure.
pub(crate) struct MeasuredLanes {
    pub(crate) lanes: Vec<EvaluatedLane>,
    pub(crate) costs: LaneCosts,
}

/// Costs of the replay by name of the lane; without the lanes that have no price.
pub type LaneCosts = BTreeMap<String, Usd>;

/// The next stage after planning.
#[derive(Debug)]
pub enum Planned {
    /// Consent to send requests.
    Consent(Box<Consent>),
    /// The result of a logged run.
    Measured(Box<Measured>),
}

/// The requests to send, and their server.
#[derive(Debug)]
pub struct Consent {
    /// Amount, price and detectable difference.
    pub cost: PlanCost,
    /// The model.
    pub model: Model,
    /// The entered limit on the price.
    pub limit: Option<Usd>,
    /// The limit that is applied; `None` for a server on this machine.
    pub budget: Option<Budget>,
    /// Names of the lanes.
    pub lanes: String,
    job: EvaluationJob,
    plan: EvaluationPlan,
    costs: LaneCosts,
    /// The answers of a stopped run.
    answered: Option<EvaluationLog>,
}

/// The result of a measurement.
#[derive(Debug)]
pub struct Measured {
    /// The result.
    pub evaluation: Evaluation,
    /// The probes with their answers.
    pub scored: Option<Arc<ScoredProbes>>,
    /// Costs of the lanes.
    pub costs: LaneCosts,
    /// The log, if one is kept.
    pub log: Option<PathBuf>,
    /// The error of writing the log.
    pub log_error: Option<String>,
    /// The requests that a stopped run has not sent.
    rest: Option<Box<Consent>>,
}

impl Measured {
    fn new(mut evaluation: Evaluation, costs: LaneCosts) -> Self {
        let probes = std::mem::take(&mut evaluation.probes);
        let outcome = evaluation.report.probes.clone();
        Self {
            scored: outcome.map(|outcome| Arc::new(ScoredProbes { probes, outcome })),
            evaluation,
            costs,
            log: None,
            log_error: None,
            rest: None,
        }
    }

    /// Returns whether the run was stopped and can be continued.
    pub fn can_continue(&self) -> bool {
        self.rest.is_some()
    }

    /// Takes the requests that were not sent, and with them the API key.
    pub(crate) fn take_rest(&mut self) -> Option<Box<Consent>> {
        self.rest.take()
    }
}

/// Creates the job of one session.
fn job(
    case: Case,
    lanes: Vec<EvaluatedLane>,
    samples: usize,
    draft: &MeasureDraft,
) -> EvaluationJob {
    let sessions = vec![EvaluatedSession::new(case)];
    let mut job = EvaluationJob::new(Tier::Probes, sessions, lanes, samples);
    job.max_probes = draft.probes;
    if draft.skipped.contains(RECORDED) {
        job.remove_recorded_lane();
    }
    job
}

/// Repeats a logged run of these lanes without a model.
pub(crate) fn replay(
    draft: &MeasureDraft,
    case: Case,
    measured: MeasuredLanes,
) -> Result<Planned, String> {
    let mut log = EvaluationLog::open(Path::new(draft.replay.trim()))?;
    let mut lanes = measured.lanes;
    lanes.retain(|lane| log.n_samples(&lane.name) > 0);
    let samples = lanes.iter().map(|lane| log.n_samples(&lane.name)).max();
    let samples = samples.ok_or("the log has no answers for these lanes")?;
    let job = job(case, lanes, samples, draft);
    let options = RunOptions {
        model: None,
        budget: None,
        concurrency: CONCURRENCY,
        on_progress: None,
        on_probes: None,
    };
    let evaluation = run(&job, &EvaluationPlan::new(&job), &mut log, options)?;
    Ok(Planned::Measured(Box::new(Measured {
        log: log.path().map(Into::into),
        ..Measured::new(evaluation, measured.costs)
    })))
}

/// The reason why nothing is measured, if no question can be asked.
const NO_QUESTIONS: &str = "There is nothing to ask: no removed message of these lanes has a fact with a false option. Choose lanes that compact, or a longer session.";

impl Consent {
    /// Writes the questions about lanes.
    ///
    /// # Errors
    /// Returns one line if there is nothing to ask.
    pub(crate) fn new(
        model: Model,
        budget: Option<Budget>,
        draft: &MeasureDraft,
        case: Case,
        measured: MeasuredLanes,
    ) -> Result<Self, String> {
        let job = job(case, measured.lanes, draft.samples, draft);
        let plan = EvaluationPlan::new(&job);
        if plan.n_probes() == 0 {
            return Err(NO_QUESTIONS.to_owned());
        }
        Ok(Self {
            lanes: job.lane_names().join(", "),
            cost: plan.cost(&job, &model, Prices::in_use()),
            model,
            limit: draft.limit()?.map(Usd),
            budget,
            job,
            plan,
            costs: measured.costs,
            answered: None,
        })
    }

    /// Returns the handle that cancels the requests, which are not cancelled yet.
    pub(crate) fn renew_stop(&mut self) -> Arc<Progress> {
        self.model.stop = Arc::default();
        Arc::clone(&self.model.stop)
    }

    /// Plays the lanes with real summaries and asks the questions.
    pub(crate) fn run(
        mut self: Box<Self>,
        on_progress: &(dyn Fn(usize) + Sync),
        partial: &PartialResult,
    ) -> Result<Measured, String> {
        let mut log = self.answered.take().unwrap_or_else(|| self.new_log());
        let lanes = self.job.lane_names();
        let on_probes = |so_far: &dyn Fn() -> Vec<AnsweredProbe>| partial.update(so_far, &lanes);
        let options = RunOptions {
            model: Some(&self.model),
            budget: self.budget.as_ref(),
            concurrency: CONCURRENCY,
            on_progress: Some(on_progress),
            on_probes: Some(&on_probes),
        };
        let evaluation = run(&self.job, &self.plan, &mut log, options)?;
        let path = log.path().map(Into::into);
        let error = log.error().map(str::to_owned);
        let costs = self.costs.clone();
        let rest = match &evaluation.stopped {
            Some(Stopped::Cancelled | Stopped::Failed(_)) => {
                self.answered = Some(log);
                Some(self)
            }
            Some(Stopped::Budget) | None => None,
        };
        Ok(Measured { log: path, log_error: error, rest, ..Measured::new(evaluation, costs) })
    }

    /// Creates the log of a new run. Finds the window of the model first, since the log states it.
    fn new_log(&mut self) -> EvaluationLog {
        let path = self.model.log.take();
        if self.model.window.is_none() {
            let window = context_length(&self.model.client, &self.model.stop);
            self.model.window = window.ok().flatten();
        }
        EvaluationLog::new(&self.model, path)
    }
}
