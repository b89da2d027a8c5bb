//! An export of a managed conversation on its way: what is asked for, the work, and what came of it.

mod asking;

pub use asking::{Heard, Line, ModelDraft, TypedKey};

use crate::app::background::{self, Background};
use crate::app::document::{Document, Origin};
use crate::app::latest::Where;
use crate::app::runs::Runs;
use crate::app::state::Selection;
use crate::engine::Schedule;
use crate::exec::model::context_length;
use crate::exec::{
    self, ExportJob, Exported, Model, Preview, RequestRecord, Sending, Summarizer, sending,
};
use crate::formats::{self, FORMATS, Format};
use crate::providers::Endpoint;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is to be exported.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Index of the lane.
    pub lane: usize,
    /// Index of the step that the lane shows.
    pub step: usize,
    /// What of it.
    pub what: What,
    /// Name of the format.
    pub format: &'static str,
    /// Who writes summaries.
    pub who: Who,
    /// The pasted summary.
    pub text: String,
    /// The model.
    pub model: ModelDraft,
    /// Where to.
    pub output: String,
    /// The person chose the place: it no longer follows the format.
    pub is_output_chosen: bool,
    /// The lane that was looked at when the lane was chosen.
    pub focused: Option<usize>,
}

/// What of a lane is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The context as the lane shows it at the step.
    AsShown,
    /// The last real context, managed once.
    CompactNow,
    /// The same, whether the trigger is met or not.
    CompactNowForced,
}

/// Who writes summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The offline digest.
    Digest,
    /// The person: a text that is pasted.
    Person,
    /// A model.
    Model,
}

/// An export in the window.
#[derive(Debug)]
pub struct Export {
    /// What is asked for.
    pub draft: Draft,
    /// The model's key as typed, for as long as the dialog is open.
    pub key: TypedKey,
    /// How far it is.
    pub stage: Stage,
}

/// How far an export is.
#[derive(Debug)]
pub enum Stage {
    /// It is being described.
    Form,
    /// Before anything is sent: what would be, and whether the person agrees.
    Consent(Box<Consent>),
    /// Summaries are being written.
    Asking(Line, Background<Result<Preview, String>>),
    /// Summaries are there, and may be written over.
    Review(Review),
    /// Files are being written.
    Writing(Background<Result<Exported, String>>),
    /// It is over.
    Done(Result<Exported, String>),
}

/// What would be sent, and to whom.
#[derive(Clone, Debug)]
pub struct Consent {
    /// How much.
    pub sending: Sending,
    /// Where to.
    pub endpoint: Endpoint,
    /// Where it is logged.
    pub log: Option<PathBuf>,
    job: ExportJob,
    line: Line,
}

/// Summaries before they are written.
#[derive(Clone, Debug)]
pub struct Review {
    /// What came of the run.
    pub preview: Preview,
    /// The summaries as they are now, by request; none where there is no answer.
    pub texts: Vec<Option<String>>,
}

impl Export {
    fn of(draft: Draft) -> Self {
        Self {
            draft,
            key: TypedKey::default(),
            stage: Stage::Form,
        }
    }

    /// Goes on with what was asked for the last time; only the step follows what is looked at, and the lane where
    /// another one is.
    pub fn again(
        mut draft: Draft,
        lane: Option<usize>,
        n_lanes: usize,
        selection: &Selection,
    ) -> Self {
        draft.step = selection.step;
        let focused = selection.lane.filter(|_| selection.lane != draft.focused);
        draft.lane = lane
            .or(focused)
            .unwrap_or(draft.lane)
            .min(n_lanes.saturating_sub(1));
        draft.focused = selection.lane;
        draft.take_free_name();
        Self::of(draft)
    }

    /// Starts with what is most often wanted: the lane as it is shown, in the file's own format, beside the file.
    pub fn new(document: &Document, lane: usize, step: usize) -> Self {
        let format = writable(document).next();
        let output = format
            .map(|f| default_output(document, f))
            .unwrap_or_default();
        Self::of(Draft {
            lane,
            step,
            what: What::AsShown,
            format: format.map_or("", |f| f.name),
            who: Who::Digest,
            text: String::new(),
            model: ModelDraft::default(),
            output,
            is_output_chosen: false,
            focused: Some(lane),
        })
    }

    /// Takes over an edited draft; the place follows the format until it was chosen.
    pub fn edit(&mut self, document: &Document, mut draft: Draft) {
        if draft.output != self.draft.output {
            draft.is_output_chosen = true;
        } else if draft.format != self.draft.format && !draft.is_output_chosen {
            draft.output = formats::by_name(draft.format)
                .map(|f| default_output(document, f))
                .unwrap_or_default();
        }
        self.draft = draft;
        self.stage = Stage::Form;
    }

    /// Goes on: writes it, or asks before anything is sent to a model.
    pub fn run(&mut self, ctx: &egui::Context, at: Where, runs: &Runs) {
        let job = match self.job(ctx, runs) {
            Ok((job, _)) if self.draft.who != Who::Model => job,
            Ok((job, line)) => return self.ask_consent(job, line),
            Err(why) => {
                self.stage = Stage::Done(Err(why));
                return;
            }
        };
        self.write(ctx, at, job);
    }

    /// Has summaries written without a model, to be looked at first.
    pub fn look(&mut self, ctx: &egui::Context, at: Where, runs: &Runs) {
        match self.job(ctx, runs) {
            Ok((job, line)) if self.draft.who == Who::Model => self.ask_consent(job, line),
            Ok((job, line)) => self.preview(ctx, at, job, line),
            Err(why) => self.stage = Stage::Done(Err(why)),
        }
    }

    fn ask_consent(&mut self, job: ExportJob, line: Line) {
        let Summarizer::Model(model) = &job.summarizer else {
            return;
        };
        self.stage = Stage::Consent(Box::new(Consent {
            sending: sending(&job),
            endpoint: model.client.endpoint.clone(),
            log: model.log.clone(),
            job,
            line,
        }));
    }

    /// The person agrees: summaries are asked for.
    pub fn send(&mut self, ctx: &egui::Context, at: Where) {
        if let Stage::Consent(consent) = &self.stage {
            let (job, line) = (consent.job.clone(), consent.line.clone());
            self.preview(ctx, at, job, line);
        }
    }

    fn preview(&mut self, ctx: &egui::Context, at: Where, job: ExportJob, line: Line) {
        let work = move || exec::preview(&asked_its_window(job));
        self.stage = Stage::Asking(
            line,
            match at {
                Where::AsNeeded => background::start("summaries", ctx, work),
                Where::InFrame => background::done(work),
            },
        );
    }

    /// Writes what was looked at, with the summaries as they are now.
    pub fn write_reviewed(&mut self, ctx: &egui::Context, at: Where, runs: &Runs) {
        let Stage::Review(review) = &self.stage else {
            return;
        };
        let given = review.given();
        match self.job_for(runs, Summarizer::Digest) {
            Some(job) => self.write(ctx, at, ExportJob { given, ..job }),
            None => self.stage = Stage::Done(Err(GONE.to_owned())),
        }
    }

    fn write(&mut self, ctx: &egui::Context, at: Where, job: ExportJob) {
        let work = move || exec::export(&job);
        self.stage = Stage::Writing(match at {
            Where::AsNeeded => background::start("export", ctx, work),
            Where::InFrame => background::done(work),
        });
    }

    /// Back to the form; what is under way ends.
    pub fn cancel(&mut self) {
        if let Stage::Asking(line, _) = &self.stage {
            line.cancel();
        }
        self.stage = Stage::Form;
    }

    /// Writes a summary over.
    pub fn edit_summary(&mut self, request: usize, text: String) {
        if let Stage::Review(review) = &mut self.stage
            && let Some(known) = review.texts.get_mut(request)
        {
            *known = Some(text);
        }
    }

    /// Work goes on that cannot be seen through the form.
    pub fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Asking(..) | Stage::Writing(_))
    }

    /// Looks whether work is over.
    pub fn poll(&mut self) {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Form) {
            Stage::Asking(line, work) => match work.take() {
                Ok(Some(Ok(preview))) => Stage::Review(Review::new(preview)),
                Ok(Some(Err(why))) => Stage::Done(Err(why)),
                Ok(None) => Stage::Done(Err("Asking stopped unexpectedly.".to_owned())),
                Err(work) => Stage::Asking(line, work),
            },
            Stage::Writing(work) => match work.take() {
                Ok(done) => {
                    // Ready for another one.
                    self.draft.take_free_name();
                    Stage::Done(done.unwrap_or_else(|| {
                        Err("Writing stopped unexpectedly; nothing was exported.".to_owned())
                    }))
                }
                Err(work) => Stage::Writing(work),
            },
            stage => stage,
        };
    }

    fn job(&self, ctx: &egui::Context, runs: &Runs) -> Result<(ExportJob, Line), String> {
        let line = Line::default();
        let draft = &self.draft;
        let summarizer = match draft.who {
            Who::Digest => Summarizer::Digest,
            Who::Person => Summarizer::Text(draft.text.clone()),
            Who::Model => {
                let name = &runs.case.session.source.name;
                let model = draft.model.model(&self.key, name, &line, ctx)?;
                Summarizer::Model(Arc::new(model))
            }
        };
        let job = self.job_for(runs, summarizer).ok_or(GONE)?;
        Ok((job, line))
    }

    fn job_for(&self, runs: &Runs, summarizer: Summarizer) -> Option<ExportJob> {
        let draft = &self.draft;
        let lane = runs.lanes.get(draft.lane)?;
        let (schedule, until) = match draft.what {
            What::AsShown => (
                Schedule::Replay,
                Some(draft.step).filter(|step| step + 1 < runs.case.session.steps.len()),
            ),
            What::CompactNow => (Schedule::Now { force: false }, None),
            What::CompactNowForced => (Schedule::Now { force: true }, None),
        };
        Some(ExportJob {
            case: runs.case.clone(),
            policy: (*lane.policy).clone(),
            knobs: lane.knobs.clone(),
            schedule,
            until,
            summarizer,
            format: formats::by_name(draft.format)?,
            output: PathBuf::from(draft.output.trim()),
            files: None,
            given: Vec::new(),
        })
    }
}

const GONE: &str = "This lane or format is no longer there. Close this and try again.";

/// The same with the model's window asked of its server, where the person gave none: off the window's thread.
fn asked_its_window(mut job: ExportJob) -> ExportJob {
    if let Summarizer::Model(model) = &job.summarizer
        && model.window.is_none()
    {
        let window = context_length(&model.client, &model.stop).ok().flatten();
        let known = Model {
            window,
            ..(**model).clone()
        };
        job.summarizer = Summarizer::Model(Arc::new(known));
    }
    job
}

impl Review {
    fn new(preview: Preview) -> Self {
        let text = |request: &RequestRecord| request.text.as_deref().map(str::to_owned);
        Self {
            texts: preview.requests.iter().map(text).collect(),
            preview,
        }
    }

    /// A person has written this one over.
    pub fn is_edited(&self, request: usize) -> bool {
        let was = self.preview.requests[request].text.as_deref();
        self.texts[request].as_deref() != was
    }

    /// The answers as they are now.
    fn given(&self) -> Vec<RequestRecord> {
        let requests = self.preview.requests.iter().enumerate();
        let now = requests.map(|(idx, request)| RequestRecord {
            is_edited: self.is_edited(idx),
            text: self.texts[idx].as_deref().map(Arc::from),
            ..request.clone()
        });
        now.collect()
    }
}

impl Draft {
    /// Moves on to the next free name where the place is taken, as it is after an export.
    fn take_free_name(&mut self) {
        let path = PathBuf::from(self.output.trim());
        let is_taken = path.file_name().is_some() && exec::is_taken(&path);
        if let (true, Some(format)) = (is_taken, formats::by_name(self.format)) {
            self.output = free_output(&path, format);
        }
    }
}

/// Formats that any session can be written in; the others only hold their own.
const OPEN_FORMATS: [&str; 2] = ["openai_chat", "anthropic_messages"];

/// The formats that this session can be written in, its own first.
pub fn writable(document: &Document) -> impl Iterator<Item = &'static Format> {
    let own = document.session().source.format;
    let is_own = move |f: &&Format| f.name == own;
    let others = FORMATS
        .iter()
        .filter(move |f| !is_own(f) && OPEN_FORMATS.contains(&f.name));
    FORMATS
        .iter()
        .filter(is_own)
        .chain(others)
        .filter(|f| f.export.is_some())
}

fn default_output(document: &Document, format: &Format) -> String {
    let source = match &document.origin {
        Origin::Path(path) => path.as_path(),
        Origin::Example(name) => Path::new(name),
    };
    free_output(source, format)
}

/// A free name for an export of `source`; nothing where its folder is no place for one.
fn free_output(source: &Path, format: &Format) -> String {
    let path = exec::default_export_path(source, format);
    path.map_or_else(String::new, |path| path.display().to_string())
}
