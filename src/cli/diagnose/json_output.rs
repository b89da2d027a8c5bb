//! The result of `plimsoll diagnose` as JSON.

use super::lane_cost::LaneCost;
use super::losses::LaneLoss;
use super::losses_json::LossEntry;
use super::rereads_json::RemovedFileEntry;
use super::{Diagnosis, MostResent};
use crate::analysis::MessageName;
use crate::analysis::cost::{Audit, AuditedCall, Break, BreakEven, Cause};
use crate::analysis::insight::{Certainty, Insight, InsightKind, Level};
use crate::analysis::rereads::FileReads;
use crate::analysis::resent::Growth;
use crate::cli::billing::ModelPrice;
use crate::cli::cost_json::{CostEntry, cost};
use crate::cli::lazy_list::LazyList;
use crate::cli::played::policy_name;
use crate::cli::recorded_call::RecordedCall;
use crate::cli::rereads::RereadsEntry;
use crate::engine::Case;
use crate::presets::prices::Price;
use crate::session::Session;
use crate::units::{Rate, Share, Tokens, Usd};
use schemars::JsonSchema;
use serde::Serialize;

/// Problems of a session, its cost and losses, and those of every lane.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiagnosisOutput<'a> {
    /// Detected format.
    format: &'a str,
    /// Title of the session.
    title: &'a str,
    /// Context window in tokens, the largest if it changes.
    window: Tokens,
    /// Tokens of the context window that are kept for the answer in the lanes `recorded` and `none`.
    output_reserve: Tokens,
    /// Trigger that the text refers to, as a share of the usable window (`window` − `output_reserve`). Null if the reserve leaves
    /// no usable tokens.
    trigger_share: Option<Share>,
    /// How exactly token counts are known: `reported`, `exact`, `calibrated` or `estimated`.
    accuracy: &'a str,
    /// Summary of the session in a few sentences.
    summary: String,
    /// Insights, worst first.
    insights: Vec<InsightEntry<'a>>,
    /// The session's models with their prices.
    models: Vec<ModelEntry<'a>>,
    /// Costs by lane: `recorded`, `none`, then the policies.
    lanes: LazyList<'a, LaneCostEntry<'a>>,
    /// Recorded cache reads against expected ones; null if the file records none.
    cache_audit: Option<AuditEntry<'a>>,
    /// Content that the lanes removed.
    loss: LossEntry<'a>,
    /// Sum of the contexts of all recorded calls in tokens.
    tokens_sent: Tokens,
    /// Messages with the most cumulative tokens, largest first.
    most_resent: Vec<ResentEntry>,
    /// Growth of the context.
    growth: GrowthEntry,
}

/// A problem or a fact.
#[derive(Serialize, JsonSchema)]
struct InsightEntry<'a> {
    /// Kind of the insight.
    kind: InsightKind,
    /// Severity.
    level: Level,
    /// Certainty.
    certainty: Certainty,
    /// Lane that the insight concerns; null for the session itself.
    lane: Option<&'a str>,
    /// Call that shows the problem; null if no single call does.
    call: Option<usize>,
    /// Message that the insight concerns; null if it concerns no single message.
    message: Option<usize>,
    /// Description as a sentence.
    text: &'a str,
    /// Figures that support the description.
    evidence: &'a str,
    /// Suggested remedy.
    advice: &'a str,
    /// Tokens × calls that the insight concerns; 0 if not applicable.
    cumulative_tokens: Tokens,
}

/// A model of the session.
#[derive(Serialize, JsonSchema)]
pub(super) struct ModelEntry<'a> {
    /// Model as recorded.
    model: &'a str,
    /// Price of the model; null if unknown.
    price: Option<PriceEntry<'a>>,
}

/// The price of a model. Rates are in USD per million tokens.
#[derive(Serialize, JsonSchema)]
struct PriceEntry<'a> {
    /// Matching model of the price table.
    model: &'a str,
    /// Rate of prompt tokens outside of the cache.
    input: Rate,
    /// Rate of answers.
    output: Rate,
    /// Rate of prompt tokens read from the cache.
    cache_read: Rate,
    /// Rate of prompt tokens written to the cache; null if they cost the same as input.
    cache_write: Option<Rate>,
    /// Rate of prompt tokens written to the cache for the longer lifetime; null if the provider has only one.
    cache_write_hour: Option<Rate>,
    /// Name of the caching rule.
    caching: &'a str,
    /// Page that the price comes from.
    source: &'a str,
    /// Date when the page was read.
    read_on: String,
    /// Whether the vendor's own page confirms the price.
    verified: bool,
}

/// The cost of one lane.
#[derive(Serialize, JsonSchema)]
struct LaneCostEntry<'a> {
    /// Name of the lane.
    lane: &'a str,
    /// Name of the policy; `recorded` for the recorded run.
    policy: &'a str,
    /// Cost of the lane.
    cost: CostEntry<'a>,
    /// For a cost by recorded cache counts: the cost with the cache model of the other lanes, to compare with them. Null
    /// if `cost` is modelled.
    modelled: Option<CostEntry<'a>>,
    /// Expected re-reads, not part of `cost`.
    expected_rereads: RereadsEntry,
    /// Removals of files' content that the agent may read again, by call.
    removed_files: LazyList<'a, RemovedFileEntry<'a>>,
    /// Costs and savings of the lane's compactions.
    break_even: LazyList<'a, BreakEvenEntry<'a>>,
}

/// Costs and savings of a compaction.
#[derive(Serialize, JsonSchema)]
pub(super) struct BreakEvenEntry<'a> {
    /// Call before which the compaction acted.
    call: usize,
    /// Ids of the stages that acted.
    stages: &'a [String],
    /// Tokens that later calls no longer send.
    tokens_removed: Tokens,
    /// Tokens that were cached and are written to the cache again.
    tokens_rewritten: Tokens,
    /// Whether the cache had expired.
    cache_expired: bool,
    /// One-time cost in USD; null if a price is unknown.
    usd_once: Option<Usd>,
    /// Savings in USD per later call; null if a price is unknown.
    usd_per_call: Option<Usd>,
    /// Number of calls after which the savings equal the cost; null if it saves nothing or a price is unknown.
    break_even_calls: Option<f64>,
    /// Number of calls after which the compaction has paid off: the first whole number above `break_even_calls`; null if
    /// that is null.
    calls_needed: Option<u64>,
    /// Number of calls from the compaction to the end of the session.
    calls_left: usize,
    /// Whether the compaction paid off within the session; null if unknown.
    paid_off: Option<bool>,
    /// Whether the cost of the summary is included. False if the file does not record it.
    summary_included: bool,
}

/// Recorded cache reads against expected ones.
#[derive(Serialize, JsonSchema)]
pub(super) struct AuditEntry<'a> {
    /// Sum of the expected cache reads in tokens.
    expected: Tokens,
    /// Sum of the recorded cache reads in tokens.
    recorded: Tokens,
    /// Cache misses by cause, largest first.
    misses: Vec<MissEntry>,
    /// Cache reads of each call.
    calls: LazyList<'a, AuditedCallEntry<'a>>,
}

/// Cache misses of one cause.
#[derive(Serialize, JsonSchema)]
struct MissEntry {
    /// Cause of the misses.
    cause: Cause,
    /// Number of calls.
    calls: usize,
    /// First of these calls.
    first_call: usize,
    /// Tokens that had been sent before and were not read from the cache.
    tokens: Tokens,
    /// Cost of these tokens above the price of cache reads, in USD; null if a price is unknown.
    usd: Option<Usd>,
}

/// Cache reads of a call in tokens.
#[derive(Serialize, JsonSchema)]
struct AuditedCallEntry<'a> {
    /// Call, from 1.
    call: usize,
    #[serde(flatten)]
    properties: RecordedCall<'a>,
    /// Expected cache reads.
    expected: Tokens,
    /// Recorded cache reads.
    recorded: Tokens,
    /// Upper bound of the cache reads: the length of this context or the one before, whichever is shorter.
    upper_bound: Tokens,
    /// Likely cause if a large part was missed; null otherwise.
    cause: Option<Cause>,
}

/// A message that later calls sent again.
#[derive(Serialize, JsonSchema)]
struct ResentEntry {
    /// Message, from 1.
    message: usize,
    /// Short description of the message.
    name: String,
    /// Tokens of the message.
    tokens: Tokens,
    /// Number of calls that sent the message.
    calls: usize,
    /// `tokens` × `calls`.
    cumulative_tokens: Tokens,
    /// Last call whose answer named something from the message; null if none did.
    last_used_by_call: Option<usize>,
}

/// Growth of the context.
#[derive(Serialize, JsonSchema)]
struct GrowthEntry {
    /// Share of the total growth that the largest 5 % of calls account for, 0 to 1.
    share_of_largest_5_percent: Share,
    /// Calls with the largest growth.
    largest: Vec<GrownEntry>,
}

/// Growth at a call.
#[derive(Serialize, JsonSchema)]
struct GrownEntry {
    /// Call, from 1.
    call: usize,
    /// Tokens that the context grew by.
    tokens: Tokens,
    /// Largest new message; null if unknown.
    message: Option<usize>,
}

impl Diagnosis<'_> {
    /// Returns the JSON output.
    pub(super) fn json_output(&self) -> DiagnosisOutput<'_> {
        let case = self.case();
        let lanes = self.lanes.iter().zip(&self.losses.lanes);
        DiagnosisOutput {
            format: case.session.source.format,
            title: &case.session.title,
            window: case.windows.largest(),
            output_reserve: self.reserve,
            trigger_share: self.trigger.known(),
            accuracy: case.ledger.accuracy.name(),
            summary: self.summary(),
            insights: self.insights.iter().map(insight).collect(),
            models: self.prices.iter().map(model).collect(),
            lanes: LazyList::new(
                lanes.map(|(lane, loss)| lane_cost(lane, loss, self.files, &case.session)),
            ),
            cache_audit: self.audit.map(|found| audit(found, &case.session)),
            loss: self.losses.json_output(),
            tokens_sent: self.sent,
            most_resent: self.most_resent.iter().map(|message| resent(case, message)).collect(),
            growth: GrowthEntry {
                share_of_largest_5_percent: self.growth.share,
                largest: self.growth.calls.iter().map(grown).collect(),
            },
        }
    }
}

fn insight(insight: &Insight) -> InsightEntry<'_> {
    InsightEntry {
        kind: insight.kind,
        level: insight.level,
        certainty: insight.certainty,
        lane: insight.lane.as_deref(),
        call: insight.call.map(|idx| idx + 1),
        message: insight.message.map(|idx| idx + 1),
        text: &insight.text,
        evidence: &insight.evidence,
        advice: insight.advice,
        cumulative_tokens: insight.stake,
    }
}

pub(super) fn model<'a>(known: &ModelPrice<'a>) -> ModelEntry<'a> {
    ModelEntry { model: known.model, price: known.price.map(price) }
}

fn price(price: &Price) -> PriceEntry<'_> {
    PriceEntry {
        model: &price.name,
        input: price.input,
        output: price.output,
        cache_read: price.cache_read,
        cache_write: price.cache_write,
        cache_write_hour: price.cache_write_hour,
        caching: &price.caching,
        source: &price.source,
        read_on: price.read.to_string(),
        verified: price.verified,
    }
}

fn lane_cost<'a>(
    lane: &'a LaneCost<'_>,
    loss: &'a LaneLoss,
    files: &'a FileReads,
    session: &'a Session,
) -> LaneCostEntry<'a> {
    let removals = loss.expected.removals.iter();
    LaneCostEntry {
        lane: &lane.played.lane,
        policy: policy_name(lane.played),
        cost: cost(&lane.cost, session),
        modelled: lane.modelled.as_ref().map(|modelled| cost(modelled, session)),
        expected_rereads: RereadsEntry::from(&loss.expected),
        removed_files: LazyList::new(removals.map(|removed| RemovedFileEntry::new(removed, files))),
        break_even: LazyList::new(lane.break_even.iter().map(break_even)),
    }
}

pub(super) fn break_even(even: &BreakEven) -> BreakEvenEntry<'_> {
    BreakEvenEntry {
        call: even.call + 1,
        stages: &even.stages,
        tokens_removed: even.removed,
        tokens_rewritten: even.rewritten,
        cache_expired: even.is_cold,
        usd_once: even.once,
        usd_per_call: even.per_call,
        break_even_calls: even.calls,
        calls_needed: even.needed,
        calls_left: even.left,
        paid_off: even.has_paid(),
        summary_included: even.knows_summary,
    }
}

pub(super) fn audit<'a>(audit: &'a Audit, session: &'a Session) -> AuditEntry<'a> {
    AuditEntry {
        expected: audit.predicted,
        recorded: audit.recorded,
        misses: audit.breaks.iter().map(miss).collect(),
        calls: LazyList::new(audit.calls.iter().map(|call| audited_call(call, session))),
    }
}

fn miss(miss: &Break) -> MissEntry {
    MissEntry {
        cause: miss.cause,
        calls: miss.calls,
        first_call: miss.first + 1,
        tokens: miss.tokens,
        usd: miss.usd,
    }
}

fn audited_call<'a>(call: &AuditedCall, session: &'a Session) -> AuditedCallEntry<'a> {
    AuditedCallEntry {
        call: call.index + 1,
        properties: RecordedCall::new(session, call.index),
        expected: call.predicted,
        recorded: call.recorded,
        upper_bound: call.most,
        cause: call.cause,
    }
}

fn resent(case: &Case, MostResent { resent, last_use }: &MostResent) -> ResentEntry {
    ResentEntry {
        message: resent.message + 1,
        name: MessageName::of(case, resent.message).to_string(),
        tokens: resent.tokens,
        calls: resent.calls,
        cumulative_tokens: resent.cumulative(),
        last_used_by_call: last_use.map(|idx| idx + 1),
    }
}

fn grown(grown: &Growth) -> GrownEntry {
    GrownEntry {
        call: grown.call + 1,
        tokens: grown.grown,
        message: grown.message.map(|idx| idx + 1),
    }
}
