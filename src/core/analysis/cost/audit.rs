//! Compares expected with recorded cache reads, call by call, and names the likely cause of each difference.

use super::price::{modelled, price_above_read, sampled_calls};
use super::{BilledCall, Bills};
use crate::engine::{Case, Outcome};
use crate::session::{Body, Call, Usage};
use crate::units::{Share, Tokens, Usd};
use serde::{Deserialize, Serialize};

/// Minimum cache miss that is reported, in tokens. Smaller ones result from rounding and framing: OpenAI reads the
/// cache in blocks of 128 tokens, Anthropic only from 512 to 4,096 tokens on (`assets/caching.toml`), and reminders at
/// the end of a request change every time.
pub const MIN_MISS: Tokens = Tokens(5_000);

/// Cache reads as predicted and as recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// Billed calls for which the file records cache reads.
    pub calls: Vec<AuditedCall>,
    /// Sum of the predicted cache reads, in tokens.
    pub predicted: Tokens,
    /// Sum of the recorded cache reads, in tokens.
    pub recorded: Tokens,
    /// Cache misses, in order.
    pub misses: Vec<CacheMiss>,
    /// Cache misses by cause, largest first.
    pub breaks: Vec<Break>,
}

impl Audit {
    /// Returns the recorded cache reads as a share of the tokens sent by the lane `recorded`.
    pub fn hit_rate(&self, recorded: &Outcome) -> Share {
        self.recorded.share_of(recorded.tokens_sent())
    }
}

/// The cache reads of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditedCall {
    /// Index of the call.
    pub index: usize,
    /// Predicted cache read in tokens.
    pub predicted: Tokens,
    /// Recorded cache read in tokens.
    pub recorded: Tokens,
    /// Upper bound: the length of this prompt or the previous one, whichever is shorter.
    pub most: Tokens,
    /// Likely cause, if a large part of it was a miss.
    pub cause: Option<Cause>,
}

/// Cache misses of one cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Break {
    /// The cause.
    pub cause: Cause,
    /// Number of calls.
    pub calls: usize,
    /// Index of the first call.
    pub first: usize,
    /// Tokens that had been sent before.
    pub tokens: Tokens,
    /// Cost of these tokens above the price of cache reads; `None` if a price is unknown.
    pub usd: Option<Usd>,
}

/// Causes of a cache miss, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// No call of the session read from or wrote to the cache.
    NeverCached,
    /// The recorded program compacted its history.
    Compaction,
    /// Another model answered.
    ModelChange,
    /// The reasoning effort changed.
    EffortChange,
    /// Tool definitions were added.
    ToolChange,
    /// The pause was longer than the cache lifetime.
    Gap,
    /// The call before was aborted or failed.
    Abort,
    /// A new user turn: providers drop earlier reasoning, and programs add reminders.
    UserTurn,
    /// The file shows no cause.
    Unexplained,
}

impl Cause {
    /// Returns the text that follows `missed`.
    pub fn text(self) -> &'static str {
        match self {
            Self::NeverCached => "cache never used",
            Self::Compaction => "after a compaction",
            Self::ModelChange => "another model",
            Self::EffortChange => "after a change of reasoning effort",
            Self::ToolChange => "new tools",
            Self::Gap => "after a long pause",
            Self::Abort => "after an aborted call",
            Self::UserTurn => "after a user message",
            Self::Unexplained => "unexplained",
        }
    }

    /// All causes, in the order in which they are tried.
    pub const ALL: [Self; 9] = [
        Self::NeverCached,
        Self::Compaction,
        Self::ModelChange,
        Self::EffortChange,
        Self::ToolChange,
        Self::Gap,
        Self::Abort,
        Self::UserTurn,
        Self::Unexplained,
    ];

    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeverCached => "never_cached",
            Self::Compaction => "compaction",
            Self::ModelChange => "model_change",
            Self::EffortChange => "effort_change",
            Self::ToolChange => "tool_change",
            Self::Gap => "gap",
            Self::Abort => "abort",
            Self::UserTurn => "user_turn",
            Self::Unexplained => "unexplained",
        }
    }
}

/// The cache miss of a call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheMiss {
    /// Index of the call.
    pub call: usize,
    /// Likely cause.
    pub cause: Cause,
    /// Prompt tokens that had been sent before and were not read from the cache.
    pub tokens: Tokens,
    /// Cost of these tokens above the price of cache reads; `None` if the price is unknown.
    pub usd: Option<Usd>,
}

/// Returns the audit of the lane `recorded`; `None` if the file records no cache reads.
pub fn audit(case: &Case, bills: &Bills<'_>, recorded: &Outcome) -> Option<Audit> {
    let mut found = Audit::default();
    let mut before: Option<(usize, Tokens)> = None;
    let uses_cache = uses_cache(bills);
    for sampled in sampled_calls(bills, recorded) {
        let (call, sample) = (sampled.bill, sampled.sample);
        // A call without usage was aborted or failed: the cause of a miss after it.
        let Some(usage) = call.usage else {
            continue;
        };
        let last = before.replace((call.index, sample.tokens));
        let Some(read) = usage.cache_read else {
            continue;
        };
        let most = last.map_or(Tokens::ZERO, |(_, tokens)| tokens.min(sample.tokens));
        let again = most - read;
        let reason = last.filter(|_| again > MIN_MISS).map(|(earlier, _)| {
            if uses_cache { cause(case, recorded, earlier, call) } else { Cause::NeverCached }
        });
        let predicted = modelled(&sampled).read;
        found.predicted += predicted;
        found.recorded += read;
        found.calls.push(AuditedCall {
            index: call.index,
            predicted,
            recorded: read,
            most,
            cause: reason,
        });
        found.misses.extend(reason.map(|cause| CacheMiss {
            call: call.index,
            cause,
            tokens: again,
            usd: call.tariff.map(|tariff| price_above_read(&tariff, usage, again)),
        }));
    }
    let causes = Cause::ALL.into_iter();
    found.breaks = causes.filter_map(|cause| total(cause, &found.misses)).collect();
    found.breaks.sort_by_key(|found| std::cmp::Reverse(found.tokens));
    (!found.calls.is_empty()).then_some(found)
}

/// Returns whether any call read from or wrote to the cache.
fn uses_cache(bills: &Bills<'_>) -> bool {
    let cached =
        |usage: Usage| usage.cache_read.unwrap_or_default() + usage.cache_write.unwrap_or_default();
    let usages = bills.calls.iter().filter_map(|call| call.usage);
    usages.map(cached).any(|tokens| tokens > Tokens::ZERO)
}

fn total(cause: Cause, misses: &[CacheMiss]) -> Option<Break> {
    let of_it = || misses.iter().filter(|miss| miss.cause == cause);
    Some(Break {
        cause,
        calls: of_it().count(),
        first: of_it().next()?.call,
        tokens: of_it().map(|miss| miss.tokens).sum(),
        usd: of_it().map(|miss| miss.usd).sum(),
    })
}

/// Returns the likely cause of the cache miss of a call; `before` is the index of the previous billed call.
fn cause(case: &Case, recorded: &Outcome, before: usize, call: &BilledCall<'_>) -> Cause {
    let idx = call.index;
    let session = &case.session;
    let is_between = |at: usize| at > before && at <= idx;
    let new = session.calls[before].context_end..session.calls[idx].context_end;
    let is_tool = |m: usize| {
        let mut parts = session.parts_of(&session.messages[m]).iter();
        parts.any(|part| matches!(part.body, Body::ToolDefinition { .. }))
    };
    let since = &session.calls[before..=idx];
    let is_other_effort = |pair: &[Call]| match (&pair[0].effort, &pair[1].effort) {
        (Some(before), Some(after)) => before != after,
        _ => false,
    };
    let holds = |cause: &Cause| match cause {
        Cause::NeverCached => false,
        Cause::Compaction => recorded.events.iter().any(|event| is_between(event.call)),
        Cause::ModelChange => !call.same_model,
        Cause::EffortChange => since.windows(2).any(is_other_effort),
        Cause::ToolChange => new.clone().any(is_tool),
        Cause::Gap => call.is_late(),
        Cause::Abort => idx > before + 1 || since[1..].iter().any(|call| call.is_after_abort),
        Cause::UserTurn => session.calls[before].turn != session.calls[idx].turn,
        Cause::Unexplained => true,
    };
    Cause::ALL.into_iter().find(holds).unwrap_or(Cause::Unexplained)
}
