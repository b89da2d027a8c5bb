//! Scores a setting over a session: cost, expected re-reads and peak, or the reason why it is ruled out.

use super::first_read::{FirstRead, FirstReaders};
use super::ruled_out::{Reason, RuledOut};
use crate::analysis::cost::{Bills, price_lane, price_recorded};
use crate::analysis::facts::{FactKind, Facts, LaneSurvival};
use crate::analysis::loss::{BlindEdit, Names, blind_edits};
use crate::analysis::lower_bound::LowerBounds;
use crate::analysis::rereads::{FileReads, RereadMeasure, RereadModel, RereadPrices, RereadTotal};
use crate::analysis::{FindingKind, flaws, thrashing_calls};
use crate::engine::{ActionKind, Case, Effect, Event, Knob, KnobValues, Outcome, Policy, simulate};
use crate::units::{Share, Tokens, Usd};

/// Score of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Cost with summaries; none if a price is unknown.
    pub cost: Option<Usd>,
    /// Tokens sent by all calls.
    pub sent: Tokens,
    /// All tokens sent and received: calls, rejected attempts, and summary requests with their answers.
    pub total: Tokens,
    /// Re-reads that its removals are expected to cause.
    pub rereads: RereadTotal,
    /// Edits of removed text.
    pub blind_edits: usize,
    /// Constraints and decisions of the user that the last call lacks; none if the session states no constraint and no
    /// decision.
    pub user_rules: Option<LostRules>,
    /// The largest prompt.
    pub peak: Tokens,
    /// The largest context as a share of the usable window.
    pub peak_share: Share,
    /// Number of compactions.
    pub compactions: usize,
    /// Whether it removed or cut anything that the session contains.
    pub acts: bool,
    /// Tool results that were moved to a file and replaced by a preview before a call read them.
    pub spilled: usize,
    /// Calls whose first attempt overflowed.
    pub overflows: usize,
    /// Calls that reach into the output reserve without an overflow.
    pub into_reserve: usize,
}

/// The user's constraints and decisions that the last call of a run lacked. No agent fetches them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostRules {
    /// Number of those that no text of the context holds.
    pub lost: usize,
    /// Number of those that only a predicted summary may hold.
    pub unknown: usize,
    /// Number of all that were stated and not replaced.
    pub stated: usize,
}

/// Kinds of facts that the user states and an agent cannot fetch again.
const USER_RULES: [FactKind; 2] = [FactKind::Constraint, FactKind::Decision];

/// Maximum peak of a recommended setting as a share of the usable window, since the next session may be longer.
/// Settings above it are recommended only if there are no others.
///
/// Chosen: with a usable window of 168,000 tokens it leaves 8,400, the size of a large tool result. At 0.9, systems
/// that compact at 90 % by default could not be recommended as they are.
pub(super) const SAFE_PEAK: Share = Share(0.95);

/// The score of a setting, and the reasons to reject it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// The score.
    pub score: Score,
    /// All reasons to reject it, the most severe first; empty if it works.
    pub reasons: Vec<RuledOut>,
}

/// Scores settings of policies over one session. Everything that does not depend on the settings is computed once.
pub struct Gauge<'a> {
    /// The session and its windows.
    pub case: &'a Case,
    floors: LowerBounds<'a>,
    bills: Bills<'a>,
    names: &'a Names,
    files: &'a FileReads,
    model: &'a RereadModel,
    prices: RereadPrices,
    readers: FirstReaders,
    /// The user's constraints and decisions.
    rules: Facts,
    /// The score of the recorded run, if settings are compared with it.
    recorded: Option<Score>,
}

impl<'a> Gauge<'a> {
    /// Creates a gauge; `names` and `files` are the indices of the case's session.
    pub fn new(
        case: &'a Case,
        bills: Bills<'a>,
        names: &'a Names,
        (files, model): (&'a FileReads, &'a RereadModel),
    ) -> Self {
        Self {
            floors: LowerBounds::new(case),
            prices: RereadPrices::new(&bills, case.session.calls.len()),
            bills,
            names,
            files,
            model,
            readers: FirstReaders::new(case),
            rules: Facts::of_kinds(&case.session, &USER_RULES),
            case,
            recorded: None,
        }
    }

    /// Compares settings with the lane `recorded`: those with more blind edits are ruled out.
    #[must_use]
    pub fn against(self, recorded: &Outcome) -> Self {
        let recorded = Some(self.score(recorded));
        Self { recorded, ..self }
    }

    /// Returns the score of the recorded run with the provider's cache modelled as for the settings, if it is known.
    pub fn recorded(&self) -> Option<&Score> {
        self.recorded.as_ref()
    }

    /// Assesses a setting. A setting that provably cannot work is not replayed.
    ///
    /// # Errors
    /// The reason why it cannot work.
    pub fn assess_unless_stuck(
        &self,
        policy: &Policy,
        knobs: &KnobValues,
    ) -> Result<Assessment, RuledOut> {
        match self.known_reasons(policy, knobs).next() {
            Some(known) => Err(known),
            None => Ok(self.replay(policy, knobs)),
        }
    }

    /// Replays a setting in any case and assesses it.
    pub fn assess(&self, policy: &Policy, knobs: &KnobValues) -> Assessment {
        let mut assessment = self.replay(policy, knobs);
        let known = self.known_reasons(policy, knobs);
        assessment.reasons.splice(..0, known);
        assessment
    }

    /// Returns the reasons to reject a setting that need no run.
    fn known_reasons(&self, policy: &Policy, knobs: &KnobValues) -> impl Iterator<Item = RuledOut> {
        let is_outside = |knob: &Knob| {
            let value = knobs.get(&knob.name);
            value.is_some_and(|value| knob.is_advised_against(value))
        };
        let outside = policy.knobs.iter().position(is_outside);
        let outside =
            outside.map(|knob| RuledOut { reason: Reason::NotAdvised { knob }, call: 0, times: 1 });
        let stuck = self.floors.hopeless(policy, knobs).map(|stuck| RuledOut {
            reason: Reason::CannotGetBelow(stuck),
            call: stuck.call,
            times: stuck.in_all,
        });
        outside.into_iter().chain(stuck)
    }

    fn replay(&self, policy: &Policy, knobs: &KnobValues) -> Assessment {
        let outcome = simulate(self.case, policy, knobs, None);
        let blind = blind_edits(self.names, self.case, &outcome);
        let first_read = self.readers.check(self.case, &outcome);
        let mut reasons = self.reasons(policy, knobs, &outcome);
        reasons.extend(self.reasons_from_losses(&blind, first_read));
        Assessment { reasons, score: self.score_with(&outcome, blind.len(), first_read) }
    }

    /// Returns the reasons that follow from what calls lacked.
    fn reasons_from_losses(
        &self,
        missed: &[BlindEdit],
        first_read: FirstRead,
    ) -> impl Iterator<Item = RuledOut> {
        let unread = first_read.call.map(|call| RuledOut {
            reason: Reason::CutsUnread,
            call,
            times: first_read.cut,
        });
        let recorded = self.recorded.map(|score| score.blind_edits);
        let recorded = recorded.filter(|recorded| missed.len() > *recorded);
        let first_edit = missed.first();
        let blind = recorded.zip(first_edit).map(|(recorded, edit)| RuledOut {
            reason: Reason::EditsBlindly { recorded },
            call: edit.call,
            times: missed.len(),
        });
        unread.into_iter().chain(blind)
    }

    /// Returns all reasons to reject a run, the most severe first: every bad insight, and more.
    fn reasons(&self, policy: &Policy, knobs: &KnobValues, outcome: &Outcome) -> Vec<RuledOut> {
        let mut all = self.reasons_from_sums(outcome);
        let is_included = |kind: FindingKind, all: &[RuledOut]| {
            let own = match kind {
                FindingKind::GivesUp => Reason::GivesUp,
                FindingKind::Wiped => Reason::Wipes,
                FindingKind::UnhandledOverflow => Reason::Overflows,
                _ => return false,
            };
            all.iter().any(|why| why.reason == own)
        };
        for flaw in flaws(self.case, policy, knobs, outcome) {
            if !is_included(flaw.kind, &all) {
                all.push(RuledOut {
                    reason: Reason::Flawed(flaw.kind),
                    call: flaw.call,
                    times: flaw.times,
                });
            }
        }
        all
    }

    /// Returns the reasons that follow from sums over a run, the most severe first.
    fn reasons_from_sums(&self, outcome: &Outcome) -> Vec<RuledOut> {
        let ruled_out =
            |reason: Reason, call: usize, times: usize| RuledOut { reason, call, times };
        let halt = outcome.halts.first();
        let overflow = outcome.samples.iter().find(|sample| sample.overflows);
        let is_wipe = |event: &&Event| event.wipes(self.case.ledger.overhead);
        let wipes = || outcome.events.iter().filter(is_wipe);
        let is_too_long = |event: &&Event| {
            let request = event.request.unwrap_or_default();
            event.effect == Effect::Removed && request.total() > self.case.windows.at(event.call)
        };
        let too_long = outcome.events.iter().find(is_too_long);
        let thrashing = thrashing_calls(outcome);
        [
            halt.map(|halt| ruled_out(Reason::GivesUp, halt.call, 1)),
            overflow.map(|first| ruled_out(Reason::Overflows, first.call, outcome.overflows)),
            wipes().next().map(|first| ruled_out(Reason::Wipes, first.call, wipes().count())),
            too_long.map(|event| ruled_out(Reason::RequestTooLong, event.call, 1)),
            thrashing.map(|calls| ruled_out(Reason::Thrashes, calls.start, calls.len())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the actual score of the session, from the lane `recorded`.
    pub fn recorded_score(&self, recorded: &Outcome) -> Score {
        Score { cost: price_recorded(&self.bills, recorded).total(), ..self.score(recorded) }
    }

    /// Returns the score of a run.
    pub fn score(&self, outcome: &Outcome) -> Score {
        let blind = blind_edits(self.names, self.case, outcome).len();
        let first_read = self.readers.check(self.case, outcome);
        self.score_with(outcome, blind, first_read)
    }

    fn score_with(&self, outcome: &Outcome, blind_edits: usize, first_read: FirstRead) -> Score {
        let removes = |event: &Event| {
            event.effect == Effect::Removed
                && event.action != ActionKind::Repair
                && !event.is_manual()
        };
        let (sent, summaries) = (outcome.tokens_sent(), outcome.summaries);
        Score {
            cost: price_lane(&self.bills, outcome).total(),
            sent,
            total: sent + outcome.tokens_rejected + summaries.sent + summaries.received,
            rereads: self.measure().total(self.case, outcome),
            blind_edits,
            user_rules: self.lost_rules(outcome),
            peak: outcome.peak().map_or(Tokens::ZERO, |peak| peak.tokens),
            peak_share: outcome.peak_share(),
            compactions: outcome.compactions,
            acts: outcome.events.iter().any(removes),
            spilled: first_read.spilled,
            overflows: outcome.overflows,
            into_reserve: outcome.into_reserve(),
        }
    }

    /// Returns the measure of expected re-reads.
    pub fn measure(&self) -> RereadMeasure<'_> {
        RereadMeasure { model: self.model, files: self.files, prices: &self.prices }
    }

    fn lost_rules(&self, outcome: &Outcome) -> Option<LostRules> {
        if self.rules.all().is_empty() {
            return None;
        }
        let survival = LaneSurvival::new(&self.rules, self.case, outcome).of(None);
        Some(LostRules { lost: survival.gone, unknown: survival.unknown, stated: survival.stated })
    }
}
