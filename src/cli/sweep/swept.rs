//! A session with all settings tried on it, and the reference values for comparison.

use crate::analysis::cost::{Billing, Bills};
use crate::analysis::loss::Names;
use crate::analysis::rereads::{FileReads, RereadModel};
use crate::analysis::tune::{
    Alternative, Gauge, Point, Recommendation, Score, SweepSubject, alternative, recommend, sweep,
};
use crate::cli::targets::SessionId;
use crate::engine::{Case, Policy, recorded};
use crate::presets;
use crate::progress::Progress;
use crate::report::{accuracy_sentence, window_source};
use crate::units::{Tokens, Usd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of points between two progress messages.
const PROGRESS_STEP: usize = 16;

/// The settings to try in each session.
pub(super) struct SweepJob<'a> {
    pub(super) subjects: &'a [SweepSubject],
    pub(super) plan: &'a [Point],
    pub(super) billing: Billing<'a>,
    /// Coefficients of expected re-reads.
    pub(super) model: &'a RereadModel,
}

/// A session with all its points.
pub(super) struct Swept {
    pub(super) id: SessionId,
    pub(super) format: &'static str,
    pub(super) title: String,
    pub(super) calls: usize,
    pub(super) window: Tokens,
    pub(super) window_source: &'static str,
    pub(super) reserve: Tokens,
    pub(super) accuracy: &'static str,
    pub(super) accuracy_sentence: String,
    pub(super) points: Vec<Point>,
    pub(super) recommended: Result<Recommendation, String>,
    /// Another policy that works, if no setting does.
    pub(super) alternative: Option<Alternative>,
    /// The recorded run, with the provider's cache modelled as for the settings.
    pub(super) recorded: Option<Score>,
    /// Cost of the recorded run by its recorded cache counts; none if a price is unknown.
    pub(super) billed: Option<Usd>,
}

impl Swept {
    /// Tries all settings; `on_progress` receives progress messages.
    pub(super) fn new(
        id: &SessionId,
        case: &Case,
        job: &SweepJob<'_>,
        on_progress: &(dyn Fn(&str) + Sync),
    ) -> anyhow::Result<Self> {
        let SweepJob { subjects, plan, billing, model } = *job;
        let (names, files) = (Names::new(&case.session), FileReads::new(case));
        let bills = Bills::new(case, billing);
        let first = &subjects[0];
        let reserve = first.policy.output_reserve(&first.now, case, 0);
        let run = recorded(case, reserve, None);
        let gauge = Gauge::new(case, bills, &names, (&files, model)).against(&run);
        let done = AtomicUsize::new(0);
        let found = |_: usize, _: &Point| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(PROGRESS_STEP) {
                on_progress(&format!("{done} of {} settings", plan.len()));
            }
        };
        let points = sweep(&gauge, subjects, plan.to_vec(), &Progress::default(), &found)?;
        let recommended = recommend(subjects, &points, gauge.recorded());
        let works = points.iter().any(|point| point.valid().is_some());
        let other = || alternative(&gauge, &others(subjects), &Progress::default());
        Ok(Self {
            id: id.clone(),
            format: case.session.source.format,
            title: case.session.title.clone(),
            calls: case.session.calls.len(),
            window: case.windows.largest(),
            window_source: window_source(case),
            accuracy: case.ledger.accuracy.name(),
            accuracy_sentence: accuracy_sentence(case),
            reserve,
            recorded: gauge.recorded().copied(),
            billed: gauge.recorded_score(&run).cost,
            alternative: if works { None } else { other() },
            points,
            recommended,
        })
    }
}

/// Returns the bundled policies that are not swept.
fn others(subjects: &[SweepSubject]) -> Vec<Arc<Policy>> {
    let is_swept = |name: &str| subjects.iter().any(|subject| subject.policy.name == name);
    let others = presets::PRESETS.iter().filter(|preset| !is_swept(preset.name));
    others.filter_map(|preset| preset.policy().ok().map(Arc::new)).collect()
}
