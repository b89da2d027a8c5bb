//! A session with all settings tried on it, and the reference values for comparison.

use super::options::Options;
use crate::analysis::cost::{Billing, Bills, price_lane};
use crate::analysis::loss::{Names, hindsight, most_at_risk, saved};
use crate::analysis::tune::{
    Gauge, Point, Preference, Recommendation, Subject, front, recommend, sweep, trade_off,
};
use crate::cli::targets::SessionId;
use crate::engine::{Case, recorded, simulate};
use crate::presets;
use crate::progress::Progress;
use crate::report::{accuracy_sentence, window_source};
use crate::units::{Share, Tokens, Usd};
use std::collections::BTreeMap;
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

/// Figures of the recorded run, which the settings are compared with.
#[derive(Clone, Copy)]
pub(super) struct RecordedRun {
    /// Cost by the cache model that prices the settings; `None` if no price is known.
    pub(super) cost: Option<Usd>,
    pub(super) compactions: usize,
    /// References at risk. Smaller numbers are noise. `None` if the risk is lost facts.
    pub(super) noise: Option<usize>,
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
    pub(super) recorded: RecordedRun,
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
        let gauge = Gauge::new(case, bills.clone(), &names).by_facts(facts.as_ref());
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
        let first = &subjects[0];
        let reserve = first.policy.output_reserve(&first.now, case, 0);
        let outcome = recorded(case, reserve, None);
        let recorded = RecordedRun {
            cost: price_lane(&bills, &outcome).total(),
            compactions: outcome.compactions,
            // Lost facts have no noise: a rule finds them, not the recorded agent.
            noise: match facts {
                Some(_) => None,
                None => Some(most_at_risk(&names, case, &outcome).faults.len()),
            },
        };
        let preference = Preference {
            weight: options.weight,
            noise: recorded.noise.unwrap_or(0),
        };
        let recommended = recommend(subjects, &points, preference);
        let picked = recommended.as_ref().ok().map(|found| found.point);
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
            recorded,
            fewest: match facts {
                Some(_) => BTreeMap::new(),
                None => fewest(&gauge, subjects, &points, picked),
            },
            saved: picked.and_then(|idx| saving(case, &names, subjects, &points[idx])),
            points,
            recommended,
        })
    }

    /// Returns the preference between cost and risk in this session.
    pub(super) fn preference(&self, weight: Share) -> Preference {
        Preference {
            weight,
            noise: self.recorded.noise.unwrap_or(0),
        }
    }
}

/// Returns the fewest references at risk of each listed point whose summaries could reduce them, by index of the point.
fn fewest(
    gauge: &Gauge<'_>,
    subjects: &[Subject],
    points: &[Point],
    picked: Option<usize>,
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
    listed.chain(now).chain(picked).filter_map(fewest).collect()
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
