//! What a run comes to in tokens, without playing it call by call where that is not needed.
//!
//! A policy of one plain stage (drop, summarize or clear at a threshold) leaves the context alone between two firings:
//! what the calls of such a stretch send is known from sums over the session, and where the stretch ends is found by
//! searching them. The figures are those of [`super::simulate`] to the token; tests hold them to it. Every other policy is
//! simulated.

mod account;
mod clear;
mod course;
mod outline;
mod plain;
mod replace;

use super::event::{Did, Event};
use super::outcome::{Outcome, Peak, SummaryTraffic};
use super::{Case, KnobValues, Policy, simulate};
use crate::units::{Share, Tokens};
use account::Story;
use course::Course;
use plain::{Plain, Scene};
use replace::Notices;
use std::sync::OnceLock;

/// What a run comes to in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// The largest context, the one at the end included.
    pub peak: Option<Peak>,
    /// The largest context as a share of usable.
    pub peak_share: Share,
    /// The context at the end.
    pub end: Tokens,
    /// The sum of all prompts.
    pub sent: Tokens,
    /// Firings that removed something.
    pub compactions: usize,
    /// Steps whose first try did not fit.
    pub overflows: usize,
    /// The first of these.
    pub first_overflow: Option<usize>,
    /// Tokens of tries that were rejected.
    pub rejected: Tokens,
    /// Requests for summaries.
    pub summaries: SummaryTraffic,
    /// Requests for summaries that removed something and would not fit into the window themselves: the step of the first.
    pub too_long: Option<usize>,
    /// The longest row of calls that each had a summary paid for before them.
    pub paid: Row,
    /// Firings that left next to nothing of the conversation ([`Event::wipes`]).
    pub wipes: usize,
    /// Index of the step of the first of these.
    pub first_wipe: Option<usize>,
    /// Index of the step at which the system itself would have ended the run.
    pub halt: Option<usize>,
}

/// Calls in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Index of the first step.
    pub first: usize,
    /// How many.
    pub calls: usize,
}

impl Row {
    /// The longer of the row that ends with this step and of `self`; `current` is the row that is being followed.
    fn with(self, current: &mut Self, step: usize) -> Self {
        let goes_on = current.calls > 0 && current.first + current.calls == step;
        let again = current.calls > 0 && current.first + current.calls == step + 1;
        if goes_on {
            current.calls += 1;
        } else if !again {
            *current = Self {
                first: step,
                calls: 1,
            };
        }
        if current.calls > self.calls {
            *current
        } else {
            self
        }
    }
}

impl Totals {
    /// Those of a run that was played over this case.
    pub fn of(case: &Case, outcome: &Outcome) -> Self {
        let samples = &outcome.samples;
        let overflow = samples.iter().find(|sample| sample.overflows);
        let is_paid = |event: &&Event| event.did == Did::Removed && event.request.is_some();
        let (mut paid, mut current) = (Row::default(), Row::default());
        for event in outcome.events.iter().filter(is_paid) {
            paid = paid.with(&mut current, event.step);
        }
        let is_too_long = |event: &Event| {
            let (sent, received) = event.request.unwrap_or_default();
            sent + received > case.windows.at(event.step)
        };
        let mut requests = outcome.events.iter().filter(is_paid);
        let wipes = || {
            let events = outcome.events.iter();
            events.filter(|event| event.wipes(case.ledger.overhead))
        };
        Self {
            peak: outcome.peak(),
            peak_share: outcome.peak_share(),
            end: outcome.end,
            sent: outcome.tokens_sent(),
            compactions: outcome.compactions,
            overflows: outcome.overflows,
            first_overflow: overflow.map(|sample| sample.step),
            rejected: outcome.tokens_rejected,
            summaries: outcome.summaries,
            too_long: requests.find(|e| is_too_long(e)).map(|e| e.step),
            paid,
            wipes: wipes().count(),
            first_wipe: wipes().next().map(|event| event.step),
            halt: outcome.halts.first().map(|halt| halt.step),
        }
    }

    /// All tokens that were sent or came back: prompts, rejected tries, and summaries.
    pub fn traffic(&self) -> Tokens {
        self.sent + self.rejected + self.summaries.sent + self.summaries.received
    }
}

/// One policy over one session, for many settings.
#[derive(Debug)]
pub struct Tally<'a> {
    case: &'a Case,
    policy: &'a Policy,
    /// Sums over the session, where they will be asked for.
    course: OnceLock<Course>,
    /// Weights of notices, by the messages that they speak of.
    notices: Notices,
    /// Nothing that a person placed in the session, or that changes from call to call, keeps it from being told from sums.
    is_even: bool,
}

impl<'a> Tally<'a> {
    /// Nothing is worked out yet.
    pub fn new(case: &'a Case, policy: &'a Policy) -> Self {
        Self {
            is_even: plain::is_even(case),
            notices: Notices::new(case),
            course: OnceLock::new(),
            case,
            policy,
        }
    }

    /// What the policy comes to with these settings.
    pub fn totals(&self, knobs: &KnobValues) -> Totals {
        match self.plain(knobs) {
            Some(plain) => {
                let scene = self.scene();
                let story = Story::new(scene.course, plain.budget);
                plain.play(&scene, story).0.0
            }
            None => Totals::of(self.case, &simulate(self.case, self.policy, knobs, None)),
        }
    }

    /// The run with these settings, where it is not told from sums.
    pub fn run(&self, knobs: &KnobValues) -> Option<Outcome> {
        let is_played = self.plain(knobs).is_none();
        is_played.then(|| simulate(self.case, self.policy, knobs, None))
    }

    /// A run with these settings, as far as its cost and what its calls saw are concerned. Where that is told from sums
    /// it has no kinds, no context, and no events but those that asked for a summary or left next to nothing.
    pub fn outline(&self, knobs: &KnobValues) -> Outcome {
        match self.plain(knobs) {
            Some(plain) => {
                let scene = self.scene();
                let budget = plain.budget;
                let story = Story::in_full(scene.course, budget);
                let (done, actor) = plain.play(&scene, story);
                outline::outline(&scene, budget, &done, actor.as_ref())
            }
            None => simulate(self.case, self.policy, knobs, None),
        }
    }

    fn plain(&self, knobs: &KnobValues) -> Option<Plain> {
        let is_even = self.is_even;
        is_even.then(|| Plain::new(self.case, self.policy, knobs))?
    }

    /// Returns the sums. Computes them outside of `get_or_init`, whose lock must not be held while rayon works.
    fn course(&self) -> &Course {
        if let Some(course) = self.course.get() {
            return course;
        }
        let course = Course::new(self.case, &self.policy.meter);
        self.course.get_or_init(|| course)
    }

    fn scene(&self) -> Scene<'_> {
        let meter = &self.policy.meter;
        Scene {
            course: self.course(),
            case: self.case,
            notices: &self.notices,
            meter,
        }
    }
}
