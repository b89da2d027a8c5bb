//! Runs an evaluation.

use super::actions::{self, ActionRequest};
use super::contexts::{
    AskedSession, PlayedSamples, PromptContext, full_context, play, play_recorded,
};
use super::job::{EvaluationJob, Tier};
use super::judge::{self, Actions, Judgement};
use super::log::{self, EvaluationLog};
use super::parallel::parallel;
use super::plan::EvaluationPlan;
use super::points::{QuestionPoint, SessionPoints};
use super::questions::{self, AnswersByPoint};
use super::report::{LaneSums, Report, RequestCounts, SessionReport};
use super::sender::{Budget, Sender, Stopped};
use crate::analysis::judge::{JudgeOutcome, JudgedPoint};
use crate::analysis::next_action::{ActionOutcome, ActionPoint, ActionSessions};
use crate::analysis::probes::{AnsweredProbe, ProbeOutcome};
use crate::exec::summary::Model;
use crate::figure::counted;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Usual number of requests at a time. Chosen: providers limit requests per minute, and a local server answers few
/// requests at once.
pub const CONCURRENCY: usize = 4;

/// The model, limits and observers of a run.
#[derive(Clone, Copy)]
pub struct RunOptions<'a> {
    /// The model; `None` if the log has all answers. Its `stop` cancels the run.
    pub model: Option<&'a Model>,
    /// Limit on the price of new requests.
    pub budget: Option<&'a Budget>,
    /// Number of requests at a time.
    pub concurrency: usize,
    /// Receives the number of requests so far, on any thread.
    pub on_progress: Option<&'a (dyn Fn(usize) + Sync)>,
    /// Is called after answers to probes, on any thread, with a function that returns all answers so far.
    pub on_probes: Option<&'a ProbeObserver<'a>>,
}

/// Receives a function that returns the probes with their answers so far.
pub type ProbeObserver<'a> = dyn Fn(&dyn Fn() -> Vec<AnsweredProbe>) + Sync + 'a;

/// A finished evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The result, of all answers that there are.
    pub report: Report,
    /// The probes with their answers; empty for other tiers.
    pub probes: Vec<AnsweredProbe>,
    /// The reason why the run ended early.
    pub stopped: Option<Stopped>,
}

/// Runs an evaluation: plays every lane with real summaries, asks the questions of the plan and computes the result.
/// Answers in the log are not requested again, and new ones are added to it.
///
/// # Errors
/// Returns one line if there is no answer at all.
pub fn run(
    job: &EvaluationJob,
    plan: &EvaluationPlan,
    log: &mut EvaluationLog,
    options: RunOptions<'_>,
) -> Result<Evaluation, String> {
    let model = log.settings.model.clone();
    let n_done = AtomicUsize::new(0);
    let on_answer = || {
        let n = n_done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(on_progress) = options.on_progress {
            on_progress(n);
        }
    };
    let sender = Sender::new(options.model, log, options.budget, &on_answer);
    let mut answers = EvaluationAnswers::default();
    let mut sums = vec![LaneSums::default(); job.lanes.len()];
    let mut sessions = Vec::new();
    for (idx, points) in plan.sessions.iter().enumerate() {
        let mut run = SessionRun::new(job, idx, points);
        run.ask(&sender, options, &mut answers);
        for (sums, played) in sums.iter_mut().zip(&run.lanes) {
            sums.add(played);
        }
        sessions.push(run.report);
    }
    let planted = match job.tier {
        Tier::Planted(planting) => Some(planting.play(job, &sender, options.concurrency)),
        _ => None,
    };
    let (traffic, stopped) = (sender.traffic(), sender.stopped());
    if traffic.answered == traffic.failed {
        match &stopped {
            Some(Stopped::Failed(reason)) => return Err(reason.clone()),
            Some(Stopped::Cancelled) => return Err("cancelled before the first answer".to_owned()),
            Some(Stopped::Budget) => {
                return Err("the budget is too small for one request".to_owned());
            }
            None if traffic.answered == 0 && traffic.missing > 0 => {
                return Err(
                    "the log has no answer: it belongs to another session, policy or setting"
                        .to_owned(),
                );
            }
            None if traffic.answered > 0 => {
                return Err("no answer can be read; choose another model".to_owned());
            }
            None => {}
        }
    }
    if let (None, Some(what)) = (&stopped, answers.nothing_readable()) {
        let n = counted(traffic.answered, "answer");
        return Err(format!(
            "none of {n} {what}, so there is nothing to compare; choose another model"
        ));
    }
    let lanes = job.lane_names();
    let report = Report {
        model,
        samples: job.samples,
        sessions,
        probes: (job.tier == Tier::Probes).then(|| ProbeOutcome::new(&answers.probes, &lanes)),
        judge: (job.tier == Tier::Judge).then(|| answers.judge(&lanes)),
        next_action: (job.tier == Tier::NextAction)
            .then(|| ActionOutcome::new(&answers.actions, &lanes, answers.sessions)),
        planted,
        lanes: sums.iter().zip(&lanes).map(|(sums, lane)| sums.report(lane)).collect(),
        requests: RequestCounts::new(plan.n_questions(job), traffic),
    };
    Ok(Evaluation { report, probes: answers.probes, stopped })
}

/// The answers of all sessions.
#[derive(Default)]
struct EvaluationAnswers {
    clusters: Clusters,
    probes: Vec<AnsweredProbe>,
    judged: Vec<JudgedPoint>,
    after_recorded_compaction: usize,
    without_actions: usize,
    actions: Vec<ActionPoint>,
    sessions: ActionSessions,
}

impl EvaluationAnswers {
    /// Returns the reason why nothing can be compared, if no answer names an action or judges one.
    fn nothing_readable(&self) -> Option<&'static str> {
        let actions = self.actions.iter();
        let actions = actions.flat_map(|p| p.full.iter().chain(p.lanes.iter().flatten()));
        let judged = self.judged.iter();
        let judged = judged.flat_map(|p| p.full.iter().chain(p.lanes.iter().flatten().flatten()));
        let (mut actions, mut judged) = (actions.peekable(), judged.peekable());
        if actions.peek().is_some() && actions.all(Option::is_none) {
            Some("calls or names a tool")
        } else if judged.peek().is_some() && judged.all(Option::is_none) {
            Some("is a judgement")
        } else {
            None
        }
    }

    fn judge(&self, lanes: &[String]) -> JudgeOutcome {
        let left_out = self.after_recorded_compaction;
        JudgeOutcome::new(&self.judged, lanes, left_out, self.without_actions)
    }

    fn add_judged(&mut self, clusters: Vec<usize>, judged: Judgement) {
        match judged.actions {
            Actions::Judged(_) => self.judged.push(JudgedPoint { clusters, ..judged.point }),
            Actions::AfterRecordedCompaction => self.after_recorded_compaction += 1,
            Actions::Missing => self.without_actions += 1,
        }
    }
}

/// Returns the probes of points with their answers.
fn answered(
    points: &[QuestionPoint],
    clusters: &[Vec<usize>],
    answers: &AnswersByPoint,
) -> Vec<AnsweredProbe> {
    let points = points.iter().zip(clusters).zip(answers);
    let probes = points.flat_map(|((point, clusters), answers)| {
        let answered = point.probes.iter().zip(answers);
        answered.map(|(probe, answers)| AnsweredProbe {
            probe: probe.clone(),
            clusters: clusters.clone(),
            answers: answers.clone(),
        })
    });
    probes.collect()
}

/// Numbers of clusters: one for each compaction of a lane in a session.
#[derive(Default)]
struct Clusters(HashMap<(usize, usize, usize), usize>);

impl Clusters {
    /// Returns the clusters of a point by lane.
    fn of(&mut self, session: usize, point: &QuestionPoint) -> Vec<usize> {
        let lanes = point.compactions.iter().enumerate();
        let ids = lanes.map(|(lane, nth)| {
            let next = self.0.len();
            *self.0.entry((lane, session, *nth)).or_insert(next)
        });
        ids.collect()
    }
}

/// The run of one session.
struct SessionRun<'a> {
    job: &'a EvaluationJob,
    idx: usize,
    points: &'a SessionPoints,
    lanes: Vec<PlayedSamples>,
    report: SessionReport,
}

impl<'a> SessionRun<'a> {
    fn new(job: &'a EvaluationJob, idx: usize, points: &'a SessionPoints) -> Self {
        let session = &job.sessions[idx];
        let report = SessionReport {
            name: session.case.session.source.name.clone(),
            compacted_calls: points.n_compacted,
            asked_calls: points.points.len(),
            calls_without_questions: points.n_empty,
            probes: points.n_probes(),
            probes_above_maximum: points.above_maximum,
            facts_without_distractor: points.without_distractor,
            facts: session.facts.len(),
            problems: Vec::new(),
        };
        Self { job, idx, points, lanes: Vec::new(), report }
    }

    /// Plays all lanes and asks all questions.
    fn ask(
        &mut self,
        sender: &Sender<'_>,
        options: RunOptions<'_>,
        answers: &mut EvaluationAnswers,
    ) {
        let concurrency = options.concurrency;
        let (job, case) = (self.job, &self.job.sessions[self.idx].case);
        let points = &self.points.points;
        let request = ActionRequest::new(&case.session).filter(|_| job.tier == Tier::NextAction);
        if job.tier == Tier::NextAction {
            let sessions = &mut answers.sessions;
            *match &request {
                Some(ActionRequest::Call(_)) => &mut sessions.with_definitions,
                Some(ActionRequest::Text(_)) => &mut sessions.asked_in_text,
                None => &mut sessions.without_tools,
            } += 1;
            if request.is_none() {
                return;
            }
        }
        if points.is_empty() {
            return;
        }
        let full = parallel(concurrency, points, |point| full_context(case, point));
        let full: Vec<Option<PromptContext>> =
            full.into_iter().map(|context| self.noted(context)).collect();
        self.play(sender, concurrency);
        let asked =
            AskedSession { sender, concurrency, case, points, full: &full, lanes: &self.lanes };
        let clusters: Vec<Vec<usize>> =
            points.iter().map(|point| answers.clusters.of(self.idx, point)).collect();
        match job.tier {
            Tier::Probes => {
                let earlier = &answers.probes;
                let on_answers = |current: &Mutex<AnswersByPoint>| {
                    let so_far = || {
                        let current = current.lock().unwrap_or_else(PoisonError::into_inner);
                        let current = answered(points, &clusters, &current);
                        earlier.iter().cloned().chain(current).collect()
                    };
                    if let Some(on_probes) = options.on_probes {
                        on_probes(&so_far);
                    }
                };
                let by_point = questions::ask(asked, &on_answers);
                answers.probes.extend(answered(points, &clusters, &by_point));
            }
            Tier::Judge => {
                for (clusters, judged) in clusters.into_iter().zip(judge::ask(asked)) {
                    answers.add_judged(clusters, judged);
                }
            }
            Tier::NextAction => {
                let Some(request) = &request else {
                    return;
                };
                let named = actions::ask(asked, request, job.samples);
                let named = clusters.into_iter().zip(named);
                let points = named.map(|(clusters, point)| ActionPoint { clusters, ..point });
                answers.actions.extend(points);
            }
            Tier::Planted(_) => {}
        }
    }

    fn noted(&mut self, context: Result<PromptContext, String>) -> Option<PromptContext> {
        context.map_err(|reason| self.problem(reason)).ok()
    }

    fn problem(&mut self, reason: String) {
        if !self.report.problems.contains(&reason) {
            self.report.problems.push(reason);
        }
    }

    fn play(&mut self, sender: &Sender<'_>, concurrency: usize) {
        let (job, case) = (self.job, &self.job.sessions[self.idx].case);
        let points = &self.points.points;
        let calls: Vec<usize> = points.iter().map(|point| point.call).collect();
        let runs: Vec<_> = (0..job.lanes.len())
            .flat_map(|lane| (0..job.n_samples(&job.lanes[lane])).map(move |sample| (lane, sample)))
            .collect();
        let played = parallel(concurrency, &runs, |(lane, sample)| {
            let lane = &job.lanes[*lane];
            let series = log::series(&lane.name, *sample);
            if lane.is_recorded {
                play_recorded(case, points, &series)
            } else {
                play(case, lane, &calls, sender, &series)
            }
        });
        self.lanes.resize_with(job.lanes.len(), PlayedSamples::default);
        for (played, lane) in self.lanes.iter_mut().zip(&job.lanes) {
            played.is_recorded = lane.is_recorded;
        }
        for ((lane, _), played) in runs.into_iter().zip(played) {
            if let Some(reason) = &played.problem {
                self.problem(format!("{}: {reason}", job.lanes[lane].name));
            }
            self.lanes[lane].samples.push(played);
        }
    }
}
