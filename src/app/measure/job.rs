//! A measurement with a model: its settings, work and result.

use super::draft::MeasureDraft;
use crate::app::background::latest_result::WorkMode;
use crate::app::background::task::Background;
use crate::app::cost::compute::Costs;
use crate::app::export::requests::{Line, ModelRunInputs, Secret};
use crate::app::runs::replays::Runs;
use crate::exec::Model;
use crate::exec::evaluate::{
    Budget, EvaluatedLane, EvaluatedSession, Evaluation, EvaluationJob, EvaluationLog, Plan,
    PlanCost, RunOptions, Tier, run, with_pins,
};
use crate::exec::model::context_length;
use crate::presets::prices::Prices;
use crate::units::Usd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of requests at a time, as in the command line.
const CONCURRENCY: usize = 4;

/// A measurement in the window.
#[derive(Debug)]
pub struct Measurement {
    /// The settings.
    pub draft: MeasureDraft,
    /// The typed API key, kept while the dialog is open.
    pub key: Secret,
    /// Progress of the measurement.
    pub stage: Stage,
    /// The program may save logs.
    pub keeps_state: bool,
    /// The dialog is open.
    pub is_open: bool,
}

/// Progress of a measurement.
#[derive(Debug)]
pub enum Stage {
    /// The form is open.
    Form,
    /// The questions are being written.
    Planning(Background<Result<Box<Consent>, String>>),
    /// Consent before anything is sent.
    Consent(Box<Consent>),
    /// The model is being asked.
    Asking(Asking, Background<Result<Box<Measured>, String>>),
    /// The result.
    Done(Box<Measured>),
    /// Failed with this error.
    Failed(String),
}

/// The requests to send, and their server.
#[derive(Debug)]
pub struct Consent {
    /// Amount, price and detectable difference.
    pub cost: PlanCost,
    /// The model.
    pub model: Model,
    /// Limit on the price.
    pub budget: Option<Budget>,
    /// Names of the lanes.
    pub lanes: String,
    job: EvaluationJob,
    plan: Plan,
    costs: Vec<(String, Option<Usd>)>,
    line: Line,
}

/// Progress of the requests.
#[derive(Clone, Debug)]
pub struct Asking {
    /// Number of requests with an answer.
    pub done: Arc<AtomicUsize>,
    /// Expected number of requests.
    pub planned: usize,
    /// The requests are being stopped.
    pub is_stopped: bool,
    line: Line,
}

/// The result of a measurement.
#[derive(Debug)]
pub struct Measured {
    /// The result.
    pub evaluation: Evaluation,
    /// Each lane's cost of the replay; `None` without prices.
    pub costs: Vec<(String, Option<Usd>)>,
    /// The log, if one is kept.
    pub log: Option<PathBuf>,
    /// The error of writing the log.
    pub log_error: Option<String>,
}

/// The inputs of a measurement besides its settings.
#[derive(Clone, Copy)]
pub struct MeasureInputs<'a> {
    /// The lanes of the session.
    pub runs: &'a Runs,
    /// Costs of the lanes, if computed.
    pub costs: Option<&'a Costs>,
    /// The window to redraw on progress.
    pub ctx: &'a egui::Context,
    /// When work runs.
    pub at: WorkMode,
}

impl Measurement {
    /// Creates a measurement with the default settings.
    pub fn new(keeps_state: bool) -> Self {
        Self {
            draft: MeasureDraft::new(keeps_state),
            key: Secret::default(),
            stage: Stage::Form,
            keeps_state,
            is_open: true,
        }
    }

    /// Writes the questions, to ask for consent with their price.
    pub fn plan(&mut self, inputs: MeasureInputs<'_>) {
        let line = Line::default();
        let model = self.draft.model.model(ModelRunInputs {
            key: &self.key,
            session: &inputs.runs.case.session.source.name,
            keeps_state: self.keeps_state,
            line: &line,
            ctx: inputs.ctx,
        });
        let checked = model.and_then(|model| Ok((self.budget(&model)?, model)));
        let (budget, model) = match checked {
            Ok(checked) => checked,
            Err(why) => {
                self.stage = Stage::Failed(why);
                return;
            }
        };
        let (lanes, costs) = self.lanes(inputs);
        if lanes.is_empty() {
            self.stage = Stage::Failed("choose at least one lane".to_owned());
            return;
        }
        let (case, draft) = (inputs.runs.case.clone(), self.draft.clone());
        let work = move || {
            let lanes = with_pins(lanes, !case.manual_edits.pinned.is_empty());
            let sessions = vec![EvaluatedSession::new(case)];
            let mut job = EvaluationJob::new(Tier::Probes, sessions, lanes, draft.samples);
            job.max_probes = draft.probes;
            let plan = Plan::new(&job);
            if plan.n_probes() == 0 {
                return Err(NO_QUESTIONS.to_owned());
            }
            let names: Vec<&str> = job.lanes.iter().map(|lane| &*lane.name).collect();
            Ok(Box::new(Consent {
                lanes: names.join(", "),
                cost: plan.cost(&job, &model),
                model,
                budget,
                job,
                plan,
                costs,
                line,
            }))
        };
        self.stage = Stage::Planning(inputs.at.start(inputs.ctx, "questions", work));
        self.poll();
    }

    fn budget(&self, model: &Model) -> Result<Option<Budget>, String> {
        let limit = self.draft.limit()?;
        let endpoint = &model.client.endpoint;
        let budget = limit.map(|limit| Budget::new(Usd(limit), endpoint, Prices::bundled()));
        let budget = budget.transpose();
        budget
            .map(Option::flatten)
            .map_err(|why| format!("the budget cannot be checked: {why}; leave it empty"))
    }

    /// Returns the chosen lanes that have rules, and their costs.
    fn lanes(&self, inputs: MeasureInputs<'_>) -> (Vec<EvaluatedLane>, Vec<(String, Option<Usd>)>) {
        let lanes = inputs.runs.lanes.iter().enumerate();
        let lanes = lanes.filter(|(idx, lane)| {
            let name = inputs.runs.label(Some(*idx));
            !self.draft.skipped.contains(name) && !lane.policy.stages.is_empty()
        });
        let lanes = lanes.map(|(idx, lane)| {
            let name = inputs.runs.label(Some(idx)).to_owned();
            let cost = inputs.costs.and_then(|costs| costs.of(Some(idx)));
            // The lanes are measured without manual edits, which the cost includes.
            let is_edited = !inputs.runs.case.manual_edits.is_empty();
            let cost = cost
                .and_then(|lane| lane.cost.total())
                .filter(|_| !is_edited);
            let evaluated = EvaluatedLane {
                name: name.clone(),
                policy: (*lane.policy).clone(),
                knobs: lane.knobs.clone(),
                has_pins: false,
            };
            (evaluated, (name, cost))
        });
        lanes.unzip()
    }

    /// Asks the model after consent.
    pub fn send(&mut self, ctx: &egui::Context, at: WorkMode) {
        let stage = std::mem::replace(&mut self.stage, Stage::Form);
        let Stage::Consent(consent) = stage else {
            self.stage = stage;
            return;
        };
        let asking = Asking {
            done: Arc::default(),
            planned: consent.cost.questions + consent.cost.summaries,
            is_stopped: false,
            line: consent.line.clone(),
        };
        let (done, redrawn) = (Arc::clone(&asking.done), ctx.clone());
        let work = move || {
            let on_progress = |n: usize| {
                done.store(n, Ordering::Relaxed);
                redrawn.request_repaint();
            };
            consent.run(&on_progress).map(Box::new)
        };
        self.stage = Stage::Asking(asking, at.start(ctx, "questions", work));
    }

    /// Stops the requests. The result is computed from the answers so far.
    pub fn stop(&mut self) {
        if let Stage::Asking(asking, _) = &mut self.stage {
            asking.line.cancel();
            asking.is_stopped = true;
        }
    }

    /// Returns to the form. A result that is not shown any more is lost, except for its log.
    pub fn back(&mut self) {
        self.stop();
        self.stage = Stage::Form;
    }

    /// Closes the dialog and forgets the key.
    pub fn close(&mut self) {
        self.key = Secret::default();
        self.is_open = false;
    }

    /// Receives finished work.
    pub fn poll(&mut self) {
        let stage = std::mem::replace(&mut self.stage, Stage::Form);
        let lost = || Stage::Failed("The work stopped unexpectedly.".to_owned());
        self.stage = match stage {
            Stage::Planning(work) => match work.take() {
                Ok(Some(Ok(consent))) => Stage::Consent(consent),
                Ok(Some(Err(why))) => Stage::Failed(why),
                Ok(None) => lost(),
                Err(work) => Stage::Planning(work),
            },
            Stage::Asking(asking, work) => match work.take() {
                Ok(Some(Ok(measured))) => Stage::Done(measured),
                Ok(Some(Err(why))) => Stage::Failed(why),
                Ok(None) => lost(),
                Err(work) => Stage::Asking(asking, work),
            },
            stage => stage,
        };
    }
}

impl Drop for Measurement {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The reason why nothing is measured, if no question can be asked.
const NO_QUESTIONS: &str = "There is nothing to ask: no removed message of these lanes has a fact with a false option. Choose lanes that compact, or a longer session.";

impl Consent {
    /// Plays the lanes with real summaries and asks the questions.
    fn run(mut self, on_progress: &(dyn Fn(usize) + Sync)) -> Result<Measured, String> {
        let path = self.model.log.take();
        if self.model.window.is_none() {
            let window = context_length(&self.model.client, &self.model.stop);
            self.model.window = window.ok().flatten();
        }
        let mut log = EvaluationLog::new(&self.model, path);
        let options = RunOptions {
            model: Some(&self.model),
            budget: self.budget.as_ref(),
            concurrency: CONCURRENCY,
            on_progress: Some(on_progress),
        };
        let evaluation = run(&self.job, &self.plan, &mut log, options)?;
        let (path, error) = log.outcome();
        Ok(Measured {
            evaluation,
            costs: self.costs,
            log: path.map(Into::into),
            log_error: error.map(str::to_owned),
        })
    }
}
