//! The result of `plimsoll usage` as JSON.

use crate::analysis::cost::Cause;
use crate::analysis::usage::{UsageQuery, UsageRow, UsageTable};
use crate::exec::stores::Listing;
use crate::units::{Share, Tokens, Usd};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Usage of many sessions by a key.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UsageOutput<'a> {
    /// Key of the rows: `day`, `week`, `month`, `block`, `project`, `model` or `agent`.
    by: &'static str,
    /// Time zone of days and blocks: a name such as `Europe/Berlin`; null if the system's zone has no name.
    timezone: Option<String>,
    /// First day; null if all days count.
    since: Option<String>,
    /// Last day; null if all days count.
    until: Option<String>,
    /// Periods in order, other rows by cost and then by input, largest first.
    rows: Vec<UsageEntry<'a>>,
    /// Sums over all calls, also of rows that `--limit` excluded.
    total: UsageSums<'a>,
    /// Number of counted calls that another session contains too. Each is counted once.
    repeated_calls: usize,
    /// Number of files that cannot be opened as a session.
    unreadable: usize,
}

/// Usage of a row's calls.
#[derive(Serialize, JsonSchema)]
struct UsageEntry<'a> {
    /// Value of the key: the first day of a period as `YYYY-MM-DD`, the start of a block as `YYYY-MM-DD HH:MM`, or a name;
    /// null if it is not recorded.
    key: Option<&'a str>,
    #[serde(flatten)]
    sums: UsageSums<'a>,
}

/// Sums over the calls of sessions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UsageSums<'a> {
    /// Number of sessions with such a call. Sub-agents and copies count for the session that they belong to.
    sessions: usize,
    /// Number of model calls.
    calls: usize,
    /// Number of recorded compactions.
    compactions: usize,
    /// Largest context of a call as a share of the usable window; null if the reserve leaves no usable tokens.
    peak_share: Option<Share>,
    #[serde(flatten)]
    sums: CallSums<'a>,
}

/// Sums over calls. A call that an earlier session contains too counts there only.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CallSums<'a> {
    /// Number of calls that the provider rejected as too long.
    rejected_calls: usize,
    /// Prompts in tokens, cached or not.
    input_tokens: Tokens,
    /// Part of the prompts read from the cache in tokens; null if no call records it.
    cache_read_input_tokens: Option<Tokens>,
    /// Part of the prompts written to the cache in tokens; null if no call records it.
    cache_creation_input_tokens: Option<Tokens>,
    /// Share of the prompts read from the cache, of the calls that record it; null if none does.
    cached_share: Option<Share>,
    /// Tokens of the answers.
    output_tokens: Tokens,
    /// Part of the answers that is recorded as reasoning, in tokens.
    reasoning_output_tokens: Tokens,
    /// Number of answers without a recorded size, which are counted from the text.
    output_estimated_calls: usize,
    /// Number of calls without recorded usage, whose prompts are counted from the text.
    input_estimated_calls: usize,
    /// Cost of the calls with a known price; null if there are none.
    cost_usd: Option<Usd>,
    /// Number of calls without a known price.
    unpriced_calls: usize,
    /// Number of calls with a large cache miss.
    cache_miss_calls: usize,
    /// Tokens of the cache misses.
    cache_miss_tokens: Tokens,
    /// Cost of the cache misses above cache reads; null if there are none with a known price.
    cache_miss_usd: Option<Usd>,
    /// Cause of the most tokens of cache misses; null without misses.
    top_miss_cause: Option<Cause>,
    /// Number of calls whose context was larger than the context window, or that the provider rejected as too long.
    overflows: usize,
    /// Models that answered.
    models: &'a BTreeSet<String>,
}

impl<'a> UsageOutput<'a> {
    pub(super) fn new(
        by: &'static str,
        table: &'a UsageTable,
        query: &UsageQuery,
        listing: &Listing,
    ) -> Self {
        let rows = table.rows.iter().map(|row| UsageEntry {
            key: Some(&*row.key).filter(|key| !key.is_empty()),
            sums: UsageSums::new(row),
        });
        Self {
            by,
            timezone: query.zone.iana_name().map(str::to_owned),
            since: query.since.map(|day| day.to_string()),
            until: query.until.map(|day| day.to_string()),
            rows: rows.collect(),
            total: UsageSums::new(&table.total),
            repeated_calls: table.copies,
            unreadable: listing.unread.len(),
        }
    }
}

impl<'a> UsageSums<'a> {
    /// Returns the sums of a row.
    pub(crate) fn new(row: &'a UsageRow) -> Self {
        Self {
            sessions: row.sessions,
            calls: row.calls,
            compactions: row.compactions,
            peak_share: row.peak.known(),
            sums: CallSums::new(row),
        }
    }
}

impl<'a> CallSums<'a> {
    /// Returns the sums of a row.
    pub(crate) fn new(row: &'a UsageRow) -> Self {
        Self {
            rejected_calls: row.rejected,
            input_tokens: row.input,
            cache_read_input_tokens: row.known_cache_read(),
            cache_creation_input_tokens: row.known_cache_write(),
            cached_share: row.cached_share(),
            output_tokens: row.output,
            reasoning_output_tokens: row.reasoning,
            output_estimated_calls: row.estimated_outputs,
            input_estimated_calls: row.estimated_inputs,
            cost_usd: row.cost(),
            unpriced_calls: row.unpriced,
            cache_miss_calls: row.misses,
            cache_miss_tokens: row.miss_tokens,
            cache_miss_usd: row.miss_cost(),
            top_miss_cause: row.top_cause(),
            overflows: row.overflows,
            models: &row.models,
        }
    }
}
