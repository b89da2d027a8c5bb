//! Scores a setting over a session: cost, references at risk and peak, or the reason why it is ruled out.

use crate::analysis::cost::{Bills, price_lane, price_recorded};
use crate::analysis::loss::{Names, most_at_risk, references_at_risk};
use crate::analysis::lower_bound::{LowerBounds, Stuck};
use crate::analysis::{FindingKind, flaws};
use crate::engine::{Case, KnobValues, Outcome, Policy, Tally, Totals, simulate};
use crate::units::{Share, Tokens, Usd};
use std::fmt;

/// Number of consecutive calls with a summary from which a setting counts as thrashing.
const THRASH: usize = 3;

/// Score of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Cost with summaries; none if a price is unknown.
    pub cost: Option<Usd>,
    /// Tokens sent by all calls.
    pub sent: Tokens,
    /// All tokens sent and received: calls, rejected attempts, and summary requests with their answers.
    pub total: Tokens,
    /// Removed content that the recorded agent used; none if only tokens were counted.
    pub risk: Option<Risk>,
    /// The largest context.
    pub peak: Tokens,
    /// The largest context as a share of usable.
    pub peak_share: Share,
    /// Number of compactions.
    pub compactions: usize,
    /// Calls whose first attempt overflowed.
    pub overflows: usize,
}

/// Removed content that the recorded agent used. A predicted summary counts as empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Risk {
    /// References at risk.
    pub references: usize,
    /// Edits of removed text.
    pub blind_edits: usize,
    /// Tokens to fetch again.
    pub refetch: Tokens,
}

/// Reason why a setting is ruled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It cannot get below its own trigger; proven without a run.
    CannotGetBelow(Stuck),
    /// Calls overflow: their number, and the index of the first.
    Overflows(usize, usize),
    /// It pays for summaries before consecutive calls: their number, and the index of the first.
    Thrashes(usize, usize),
    /// It removes almost all of the conversation without a summary: how often, and the index of the first call.
    Wipes(usize, usize),
    /// A summary request would overflow: the index of the first call.
    RequestTooLong(usize),
    /// The system itself would end the run at this call.
    GivesUp(usize),
    /// Another bad finding ([`FindingKind::is_bad`]): how often, and the index of the first call.
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

    /// Returns the description of `n` such settings, to follow their number.
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

    /// Returns the index of the call that shows it.
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
                stuck.least.short(),
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

/// Describes one or several settings with this finding.
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

/// Scores settings over one session. Computes once what does not depend on settings.
pub struct Gauge<'a> {
    /// The session.
    pub case: &'a Case,
    floors: LowerBounds<'a>,
    /// The session's bills and names; none if only tokens are counted.
    by: Option<(Bills<'a>, &'a Names)>,
}

impl<'a> Gauge<'a> {
    /// Creates a gauge of cost and references at risk; `names` is the index of the case's session.
    pub fn new(case: &'a Case, bills: Bills<'a>, names: &'a Names) -> Self {
        Self {
            floors: LowerBounds::new(case),
            by: Some((bills, names)),
            case,
        }
    }

    /// Creates a gauge of tokens only, which is many times faster.
    pub fn of_tokens(case: &'a Case) -> Self {
        Self {
            floors: LowerBounds::new(case),
            by: None,
            case,
        }
    }

    /// Scores a setting, or returns the reason why it is ruled out. A setting that is proven hopeless is not replayed.
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
        // Sums show only the flaws that are part of the totals.
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

    /// Replays a setting in any case and returns its score with all reasons against it.
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

    /// Returns the reasons why a run is ruled out, worst first: all bad findings, and more.
    fn rejections(&self, policy: &Policy, knobs: &KnobValues, outcome: &Outcome) -> Vec<Rejection> {
        let mut all = of_sums(&Totals::of(self.case, outcome));
        // Flaws that the sums already show.
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

    /// Scores the recorded run.
    pub fn really(&self, recorded: &Outcome) -> Score {
        let price =
            |(bills, _): &(Bills<'_>, _)| price_recorded(self.case, bills, recorded).total();
        Score {
            cost: self.by.as_ref().and_then(price),
            ..self.score(recorded)
        }
    }

    /// Scores a run.
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

    /// Returns the references at risk if every predicted summary contained, within its size, the names used most; none if
    /// only tokens are counted. [`Risk`] has the upper bound.
    pub fn fewest_at_risk(&self, policy: &Policy, knobs: &KnobValues) -> Option<usize> {
        let (_, names) = self.by.as_ref()?;
        let outcome = simulate(self.case, policy, knobs, None);
        Some(references_at_risk(names, self.case, &outcome).fewest)
    }
}

/// Scores a run by its totals.
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

/// Returns the reasons against a run that its totals show, worst first.
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
