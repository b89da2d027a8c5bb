//! What one setting comes to over one session: what it costs, what would have been missed, how deep it sat; or why it is
//! out of the question.

use crate::analysis::cost::{Bills, price_lane, price_recorded};
use crate::analysis::floor::{Floors, Stuck};
use crate::analysis::loss::{Names, references_at_risk};
use crate::engine::{Case, Did, KnobRole, KnobValues, Outcome, Policy, simulate};
use crate::units::{Share, Tokens, Usd};
use std::fmt;

/// Summaries paid for before each of so many calls in a row make a setting thrash.
const THRASH: usize = 3;

/// What a setting comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Its price, summaries included; none where a price is not known.
    pub cost: Option<Usd>,
    /// Tokens that it sends: prompts, rejected tries, and requests for summaries with what comes back.
    pub sent: Tokens,
    /// What the recorded agent used of what the policy had removed; none where only tokens were counted.
    pub risk: Option<Risk>,
    /// The largest prompt.
    pub peak: Tokens,
    /// The largest prompt as a share of usable.
    pub peak_share: Share,
    /// Firings that removed something.
    pub compactions: usize,
    /// Calls whose first try did not fit.
    pub overflows: usize,
}

/// What the recorded agent used of what a policy had removed. A summary that is only predicted counts as holding nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Risk {
    /// References at risk.
    pub references: usize,
    /// Edits whose old text was gone.
    pub blind_edits: usize,
    /// Tokens of what would have to be fetched again.
    pub refetch: Tokens,
}

/// Why a setting is out of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It cannot get below its own trigger: proven, and not run.
    CannotGetBelow(Stuck),
    /// Calls do not fit: so many, the first at this step.
    Overflows(usize, usize),
    /// It pays for summaries before so many calls in a row, the first at this step.
    Thrashes(usize, usize),
    /// The system itself would have ended the run at this step.
    GivesUp(usize),
}

impl Rejection {
    /// The name used in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CannotGetBelow(_) => "cannot_get_below_trigger",
            Self::Overflows(..) => "overflows",
            Self::Thrashes(..) => "thrashes",
            Self::GivesUp(_) => "gives_up",
        }
    }

    /// What is wrong with all such settings, to follow their number.
    pub fn told(&self) -> &'static str {
        match self {
            Self::CannotGetBelow(_) => "cannot get below the trigger",
            Self::Overflows(..) => "overflow",
            Self::Thrashes(..) => "summarize call after call",
            Self::GivesUp(_) => "end the run",
        }
    }

    /// Index of the step that shows it.
    pub fn step(&self) -> usize {
        match self {
            Self::CannotGetBelow(stuck) => stuck.step,
            Self::Overflows(_, step) | Self::Thrashes(_, step) | Self::GivesUp(step) => *step,
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = |n: usize| {
            if n == 1 {
                "1 call".to_owned()
            } else {
                format!("{n} calls")
            }
        };
        let at = self.step() + 1;
        match self {
            Self::CannotGetBelow(stuck) => write!(
                f,
                "cannot get below its trigger at {}: it keeps {} of {} tokens in any case (call {at})",
                calls(stuck.in_all),
                stuck.floor.short(),
                stuck.limit.short()
            ),
            Self::Overflows(n, _) => {
                let verb = if *n == 1 { "does" } else { "do" };
                write!(f, "{} {verb} not fit, the first is call {at}", calls(*n))
            }
            Self::Thrashes(n, _) => write!(
                f,
                "pays for a summary before each of {} in a row, from call {at} on",
                calls(*n)
            ),
            Self::GivesUp(_) => write!(f, "the system itself would end the run at call {at}"),
        }
    }
}

/// Weighs settings over one session. What does not depend on settings is worked out once.
pub struct Gauge<'a> {
    /// What they are played over.
    pub case: &'a Case,
    bills: Bills<'a>,
    names: &'a Names,
    floors: Floors<'a>,
}

impl<'a> Gauge<'a> {
    /// With the session's bills and the index of its names.
    pub fn new(case: &'a Case, bills: Bills<'a>, names: &'a Names) -> Self {
        Self {
            floors: Floors::new(case),
            names,
            case,
            bills,
        }
    }

    /// What a setting comes to, and why it is out of the question if it is. One that is proven hopeless is not played.
    pub fn weigh(&self, policy: &Policy, knobs: &KnobValues) -> (Option<Score>, Option<Rejection>) {
        if let Some(stuck) = self.hopeless(policy, knobs) {
            return (None, Some(Rejection::CannotGetBelow(stuck)));
        }
        let outcome = simulate(self.case, policy, knobs, None);
        let rejected = rejections(&outcome).into_iter().next();
        (Some(self.score(&outcome)), rejected)
    }

    /// The same, played in any case, with all that speaks against it.
    pub fn judge(&self, policy: &Policy, knobs: &KnobValues) -> (Score, Vec<Rejection>) {
        let outcome = simulate(self.case, policy, knobs, None);
        let stuck = self.hopeless(policy, knobs).map(Rejection::CannotGetBelow);
        let all = stuck.into_iter().chain(rejections(&outcome));
        (self.score(&outcome), all.collect())
    }

    /// What the session really came to, by the lane `recorded`.
    pub fn really(&self, recorded: &Outcome) -> Score {
        let cost = price_recorded(self.case, &self.bills, recorded).total();
        Score {
            cost,
            ..self.score(recorded)
        }
    }

    /// What a run comes to.
    pub fn score(&self, outcome: &Outcome) -> Score {
        let summaries = outcome.summaries;
        let pressures = outcome.samples.iter().map(|s| s.pressure.0);
        let missed = references_at_risk(self.names, self.case, outcome);
        Score {
            cost: price_lane(&self.bills, outcome).total(),
            sent: outcome.tokens_sent()
                + outcome.tokens_rejected
                + summaries.sent
                + summaries.received,
            risk: Some(Risk {
                references: missed.faults.len(),
                blind_edits: missed.blind_edits.len(),
                refetch: missed.refetch,
            }),
            peak: outcome.peak().map_or(Tokens::ZERO, |(_, peak)| peak),
            peak_share: Share(pressures.fold(0.0, f64::max)),
            compactions: outcome.compactions,
            overflows: outcome.overflows,
        }
    }

    /// A setting that fires in vain again and again. One large message that keeps it above its trigger for a while is no
    /// reason to reject it, nor is a trigger that is met all the time where a guard waits until there is something to save.
    fn hopeless(&self, policy: &Policy, knobs: &KnobValues) -> Option<Stuck> {
        if policy
            .stages
            .iter()
            .any(|stage| stage.guard.min_saved.is_some())
        {
            return None;
        }
        let cooldown = policy
            .knob_for(KnobRole::Cooldown)
            .filter(|knob| knob.unit == "steps")
            .and_then(|knob| knobs.get(&knob.name));
        let rest = cooldown.unwrap_or(0.0) as usize + 1;
        let calls = self.case.session.steps.len();
        let stuck = self.floors.stuck(policy, knobs)?;
        (stuck.in_all >= (THRASH * rest).max(calls.div_ceil(20))).then_some(stuck)
    }
}

/// Why a run is out of the question, worst first.
fn rejections(outcome: &Outcome) -> Vec<Rejection> {
    let gives_up = outcome
        .halts
        .first()
        .map(|halt| Rejection::GivesUp(halt.step));
    let rejected = outcome.samples.iter().find(|sample| sample.overflows);
    let overflows = rejected.map(|first| Rejection::Overflows(outcome.overflows, first.step));
    let (calls, first) = paid_in_a_row(outcome);
    let thrashes = (calls >= THRASH).then_some(Rejection::Thrashes(calls, first));
    [gives_up, overflows, thrashes]
        .into_iter()
        .flatten()
        .collect()
}

/// The longest row of calls that each had a summary paid for before them, and its first step.
fn paid_in_a_row(outcome: &Outcome) -> (usize, usize) {
    let paid = outcome
        .events
        .iter()
        .filter(|e| e.did == Did::Removed && e.request.is_some());
    let mut steps: Vec<usize> = paid.map(|e| e.step).collect();
    steps.dedup();
    let rows = steps.chunk_by(|a, b| a + 1 == *b);
    let longest = rows.fold((0, 0), |longest: (usize, usize), row| {
        if row.len() > longest.0 {
            (row.len(), row[0])
        } else {
            longest
        }
    });
    longest
}
