//! One policy played over one session: a state machine that stops where it needs an answer.
//!
//! [`Run::poll`] goes on until a summary is wanted or everything is done; [`Run::provide`] answers. [`drive`] does
//! both with an [`Answer`]; [`simulate`] answers with text of the predicted size. There is no other way to run.

use super::budget::Budget;
use super::estimator::Estimator;
use super::event::{Cause, Event};
use super::expr::{Expr, Moment, Quantity};
use super::outcome::{Outcome, Sample};
use super::plan::{self, Edit, Plan};
use super::stages::{Hook, Stage};
use super::working::Working;
use super::{Case, KnobValues, Policy, Reply, Request, recorded};
use crate::units::Tokens;
use std::collections::BTreeMap;

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
    stages: Vec<BoundStage<'a>>,
    names: BTreeMap<String, Expr>,
    schedule: Schedule,
    until: Option<usize>,
    output_reserve: Tokens,
    working: Working<'a>,
    step: usize,
    phase: Phase,
    moment: Moment,
    /// The plan that waits for an answer, with the index of its stage.
    waiting: Option<(usize, Plan, Request)>,
    outcome: Outcome,
}

/// A stage with its expressions bound to the run's knobs.
#[derive(Debug)]
struct BoundStage<'a> {
    stage: &'a Stage,
    bound: Stage,
    /// Below this much used it cannot fire.
    floor: f64,
    last_fired: Option<usize>,
    last_tried: Option<usize>,
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
    drive(
        case,
        policy,
        knobs,
        Schedule::Replay,
        until,
        &mut Estimator::default(),
    )
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
        let names = policy.bindings(knobs);
        let n_stages = policy.stages.len();
        let stages = policy.stages.iter().map(|stage| {
            let bound = stage.bind(&names);
            let floor = floor(case, &bound.when);
            BoundStage {
                stage,
                bound,
                floor,
                last_fired: None,
                last_tried: None,
            }
        });
        let (working, step, phase) = match schedule {
            Schedule::Replay => (Working::new(case), 0, Phase::Enter),
            Schedule::Now { .. } => {
                let step = until.unwrap_or_else(|| case.session.steps.len().saturating_sub(1));
                (
                    recorded::working(case, until),
                    step,
                    Phase::Stages(Hook::BeforeCall, 0),
                )
            }
        };
        let moment = Moment {
            since: vec![f64::INFINITY; n_stages],
            fired: vec![false; n_stages],
            ..Moment::default()
        };
        Self {
            case,
            stages: stages.collect(),
            names,
            schedule,
            until,
            output_reserve: Tokens(policy.output_reserve(knobs).max(0.0) as u64),
            working,
            step,
            phase,
            moment,
            waiting: None,
            outcome: Outcome {
                samples: Vec::with_capacity(case.session.steps.len()),
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
        let Some((stage, plan, request)) = self.waiting.take() else {
            return;
        };
        let traffic = &mut self.outcome.summaries;
        traffic.requests += 1;
        traffic.sent += request.input;
        match plan::fulfil(self.case, plan, &request, reply) {
            Ok((edit, received)) => {
                traffic.received += received;
                self.apply(stage, edit, Some((request.input, received)));
            }
            Err(why) => self.outcome.warnings.push(format!(
                "step {}: {} was not done: {why}",
                self.step + 1,
                self.stages[stage].stage.id
            )),
        }
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
        self.moment.fired.fill(false);
        let has_results = self.working.live.len() > before;
        self.phase = Phase::Stages(
            if has_results {
                Hook::AfterTools
            } else {
                Hook::TurnStart
            },
            0,
        );
    }

    /// Runs the stages of a hook from `first` on; a request of one of them is returned.
    fn stages(&mut self, hook: Hook, first: usize) -> Option<Request> {
        for idx in first..self.stages.len() {
            if self.stages[idx].stage.at != hook || !self.fires(idx) {
                continue;
            }
            let plan = plan::plan(
                self.case,
                &self.working,
                &self.stages[idx].bound,
                self.step,
                &self.moment,
            );
            let Some(plan) = plan else { continue };
            self.stages[idx].last_tried = Some(self.step);
            match plan {
                Plan::Ready(edit) => self.apply(idx, edit, None),
                Plan::Asks(ref request, _) => {
                    let request = request.clone();
                    self.waiting = Some((idx, plan, request.clone()));
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
        if let Schedule::Now { .. } = self.schedule {
            // A person asked for it, so the stages that wait for a person run too.
            return if hook == Hook::BeforeCall {
                Phase::Stages(Hook::Manual, 0)
            } else {
                Phase::Done
            };
        }
        match hook {
            Hook::AfterTools if self.turn_begins() => Phase::Stages(Hook::TurnStart, 0),
            Hook::AfterTools | Hook::TurnStart => Phase::Stages(Hook::BeforeCall, 0),
            Hook::BeforeCall => Phase::Call { retried: false },
            Hook::OverflowError => Phase::Call { retried: true },
            Hook::AfterCall if self.turn_ends() => Phase::Stages(Hook::TurnEnd, 0),
            Hook::AfterCall | Hook::TurnEnd | Hook::Manual => Phase::Leave,
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

    fn fires(&mut self, idx: usize) -> bool {
        let stage = &self.stages[idx];
        if stage.stage.at == Hook::TurnStart && !self.turn_begins() {
            return false;
        }
        let is_forced = self.schedule == (Schedule::Now { force: true });
        if !is_forced && self.working.metered().as_f64() < stage.floor {
            return false;
        }
        self.measure();
        if is_forced {
            return true;
        }
        let stage = &self.stages[idx];
        let cooldown = stage.bound.guard.cooldown.value(&self.moment);
        let rests = stage
            .last_tried
            .is_some_and(|tried| (self.step - tried) as f64 <= cooldown);
        !rests && stage.bound.when.holds(&self.moment)
    }

    /// Brings the moment up to date.
    fn measure(&mut self) {
        let budget = self.budget();
        let values = [
            (Quantity::Used, self.working.metered().as_f64()),
            (Quantity::Window, budget.window.as_f64()),
            (Quantity::Input, budget.usable().as_f64()),
            (Quantity::OutputReserve, budget.output_reserve.as_f64()),
            (Quantity::Msgs, self.working.context.entries.len() as f64),
            (
                Quantity::Turns,
                f64::from(self.turn(self.step).unwrap_or(0)),
            ),
            (Quantity::Step, (self.step + 1) as f64),
        ];
        for (quantity, value) in values {
            self.moment.set(quantity, value);
        }
        for (since, stage) in self.moment.since.iter_mut().zip(&self.stages) {
            *since = stage
                .last_fired
                .map_or(f64::INFINITY, |fired| (self.step - fired) as f64);
        }
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
        let stage = &mut self.stages[idx];
        stage.last_fired = Some(self.step);
        self.moment.fired[idx] = true;
        self.outcome.compactions += 1;
        self.outcome.events.push(Event {
            step: self.step,
            stage: stage.stage.id.clone(),
            action: stage.stage.action.name(),
            cause: cause(stage.stage, &self.names, &self.moment),
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
        if self.budget().usable() == Tokens::ZERO {
            outcome.warnings.push(
                "the output reserve leaves no room in the window: every call overflows".to_owned(),
            );
        }
        outcome
    }
}

/// The least that must be used for a trigger to hold, as far as that can be known before the run.
fn floor(case: &Case, when: &Expr) -> f64 {
    let windows = &case.windows.per_step;
    let window = windows.first().copied().unwrap_or_default();
    if windows.iter().any(|w| *w != window) {
        return f64::NEG_INFINITY;
    }
    when.fix(Quantity::Window, window.as_f64())
        .floor_of(Quantity::Used)
        .unwrap_or(f64::NEG_INFINITY)
}

/// The trigger as written and what its terms stood at.
fn cause(stage: &Stage, names: &BTreeMap<String, Expr>, moment: &Moment) -> Cause {
    let value = |term: &str| match (names.get(term), super::expr::quantity(term)) {
        (Some(expr), _) => expr.value(moment),
        (None, Some(quantity)) => moment.quantities[quantity as usize],
        (None, None) => f64::NAN,
    };
    let terms = stage.when.terms().into_iter().map(|term| {
        let value = value(&term);
        (term, value)
    });
    Cause {
        when: stage.when.text.clone(),
        terms: terms.collect(),
    }
}
