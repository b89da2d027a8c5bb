//! One policy played over one session: a state machine that stops where it needs an answer.
//!
//! [`Run::poll`] goes on until a summary is wanted or everything is done; [`Run::provide`] answers. [`drive`] does
//! both with an [`Answer`]; [`simulate`] answers with text of the predicted size. There is no other way to run.

use super::budget::Budget;
use super::estimator::Estimator;
use super::event::Event;
use super::outcome::{Idle, Outcome, Sample};
use super::plan::{self, Asked, Edit, Plan};
use super::stages::Hook;
use super::trigger::Triggers;
use super::working::Working;
use super::{Case, KnobValues, Policy, Reply, Request, recorded};
use crate::units::Tokens;

/// How a policy meets a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// As if the policy had been on from the first call.
    Replay,
    /// Applied once to the last real context.
    Now {
        /// Act even if the trigger is not met or the policy is resting.
        force: bool,
    },
}

/// Answers a run's requests.
pub trait Answer {
    /// The reply to a request.
    fn answer(&mut self, case: &Case, request: &Request) -> Reply;
}

/// Where a run stands.
#[derive(Debug)]
pub enum Poll {
    /// It needs an answer before it can go on.
    Wants(Request),
    /// It is over.
    Done(Box<Outcome>),
}

/// A policy being played.
#[derive(Debug)]
pub struct Run<'a> {
    case: &'a Case,
    triggers: Triggers<'a>,
    schedule: Schedule,
    until: Option<usize>,
    output_reserve: Tokens,
    working: Working<'a>,
    step: usize,
    phase: Phase,
    /// What waits for an answer, with the index of its stage.
    waiting: Option<(usize, Asked, Request)>,
    /// Attempts that failed, each with its first step and how often.
    failures: Vec<Failure>,
    outcome: Outcome,
}

/// Attempts of a stage that failed for one reason.
#[derive(Debug)]
struct Failure {
    stage: usize,
    why: String,
    first: usize,
    count: usize,
}

/// Where in a step the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// New messages join the context.
    Enter,
    /// The stages of a hook, from this index on.
    Stages(Hook, usize),
    /// The call is made, for the second time after a rescue.
    Call { retried: bool },
    /// The answer joins the context.
    Leave,
    /// Nothing is left to do.
    Done,
}

/// Replays `policy` up to and including the step with index `until` (to the session's end if none), with
/// summaries of predicted size.
pub fn simulate(case: &Case, policy: &Policy, knobs: &KnobValues, until: Option<usize>) -> Outcome {
    drive(case, policy, knobs, Schedule::Replay, until, &mut Estimator)
}

/// Plays a policy and has its requests answered.
pub fn drive(
    case: &Case,
    policy: &Policy,
    knobs: &KnobValues,
    schedule: Schedule,
    until: Option<usize>,
    answers: &mut dyn Answer,
) -> Outcome {
    let mut run = Run::new(case, policy, knobs, schedule, until);
    loop {
        match run.poll() {
            Poll::Wants(request) => run.provide(answers.answer(case, &request)),
            Poll::Done(outcome) => return *outcome,
        }
    }
}

impl<'a> Run<'a> {
    /// A run that has done nothing yet.
    pub fn new(
        case: &'a Case,
        policy: &'a Policy,
        knobs: &KnobValues,
        schedule: Schedule,
        until: Option<usize>,
    ) -> Self {
        let last = case.session.steps.len().saturating_sub(1);
        let (working, step, phase) = match schedule {
            Schedule::Replay => (Working::new(case, &policy.meter), 0, Phase::Enter),
            Schedule::Now { .. } => {
                let working = recorded::working(case, &policy.meter, until);
                (
                    working,
                    until.unwrap_or(last),
                    Phase::Stages(Hook::AfterTools, 0),
                )
            }
        };
        let samples = Vec::with_capacity(until.unwrap_or(last) + 1);
        Self {
            case,
            triggers: Triggers::new(case, policy, knobs),
            schedule,
            until,
            output_reserve: Tokens(policy.output_reserve(knobs).max(0.0) as u64),
            working,
            step,
            phase,
            waiting: None,
            failures: Vec::new(),
            outcome: Outcome {
                samples,
                ..Outcome::default()
            },
        }
    }

    /// Goes on until an answer is wanted or everything is done.
    pub fn poll(&mut self) -> Poll {
        if let Some((_, _, request)) = &self.waiting {
            return Poll::Wants(request.clone());
        }
        loop {
            match self.phase {
                Phase::Enter => self.enter(),
                Phase::Stages(hook, first) => {
                    if let Some(request) = self.stages(hook, first) {
                        return Poll::Wants(request);
                    }
                }
                Phase::Call { retried } => self.call(retried),
                Phase::Leave => self.leave(),
                Phase::Done => return Poll::Done(Box::new(self.finish())),
            }
        }
    }

    /// Answers the request that [`Self::poll`] gave. Without one nothing happens.
    pub fn provide(&mut self, reply: Reply) {
        let Some((stage, asked, request)) = self.waiting.take() else {
            return;
        };
        let traffic = &mut self.outcome.summaries;
        traffic.requests += 1;
        traffic.sent += request.input;
        match plan::fulfil(self.case, &self.working.meter, asked, &request, reply) {
            Ok((edit, received)) => {
                traffic.received += received;
                self.apply(stage, edit, Some((request.input, received)));
            }
            Err(why) => self.failed(stage, why),
        }
    }

    fn failed(&mut self, stage: usize, why: String) {
        self.idle(Idle::Failed);
        match self
            .failures
            .iter_mut()
            .find(|f| f.stage == stage && f.why == why)
        {
            Some(failure) => failure.count += 1,
            None => self.failures.push(Failure {
                stage,
                why,
                first: self.step,
                count: 1,
            }),
        }
    }

    /// Notes why a stage did nothing; the weightiest reason of the run is told.
    fn idle(&mut self, why: Idle) {
        self.outcome.idle = self.outcome.idle.max(Some(why));
    }

    fn enter(&mut self) {
        let session = &self.case.session;
        let Some(step) = session.steps.get(self.step) else {
            self.working.append_history(session.messages.len());
            self.phase = Phase::Done;
            return;
        };
        let before = self.working.live.len();
        self.working.append_history(step.context_end);
        self.triggers.moment.fired.fill(false);
        let has_results = self.working.live.len() > before;
        self.phase = match (has_results, self.turn_begins()) {
            (true, _) => Phase::Stages(Hook::AfterTools, 0),
            (false, true) => Phase::Stages(Hook::TurnStart, 0),
            (false, false) => Phase::Stages(Hook::BeforeCall, 0),
        };
    }

    /// Runs the stages of a hook from `first` on; a request of one of them is returned.
    fn stages(&mut self, hook: Hook, first: usize) -> Option<Request> {
        for idx in first..self.triggers.len() {
            if self.triggers.stage(idx).at != hook || !self.fires(idx) {
                continue;
            }
            let (stage, moment) = (self.triggers.bound(idx), &self.triggers.moment);
            let plan = plan::plan(self.case, &self.working, stage, self.step, moment);
            match plan {
                Plan::Nothing(why) => self.idle(why),
                Plan::Ready(edit) => {
                    self.triggers.tried(idx, self.step);
                    self.apply(idx, edit, None);
                }
                Plan::Asks(request, asked) => {
                    self.triggers.tried(idx, self.step);
                    self.waiting = Some((idx, asked, request.clone()));
                    self.phase = Phase::Stages(hook, idx + 1);
                    return Some(request);
                }
            }
        }
        self.phase = self.after(hook);
        None
    }

    /// What comes after the stages of a hook.
    fn after(&self, hook: Hook) -> Phase {
        let is_now = self.schedule != Schedule::Replay;
        match hook {
            Hook::AfterTools if is_now || self.turn_begins() => Phase::Stages(Hook::TurnStart, 0),
            Hook::AfterTools | Hook::TurnStart => Phase::Stages(Hook::BeforeCall, 0),
            // A person asked for it, so the stages that wait for a person run too; no call is made.
            Hook::BeforeCall if is_now => Phase::Stages(Hook::Manual, 0),
            Hook::Manual => Phase::Done,
            Hook::BeforeCall => Phase::Call { retried: false },
            Hook::OverflowError => Phase::Call { retried: true },
            Hook::AfterCall if self.turn_ends() => Phase::Stages(Hook::TurnEnd, 0),
            Hook::AfterCall | Hook::TurnEnd => Phase::Leave,
        }
    }

    fn turn(&self, step: usize) -> Option<u32> {
        self.case.session.steps.get(step).map(|s| s.turn)
    }

    fn turn_begins(&self) -> bool {
        self.step == 0 || self.turn(self.step - 1) != self.turn(self.step)
    }

    fn turn_ends(&self) -> bool {
        self.turn(self.step + 1) != self.turn(self.step)
    }

    /// Whether a stage fires. What a person forces is the first thing that can be done, whatever its trigger.
    fn fires(&mut self, idx: usize) -> bool {
        if self.schedule == (Schedule::Now { force: true }) && self.outcome.events.is_empty() {
            self.triggers
                .measure(self.step, &self.working, self.budget());
            return true;
        }
        let fires = self
            .triggers
            .fires(idx, self.step, &self.working, self.budget());
        fires.map_err(|why| self.idle(why)).is_ok()
    }

    fn budget(&self) -> Budget {
        Budget {
            window: self.case.windows.at(self.step),
            output_reserve: self.output_reserve,
        }
    }

    fn apply(&mut self, idx: usize, edit: Edit, request: Option<(Tokens, Tokens)>) {
        let event = self.outcome.events.len() as u32;
        let before = self.working.tokens();
        let messages = edit.messages(&self.working);
        edit.apply(&mut self.working, event);
        self.triggers.fired(idx, self.step);
        self.outcome.compactions += 1;
        self.outcome.events.push(Event {
            step: self.step,
            stage: self.triggers.stage(idx).id.clone(),
            action: self.triggers.stage(idx).action.name(),
            cause: self.triggers.cause(idx),
            before,
            after: self.working.tokens(),
            messages,
            request,
        });
    }

    fn call(&mut self, retried: bool) {
        let used = self.working.tokens();
        let pressure = self.budget().pressure(used);
        if pressure.0 > 1.0 && !retried {
            self.outcome.overflows += 1;
            self.outcome.tokens_rejected += used;
            self.phase = Phase::Stages(Hook::OverflowError, 0);
            return;
        }
        self.outcome.samples.push(Sample {
            step: self.step,
            turn: self.turn(self.step).unwrap_or(0),
            window: self.budget().window,
            metered: self.working.metered(),
            tokens: used,
            pressure,
            overflows: retried,
            by_kind: self.working.by_kind(),
        });
        if self.until == Some(self.step) {
            self.phase = Phase::Done;
            return;
        }
        self.append_answer();
        self.phase = Phase::Stages(Hook::AfterCall, 0);
    }

    /// The messages that this step's model wrote join the context.
    fn append_answer(&mut self) {
        let session = &self.case.session;
        let start = self.working.context.messages_end;
        let answer = session.messages[start..]
            .iter()
            .take_while(|m| m.step == Some(self.step))
            .count();
        self.working.append_history(start + answer);
    }

    fn leave(&mut self) {
        self.step += 1;
        self.phase = Phase::Enter;
    }

    fn finish(&mut self) -> Outcome {
        let mut outcome = std::mem::take(&mut self.outcome);
        outcome.context = std::mem::take(&mut self.working.context);
        if outcome.compactions > 0 {
            outcome.idle = None;
        }
        for Failure {
            stage,
            why,
            first,
            count,
        } in &self.failures
        {
            let often = if *count == 1 {
                String::new()
            } else {
                format!(" (and {} times more)", count - 1)
            };
            let id = &self.triggers.stage(*stage).id;
            outcome.warnings.push(format!(
                "call {}: {id} was not done: {why}{often}",
                first + 1
            ));
        }
        let is_full = |window: &Tokens| *window <= self.output_reserve;
        let full = self
            .case
            .windows
            .per_step
            .iter()
            .filter(|w| is_full(w))
            .count();
        if full > 0 {
            outcome.warnings.push(format!(
                "the output reserve leaves no room in the window at {full} calls"
            ));
        }
        outcome
    }
}
