//! A session with all settings tried on it, and the reference values for comparison.

use super::options::Options;
use crate::analysis::cost::{Billing, Bills};
use crate::analysis::loss::{Names, hindsight, saved};
use crate::analysis::tune::{
    Alternative, Gauge, Point, Preference, Recommendation, RiskAxis, Subject, alternative, front,
    recommend, sweep, trade_off,
};
use crate::cli::targets::SessionId;
use crate::engine::{Case, Policy, recorded, simulate};
use crate::presets;
use crate::progress::Progress;
use crate::report::{accuracy_sentence, window_source};
use crate::units::{Share, Tokens};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of points between two progress messages.
const PROGRESS_STEP: usize = 16;

/// The settings to try in each session.
pub(super) struct SweepJob<'a> {
    pub(super) subjects: &'a [Subject],
    pub(super) plan: &'a [Point],
    pub(super) billing: Billing<'a>,
    pub(super) options: &'a Options,
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
    /// The compared risk.
    pub(super) risk: RiskAxis,
    /// The weight of cost and risk, and the recorded run.
    pub(super) preference: Preference,
    /// References at risk if predicted summaries contain the names used most, by index of the point. Has only listed points
    /// whose number is lower than with empty summaries.
    pub(super) fewest: BTreeMap<usize, usize>,
    /// Tokens that the recommended settings save, as a share of the lossless maximum.
    pub(super) saved: Option<Share>,
}

impl Swept {
    /// Tries all settings; `on_progress` receives progress messages.
    pub(super) fn new(
        id: &SessionId,
        case: &Case,
        job: &SweepJob<'_>,
        on_progress: &(dyn Fn(&str) + Sync),
    ) -> anyhow::Result<Self> {
        let SweepJob {
            subjects,
            plan,
            billing,
            options,
        } = *job;
        let names = Names::new(&case.session);
        let facts = options.risk.compared_facts(&case.session);
        let bills = Bills::new(case, billing);
        let first = &subjects[0];
        let reserve = first.policy.output_reserve(&first.now, case, 0);
        let gauge = Gauge::new(case, bills, &names).by_facts(facts.as_ref());
        let gauge = gauge.against(&recorded(case, reserve, None));
        let done = AtomicUsize::new(0);
        let found = |_: usize, _: &Point| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(PROGRESS_STEP) {
                on_progress(&format!("{done} of {} settings", plan.len()));
            }
        };
        let points = sweep(
            &gauge,
            subjects,
            plan.to_vec(),
            &Progress::default(),
            &found,
        )?;
        let preference = gauge.preference(options.weight);
        let recommended = recommend(subjects, &points, preference);
        let works = points.iter().any(|point| point.valid().is_some());
        let other = || alternative(&gauge, &others(subjects), preference, &Progress::default());
        let found = recommended.as_ref().ok();
        let picked = found.map(|found| found.point);
        let acting = found.and_then(|found| found.acting.as_ref());
        let mentioned: Vec<usize> = picked.into_iter().chain(acting.map(|a| a.point)).collect();
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
            risk: options.risk,
            preference,
            alternative: if works { None } else { other() },
            fewest: match facts {
                Some(_) => BTreeMap::new(),
                None => fewest(&gauge, subjects, &points, &mentioned),
            },
            saved: picked.and_then(|idx| saving(case, &names, subjects, &points[idx])),
            points,
            recommended,
        })
    }
}

/// Returns the bundled policies that are not swept.
fn others(subjects: &[Subject]) -> Vec<Arc<Policy>> {
    let is_swept = |name: &str| subjects.iter().any(|subject| subject.policy.name == name);
    let others = presets::PRESETS
        .iter()
        .filter(|preset| !is_swept(preset.name));
    others
        .filter_map(|preset| preset.policy().ok().map(Arc::new))
        .collect()
}

/// Returns the fewest references at risk of each listed point whose summaries could reduce them, by index of the point.
fn fewest(
    gauge: &Gauge<'_>,
    subjects: &[Subject],
    points: &[Point],
    named: &[usize],
) -> BTreeMap<usize, usize> {
    let now = (0..points.len()).filter(|idx| points[*idx].is_now);
    let listed = front(points).into_iter().chain(trade_off(points));
    let fewest = |idx: usize| {
        let point = &points[idx];
        let most = point.score?.risk.references;
        let policy = &subjects[point.subject].policy;
        let fewest = gauge.fewest_at_risk(policy, &point.knobs);
        (fewest < most).then_some((idx, fewest))
    };
    listed
        .chain(now)
        .chain(named.iter().copied())
        .filter_map(fewest)
        .collect()
}

/// Returns the tokens that a setting saves, as a share of the lossless maximum.
fn saving(case: &Case, names: &Names, subjects: &[Subject], point: &Point) -> Option<Share> {
    let subject = &subjects[point.subject];
    let reserve = subject.policy.output_reserve(&point.knobs, case, 0);
    let none = presets::by_name("none")?;
    let lane = simulate(case, &subject.policy, &point.knobs, None);
    let none = simulate(case, &none, &none.defaults(), None);
    saved(&none, &hindsight(names, case, reserve), &lane)
}
