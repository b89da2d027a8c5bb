//! What one setting comes to over one session: what it costs, what would have been missed, how deep it sat; or why it is
//! out of the question.

use crate::analysis::cost::{Bills, price_lane, price_recorded};
use crate::analysis::floor::{Floors, Stuck};
use crate::analysis::loss::{Names, most_at_risk, references_at_risk};
use crate::analysis::{FindingKind, flaws};
use crate::engine::{Case, KnobValues, Outcome, Policy, Tally, Totals, simulate};
use crate::units::{Share, Tokens, Usd};
use std::fmt;

/// Summaries paid for before each of so many calls in a row make a setting thrash.
const THRASH: usize = 3;

/// What a setting comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Its price, summaries included; none where a price is not known.
    pub cost: Option<Usd>,
    /// The sum of all calls.
    pub sent: Tokens,
    /// All tokens that were sent or came back: calls, rejected tries, and summary requests with their answers.
    pub total: Tokens,
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
    /// It leaves next to nothing of the conversation, without a summary: so many times, the first at this step.
    Wipes(usize, usize),
    /// A request for a summary would itself not fit, the first at this step.
    RequestTooLong(usize),
    /// The system itself would have ended the run at this step.
    GivesUp(usize),
    /// Its run shows something else that insights tell as bad ([`FindingKind::is_bad`]): so many times, the first at this
    /// step.
    Flawed(FindingKind, usize, usize),
}

impl Rejection {
    /// The name used in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CannotGetBelow(_) => "cannot_get_below_trigger",
            Self::Overflows(..) => "overflows",
            Self::Thrashes(..) => "thrashes",
            Self::Wipes(..) => "wipes",
            Self::RequestTooLong(_) => "request_too_long",
            Self::GivesUp(_) => "gives_up",
            Self::Flawed(kind, ..) => kind.name(),
        }
    }

    /// What is wrong with so many such settings, to follow their number.
    pub fn told(&self, n: usize) -> &'static str {
        match (self, n) {
            (Self::CannotGetBelow(_), _) => "cannot get below the trigger",
            (Self::Overflows(..), 1) => "overflows",
            (Self::Overflows(..), _) => "overflow",
            (Self::Thrashes(..), 1) => "summarizes call after call",
            (Self::Thrashes(..), _) => "summarize call after call",
            (Self::Wipes(..), 1) => "leaves next to nothing of the conversation",
            (Self::Wipes(..), _) => "leave next to nothing of the conversation",
            (Self::RequestTooLong(_), 1) => "asks for a summary that does not fit",
            (Self::RequestTooLong(_), _) => "ask for a summary that does not fit",
            (Self::GivesUp(_), 1) => "ends the run",
            (Self::GivesUp(_), _) => "end the run",
            (Self::Flawed(kind, ..), n) => of_flaw(*kind, n == 1),
        }
    }

    /// Index of the step that shows it.
    pub fn step(&self) -> usize {
        match self {
            Self::CannotGetBelow(stuck) => stuck.step,
            Self::Overflows(_, step)
            | Self::Thrashes(_, step)
            | Self::Wipes(_, step)
            | Self::Flawed(_, _, step)
            | Self::RequestTooLong(step)
            | Self::GivesUp(step) => *step,
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
            Self::Wipes(n, _) => {
                let times = if *n == 1 {
                    String::new()
                } else {
                    format!(" {n} times")
                };
                write!(
                    f,
                    "leaves next to nothing of the conversation{times}, first before call {at}"
                )
            }
            Self::RequestTooLong(_) => write!(
                f,
                "asks before call {at} for a summary with a request that does not fit into the window"
            ),
            Self::GivesUp(_) => write!(f, "the system itself would end the run at call {at}"),
            Self::Flawed(kind, n, _) => {
                let times = match n {
                    1 => "once".to_owned(),
                    n => format!("{n} times"),
                };
                write!(f, "{} ({times}, first at call {at})", of_flaw(*kind, true))
            }
        }
    }
}

/// What a setting does, or several do, whose run shows this.
fn of_flaw(kind: FindingKind, is_one: bool) -> &'static str {
    match (kind, is_one) {
        (FindingKind::NeverAgain, true) => "stays over its own limit and removes nothing any more",
        (FindingKind::NeverAgain, false) => "stay over their own limit and remove nothing any more",
        (FindingKind::UnrelatedError, true) => {
            "gives up history for an error that is not about its length"
        }
        (FindingKind::UnrelatedError, false) => {
            "give up history for an error that is not about its length"
        }
        (FindingKind::OrphanedPairs, true) => "separates calls from their results",
        (FindingKind::OrphanedPairs, false) => "separate calls from their results",
        (_, true) => "does what insights tell as bad",
        (_, false) => "do what insights tell as bad",
    }
}

/// Weighs settings over one session. What does not depend on settings is worked out once.
pub struct Gauge<'a> {
    /// What they are played over.
    pub case: &'a Case,
    floors: Floors<'a>,
    /// The session's bills and names; none where only tokens are counted.
    by: Option<(Bills<'a>, &'a Names)>,
}

impl<'a> Gauge<'a> {
    /// By what a run costs and what it puts at risk; `names` is the index of the case's session.
    pub fn new(case: &'a Case, bills: Bills<'a>, names: &'a Names) -> Self {
        Self {
            floors: Floors::new(case),
            by: Some((bills, names)),
            case,
        }
    }

    /// By tokens alone, which is many times faster.
    pub fn of_tokens(case: &'a Case) -> Self {
        Self {
            floors: Floors::new(case),
            by: None,
            case,
        }
    }

    /// What a setting comes to, and why it is out of the question if it is. One that is proven hopeless is not played.
    /// `tally` is that of the policy over this case.
    pub fn weigh(
        &self,
        policy: &Policy,
        knobs: &KnobValues,
        tally: &Tally<'_>,
    ) -> (Option<Score>, Option<Rejection>) {
        if let Some(stuck) = self.floors.hopeless(policy, knobs) {
            return (None, Some(Rejection::CannotGetBelow(stuck)));
        }
        // What is told from sums knows no flaw but those that its totals hold.
        let outcome = match self.by {
            Some(_) => Some(tally.outline(knobs)),
            None => tally.run(knobs),
        };
        let Some(outcome) = outcome else {
            let totals = tally.totals(knobs);
            return (
                Some(of_totals(&totals)),
                of_sums(&totals).into_iter().next(),
            );
        };
        let why = self.rejections(policy, knobs, &outcome);
        (Some(self.score(&outcome)), why.into_iter().next())
    }

    /// The same, played in any case, with all that speaks against it.
    pub fn judge(&self, policy: &Policy, knobs: &KnobValues) -> (Score, Vec<Rejection>) {
        let outcome = simulate(self.case, policy, knobs, None);
        let stuck = self
            .floors
            .hopeless(policy, knobs)
            .map(Rejection::CannotGetBelow);
        let all = stuck
            .into_iter()
            .chain(self.rejections(policy, knobs, &outcome))
            .collect();
        (self.score(&outcome), all)
    }

    /// Why a run is out of the question, worst first: all that insights tell of it as bad, and more.
    fn rejections(&self, policy: &Policy, knobs: &KnobValues, outcome: &Outcome) -> Vec<Rejection> {
        let mut all = of_sums(&Totals::of(self.case, outcome));
        // What sums tell already.
        let is_told = |kind: FindingKind, all: &[Rejection]| {
            all.iter().any(|why| {
                matches!(
                    (kind, why),
                    (FindingKind::GivesUp, Rejection::GivesUp(_))
                        | (FindingKind::Wiped, Rejection::Wipes(..))
                        | (FindingKind::UnhandledOverflow, Rejection::Overflows(..))
                )
            })
        };
        for flaw in flaws(self.case, policy, knobs, outcome) {
            if !is_told(flaw.kind, &all) {
                all.push(Rejection::Flawed(flaw.kind, flaw.times, flaw.step));
            }
        }
        all
    }

    /// What the session really came to, by the lane `recorded`.
    pub fn really(&self, recorded: &Outcome) -> Score {
        let price =
            |(bills, _): &(Bills<'_>, _)| price_recorded(self.case, bills, recorded).total();
        Score {
            cost: self.by.as_ref().and_then(price),
            ..self.score(recorded)
        }
    }

    /// What a run comes to.
    pub fn score(&self, outcome: &Outcome) -> Score {
        let score = of_totals(&Totals::of(self.case, outcome));
        let Some((bills, names)) = &self.by else {
            return score;
        };
        let missed = most_at_risk(names, self.case, outcome);
        Score {
            cost: price_lane(bills, outcome).total(),
            risk: Some(Risk {
                references: missed.faults.len(),
                blind_edits: missed.blind_edits.len(),
                refetch: missed.refetch,
            }),
            ..score
        }
    }

    /// References at risk if every predicted summary had held, within its size, the names asked for most; none where
    /// only tokens are counted. [`Risk`] has the most there may be.
    pub fn fewest_at_risk(&self, policy: &Policy, knobs: &KnobValues) -> Option<usize> {
        let (_, names) = self.by.as_ref()?;
        let outcome = simulate(self.case, policy, knobs, None);
        Some(references_at_risk(names, self.case, &outcome).fewest)
    }
}

/// As far as tokens tell.
fn of_totals(totals: &Totals) -> Score {
    Score {
        cost: None,
        sent: totals.sent,
        total: totals.traffic(),
        risk: None,
        peak: totals.peak.map_or(Tokens::ZERO, |peak| peak.tokens),
        peak_share: totals.peak_share,
        compactions: totals.compactions,
        overflows: totals.overflows,
    }
}

/// Why a run is out of the question as far as sums over it tell, worst first.
fn of_sums(totals: &Totals) -> Vec<Rejection> {
    let gives_up = totals.halt.map(Rejection::GivesUp);
    let overflows = totals.first_overflow;
    let overflows = overflows.map(|first| Rejection::Overflows(totals.overflows, first));
    let paid = totals.paid;
    let thrashes = (paid.calls >= THRASH).then_some(Rejection::Thrashes(paid.calls, paid.first));
    let wipes = totals.first_wipe;
    let wipes = wipes.map(|first| Rejection::Wipes(totals.wipes, first));
    let too_long = totals.too_long.map(Rejection::RequestTooLong);
    [gives_up, overflows, wipes, too_long, thrashes]
        .into_iter()
        .flatten()
        .collect()
}
