//! The cost of a lane as JSON.

use crate::analysis::cost::{CallCost, Charge, Cost, CostSource};
use crate::cli::lazy_list::LazyList;
use crate::cli::recorded_call::RecordedCall;
use crate::session::Session;
use crate::units::{Tokens, Usd};
use schemars::JsonSchema;
use serde::Serialize;

/// The cost of a lane.
#[derive(Serialize, JsonSchema)]
pub(super) struct CostEntry<'a> {
    /// Source of the cost.
    source: CostSource,
    /// Total in USD; null if the price of a call is unknown.
    usd: Option<Usd>,
    /// Number of calls without a known price.
    unpriced_calls: usize,
    /// Number of answers without a reported size, whose recorded text was counted instead.
    estimated_outputs: usize,
    /// Number of calls without reported usage, whose recorded text was counted instead and whose cache is modelled.
    estimated_calls: usize,
    /// Whether the sums are the program's own totals, with its sub-agents and summaries.
    program_totals: bool,
    /// Source of the costs in `calls`.
    calls_source: CostSource,
    /// Prompt tokens read from the cache.
    cache_read: ChargeEntry,
    /// Prompt tokens written to the cache.
    cache_write: ChargeEntry,
    /// Other prompt tokens.
    uncached: ChargeEntry,
    /// Answers.
    output: ChargeEntry,
    /// Attempts that the provider rejected as too long.
    rejected: ChargeEntry,
    /// Requests for summaries, sent and received.
    summaries: ChargeEntry,
    /// Cost of each call.
    calls: LazyList<'a, CallCostEntry<'a>>,
}

/// Tokens of one kind and their cost.
#[derive(Serialize, JsonSchema)]
struct ChargeEntry {
    /// Number of tokens.
    tokens: Tokens,
    /// Cost in USD; null if the total is unknown.
    usd: Option<Usd>,
}

/// The cost of a call, its kinds in tokens.
#[derive(Serialize, JsonSchema)]
struct CallCostEntry<'a> {
    /// Call, from 1.
    call: usize,
    #[serde(flatten)]
    recorded: RecordedCall<'a>,
    /// Prompt tokens read from the cache.
    cache_read: Tokens,
    /// Prompt tokens written to the cache.
    cache_write: Tokens,
    /// Other prompt tokens.
    uncached: Tokens,
    /// Tokens of the answer.
    output: Tokens,
    /// Cost in USD without rejected attempts and requests for summaries; null if the price is unknown.
    usd: Option<Usd>,
}

/// Returns the JSON output of the cost of a session's lane.
pub(super) fn cost<'a>(cost: &'a Cost, session: &'a Session) -> CostEntry<'a> {
    let total = cost.total();
    // A sum with an unknown part is unknown.
    let charge =
        |charge: Charge| ChargeEntry { tokens: charge.tokens, usd: total.map(|_| charge.usd) };
    CostEntry {
        source: cost.source,
        usd: total,
        unpriced_calls: cost.unpriced,
        estimated_outputs: cost.estimated_outputs,
        estimated_calls: cost.estimated_calls,
        program_totals: cost.has_totals,
        calls_source: cost.source_of_calls(),
        cache_read: charge(cost.read),
        cache_write: charge(cost.written),
        uncached: charge(cost.uncached),
        output: charge(cost.output),
        rejected: charge(cost.rejected),
        summaries: charge(cost.summaries),
        calls: LazyList::new(cost.calls.iter().map(|call| call_cost(call, session))),
    }
}

fn call_cost<'a>(call: &CallCost, session: &'a Session) -> CallCostEntry<'a> {
    CallCostEntry {
        call: call.index + 1,
        recorded: RecordedCall::new(session, call.index),
        cache_read: call.read,
        cache_write: call.written,
        uncached: call.uncached,
        output: call.output,
        usd: call.usd,
    }
}
