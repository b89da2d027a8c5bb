//! A sweep over settings, running on its own threads or done, with the results so far.

use crate::analysis::cost::Bills;
use crate::analysis::tune::{
    Alternative, CostUnit, Gauge, Point, Recommendation, Score, SweepSubject, alternative,
    cost_unit, plan, recommend, sweep, trade_off,
};
use crate::app::state::evaluate::session::SessionIndex;
use crate::app::state::model::background::latest_result::WorkMode;
use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task;
use crate::app::state::model::background::task::Background;
use crate::app::state::model::config::Config;
use crate::app::state::model::policies::Policies;
use crate::app::state::model::runs::replays::Runs;
use crate::app::state::tune::state::TuneView;
use crate::engine::Policy;
use crate::progress::Progress;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval of redraws while results arrive.
const REDRAW: Duration = Duration::from_millis(60);

/// A sweep.
pub struct Sweep {
    /// Unique ID.
    pub id: u64,
    /// The swept policies.
    pub subjects: Vec<SweepSubject>,
    /// Index of the lane of each subject.
    pub lanes: Vec<usize>,
    /// All settings, with the results so far.
    pub points: Vec<Point>,
    /// Number of finished settings.
    pub n_done: usize,
    /// Unit of the cost.
    pub unit: CostUnit,
    /// The settings that no other one beats in both cost and peak ([`trade_off`]), cheapest first.
    pub trade_off: Vec<usize>,
    /// The recommendation, or the reason for none; `None` while running.
    pub recommended: Option<Result<Recommendation, String>>,
    /// Another working policy, if no setting works.
    pub alternative: Option<Alternative>,
    /// Whether it stopped before the end.
    pub is_cancelled: bool,
    /// The config of the sweep.
    config: Config,
    live: Arc<Mutex<Vec<(usize, Point)>>>,
    progress: Arc<Progress>,
    /// The score of the recorded lane, when the sweep has ended.
    recorded: Option<Score>,
    work: Option<Background<Ended>>,
}

/// End of a sweep.
#[derive(Clone, Debug)]
struct Ended {
    /// Whether all settings were tried.
    is_whole: bool,
    /// The score of the recorded lane.
    recorded: Option<Score>,
    alternative: Option<Alternative>,
}

impl Sweep {
    /// Starts a sweep. Suggests one of the other `policies` if no setting works.
    pub fn start(
        repaint: &Repaint,
        at: WorkMode,
        runs: &Arc<Runs>,
        index: &Arc<SessionIndex>,
        view: &TuneView,
        policies: &Policies,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (lanes, subjects) = view.subjects(runs);
        let points = plan(&subjects, view.points);
        let live = Arc::new(Mutex::new(Vec::new()));
        let progress = Arc::new(Progress::default());
        let is_tried = |policy: &Policy| subjects.iter().any(|s| s.policy.name == policy.name);
        let others = policies.iter().filter(|policy| !is_tried(policy));
        let job = Job {
            runs: Arc::clone(runs),
            index: Arc::clone(index),
            subjects: subjects.clone(),
            points: points.clone(),
            others: others.map(Arc::clone).collect(),
            progress: Arc::clone(&progress),
        };
        let work = {
            let (live, repaint) = (Arc::clone(&live), repaint.clone());
            move || {
                job.run(&|idx, point| {
                    let mut live = live.lock().unwrap_or_else(PoisonError::into_inner);
                    live.push((idx, point.clone()));
                    drop(live);
                    repaint.after(REDRAW);
                })
            }
        };
        let work = at.start(repaint, "sweep", work);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            unit: cost_unit(&points),
            subjects,
            lanes,
            points,
            n_done: 0,
            trade_off: Vec::new(),
            recommended: None,
            alternative: None,
            is_cancelled: false,
            config: runs.config.clone(),
            live,
            progress,
            recorded: None,
            work: Some(work),
        }
    }

    /// Returns whether the sweep is running.
    pub fn is_running(&self) -> bool {
        self.work.is_some()
    }

    /// Asks the sweep to stop soon.
    pub fn cancel(&self) {
        self.progress.cancel();
    }

    /// Receives results since the last frame.
    pub fn poll(&mut self) {
        let new = {
            let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *live)
        };
        let mut is_changed = !new.is_empty();
        self.n_done += new.len();
        for (idx, point) in new {
            self.points[idx] = point;
        }
        if let Some(work) = self.work.take() {
            match work.take() {
                Ok(done) => {
                    self.is_cancelled = !done.as_ref().is_some_and(|ended| ended.is_whole);
                    self.recorded = done.as_ref().and_then(|ended| ended.recorded);
                    self.alternative = done.and_then(|ended| ended.alternative);
                    is_changed = true;
                }
                Err(work) => self.work = Some(work),
            }
        }
        if is_changed {
            self.unit = cost_unit(&self.points);
            self.trade_off = trade_off(&self.points);
        }
        if !self.is_running() && is_changed {
            let recorded = self.recorded.as_ref();
            self.recommended = Some(recommend(&self.subjects, &self.points, recorded));
        }
    }

    /// Returns whether the results are valid: only lane settings have changed since.
    pub fn holds_for(&self, config: &Config) -> bool {
        let (was, is) = (&self.config, config);
        was.window == is.window
            && was.counter == is.counter
            && was.restarts == is.restarts
            && was.errors == is.errors
            && was.without == is.without
            && was.manual_edits == is.manual_edits
            && was.billing == is.billing
    }

    /// Returns the lane of a point, if its policy is unchanged.
    pub fn lane_of(&self, point: usize, config: &Config) -> Option<usize> {
        let subject = self.points.get(point)?.subject;
        let lane = self.lanes[subject];
        let policy = &config.lanes.get(lane)?.policy;
        (*policy == self.subjects[subject].policy.name).then_some(lane)
    }
}

impl Drop for Sweep {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// The inputs of a sweep.
struct Job {
    runs: Arc<Runs>,
    index: Arc<SessionIndex>,
    subjects: Vec<SweepSubject>,
    points: Vec<Point>,
    /// Policies that are not swept.
    others: Vec<Arc<Policy>>,
    progress: Arc<Progress>,
}

impl Job {
    /// Runs the sweep, and the other policies if no setting works. Uses its own threads, so that frames keep theirs.
    /// `found` receives each result with the index of its point.
    fn run(self, found: &(dyn Fn(usize, &Point) + Sync)) -> Ended {
        let (runs, progress) = (&self.runs, &self.progress);
        let billing = &runs.config.billing;
        let prices = billing.prices();
        let bills = Bills::new(&runs.case, billing.at(&prices));
        let SessionIndex { names, files } = &*self.index;
        let model = &runs.config.reread_model;
        let gauge = Gauge::new(&runs.case, bills, names, (files, model));
        let gauge = gauge.against(&runs.recorded.outcome);
        let points = self.points;
        let all = || {
            let swept = sweep(&gauge, &self.subjects, points, progress, found).ok()?;
            let works = swept.iter().any(|point| point.valid().is_some());
            let other = || alternative(&gauge, &self.others, progress);
            Some(if works { None } else { other() })
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .thread_name(|nth| format!("sweep {nth}"))
            .start_handler(|_| task::lower_priority());
        let swept = match pool.build() {
            Ok(pool) => pool.install(all),
            Err(_) => all(),
        };
        Ended {
            is_whole: swept.is_some(),
            recorded: gauge.recorded().copied(),
            alternative: swept.flatten(),
        }
    }
}
