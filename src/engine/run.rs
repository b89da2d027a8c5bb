//! One policy played over one session: a state machine that stops when it needs an answer.
//!
//! [`Run::poll`] continues until a summary is needed or the run is finished; [`Run::provide`] passes the answer.
//! [`drive`] does both with an [`Answer`]; [`simulate`] answers with text of the predicted size. All runs use this
//! interface.

mod account;
mod by_hand;
mod call;
mod phase;

use super::budget::Budget;
use super::clock::Clock;
use super::estimator::Estimator;
use super::expr::{Expr, Quantity};
use super::named::{Named, Talk};
use super::outcome::{Idle, Outcome};
use super::plan::{self, Asked, Plan};
use super::prefix::Prefix;
use super::rewrite::NamedWindow;
use super::seen::Watch;
use super::stages::{Action, Hook, Mutates};
use super::trigger::Triggers;
use super::view::View;
use super::working::Working;
use super::{Case, KnobValues, Policy, Reply, Request, recorded};
use crate::units::Tokens;
use by_hand::Unpinned;
use phase::Phase;
use std::sync::Arc;

/// The part of a session to which a policy applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// The whole session, as if the policy had been active from the first call.
    Replay,
    /// Once, to the last recorded context.
    Now {
        /// Act even if the trigger is not met or the policy is in its cooldown.
        force: bool,
    },
}

/// Answers a run's requests.
pub trait Answer {
    /// Returns the reply to a request.
    fn answer(&mut self, case: &Case, request: &Request) -> Reply;

    /// Receives the reason why the last reply was rejected, if it was a summary and not a failure.
    fn refused(&mut self, _why: &str) {}
}

/// The state of a run after polling.
#[derive(Debug)]
pub enum Poll {
    /// It needs an answer before it can continue.
    Wants(Request),
    /// It is finished.
    Done(Box<Outcome>),
}

/// A policy being played.
#[derive(Debug)]
pub struct Run<'a> {
    pub(super) case: &'a Case,
    pub(super) triggers: Triggers<'a>,
    schedule: Schedule,
    until: Option<usize>,
    output_reserve: Tokens,
    /// The output reserve as an expression, if it may change from call to call.
    reserve: Option<Expr>,
    pub(super) working: Working<'a>,
    /// The context kept for later calls, if the next call receives another one.
    pub(super) store: Option<Box<Working<'a>>>,
    /// A view that may be reused.
    pub(super) view: Option<View<'a>>,
    /// The context of the rejected call, if that is not the kept one.
    rejected_view: Option<Box<Working<'a>>>,
    pub(super) step: usize,
    phase: Phase,
    /// The action that waits for an answer, with its request.
    pub(super) waiting: Option<Waiting>,
    pub(super) named: Named,
    pub(super) clock: Clock<'a>,
    model_window: Option<&'static NamedWindow>,
    /// Number of times this call was rejected.
    rejected: u8,
    /// Tokens of these tries.
    tokens_refused: Tokens,
    /// The prompt of the last call.
    pub(super) prefix: Prefix<'a>,
    /// Records the content that calls receive.
    watch: Watch,
    /// The provider error that stages respond to, if the user placed one.
    error: Option<&'a Arc<str>>,
    /// Whether this call's error was returned already.
    has_failed: bool,
    /// Whether a stage has changed the context since the last try of a call.
    pub(super) acted: bool,
    /// Whether the restart before this call was processed.
    resumed: bool,
    /// Index of the first call at which stages may act.
    acts_from: usize,
    /// Failed attempts, each with its first call and its count.
    failures: Vec<Failure>,
    /// Pinned messages that a real system removed or changed.
    unpinned: Option<Unpinned>,
    pub(super) outcome: Outcome,
}

/// An action that waits for an answer, with the index of its stage.
#[derive(Debug)]
pub(super) enum Waiting {
    /// An action of the engine's own vocabulary.
    Asked(usize, Asked, Request),
    /// A named action.
    Named(usize, Talk, Request),
}

/// Maximum number of tries of one call.
const MOST_TRIES: u8 = 3;

/// Failed attempts of a stage for one reason.
#[derive(Debug)]
struct Failure {
    stage: usize,
    why: String,
    first: usize,
    count: usize,
}

/// Replays `policy` up to and including the call with index `until` (default: the session's end), with summaries of
/// predicted size.
pub fn simulate(case: &Case, policy: &Policy, knobs: &KnobValues, until: Option<usize>) -> Outcome {
    drive(case, policy, knobs, Schedule::Replay, until, &mut Estimator)
}

/// Plays a policy and answers its requests with `answer`.
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
            Poll::Wants(request) => {
                if let Some(why) = run.provide(answers.answer(case, &request)) {
                    answers.refused(&why);
                }
            }
            Poll::Done(outcome) => return *outcome,
        }
    }
}

impl<'a> Run<'a> {
    /// Creates a run.
    pub fn new(
        case: &'a Case,
        policy: &'a Policy,
        knobs: &KnobValues,
        schedule: Schedule,
        until: Option<usize>,
    ) -> Self {
        let last = case.session.calls.len().saturating_sub(1);
        let (working, step) = match schedule {
            Schedule::Replay => (Working::new(case, &policy.meter), 0),
            Schedule::Now { .. } => (
                recorded::before(case, &policy.meter, until),
                until.unwrap_or(last),
            ),
        };
        let samples = Vec::with_capacity(until.unwrap_or(last) + 1);
        let clock = Clock::new(&case.session, knobs.get("seconds_per_step"));
        let mut triggers = Triggers::new(case, policy, knobs);
        if triggers.wants_idle {
            triggers.moment.set(Quantity::Idle, clock.idle(step));
        }
        let mut run = Self {
            case,
            triggers,
            schedule,
            until,
            output_reserve: policy.output_reserve(knobs, case, step),
            reserve: policy
                .reserve
                .as_ref()
                .map(|expr| expr.bind(&policy.bindings(knobs))),
            working,
            step,
            phase: Phase::Enter,
            waiting: None,
            store: None,
            view: None,
            rejected_view: None,
            named: Named::default(),
            clock,
            model_window: policy.window,
            rejected: 0,
            tokens_refused: Tokens::ZERO,
            prefix: Prefix::default(),
            watch: Watch::new(case),
            error: None,
            has_failed: false,
            acted: false,
            resumed: false,
            acts_from: 0,
            failures: Vec::new(),
            unpinned: None,
            outcome: Outcome {
                samples,
                ..Outcome::default()
            },
        };
        if schedule != Schedule::Replay {
            run.begin_at_call();
        }
        run
    }

    /// Prevents all stages from acting before the call with this index.
    #[must_use]
    pub fn acting_from(mut self, step: usize) -> Self {
        self.acts_from = step;
        self
    }

    /// Initializes the measurements of a replay up to here, for a run that begins at a recorded context.
    fn begin_at_call(&mut self) {
        if self.triggers.are_settled {
            return;
        }
        if let Some(last) = recorded::call_before(self.case, self.until) {
            let mut sent = recorded::working(self.case, &self.working.meter, Some(last));
            let input = sent.metered();
            let start = sent.context.messages_end;
            sent.append_history(start + self.case.index.answer_len(start, last));
            self.note_report(input, sent.metered() - input);
            let now = self.working.metered().as_f64();
            self.triggers.took(now, now);
        }
    }

    /// Returns whether the user started the run at the session's end, before the next call.
    fn is_at_end(&self) -> bool {
        self.schedule != Schedule::Replay && self.until.is_none()
    }

    fn is_forced(&self) -> bool {
        self.schedule == Schedule::Now { force: true }
    }

    /// Continues until an answer is needed or the run is finished.
    pub fn poll(&mut self) -> Poll {
        loop {
            if let Some(Waiting::Asked(.., request) | Waiting::Named(.., request)) = &self.waiting {
                return Poll::Wants(request.clone());
            }
            match self.phase {
                Phase::Enter => self.enter(),
                Phase::Stages(hook, first) => self.stages(hook, first),
                Phase::Call => self.call(),
                Phase::Leave => self.leave(),
                Phase::Done => return Poll::Done(Box::new(self.finish())),
            }
        }
    }

    /// Answers the request that [`Self::poll`] returned. Returns the reason if the reply is rejected. Has no effect
    /// without a request.
    pub fn provide(&mut self, reply: Reply) -> Option<String> {
        let waiting = self.waiting.take()?;
        let (Waiting::Asked(.., request) | Waiting::Named(.., request)) = &waiting;
        self.outcome.summaries.requests += 1;
        self.outcome.summaries.sent += request.input;
        match waiting {
            Waiting::Named(stage, talk, request) => self.heard(stage, talk, &request, reply),
            Waiting::Asked(stage, asked, request) => {
                match plan::fulfil(self.case, &self.working.meter, asked, &request, reply) {
                    Ok((edit, received)) => {
                        self.outcome.summaries.received += received;
                        self.apply(stage, edit, Some((request.input, received)));
                    }
                    Err(why) => {
                        self.failed(stage, why.clone());
                        return Some(why);
                    }
                }
            }
        }
        None
    }

    /// Records why a stage did nothing; the run reports the reason of the highest priority.
    pub(super) fn idle(&mut self, why: Idle) {
        self.outcome.idle = self.outcome.idle.max(Some(why));
    }

    /// Runs the stages of a hook from `first` on, until one makes a request.
    fn stages(&mut self, hook: Hook, first: usize) {
        for idx in first..self.triggers.len() {
            let stage = self.triggers.stage(idx);
            // Another try of a rejected call builds its view from the store; all other stages are skipped.
            let is_over = hook == Hook::BeforeCall && (self.rejected > 0 || self.has_failed);
            let is_due = !is_over || stage.mutates == Mutates::View;
            if stage.at != hook || !is_due || !self.understands(idx) || !self.fires(idx) {
                continue;
            }
            self.phase = Phase::Stages(hook, idx + 1);
            self.plan(idx);
            if self.waiting.is_some() {
                return;
            }
        }
        self.phase = self.or_behind(self.behind(hook));
    }

    /// Runs one stage until it acts or makes a request.
    fn plan(&mut self, idx: usize) {
        let (stage, moment) = (self.triggers.bound(idx), &self.triggers.moment);
        match &stage.action {
            Action::Named(_) => return self.act(idx, 0),
            Action::Log(log) => {
                let line = log.line(moment);
                return self.tell(idx, line);
            }
            _ => {}
        }
        match plan::plan(self.case, &self.working, stage, self.step, moment) {
            Plan::Nothing(why) => self.idle(why),
            Plan::Ready(edit) => {
                self.tried(idx);
                self.apply(idx, edit, None);
            }
            Plan::Asks(request, asked) => {
                self.tried(idx);
                self.waiting = Some(Waiting::Asked(idx, asked, request));
            }
        }
    }

    /// Records that a stage has a plan: its cooldown starts, and the current measurements are its cause.
    fn tried(&mut self, idx: usize) {
        self.triggers.tried(idx, self.step);
        let budget = self.budget();
        self.triggers.measure(self.step, &self.working, budget);
    }

    /// Returns the provider error that a stage responds to.
    pub(super) fn error_for(&self, stage: usize) -> Option<&'a Arc<str>> {
        let answers = self.triggers.stage(stage).at == Hook::OverflowError;
        self.error.filter(|_| answers)
    }

    /// Returns whether a stage can use the provider error: only a real system's own action reads its text.
    fn understands(&self, stage: usize) -> bool {
        self.error_for(stage).is_none()
            || matches!(self.triggers.stage(stage).action, Action::Named(_))
    }

    /// Returns whether a stage fires. `force` ignores triggers and cooldowns up to the first compaction, but not a
    /// disabled stage.
    pub(super) fn fires(&mut self, idx: usize) -> bool {
        if self.step < self.acts_from {
            return false;
        }
        if self.is_forced() && self.outcome.compactions == 0 && !self.triggers.is_off(idx) {
            self.triggers
                .measure(self.step, &self.working, self.budget());
            return true;
        }
        let fires = self
            .triggers
            .fires(idx, self.step, &self.working, self.budget());
        fires.map_err(|why| self.idle(why)).is_ok()
    }

    pub(super) fn budget(&self) -> Budget {
        Budget {
            window: self.case.windows.at(self.step),
            output_reserve: self.output_reserve,
        }
    }
}
