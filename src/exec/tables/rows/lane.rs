//! The table `lanes`, and the lanes of a conversation.

use super::conversation::Conversation;
use crate::analysis::cost::{BreakEven, Cost, CostSource, break_even, price_lane, price_recorded};
use crate::analysis::loss::{Names, references_at_risk};
use crate::analysis::rereads::{FileReads, RereadMeasure, RereadModel, RereadPrices};
use crate::analysis::{Finding, findings};
use crate::engine::{Case, KnobValues, Outcome, Policy, simulate};
use crate::exec::tables::column::{ContentHash, Name};
use crate::exec::tables::schema::row;
use crate::formats::records_compactions;
use crate::units::{Share, Tokens, Usd};
use std::borrow::Cow;

row! {
    /// A lane: the recorded run, or a policy replayed over the conversation.
    LaneRow in "lanes" {
        /// SHA-256 of the file's content.
        content_sha256: ContentHash,
        /// Number of the conversation in the file, from 1.
        conversation: usize,
        /// Name of the lane; `recorded` for the recorded run.
        lane: Name,
        /// Name of the policy; `recorded` for the recorded run.
        policy: Name,
        /// SHA-256 of the policy's text and `settings_json`; null for the recorded run.
        policy_sha256: Option<ContentHash>,
        /// Settings of the policy as a JSON object, sorted by name.
        settings_json: Name,
        /// Largest context, including the one at the end.
        peak_input_tokens: Option<Tokens>,
        /// Largest context as a share of the usable window; null if the reserve leaves no usable tokens.
        peak_share: Option<Share>,
        /// Number of compactions; null if the format does not record those of the recorded run.
        compactions: Option<usize>,
        /// Number of calls that overflowed.
        overflows: usize,
        /// Number of calls that reach into the output reserve without an overflow.
        into_reserve: usize,
        /// Sum of the contexts of all calls.
        input_tokens: Tokens,
        /// Number of requests for summaries.
        summary_requests: usize,
        /// Tokens that they send.
        summary_input_tokens: Tokens,
        /// Tokens of the summaries, as predicted.
        summary_output_tokens: Tokens,
        /// Cost with summaries; null if a price is unknown.
        cost_usd: Option<Usd>,
        /// `recorded` or `modelled`.
        cost_source: Name,
        /// Cost with the cache model that all lanes share, to compare them; null if a price is unknown.
        modelled_cost_usd: Option<Usd>,
        /// Number of uses of content of earlier messages.
        references: usize,
        /// Number of these whose content the context lacked.
        references_at_risk: usize,
        /// Tokens of the last earlier messages with this content.
        missing_tokens: Tokens,
        /// Expected number of files that the agent reads again because their content was removed.
        expected_rereads: f64,
        /// Tokens that these re-reads fetch.
        expected_reread_tokens: f64,
        /// Their price; null if a price is unknown.
        expected_reread_usd: Option<f64>,
        /// Kinds of the policy's defects, worst first; null for the recorded run.
        findings: Option<Vec<Name>>,
        /// Number of points where the system itself would have ended the run.
        halts: usize,
    }
}

/// A policy to replay.
#[derive(Clone, Debug)]
pub struct TableLane {
    /// Name of the lane.
    pub name: String,
    /// The policy.
    pub policy: Policy,
    /// Values of its settings.
    pub knobs: KnobValues,
    /// The settings as a JSON object.
    pub settings_json: String,
    /// TOML of the policy.
    pub text: String,
}

impl TableLane {
    /// Returns the SHA-256 of the policy and its settings.
    pub(in crate::exec::tables) fn sha256(&self) -> ContentHash {
        let both = format!("{}\n{}", self.text, self.settings_json);
        crate::exec::files::sha256_bytes(both.as_bytes()).into()
    }

    /// Returns the tokens that are kept for the answer.
    pub(in crate::exec::tables) fn output_reserve(&self, case: &Case) -> Tokens {
        self.policy.output_reserve(&self.knobs, case, 0)
    }
}

/// A lane with its run and its cost.
pub(super) struct PlayedLane<'a> {
    /// `None` for the recorded run.
    lane: Option<&'a TableLane>,
    pub(super) name: Name,
    pub(super) outcome: Cow<'a, Outcome>,
    findings: Vec<Finding>,
    cost: Cost,
    /// Cost by the cache model.
    modelled: Option<Usd>,
    pub(super) break_even: Vec<BreakEven>,
}

impl<'a> PlayedLane<'a> {
    /// Returns the recorded run.
    pub(super) fn recorded(of: &'a Conversation<'_>) -> Self {
        let outcome = Cow::Borrowed(&of.recorded);
        Self::new(of, None, outcome, price_recorded(&of.bills, &of.recorded))
    }

    /// Replays a policy.
    pub(super) fn play(of: &Conversation<'_>, lane: &'a TableLane) -> Self {
        let outcome = simulate(of.case, &lane.policy, &lane.knobs, None);
        let cost = price_lane(&of.bills, &outcome);
        Self::new(of, Some(lane), Cow::Owned(outcome), cost)
    }

    fn new(
        of: &Conversation<'_>,
        lane: Option<&'a TableLane>,
        outcome: Cow<'a, Outcome>,
        mut cost: Cost,
    ) -> Self {
        let modelled = match cost.source {
            CostSource::Modelled => cost.total(),
            CostSource::Recorded => price_lane(&of.bills, &outcome).total(),
        };
        cost.drop_calls();
        let found = lane.map(|lane| findings(of.case, &lane.policy, &lane.knobs, &outcome));
        Self {
            lane,
            name: lane.map_or(Name::Borrowed(RECORDED), |lane| Name::Owned(lane.name.clone())),
            findings: found.unwrap_or_default(),
            modelled,
            break_even: break_even(&of.bills, &outcome),
            cost,
            outcome,
        }
    }

    /// Returns whether this is the recorded run.
    pub(super) fn is_recorded(&self) -> bool {
        self.lane.is_none()
    }
}

/// Name of the recorded run.
const RECORDED: &str = "recorded";

/// Returns a row for each lane.
pub(super) fn rows(
    of: &Conversation<'_>,
    lanes: &[PlayedLane<'_>],
    model: &RereadModel,
) -> Vec<LaneRow> {
    let names = Names::new(&of.case.session);
    let prices = RereadPrices::new(&of.bills, of.case.session.calls.len());
    let files = FileReads::new(of.case);
    let measure = RereadMeasure { model, files: &files, prices: &prices };
    let row = |played: &PlayedLane<'_>| {
        let (content_sha256, conversation) = of.key();
        let outcome = &*played.outcome;
        let (peak, lane) = (outcome.peak(), played.lane);
        let risk = references_at_risk(&names, of.case, outcome);
        let rereads = measure.total(of.case, outcome);
        let has_compactions = lane.is_some() || records_compactions(&of.case.session);
        let kinds = || played.findings.iter().map(|found| found.kind.name().into()).collect();
        LaneRow {
            content_sha256,
            conversation,
            lane: played.name.clone(),
            policy: lane
                .map_or(Name::Borrowed(RECORDED), |lane| Name::Owned(lane.policy.name.clone())),
            policy_sha256: lane.map(TableLane::sha256),
            settings_json: lane
                .map_or(Name::Borrowed("{}"), |lane| Name::Owned(lane.settings_json.clone())),
            peak_input_tokens: peak.map(|peak| peak.tokens),
            peak_share: peak.and_then(|_| outcome.peak_share().known()),
            compactions: has_compactions.then_some(outcome.compactions),
            overflows: outcome.overflows,
            into_reserve: outcome.into_reserve(),
            input_tokens: outcome.tokens_sent(),
            summary_requests: outcome.summaries.requests,
            summary_input_tokens: outcome.summaries.sent,
            summary_output_tokens: outcome.summaries.received,
            cost_usd: played.cost.total(),
            cost_source: played.cost.source.name().into(),
            modelled_cost_usd: played.modelled,
            references: risk.uses,
            references_at_risk: risk.faults.len(),
            missing_tokens: risk.refetch,
            expected_rereads: rereads.files.value,
            expected_reread_tokens: rereads.tokens.value,
            expected_reread_usd: rereads.usd.map(|usd| usd.value),
            findings: lane.map(|_| kinds()),
            halts: outcome.halts.len(),
        }
    };
    lanes.iter().map(row).collect()
}
