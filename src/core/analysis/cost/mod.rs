//! Costs of sessions and runs, with a model of the provider's prompt cache.
//!
//! A call pays the cache read price for the prefix that its prompt shares with the previous prompt, if the model is the
//! same and the cache has not expired. It pays the write price for tokens added to the cache, the input price for the
//! rest, and the output price for its answer. This is the best case of a cache: [`audit`] compares it with recorded
//! cache counts. The recorded run costs what its provider or its program counted, and what the model says about the
//! rest. If the price of a model is unknown, the cost is unknown, never zero.

mod audit;
mod billing;
mod break_even;
mod prefix_quote;
mod price;
mod prompt_price;
mod quote;

pub use audit::{Audit, AuditedCall, Break, CacheMiss, Cause, MIN_MISS, audit};
pub use billing::{BilledCall, Billing, Bills, Lifetime, Tariff};
pub use break_even::{BreakEven, break_even};
pub use prefix_quote::{PrefixGroup, PrefixRequests};
pub use price::{price_lane, price_recorded};
pub use prompt_price::{PromptPrice, prompt_prices};
pub use quote::{ListedPrice, PriceRange, Quote, Server, quote};

use crate::figure::counted;
use crate::units::{Tokens, Usd};
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
    /// Number of calls without reported usage, whose prompt is counted from the recorded text and whose cache is
    /// modelled.
    pub estimated_calls: usize,
    /// The sums are the program's own totals, with requests that are not calls of the conversation; the costs of single
    /// calls are modelled.
    pub has_totals: bool,
    /// Number of recorded compactions whose summary requests the file does not record.
    pub unpriced_summaries: usize,
}

/// Source of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
            estimated_calls: 0,
            has_totals: false,
            unpriced_summaries: 0,
        }
    }

    /// Returns whether the cost of summary requests is known: most files do not record those of recorded compactions.
    pub fn knows_summaries(&self) -> bool {
        self.unpriced_summaries == 0
    }

    /// Returns notes on how the sums are known, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.has_totals {
            notes.push("The sums are the program's own totals, with its sub-agents and summaries; the costs of single calls are modelled.".to_owned());
        }
        if self.estimated_calls > 0 && self.estimated_calls < self.billed {
            let n = self.estimated_calls;
            let (record, their) = if n == 1 { ("records", "its") } else { ("record", "their") };
            notes.push(format!(
                "{n} of {} {record} no usage: {their} tokens are counted from the recorded text and {their} cache is modelled.",
                counted(self.billed, "call")
            ));
        }
        notes.extend(self.unknown_summaries());
        notes
    }

    /// Returns the source of the costs of single calls.
    pub fn source_of_calls(&self) -> CostSource {
        if self.has_totals { CostSource::Modelled } else { self.source }
    }

    /// Returns a note on a total that may lack summary requests.
    fn unknown_summaries(&self) -> Option<String> {
        let compactions = match self.unpriced_summaries {
            1 => "1 recorded compaction".to_owned(),
            n => format!("{n} recorded compactions"),
        };
        (!self.knows_summaries()).then(|| {
            format!("The file does not record the cost of the summaries of {compactions}: the total may lack it.")
        })
    }

    /// Returns the total; `None` if a price is unknown or no call was billed.
    pub fn total(&self) -> Option<Usd> {
        let all =
            [self.read, self.written, self.uncached, self.output, self.rejected, self.summaries];
        let is_known = self.unpriced == 0 && self.billed > 0;
        is_known.then(|| all.iter().map(|charge| charge.usd).sum())
    }

    /// Drops the costs by call, which take much memory in a long session, and keeps the sums.
    pub fn drop_calls(&mut self) {
        (self.calls, self.additional) = (Vec::new(), Vec::new());
    }
}
