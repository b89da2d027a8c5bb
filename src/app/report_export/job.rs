//! Export of the report or the chart to a file. Equivalent to the command line's output.

use crate::analysis::findings;
use crate::app::background::latest_result::Where;
use crate::app::background::task::{self, Background};
use crate::app::open::document::Document;
use crate::app::picture;
use crate::app::policy_panel::policies::NONE;
use crate::app::runs::replays::{LaneRun, Runs};
use crate::engine::{KnobValues, recorded, simulate};
use crate::report::{Played, Report, Subject, draw, html, markdown, series, svg};
use crate::units::Tokens;
use crate::{exec, formats, presets};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The form of a report or chart file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Report as an HTML page.
    Page,
    /// Report as Markdown.
    Markdown,
    /// Chart as a PNG image.
    Png,
    /// Chart as an SVG image.
    Svg,
    /// Chart data as a CSV table.
    Csv,
}

impl Form {
    /// The forms of a report.
    pub const REPORTS: [Self; 2] = [Self::Page, Self::Markdown];
    /// The forms of a chart.
    pub const CURVES: [Self; 3] = [Self::Png, Self::Svg, Self::Csv];

    /// Returns whether this is a report of the whole run.
    pub fn is_report(self) -> bool {
        Self::REPORTS.contains(&self)
    }

    /// Returns the file name extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Page => "html",
            Self::Markdown => "md",
            Self::Png => "png",
            Self::Svg => "svg",
            Self::Csv => "csv",
        }
    }
}

/// The settings of a report or chart file.
#[derive(Clone, Debug, PartialEq)]
pub struct HandoutDraft {
    /// Its form.
    pub form: Form,
    /// Omit the texts of the session from a report.
    pub redacts: bool,
    /// Use dark colors in an image.
    pub is_dark: bool,
    /// Output path.
    pub output: String,
    /// You chose the output path: it no longer follows the form.
    pub is_output_chosen: bool,
}

/// The dialog of a report or chart file.
#[derive(Debug)]
pub struct Handout {
    /// The settings.
    pub draft: HandoutDraft,
    /// The error of the last attempt.
    pub failed: Option<String>,
    work: Option<Background<Result<PathBuf, String>>>,
}

impl Handout {
    /// Creates the settings for this form, with an output path next to the source.
    pub fn new(document: &Document, form: Form, is_dark: bool) -> Self {
        Self {
            draft: HandoutDraft {
                form,
                redacts: false,
                is_dark,
                output: default_output(document, form),
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

    /// Applies an edited draft. The path follows the form until you choose one; its extension always does.
    pub fn edit(&mut self, document: &Document, mut draft: HandoutDraft) {
        if draft.output != self.draft.output {
            draft.is_output_chosen = true;
        } else if draft.form != self.draft.form {
            draft.output = if draft.is_output_chosen {
                let path = Path::new(draft.output.trim());
                path.with_extension(draft.form.extension())
                    .display()
                    .to_string()
            } else {
                default_output(document, draft.form)
            };
        }
        self.draft = draft;
    }

    /// Starts to write the file.
    pub fn write(
        &mut self,
        ctx: &egui::Context,
        at: Where,
        document: &Arc<Document>,
        runs: &Arc<Runs>,
    ) {
        let (draft, document, runs) = (self.draft.clone(), Arc::clone(document), Arc::clone(runs));
        let work = move || write(&draft, &document, &runs);
        self.failed = None;
        self.work = Some(match at {
            Where::AsNeeded => task::start("handout", ctx, work),
            Where::InFrame => task::done(work),
        });
    }

    /// Returns the file, once it is written.
    pub fn poll(&mut self) -> Option<Result<PathBuf, String>> {
        match self.work.take()?.take() {
            Ok(done) => {
                let lost = || Err("Writing stopped unexpectedly; nothing was written.".to_owned());
                let done = done.unwrap_or_else(lost);
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

fn default_output(document: &Document, form: Form) -> String {
    let what = if form.is_report() { "report" } else { "curve" };
    let source = document.origin.beside();
    let path = source.and_then(|source| exec::default_path_beside(source, what, form.extension()));
    path.map_or_else(String::new, |path| path.display().to_string())
}

fn write(draft: &HandoutDraft, document: &Document, runs: &Runs) -> Result<PathBuf, String> {
    let output = PathBuf::from(draft.output.trim());
    exec::check_is_new(&output)?;
    let (reserve, lanes) = lanes(runs);
    let warnings: Vec<String> = document
        .loaded
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    let subject = Subject {
        case: &runs.case,
        warnings: if draft.form.is_report() {
            &warnings
        } else {
            &[]
        },
        format: document.format_label(),
        output_reserve: reserve,
        lanes: &lanes,
        records_compactions: formats::records_compactions(&runs.case.session),
    };
    let curve = || {
        let nothing = || "the session has no model call, so there is no curve".to_owned();
        draw(&subject.plain_curve()).ok_or_else(nothing)
    };
    let text = match draft.form {
        Form::Page => html(&Report::new(&subject, draft.redacts)),
        Form::Markdown => markdown(&Report::new(&subject, draft.redacts)),
        Form::Csv => series(&lanes),
        Form::Svg => svg(&curve()?),
        Form::Png => {
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
    let mut policies: Vec<Played> = named
        .map(|(lane, name)| played(runs, lane, &name))
        .collect();
    let none = none(runs, policies.first().map(|lane| lane.output_reserve));
    let reserve = policies
        .first()
        .map_or(none.output_reserve, |lane| lane.output_reserve);
    let really = Played {
        lane: "recorded".to_owned(),
        policy: None,
        knobs: KnobValues::default(),
        output_reserve: reserve,
        outcome: recorded(&runs.case, reserve, None),
        findings: Vec::new(),
    };
    let mut all = vec![really, none];
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
fn none(runs: &Runs, reserve: Option<Tokens>) -> Played {
    let policy = presets::by_name(NONE).unwrap_or_else(crate::app::policy_panel::policies::none);
    let mut knobs = policy.defaults();
    if let (Some(reserve), Some(knob)) = (reserve, policy.knobs.first().map(|knob| &knob.name)) {
        // A reserve outside this policy's range stays at its default.
        let _ = policy.set(&mut knobs, knob, reserve.as_f64());
    }
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
