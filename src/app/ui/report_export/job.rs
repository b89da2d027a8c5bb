//! Export of the report or the chart to a file. Equivalent to the command line's output.

use crate::analysis::findings;
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::task::Background;
use crate::app::state::model::document::Document;
use crate::app::state::model::knobs;
use crate::app::state::model::policies::NONE;
use crate::app::state::model::runs::replays::{LaneRun, Runs};
use crate::app::state::report_export::{ReportDraft, ReportFormat};
use crate::app::ui::picture;
use crate::app::ui::repaint::repaint_of;
use crate::engine::{KnobValues, recorded, simulate};
use crate::exec::stores::{TreeLimits, conversation_tree};
use crate::progress::Progress;
use crate::report::{
    Played, Report, ReportSubject, TreeSubject, draw, html, markdown, series, svg,
};
use crate::units::Tokens;
use crate::{exec, formats};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The dialog of a report or chart file.
#[derive(Debug)]
pub struct ReportExport {
    /// The settings.
    pub draft: ReportDraft,
    /// The error of the last attempt.
    pub failed: Option<String>,
    work: Option<Background<Result<PathBuf, String>>>,
}

impl ReportExport {
    /// Creates the settings for this format, with an output path next to the source.
    pub fn new(document: &Document, format: ReportFormat, is_dark: bool) -> Self {
        Self {
            draft: ReportDraft {
                format,
                redacts: false,
                is_dark,
                output: default_output(document, format),
                is_output_chosen: false,
            },
            failed: None,
            work: None,
        }
    }

    /// Returns whether the file is being written.
    pub fn is_busy(&self) -> bool {
        self.work.is_some()
    }

    /// Applies an edited draft. The path follows the format until you choose one; its extension always does.
    pub fn edit(&mut self, document: &Document, mut draft: ReportDraft) {
        if draft.output != self.draft.output {
            draft.is_output_chosen = true;
        } else if draft.format != self.draft.format {
            draft.output = if draft.is_output_chosen {
                let path = Path::new(draft.output.trim());
                path.with_extension(draft.format.extension()).display().to_string()
            } else {
                default_output(document, draft.format)
            };
        }
        self.draft = draft;
    }

    /// Starts to write the file.
    pub fn write(
        &mut self,
        ctx: &egui::Context,
        mode: WorkMode,
        document: &Arc<Document>,
        runs: &Arc<Runs>,
        notes: &Arc<BTreeMap<usize, String>>,
    ) {
        let (draft, document, runs) = (self.draft.clone(), Arc::clone(document), Arc::clone(runs));
        let notes = Arc::clone(notes);
        let work = move || write(&draft, &document, &runs, &notes);
        self.failed = None;
        self.work = Some(mode.start(&repaint_of(ctx), "report", work));
    }

    /// Returns the file, once it is written.
    pub fn poll(&mut self) -> Option<Result<PathBuf, String>> {
        match self.work.take()?.take() {
            Ok(done) => {
                let stopped =
                    || Err("Writing stopped unexpectedly; nothing was written.".to_owned());
                let done = done.unwrap_or_else(stopped);
                self.failed = done.as_ref().err().cloned();
                Some(done)
            }
            Err(work) => {
                self.work = Some(work);
                None
            }
        }
    }
}

fn default_output(document: &Document, format: ReportFormat) -> String {
    let name = if format.is_report() { "report" } else { "curve" };
    let source = document.origin.beside();
    let path =
        source.and_then(|source| exec::default_path_beside(source, name, format.extension()));
    path.map_or_else(String::new, |path| path.display().to_string())
}

fn write(
    draft: &ReportDraft,
    document: &Document,
    runs: &Runs,
    notes: &BTreeMap<usize, String>,
) -> Result<PathBuf, String> {
    let output = PathBuf::from(draft.output.trim());
    exec::check_is_new(&output)?;
    let (reserve, lanes) = lanes(runs);
    let limits = TreeLimits { window: runs.config.window, output_reserve: reserve };
    // Nothing cancels it.
    let tree = conversation_tree(&document.loaded, limits, &Progress::default()).ok().flatten();
    let warnings: Vec<String> = document.loaded.warnings.iter().map(ToString::to_string).collect();
    let subject = ReportSubject {
        case: &runs.case,
        warnings: if draft.format.is_report() { &warnings } else { &[] },
        format: document.format_label(),
        output_reserve: reserve,
        lanes: &lanes,
        records_compactions: formats::records_compactions(&runs.case.session),
        reread_model: &runs.config.reread_model,
        tree: tree
            .as_ref()
            .map(|usage| TreeSubject { conversations: &document.loaded.conversations, usage }),
        notes,
    };
    let curve = || {
        let nothing = || "the session has no model call, so there is no curve".to_owned();
        draw(&subject.plain_curve()).ok_or_else(nothing)
    };
    let text = match draft.format {
        ReportFormat::Page => html(&Report::new(&subject, draft.redacts)),
        ReportFormat::Markdown => markdown(&Report::new(&subject, draft.redacts)),
        ReportFormat::Csv => series(&lanes),
        ReportFormat::Svg => svg(&curve()?),
        ReportFormat::Png => {
            picture::save_drawing(&curve()?, draft.is_dark, &output)?;
            return Ok(output);
        }
    };
    exec::write_file(&output, text.as_bytes())?;
    Ok(output)
}

/// Returns the lanes and the output reserve they are measured against: the recorded lane, no management, then the
/// others, named as by *Copy as command*.
fn lanes(runs: &Runs) -> (Tokens, Vec<Played>) {
    let named = runs.lanes.iter().zip(runs.config.lane_names());
    let named = named.filter(|(lane, _)| lane.policy.name != NONE);
    let mut policies: Vec<Played> = named.map(|(lane, name)| played(runs, lane, &name)).collect();
    let none = none(runs);
    let reserve = none.output_reserve;
    let actual = Played {
        lane: "recorded".to_owned(),
        policy: None,
        knobs: KnobValues::default(),
        output_reserve: reserve,
        outcome: recorded(&runs.case, reserve, None),
        findings: Vec::new(),
    };
    let mut all = vec![actual, none];
    all.append(&mut policies);
    (reserve, all)
}

fn played(runs: &Runs, lane: &LaneRun, name: &str) -> Played {
    Played {
        lane: name.replace(' ', "-"),
        policy: Some((*lane.policy).clone()),
        knobs: lane.knobs.clone(),
        output_reserve: lane.policy.output_reserve(&lane.knobs, &runs.case, 0),
        outcome: lane.outcome.clone(),
        findings: lane.findings.clone(),
    }
}

/// Returns the lane without management, measured against the same output reserve.
fn none(runs: &Runs) -> Played {
    let policy = crate::app::state::model::policies::bundled_none();
    let knobs = knobs::values(&policy, &runs.config.knobs);
    let outcome = simulate(&runs.case, &policy, &knobs, None);
    Played {
        lane: NONE.to_owned(),
        findings: findings(&runs.case, &policy, &knobs, &outcome),
        output_reserve: policy.output_reserve(&knobs, &runs.case, 0),
        policy: Some(policy),
        knobs,
        outcome,
    }
}
