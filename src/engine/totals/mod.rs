//! Token totals of a run, computed without replaying every call if possible.
//!
//! A policy of one plain stage (drop, summarize or clear at a threshold) does not change the context between two
//! compactions. The tokens of the calls between them follow from sums over the session, and a search in the sums finds
//! the next compaction. The totals are equal to those of [`super::simulate`]; tests verify this. Every other policy is
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

/// Token totals of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// The largest context, including the one at the end.
    pub peak: Option<Peak>,
    /// The largest context as a share of the usable window.
    pub peak_share: Share,
    /// The context at the end.
    pub end: Tokens,
    /// The sum of all prompts.
    pub sent: Tokens,
    /// Number of compactions that removed something.
    pub compactions: usize,
    /// Number of calls whose first try overflowed.
    pub overflows: usize,
    /// The first call that overflowed.
    pub first_overflow: Option<usize>,
    /// Tokens of rejected tries.
    pub rejected: Tokens,
    /// Summary requests.
    pub summaries: SummaryTraffic,
    /// Index of the first call with an applied summary request that would itself overflow the window.
    pub too_long: Option<usize>,
    /// The longest row of consecutive calls that each paid for a summary.
    pub paid: Row,
    /// Number of compactions that left almost nothing of the conversation ([`Event::wipes`]).
    pub wipes: usize,
    /// Index of the first call with such a compaction.
    pub first_wipe: Option<usize>,
    /// Index of the call at which the system itself would have stopped the run.
    pub halt: Option<usize>,
}

/// Consecutive calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Index of the first call.
    pub first: usize,
    /// Number of calls.
    pub calls: usize,
}

impl Row {
    /// Returns the longer of `self` and the row that ends with this call; `current` is the row in progress.
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
    /// Returns the totals of a run over this case.
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

    /// Returns all tokens sent or received: prompts, rejected tries, and summaries.
    pub fn traffic(&self) -> Tokens {
        self.sent + self.rejected + self.summaries.sent + self.summaries.received
    }
}

/// One policy over one session, for many settings.
#[derive(Debug)]
pub struct Tally<'a> {
    case: &'a Case,
    policy: &'a Policy,
    /// Sums over the session, if needed.
    course: OnceLock<Course>,
    /// Weights of notices, by the messages that they mention.
    notices: Notices,
    /// Whether totals can be computed from sums: the user placed nothing in the session, and nothing changes from call
    /// to call.
    is_even: bool,
}

impl<'a> Tally<'a> {
    /// Creates a tally; computes nothing yet.
    pub fn new(case: &'a Case, policy: &'a Policy) -> Self {
        Self {
            is_even: plain::is_even(case),
            notices: Notices::new(case),
            course: OnceLock::new(),
            case,
            policy,
        }
    }

    /// Returns the policy's totals with these settings.
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

    /// Returns the run with these settings, if it cannot be computed from sums.
    pub fn run(&self, knobs: &KnobValues) -> Option<Outcome> {
        let is_played = self.plain(knobs).is_none();
        is_played.then(|| simulate(self.case, self.policy, knobs, None))
    }

    /// Returns a run with these settings for its cost and the content of its calls. If it is computed from sums, it has
    /// no kinds, no context, and only events that requested a summary or left almost nothing.
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
