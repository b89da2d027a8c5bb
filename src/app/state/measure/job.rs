//! A measurement with a model: its settings, work and result.

use crate::app::state::cost::compute::Costs;
use crate::app::state::measure::draft::MeasureDraft;
use crate::app::state::measure::partial::{PartialResult, ScoredProbes};
use crate::app::state::measure::run::{
    Consent, LaneCosts, Measured, MeasuredLanes, Planned, replay,
};
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task::Background;
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::model_form::draft::ModelRunInputs;
use crate::app::state::model_form::run::RunHandle;
use crate::app::state::model_form::typed::Secret;
use crate::exec::Model;
use crate::exec::evaluate::{Budget, EvaluatedLane};
use crate::presets::prices::Prices;
use crate::progress::Progress;
use crate::units::Usd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    /// Index of the open probe.
    pub probe: Option<usize>,
}

/// Progress of a measurement.
#[derive(Debug)]
pub enum Stage {
    /// The form is open.
    Form,
    /// The questions are being written.
    Planning(Background<Result<Planned, String>>),
    /// Consent before anything is sent.
    Consent(Box<Consent>),
    /// The model is being asked.
    Asking(Asking, Background<Result<Box<Measured>, String>>),
    /// The result.
    Done(Box<Measured>),
    /// Failed with this error.
    Failed(String),
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
    /// The result of the answers so far.
    pub partial: Arc<PartialResult>,
    stop: Arc<Progress>,
}

/// The inputs of a measurement besides its settings.
#[derive(Clone, Copy)]
pub struct MeasureInputs<'a> {
    /// The lanes of the session.
    pub runs: &'a Runs,
    /// Costs of the lanes, if computed.
    pub costs: Option<&'a Costs>,
    /// The window to redraw on progress.
    pub repaint: &'a Repaint,
    /// When work runs.
    pub work: WorkMode,
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
            probe: None,
        }
    }

    /// Changes the settings. An error that concerned the previous settings disappears.
    pub fn edit(&mut self, draft: MeasureDraft) {
        self.draft = draft;
        self.forget_error();
    }

    /// Changes the API key.
    pub fn set_key(&mut self, key: Secret) {
        self.key = key;
        self.forget_error();
    }

    fn forget_error(&mut self) {
        if matches!(self.stage, Stage::Failed(_)) {
            self.stage = Stage::Form;
        }
    }

    /// Writes the questions, to ask for consent with their price, or repeats a logged run.
    pub fn plan(&mut self, inputs: MeasureInputs<'_>) {
        self.probe = None;
        let lanes = self.lanes(inputs);
        if lanes.lanes.is_empty() {
            self.stage = Stage::Failed("choose at least one lane".to_owned());
            return;
        }
        let draft = self.draft.clone();
        if draft.is_replay() {
            let case = inputs.runs.case.clone();
            let replay = move || replay(&draft, case, lanes);
            self.stage = Stage::Planning(inputs.work.start(inputs.repaint, "questions", replay));
            return self.poll();
        }
        let model = self.draft.model.model(ModelRunInputs {
            key: &self.key,
            session: &inputs.runs.case.session.source.name,
            keeps_state: self.keeps_state,
            run: &RunHandle::default(),
            repaint: inputs.repaint,
        });
        let checked = model.and_then(|model| Ok((self.budget(&model)?, model)));
        let (budget, model) = match checked {
            Ok(checked) => checked,
            Err(why) => {
                self.stage = Stage::Failed(why);
                return;
            }
        };
        let case = inputs.runs.case.clone();
        let plan = move || {
            let consent = Consent::new(model, budget, &draft, case, lanes)?;
            Ok(Planned::Consent(Box::new(consent)))
        };
        self.stage = Stage::Planning(inputs.work.start(inputs.repaint, "questions", plan));
        self.poll();
    }

    fn budget(&self, model: &Model) -> Result<Option<Budget>, String> {
        let limit = self.draft.limit()?;
        let endpoint = &model.client.endpoint;
        let budget = limit.map(|limit| Budget::new(Usd(limit), endpoint, Prices::in_use()));
        let budget = budget.transpose();
        budget
            .map(Option::flatten)
            .map_err(|why| format!("the budget cannot be checked: {why}; leave it empty"))
    }

    /// Returns the chosen lanes that have rules, and their costs.
    fn lanes(&self, inputs: MeasureInputs<'_>) -> MeasuredLanes {
        let mut measured = MeasuredLanes { lanes: Vec::new(), costs: LaneCosts::new() };
        // The lanes are measured without manual edits, which the costs include.
        let is_edited = !inputs.runs.case.manual_edits.is_empty();
        let costs = inputs.costs.filter(|_| !is_edited);
        for (idx, lane) in inputs.runs.lanes.iter().enumerate() {
            let name = inputs.runs.label(Some(idx));
            if self.draft.skipped.contains(name) || lane.policy.stages.is_empty() {
                continue;
            }
            let policy = (*lane.policy).clone();
            let evaluated = EvaluatedLane::new(name.to_owned(), policy, lane.knobs.clone());
            measured.lanes.push(evaluated);
            let cost = costs.and_then(|costs| costs.of(Some(idx))?.cost.total());
            measured.costs.extend(cost.map(|cost| (name.to_owned(), cost)));
        }
        measured
    }

    /// Asks the model after consent.
    pub fn send(&mut self, repaint: &Repaint, work: WorkMode) {
        let stage = std::mem::replace(&mut self.stage, Stage::Form);
        let mut consent = match stage {
            Stage::Consent(consent) => consent,
            Stage::Done(mut measured) => match measured.take_rest() {
                Some(rest) => rest,
                None => return,
            },
            other => {
                self.stage = other;
                return;
            }
        };
        let stop = consent.renew_stop();
        let asking = Asking {
            done: Arc::default(),
            planned: consent.cost.questions + consent.cost.summaries,
            is_stopped: false,
            partial: Arc::default(),
            stop,
        };
        let (done, redrawn) = (Arc::clone(&asking.done), repaint.clone());
        let partial = Arc::clone(&asking.partial);
        let ask = move || {
            let on_progress = |n: usize| {
                done.store(n, Ordering::Relaxed);
                redrawn.now();
            };
            consent.run(&on_progress, &partial).map(Box::new)
        };
        self.stage = Stage::Asking(asking, work.start(repaint, "questions", ask));
    }

    /// Stops the requests. The result is computed from the answers so far.
    pub fn stop(&mut self) {
        if let Stage::Asking(asking, _) = &mut self.stage {
            asking.stop.cancel();
            asking.is_stopped = true;
        }
    }

    /// Returns to the form and discards the result. Its log stays.
    pub fn back(&mut self) {
        self.stop();
        self.stage = Stage::Form;
    }

    /// Closes the dialog and forgets the key.
    pub fn close(&mut self) {
        self.key = Secret::default();
        self.is_open = false;
        if let Stage::Done(measured) = &mut self.stage {
            drop(measured.take_rest());
        }
    }

    /// Returns the probes with their answers so far.
    pub fn scored(&self) -> Option<Arc<ScoredProbes>> {
        match &self.stage {
            Stage::Asking(asking, _) => asking.partial.latest(),
            Stage::Done(measured) => measured.scored.clone(),
            _ => None,
        }
    }

    /// Receives finished work.
    pub fn poll(&mut self) {
        let stage = std::mem::replace(&mut self.stage, Stage::Form);
        let stopped = || Stage::Failed("The work stopped unexpectedly.".to_owned());
        self.stage = match stage {
            Stage::Planning(work) => match work.take() {
                Ok(Some(Ok(Planned::Consent(consent)))) => Stage::Consent(consent),
                Ok(Some(Ok(Planned::Measured(measured)))) => Stage::Done(measured),
                Ok(Some(Err(why))) => Stage::Failed(why),
                Ok(None) => stopped(),
                Err(work) => Stage::Planning(work),
            },
            Stage::Asking(asking, work) => match work.take() {
                Ok(Some(Ok(measured))) => Stage::Done(measured),
                Ok(Some(Err(why))) => Stage::Failed(why),
                Ok(None) => stopped(),
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
