//! What sessions and runs cost, with the provider's prompt cache modelled.
//!
//! A call pays the read price for what the cache serves (the beginning that its prompt shares with the prompt of the
//! call before, if the model is the same and the time has not run out), the write price for what joins the cache, the
//! input price for the rest, and for its answer. It is the best that a cache could do: where a file counts what its
//! cache really did, [`audit`] tells the difference. A model without a known price makes the cost unknown, never zero.

mod audit;
mod billing;
mod break_even;
mod price;
mod quote;

pub use audit::{Audit, AuditedCall, Break, Cause, LEAST_BREAK, audit};
pub use billing::{BilledCall, Billing, Bills, Lifetime, Tariff};
pub use break_even::{BreakEven, break_even};
pub use price::{price_lane, price_recorded};
pub use quote::{Listed, Quote, Server, quote};

use crate::units::{Tokens, Usd};

/// What a session or a run costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// How it is known.
    pub source: CostSource,
    /// What each billed call comes to, in order.
    pub calls: Vec<CallCost>,
    /// Prompt tokens that the cache served.
    pub read: Charge,
    /// Prompt tokens that joined the cache.
    pub written: Charge,
    /// Prompt tokens that did neither.
    pub uncached: Charge,
    /// Answers.
    pub output: Charge,
    /// Tries that the provider rejected as too long; no dollars unless it bills them.
    pub rejected: Charge,
    /// Requests for summaries: what they sent and got back.
    pub summaries: Charge,
    /// Calls whose model has no known price.
    pub unpriced: usize,
    /// Answers whose size the file does not report: taken to be what it holds of them.
    pub estimated_outputs: usize,
}

/// How a cost is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    /// From what the provider counted for each call, its cache included.
    Recorded,
    /// By the model of the cache.
    Modelled,
}

impl CostSource {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Modelled => "modelled",
        }
    }
}

/// Tokens of one kind with what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charge {
    /// How many.
    pub tokens: Tokens,
    /// Their price, as far as prices are known.
    pub usd: Usd,
}

impl Charge {
    fn add(&mut self, tokens: Tokens, usd: Usd) {
        self.tokens += tokens;
        self.usd += usd;
    }
}

/// What one call comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallCost {
    /// Index of the step.
    pub step: usize,
    /// Prompt tokens that the cache served.
    pub read: Tokens,
    /// Prompt tokens that joined the cache.
    pub written: Tokens,
    /// Prompt tokens that did neither.
    pub uncached: Tokens,
    /// The answer.
    pub output: Tokens,
    /// Its price, rejected tries and summary requests before it left out; none where nobody knows it.
    pub usd: Option<Usd>,
}

impl Cost {
    fn new(source: CostSource) -> Self {
        Self {
            source,
            calls: Vec::new(),
            read: Charge::default(),
            written: Charge::default(),
            uncached: Charge::default(),
            output: Charge::default(),
            rejected: Charge::default(),
            summaries: Charge::default(),
            unpriced: 0,
            estimated_outputs: 0,
        }
    }

    /// All of it; none where a price is not known or no call was billed.
    pub fn total(&self) -> Option<Usd> {
        let all = [
            self.read,
            self.written,
            self.uncached,
            self.output,
            self.rejected,
            self.summaries,
        ];
        let is_known = self.unpriced == 0 && !self.calls.is_empty();
        is_known.then(|| all.iter().map(|charge| charge.usd).sum())
    }
}
