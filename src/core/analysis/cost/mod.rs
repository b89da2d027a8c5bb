//! Costs of sessions and runs, with a model of the provider's prompt cache.
//!
//! A call pays the cache read price for the prefix that its prompt shares with the previous prompt, if the model is the
//! same and the cache has not expired. It pays the write price for tokens added to the cache, the input price for the
//! rest, and the output price for its answer. This is the best case of a cache: [`audit`] compares it with recorded
//! cache counts. If the price of a model is unknown, the cost is unknown, never zero.

mod audit;
mod billing;
mod break_even;
mod prefix_quote;
mod price;
mod quote;

pub use audit::{Audit, AuditedCall, Break, Cause, MIN_MISS, audit};
pub use billing::{BilledCall, Billing, Bills, Lifetime, Tariff};
pub use break_even::{BreakEven, break_even};
pub use prefix_quote::{PrefixGroup, PrefixRequests};
pub use price::{price_lane, price_recorded};
pub use quote::{Listed, PriceRange, Quote, Server, quote};

use crate::units::{Tokens, Usd};
use schemars::JsonSchema;
use serde::Serialize;

/// The cost of a session or a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// Source of the figures.
    pub source: CostSource,
    /// Costs of the billed calls, in order.
    pub calls: Vec<CallCost>,
    /// Number of billed calls.
    pub billed: usize,
    /// Prompt tokens read from the cache.
    pub read: Charge,
    /// Prompt tokens that joined the cache.
    pub written: Charge,
    /// Prompt tokens that did neither.
    pub uncached: Charge,
    /// Answers.
    pub output: Charge,
    /// Attempts that the provider rejected as too long. They cost nothing unless rejected calls are billed.
    pub rejected: Charge,
    /// Summary requests, sent and received tokens.
    pub summaries: Charge,
    /// Costs of the summary requests and the billed rejected attempts.
    pub additional: Vec<AdditionalCost>,
    /// Calls whose model has no known price.
    pub unpriced: usize,
    /// Number of answers without a reported size, which are counted from the recorded text.
    pub estimated_outputs: usize,
    /// Number of recorded compactions. The file does not record the cost of their summary requests.
    pub recorded_compactions: usize,
}

/// Source of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The recorded counts of the provider, including its cache.
    Recorded,
    /// A model of the provider's cache.
    Modelled,
}

impl CostSource {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Modelled => "modelled",
        }
    }

    /// Returns `≈` for a modelled cost, else an empty text.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Recorded => "",
            Self::Modelled => "≈",
        }
    }
}

/// Tokens of one kind and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charge {
    /// Number of tokens.
    pub tokens: Tokens,
    /// Cost in USD, as far as prices are known.
    pub usd: Usd,
}

impl Charge {
    fn add(&mut self, tokens: Tokens, usd: Usd) {
        self.tokens += tokens;
        self.usd += usd;
    }
}

/// The cost of a summary request or a billed rejected attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdditionalCost {
    /// Index of the call that it precedes.
    pub call: usize,
    /// The cost.
    pub usd: Usd,
}

/// The cost of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallCost {
    /// Index of the call.
    pub index: usize,
    /// Prompt tokens read from the cache.
    pub read: Tokens,
    /// Prompt tokens that joined the cache.
    pub written: Tokens,
    /// Prompt tokens that did neither.
    pub uncached: Tokens,
    /// The answer.
    pub output: Tokens,
    /// Cost without the preceding rejected attempts and summary requests; `None` if unknown.
    pub usd: Option<Usd>,
}

impl Cost {
    fn new(source: CostSource) -> Self {
        Self {
            source,
            calls: Vec::new(),
            billed: 0,
            read: Charge::default(),
            written: Charge::default(),
            uncached: Charge::default(),
            output: Charge::default(),
            rejected: Charge::default(),
            summaries: Charge::default(),
            additional: Vec::new(),
            unpriced: 0,
            estimated_outputs: 0,
            recorded_compactions: 0,
        }
    }

    /// Returns whether the cost of summary requests is known: files do not record those of recorded compactions.
    pub fn knows_summaries(&self) -> bool {
        self.recorded_compactions == 0 || self.summaries.tokens > Tokens::ZERO
    }

    /// Returns a note on a total that may lack summary requests.
    pub fn unknown_summaries(&self) -> Option<String> {
        let compactions = match self.recorded_compactions {
            1 => "1 recorded compaction".to_owned(),
            n => format!("{n} recorded compactions"),
        };
        (!self.knows_summaries()).then(|| {
            format!("The file does not record the cost of the summaries of {compactions}: the total may lack it.")
        })
    }

    /// Returns the total; `None` if a price is unknown or no call was billed.
    pub fn total(&self) -> Option<Usd> {
        let all = [
            self.read,
            self.written,
            self.uncached,
            self.output,
            self.rejected,
            self.summaries,
        ];
        let is_known = self.unpriced == 0 && self.billed > 0;
        is_known.then(|| all.iter().map(|charge| charge.usd).sum())
    }

    /// Drops the costs by call, which take much memory in a long session, and keeps the sums.
    pub fn drop_calls(&mut self) {
        (self.calls, self.additional) = (Vec::new(), Vec::new());
    }
}
