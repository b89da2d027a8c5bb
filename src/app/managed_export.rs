//! An export of a managed conversation on its way: what is asked for, the work, and what came of it.

use crate::app::background::{self, Background};
use crate::app::document::{Document, Origin};
use crate::app::latest::Where;
use crate::app::runs::{LaneRun, Runs};
use crate::app::state::Selection;
use crate::engine::Schedule;
use crate::exec::{self, ExportJob, Exported, Summarizer};
use crate::formats::{self, FORMATS, Format};
use std::path::{Path, PathBuf};

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
    /// A summary is pasted rather than put together by the digest.
    pub is_pasted: bool,
    /// The pasted summary.
    pub text: String,
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

/// An export in the window.
#[derive(Debug)]
pub struct Export {
    /// What is asked for.
    pub draft: Draft,
    /// Writing goes on.
    work: Option<Background<Result<Exported, String>>>,
    /// What came of it.
    pub outcome: Option<Result<Exported, String>>,
}

impl Export {
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
        Self {
            draft,
            work: None,
            outcome: None,
        }
    }

    /// Starts with what is most often wanted: the lane as it is shown, in the file's own format, beside the file.
    pub fn new(document: &Document, lane: usize, step: usize) -> Self {
        let format = writable(document).next();
        let output = format
            .map(|f| default_output(document, f))
            .unwrap_or_default();
        let draft = Draft {
            lane,
            step,
            what: What::AsShown,
            format: format.map_or("", |f| f.name),
            is_pasted: false,
            text: String::new(),
            output,
            is_output_chosen: false,
            focused: Some(lane),
        };
        Self {
            draft,
            work: None,
            outcome: None,
        }
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
        self.outcome = None;
    }

    /// Writes it.
    pub fn run(&mut self, ctx: &egui::Context, at: Where, runs: &Runs) {
        let Some(job) = runs
            .lanes
            .get(self.draft.lane)
            .and_then(|lane| self.job(runs, lane))
        else {
            self.outcome = Some(Err(
                "This lane or format is no longer there. Close this and try again.".to_owned(),
            ));
            return;
        };
        let work = move || exec::export(&job);
        self.work = Some(match at {
            Where::AsNeeded => background::start("export", ctx, work),
            Where::InFrame => background::done(work),
        });
    }

    /// Writing goes on.
    pub fn is_running(&self) -> bool {
        self.work.is_some()
    }

    /// Looks whether writing is over.
    pub fn poll(&mut self) {
        let Some(work) = self.work.take() else { return };
        match work.take() {
            Ok(done) => {
                self.outcome = Some(done.unwrap_or_else(|| {
                    Err("Writing stopped unexpectedly; nothing was exported.".to_owned())
                }));
                // Ready for another one.
                self.draft.take_free_name();
            }
            Err(work) => self.work = Some(work),
        }
    }

    fn job(&self, runs: &Runs, lane: &LaneRun) -> Option<ExportJob> {
        let draft = &self.draft;
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
            summarizer: if draft.is_pasted {
                Summarizer::Text(draft.text.clone())
            } else {
                Summarizer::Digest
            },
            format: formats::by_name(draft.format)?,
            output: PathBuf::from(draft.output.trim()),
            files: None,
            given: Vec::new(),
        })
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
