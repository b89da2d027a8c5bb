//! One policy played over one session: a state machine that stops when it needs an answer.
//!
//! [`Run::poll`] continues until a summary is needed or the run is finished; [`Run::provide`] passes the answer.
//! [`drive`] does both with an [`Answer`]; [`simulate`] answers with text of the predicted size. All runs use this
//! interface.

mod account;
mod as_recorded;
mod call;
mod clock;
mod dedupe;
mod live;
mod manual_changes;
mod manual_edits;
mod named_actions;
mod named_state;
mod phase;
mod plan;
pub(super) mod recorded;
mod shorten;
mod stages;
mod trigger;
mod unpinned;
mod view;

use crate::engine::case::Case;
use crate::engine::case::budget::Budget;
use crate::engine::expr::{Expr, Quantity};
use crate::engine::named::window::NamedWindow;
use crate::engine::outcome::event::RequestSize;
use crate::engine::outcome::{Idle, Outcome};
use crate::engine::policy::{KnobValues, Policy};
use crate::engine::received::recorder::Recorder;
use crate::engine::summary::estimator::Estimator;
use crate::engine::summary::request::{Answer, Reply, Request};
use crate::engine::vocabulary::Hook;
use crate::engine::working::Working;
use crate::engine::working::prefix::Prefix;
use crate::units::Tokens;
use as_recorded::AsRecorded;
use clock::Clock;
use live::Live;
use named_state::{NamedState, PendingAction};
use plan::PendingEdit;
use std::sync::Arc;
use trigger::Triggers;
use unpinned::Unpinned;
use view::View;

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

/// The state of a run after polling.
#[derive(Debug)]
pub enum Poll {
    /// It needs a summary before it can continue.
    NeedsSummary(Request),
    /// The context of a call is complete and waits for the provider's response. Only live runs stop here.
    Ready,
    /// It is finished.
    Done(Box<Outcome>),
}

/// The phase of the current call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Appends new messages to the context.
    Enter,
    /// Runs the stages of a hook, from this index on.
    Stages(Hook, usize),
    /// Makes the call, possibly once more after a rescue.
    Call,
    /// The context of the call is complete.
    Sent,
    /// Appends the answer to the context.
    Leave,
    /// The run is finished.
    Done,
}

impl Phase {
    /// Returns whether the request of the call is over.
    fn is_after_request(self) -> bool {
        matches!(self, Self::Stages(Hook::AfterCall | Hook::TurnEnd, _))
    }
}

/// A policy being played.
#[derive(Debug)]
pub struct Run<'a> {
    case: &'a Case,
    triggers: Triggers<'a>,
    schedule: Schedule,
    until: Option<usize>,
    output_reserve: Tokens,
    /// The output reserve as an expression, if it may change from call to call.
    reserve: Option<Expr>,
    working: Working<'a>,
    /// The context kept for later calls, if the next call receives another one.
    store: Option<Box<Working<'a>>>,
    /// A view that may be reused.
    view: Option<View<'a>>,
    /// The context of the rejected call, if that is not the kept one.
    rejected_view: Option<Box<Working<'a>>>,
    call: usize,
    phase: Phase,
    /// The action that waits for an answer, with its request.
    waiting: Option<Waiting>,
    named: NamedState,
    clock: Clock,
    model_window: Option<&'static NamedWindow>,
    /// Number of times this call was rejected.
    rejected: u8,
    /// Tokens of these tries.
    tokens_rejected: Tokens,
    /// The prompt of the last call.
    prefix: Prefix<'a>,
    /// Records the content that calls receive.
    recorder: Recorder,
    /// The provider error that stages respond to, if the user placed one.
    error: Option<Arc<str>>,
    /// Number of this call's errors that were returned already.
    failed: u16,
    /// Whether a stage has changed the context since the last try of a call.
    acted: bool,
    /// Whether the restart before this call was processed.
    resumed: bool,
    /// Index of the first call at which stages may act.
    acts_from: usize,
    /// Failed attempts, each with its first call and its count.
    failures: Vec<Failure>,
    /// Pinned messages that a real system removed or changed.
    unpinned: Option<Unpinned>,
    /// The last comparison with the recorded context.
    as_recorded: AsRecorded,
    /// Whether this try of the call is larger than the provider accepts, as far as known.
    is_over: bool,
    /// Set if the conversation grows while the policy is played.
    live: Option<Live>,
    outcome: Outcome,
}

/// An action that waits for an answer, with the index of its stage.
#[derive(Debug)]
enum Waiting {
    /// An action of the engine's own vocabulary.
    Edit(usize, PendingEdit, Request),
    /// A named action.
    Action(usize, PendingAction, Request),
}

/// Maximum number of retries of a rejected call. Chosen: enough for a system that clears, compacts and truncates in
/// turn. After the last one the call counts as rejected, and the replay continues as if it was answered.
const MAX_RETRIES: u8 = 3;

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
            Poll::NeedsSummary(request) => {
                if let Some(why) = run.provide(answers.answer(case, &request)) {
                    answers.rejected(&why);
                }
            }
            Poll::Ready => unreachable!("only a live run stops at a call"),
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
        let (working, call) = match schedule {
            Schedule::Replay => (Working::new(case, &policy.meter), 0),
            Schedule::Now { .. } => {
                (recorded::before(case, &policy.meter, until), until.unwrap_or(last))
            }
        };
        let samples = Vec::with_capacity(until.unwrap_or(last) + 1);
        let clock = Clock::new(&case.session, knobs.get("seconds_per_call"));
        let names = policy.bindings(knobs);
        let reserve = policy.reserve.as_ref().map(|expr| expr.bind(&names));
        let mut triggers = Triggers::new(case, policy, names);
        triggers.moment.set(Quantity::Idle, clock.idle(call));
        let mut run = Self {
            case,
            triggers,
            schedule,
            until,
            output_reserve: policy.output_reserve(knobs, case, call),
            reserve,
            working,
            call,
            phase: Phase::Enter,
            waiting: None,
            store: None,
            view: None,
            rejected_view: None,
            named: NamedState::default(),
            clock,
            model_window: policy.window,
            rejected: 0,
            tokens_rejected: Tokens::ZERO,
            prefix: Prefix::default(),
            recorder: Recorder::new(case),
            error: None,
            failed: 0,
            acted: false,
            resumed: false,
            acts_from: 0,
            failures: Vec::new(),
            unpinned: None,
            as_recorded: AsRecorded::default(),
            is_over: false,
            live: None,
            outcome: Outcome { samples, ..Outcome::default() },
        };
        if schedule != Schedule::Replay {
            run.begin_at_call();
        }
        run
    }

    /// Prevents all stages from acting before the call with this index.
    #[must_use]
    pub fn acting_from(mut self, call: usize) -> Self {
        self.acts_from = call;
        self
    }

    /// Initializes the measurements of a replay up to here, for a run that begins at a recorded context.
    fn begin_at_call(&mut self) {
        if self.triggers.are_settled {
            return;
        }
        if let Some(last) = recorded::call_before(self.case, self.until) {
            let mut sent = recorded::working(self.case, &self.working.meter, Some(last));
            let before = [sent.metered(), sent.tokens()];
            let start = sent.context.messages_end;
            sent.append_history(start + self.case.index.answer_len(start, last));
            let metered = [before[0], sent.metered() - before[0]];
            let counted = [before[1], sent.tokens() - before[1]];
            // The context is the recorded one.
            let usage = self.case.session.calls[last].usage;
            self.note_report(metered, counted, usage.filter(|usage| usage.input > Tokens::ZERO));
            let now = self.working.metered().as_f64();
            self.triggers.note_removed(now, now);
        }
    }

    /// Returns whether the user started the run at the session's end, before the next call.
    fn is_at_end(&self) -> bool {
        self.schedule != Schedule::Replay && self.until.is_none()
    }

    /// Returns whether the user forces a compaction that has not happened yet.
    fn is_forced(&self) -> bool {
        self.schedule == Schedule::Now { force: true } && self.outcome.compactions == 0
    }

    /// Continues until an answer is needed or the run is finished.
    pub fn poll(&mut self) -> Poll {
        loop {
            if let Some(Waiting::Edit(.., request) | Waiting::Action(.., request)) = &self.waiting {
                return Poll::NeedsSummary(request.clone());
            }
            match self.phase {
                Phase::Enter => self.enter(),
                Phase::Stages(hook, first) => self.stages(hook, first),
                Phase::Call => self.call(),
                Phase::Sent if self.waits_for_response() => {
                    self.settle();
                    return Poll::Ready;
                }
                Phase::Sent => self.record_call(),
                Phase::Leave => self.leave(),
                Phase::Done => return Poll::Done(Box::new(self.finish())),
            }
        }
    }

    /// Answers the request that [`Self::poll`] returned. Returns the reason if the reply is rejected. Has no effect
    /// without a request.
    pub fn provide(&mut self, reply: Reply) -> Option<String> {
        let waiting = self.waiting.take()?;
        let (Waiting::Edit(.., request) | Waiting::Action(.., request)) = &waiting;
        self.outcome.summaries.requests += 1;
        self.outcome.summaries.sent += request.input;
        match waiting {
            Waiting::Action(stage, pending, request) => {
                self.continue_with_answer(stage, pending, &request, reply);
            }
            Waiting::Edit(stage, pending, request) => {
                match plan::edit_of_reply(self.case, &self.working.meter, pending, &request, reply)
                {
                    Ok((edit, received)) => {
                        self.outcome.summaries.received += received;
                        let size = RequestSize { sent: request.input, answer: received };
                        self.apply(stage, edit, Some(size));
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
    fn idle(&mut self, why: Idle) {
        self.outcome.idle = self.outcome.idle.max(Some(why));
    }

    fn budget(&self) -> Budget {
        Budget { window: self.case.windows.at(self.call), output_reserve: self.output_reserve }
    }
}
