//! Export of a managed conversation: settings, work and result.

use crate::app::state::export::draft::{ExportContent, ExportDraft, SummarySource, Target};
use crate::app::state::export::stage::{Consent, Stage, StoreConsent, Written};
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::document::Document;
use crate::app::state::model::policies;
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::model::selection::Selection;
use crate::app::state::model_form::draft::ModelRunInputs;
use crate::app::state::model_form::run::RunHandle;
use crate::app::state::model_form::typed::{Secret, typed_path};
use crate::engine::Schedule;
use crate::exec::model::context_length;
use crate::exec::{ExportJob, Model, RunLog, Summarizer, request_cost};
use crate::{exec, formats};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An export in the window.
#[derive(Debug)]
pub struct Export {
    /// The settings.
    pub draft: ExportDraft,
    /// The typed API key, kept while the dialog is open.
    pub key: Secret,
    /// Progress of the export.
    pub stage: Stage,
    /// The program may save logs.
    pub keeps_state: bool,
}

/// The inputs of an export besides its settings.
#[derive(Clone, Copy)]
pub struct ExportInputs<'a> {
    /// The session.
    pub document: &'a Document,
    /// The lanes of the session.
    pub runs: &'a Runs,
    /// The window to redraw when work is done.
    pub repaint: &'a Repaint,
    /// When work runs.
    pub work: WorkMode,
}

impl Export {
    fn of(draft: ExportDraft, keeps_state: bool) -> Self {
        Self { draft, key: Secret::default(), stage: Stage::Form, keeps_state }
    }

    /// Creates an export with the default settings. If the program saves no files, the log is off by default.
    pub fn new(document: &Document, lane: usize, call: usize, keeps_state: bool) -> Self {
        let mut draft = ExportDraft::new(document, lane, call);
        draft.model.keeps_log = keeps_state;
        Self::of(draft, keeps_state)
    }

    /// Creates an export with the settings of the previous one. The call follows the selection, and so does the lane if
    /// another one is focused.
    pub fn again(
        mut draft: ExportDraft,
        document: &Document,
        lane: Option<usize>,
        n_lanes: usize,
        selection: &Selection,
        keeps_state: bool,
    ) -> Self {
        let is_other_call = draft.call != selection.call;
        draft.call = selection.call;
        let focused = selection.lane.filter(|_| selection.lane != draft.focused);
        let last = n_lanes.saturating_sub(1);
        draft.lane = lane.or(focused).or(draft.lane).map(|lane| lane.min(last));
        draft.focused = selection.lane;
        if is_other_call && draft.content == ExportContent::Context && !draft.is_output_chosen {
            draft.output = draft.default_output(document);
        }
        draft.keep_possible();
        draft.take_free_name();
        Self::of(draft, keeps_state)
    }

    /// Applies edited settings. The output path follows the format until you choose one.
    pub fn edit(&mut self, document: &Document, mut draft: ExportDraft) {
        draft.keep_possible();
        let is_other = |of: fn(&ExportDraft) -> (bool, &str)| of(&draft) != of(&self.draft);
        if draft.output != self.draft.output {
            draft.is_output_chosen = true;
        } else if is_other(|d| (d.content == ExportContent::Context, d.format))
            && !draft.is_output_chosen
        {
            draft.output = draft.default_output(document);
        }
        self.draft = draft;
        // An error message stays visible until the next attempt, since it says what to change.
        if !matches!(self.stage, Stage::Failed(_)) {
            self.stage = Stage::Form;
        }
    }

    /// Selects a compaction even if the trigger is not met. Restarts the export if it was already tried.
    pub fn compact_anyway(&mut self, inputs: ExportInputs<'_>) {
        let was_tried = !matches!(self.stage, Stage::Form);
        self.draft.content = ExportContent::CompactNowForced;
        if was_tried {
            self.run(inputs);
        }
    }

    /// Writes the export, or asks for consent before data is sent to a model or added to a store.
    pub fn run(&mut self, inputs: ExportInputs<'_>) {
        match self.job(inputs) {
            Ok((job, run)) if self.draft.uses_model() => self.ask_consent(inputs, job, run),
            Ok((job, _)) => self.write_or_ask(inputs, job),
            Err(why) => self.stage = Stage::Failed(why),
        }
    }

    /// Generates summaries for review. Asks for consent before data is sent to a model.
    pub fn preview(&mut self, inputs: ExportInputs<'_>) {
        match self.job(inputs) {
            Ok((job, run)) if self.draft.uses_model() => self.ask_consent(inputs, job, run),
            Ok((job, run)) => self.summarize(inputs.repaint, inputs.work, job, run),
            Err(why) => self.stage = Stage::Failed(why),
        }
    }

    fn ask_consent(&mut self, inputs: ExportInputs<'_>, mut job: ExportJob, run: RunHandle) {
        let (Summarizer::Model(model), Some(sending)) = (&job.summarizer, request_cost(&job))
        else {
            return;
        };
        if sending.requests == 0 {
            // No request is sent, not even for the model's context window.
            job.summarizer = Summarizer::Digest;
            return self.summarize(inputs.repaint, inputs.work, job, run);
        }
        self.stage = Stage::Consent(Box::new(Consent {
            sending,
            endpoint: model.client.endpoint.clone(),
            log: model.log.clone(),
            job,
            run,
        }));
    }

    /// Sends the summary requests after consent.
    pub fn send(&mut self, repaint: &Repaint, work: WorkMode) {
        if let Stage::Consent(consent) = &self.stage {
            let (job, run) = (consent.job.clone(), consent.run.clone());
            self.summarize(repaint, work, job, run);
        }
    }

    fn summarize(&mut self, repaint: &Repaint, work: WorkMode, job: ExportJob, run: RunHandle) {
        let replay = self.replay();
        let preview = move || {
            let job = with_model_window(with_log(job, replay.as_deref())?);
            exec::preview(&job)
        };
        self.stage = Stage::Asking(run, work.start(repaint, "summaries", preview));
    }

    /// Writes the export with the reviewed summaries.
    pub fn write_reviewed(&mut self, inputs: ExportInputs<'_>) {
        let Stage::Review(review) = &self.stage else {
            return;
        };
        let given = review.answers();
        match self.job_for(inputs.runs, Summarizer::Digest) {
            Some(job) => self.write_or_ask(inputs, ExportJob { given, ..job }),
            None => self.stage = Stage::Failed(GONE.to_owned()),
        }
    }

    /// Writes a file, or asks for consent to add the export to a store.
    fn write_or_ask(&mut self, inputs: ExportInputs<'_>, job: ExportJob) {
        let Some(resume) =
            self.draft.resume(inputs.document).filter(|_| self.draft.target == Target::Store)
        else {
            return self.write(inputs.repaint, inputs.work, job, Target::File);
        };
        let (session, format) = (Arc::clone(&job.case.session), job.format);
        let search = move || exec::resumable_folder(&session, format);
        self.stage = Stage::Store(Box::new(StoreConsent {
            program: resume.program,
            folder: None,
            search: Some(inputs.work.start(inputs.repaint, "store", search)),
            job,
        }));
    }

    /// Adds the export to the store after consent.
    pub fn write_to_store(&mut self, repaint: &Repaint, work: WorkMode) {
        if let Stage::Store(consent) = &self.stage {
            let job = consent.job.clone();
            self.write(repaint, work, job, Target::Store);
        }
    }

    fn write(&mut self, repaint: &Repaint, work: WorkMode, job: ExportJob, target: Target) {
        let (replay, content) = (self.replay(), self.draft.content);
        let write = move || {
            let job = with_log(job, replay.as_deref())?;
            if target == Target::Store {
                let (exported, resumed) = exec::export_resumable(&job)?;
                return Ok(Box::new(Written { exported, resumed }));
            }
            let exported = match content {
                ExportContent::Context => exec::export_context(&job)?,
                _ => exec::export(&job)?,
            };
            Ok(Box::new(Written { exported, resumed: None }))
        };
        self.stage = Stage::Writing(work.start(repaint, "export", write));
    }

    /// Returns to the form and stops the work in progress.
    pub fn cancel(&mut self) {
        if let Stage::Asking(run, _) = &self.stage {
            run.cancel();
        }
        self.stage = Stage::Form;
    }

    /// Replaces the text of a summary.
    pub fn edit_summary(&mut self, request: usize, text: String) {
        if let Stage::Review(review) = &mut self.stage
            && let Some(known) = review.texts.get_mut(request)
        {
            *known = Some(text);
        }
    }

    /// Receives finished work; returns the result of a write that just ended.
    pub fn poll(&mut self) -> Option<&Written> {
        let was_writing = matches!(self.stage, Stage::Writing(_));
        self.stage = std::mem::replace(&mut self.stage, Stage::Form).polled();
        match &self.stage {
            Stage::Done(written) if was_writing => {
                // Ready for the next export.
                self.draft.take_free_name();
                Some(written)
            }
            _ => None,
        }
    }

    /// Returns the log to replay instead of calling a model.
    fn replay(&self) -> Option<PathBuf> {
        let is_used = self.draft.summaries == SummarySource::Log && self.draft.lane.is_some();
        is_used.then(|| typed_path(&self.draft.replay).unwrap_or_default())
    }

    fn job(&self, inputs: ExportInputs<'_>) -> Result<(ExportJob, RunHandle), String> {
        let (run, draft) = (RunHandle::default(), &self.draft);
        let summarizer = match draft.summaries {
            SummarySource::Pasted if draft.lane.is_some() => Summarizer::Text(draft.text.clone()),
            SummarySource::Model if draft.lane.is_some() => {
                let model = draft.model.model(ModelRunInputs {
                    key: &self.key,
                    session: &inputs.runs.case.session.source.name,
                    keeps_state: self.keeps_state,
                    run: &run,
                    repaint: inputs.repaint,
                })?;
                Summarizer::Model(Arc::new(model))
            }
            // The log is read by the worker.
            _ => Summarizer::Digest,
        };
        if !inputs.runs.config.without.is_empty() {
            return Err(WITHOUT.to_owned());
        }
        let job = self.job_for(inputs.runs, summarizer).ok_or(GONE)?;
        Ok((job, run))
    }

    fn job_for(&self, runs: &Runs, summarizer: Summarizer) -> Option<ExportJob> {
        let draft = &self.draft;
        let (policy, knobs) = if let Some(lane) = draft.lane {
            let lane = runs.lanes.get(lane)?;
            ((*lane.policy).clone(), lane.knobs.clone())
        } else {
            let none = policies::bundled_none();
            let knobs = none.defaults();
            (none, knobs)
        };
        let last = runs.case.session.calls.len().saturating_sub(1);
        let (schedule, until) = match draft.content {
            ExportContent::AsShown => {
                (Schedule::Replay, Some(draft.call).filter(|call| *call < last))
            }
            // The recorded lane is the recorded context without changes.
            ExportContent::Context if draft.lane.is_none() => {
                (Schedule::Now { force: false }, Some(draft.call))
            }
            ExportContent::Context => (Schedule::Replay, Some(draft.call)),
            ExportContent::CompactNow => (Schedule::Now { force: false }, None),
            ExportContent::CompactNowForced => (Schedule::Now { force: true }, None),
        };
        Some(ExportJob {
            case: runs.case.clone(),
            policy,
            knobs,
            schedule,
            until,
            summarizer,
            format: formats::by_name(draft.format)?,
            output: PathBuf::from(draft.output.trim()),
            files: typed_path(&draft.files),
            given: Vec::new(),
        })
    }
}

/// Message if sources are switched off: a file contains what was recorded.
const WITHOUT: &str = "Sources are switched off in the tab Context, which changes figures only. Switch them on to export what was recorded.";

const GONE: &str =
    "This lane or format does not exist any more. Close the dialog and export again.";

/// Sets the job to replay a log, if one is given.
fn with_log(mut job: ExportJob, log: Option<&Path>) -> Result<ExportJob, String> {
    if let Some(path) = log.filter(|_| job.given.is_empty()) {
        if path.as_os_str().is_empty() {
            return Err("choose the log of an earlier run".to_owned());
        }
        job.summarizer = Summarizer::Log(Arc::new(RunLog::read(path)?));
    }
    Ok(job)
}

/// Requests the context window from the model's server if none is given. Runs outside the UI thread.
fn with_model_window(mut job: ExportJob) -> ExportJob {
    if let Summarizer::Model(model) = &job.summarizer
        && model.window.is_none()
    {
        let window = context_length(&model.client, &model.stop).ok().flatten();
        let known = Model { window, ..(**model).clone() };
        job.summarizer = Summarizer::Model(Arc::new(known));
    }
    job
}
