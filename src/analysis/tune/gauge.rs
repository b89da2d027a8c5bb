//! Scores a setting over a session: cost, references at risk and peak, or the reason why it is ruled out.

use super::risk::{LostFacts, Risk};
use crate::analysis::cost::{Bills, price_lane, price_recorded};
use crate::analysis::facts::{FactKind, Facts, KindSurvival, LaneSurvival};
use crate::analysis::loss::{Names, most_at_risk, references_at_risk};
use crate::analysis::lower_bound::{LowerBounds, Stuck};
use crate::analysis::{FindingKind, flaws};
use crate::engine::{Case, Effect, Event, KnobValues, Outcome, Policy, simulate};
use crate::units::{Share, Tokens, Usd};
use std::fmt;
use std::ops::Range;

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
    /// Later uses of removed content by the recorded agent.
    pub risk: Risk,
    /// The largest prompt.
    pub peak: Tokens,
    /// The largest context as a share of usable.
    pub peak_share: Share,
    /// Number of compactions.
    pub compactions: usize,
    /// Calls whose first attempt overflowed.
    pub overflows: usize,
}

/// Reason why a setting is ruled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuledOut {
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

impl RuledOut {
    /// Returns the name used in JSON.
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
    pub fn call(&self) -> usize {
        match self {
            Self::CannotGetBelow(stuck) => stuck.call,
            Self::Overflows(_, call)
            | Self::Thrashes(_, call)
            | Self::Wipes(_, call)
            | Self::Flawed(_, _, call)
            | Self::RequestTooLong(call)
            | Self::GivesUp(call) => *call,
        }
    }
}

impl fmt::Display for RuledOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = |n: usize| {
            if n == 1 {
                "1 call".to_owned()
            } else {
                format!("{n} calls")
            }
        };
        let at = self.call() + 1;
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

/// Scores settings of policies over one session. Everything that does not depend on the settings is computed once.
pub struct Gauge<'a> {
    /// The session and its windows.
    pub case: &'a Case,
    floors: LowerBounds<'a>,
    bills: Bills<'a>,
    names: &'a Names,
    /// The facts whose loss is the risk to compare, with their kind; none for references at risk.
    facts: Option<(&'a Facts, Option<FactKind>)>,
}

impl<'a> Gauge<'a> {
    /// Creates a gauge; `names` is the index of the case's session.
    pub fn new(case: &'a Case, bills: Bills<'a>, names: &'a Names) -> Self {
        Self {
            floors: LowerBounds::new(case),
            bills,
            names,
            case,
            facts: None,
        }
    }

    /// Compares settings by the facts that they lose, if given, instead of references at risk
    /// ([`super::RiskAxis::find`]).
    #[must_use]
    pub fn by_facts(self, facts: Option<&'a (Facts, Option<FactKind>)>) -> Self {
        Self {
            facts: facts.map(|(facts, kind)| (facts, *kind)),
            ..self
        }
    }

    /// Returns the score of a setting, and the main reason to reject it, if any. A setting that provably cannot work is
    /// not replayed.
    pub fn weigh(&self, policy: &Policy, knobs: &KnobValues) -> (Option<Score>, Option<RuledOut>) {
        if let Some(stuck) = self.floors.hopeless(policy, knobs) {
            return (None, Some(RuledOut::CannotGetBelow(stuck)));
        }
        let outcome = simulate(self.case, policy, knobs, None);
        let why = self.reasons(policy, knobs, &outcome);
        (Some(self.score(&outcome)), why.into_iter().next())
    }

    /// Replays a setting in any case. Returns its score and all reasons to reject it.
    pub fn judge(&self, policy: &Policy, knobs: &KnobValues) -> (Score, Vec<RuledOut>) {
        let outcome = simulate(self.case, policy, knobs, None);
        let stuck = self
            .floors
            .hopeless(policy, knobs)
            .map(RuledOut::CannotGetBelow);
        let all = stuck
            .into_iter()
            .chain(self.reasons(policy, knobs, &outcome))
            .collect();
        (self.score(&outcome), all)
    }

    /// Returns all reasons to reject a run, the most severe first: every bad insight, and more.
    fn reasons(&self, policy: &Policy, knobs: &KnobValues, outcome: &Outcome) -> Vec<RuledOut> {
        let mut all = self.reasons_from_sums(outcome);
        let is_included = |kind: FindingKind, all: &[RuledOut]| {
            all.iter().any(|why| {
                matches!(
                    (kind, why),
                    (FindingKind::GivesUp, RuledOut::GivesUp(_))
                        | (FindingKind::Wiped, RuledOut::Wipes(..))
                        | (FindingKind::UnhandledOverflow, RuledOut::Overflows(..))
                )
            })
        };
        for flaw in flaws(self.case, policy, knobs, outcome) {
            if !is_included(flaw.kind, &all) {
                all.push(RuledOut::Flawed(flaw.kind, flaw.times, flaw.call));
            }
        }
        all
    }

    /// Returns the reasons that follow from sums over a run, the most severe first.
    fn reasons_from_sums(&self, outcome: &Outcome) -> Vec<RuledOut> {
        let halt = outcome.halts.first();
        let overflow = outcome.samples.iter().find(|sample| sample.overflows);
        let overflow = overflow.map(|first| RuledOut::Overflows(outcome.overflows, first.call));
        let is_wipe = |event: &&Event| event.wipes(self.case.ledger.overhead);
        let wipes = || outcome.events.iter().filter(is_wipe);
        let wipe = wipes().next();
        let is_paid = |event: &&Event| event.effect == Effect::Removed && event.request.is_some();
        let paid = || outcome.events.iter().filter(is_paid);
        let is_too_long = |event: &&Event| {
            let (sent, received) = event.request.unwrap_or_default();
            sent + received > self.case.windows.at(event.call)
        };
        let row = longest_row(paid().map(|event| event.call));
        [
            halt.map(|halt| RuledOut::GivesUp(halt.call)),
            overflow,
            wipe.map(|first| RuledOut::Wipes(wipes().count(), first.call)),
            paid()
                .find(is_too_long)
                .map(|event| RuledOut::RequestTooLong(event.call)),
            (row.len() >= THRASH).then(|| RuledOut::Thrashes(row.len(), row.start)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the actual score of the session, from the lane `recorded`.
    pub fn really(&self, recorded: &Outcome) -> Score {
        Score {
            cost: price_recorded(self.case, &self.bills, recorded).total(),
            ..self.score(recorded)
        }
    }

    /// Returns the score of a run.
    pub fn score(&self, outcome: &Outcome) -> Score {
        let missed = most_at_risk(self.names, self.case, outcome);
        let (sent, summaries) = (outcome.tokens_sent(), outcome.summaries);
        Score {
            cost: price_lane(&self.bills, outcome).total(),
            sent,
            total: sent + outcome.tokens_rejected + summaries.sent + summaries.received,
            risk: Risk {
                references: missed.faults.len(),
                blind_edits: missed.blind_edits.len(),
                refetch: missed.refetch,
                lost: self.facts.map(|(facts, kind)| {
                    lost(LaneSurvival::new(facts, self.case, outcome).of(kind), kind)
                }),
            },
            peak: outcome.peak().map_or(Tokens::ZERO, |peak| peak.tokens),
            peak_share: outcome.peak_share(),
            compactions: outcome.compactions,
            overflows: outcome.overflows,
        }
    }

    /// Returns the references at risk if every predicted summary held, within its size, the names used most. [`Risk`]
    /// has the largest possible number.
    pub fn fewest_at_risk(&self, policy: &Policy, knobs: &KnobValues) -> usize {
        let outcome = simulate(self.case, policy, knobs, None);
        references_at_risk(self.names, self.case, &outcome).fewest
    }
}

fn lost(survival: KindSurvival, kind: Option<FactKind>) -> LostFacts {
    LostFacts {
        kind,
        lost: survival.gone + survival.unknown,
        stated: survival.stated,
    }
}

/// Returns the longest row of consecutive calls among these (ascending, possibly repeated).
fn longest_row(calls: impl Iterator<Item = usize>) -> Range<usize> {
    let mut longest = 0..0;
    let mut row = 0..0;
    for call in calls {
        if call + 1 == row.end {
            continue;
        }
        if call != row.end {
            row.start = call;
        }
        row.end = call + 1;
        if row.len() > longest.len() {
            longest = row.clone();
        }
    }
    longest
}
