//! The price of a re-read: its tokens are written to the provider's cache once and read from it by every later call.

use crate::analysis::cost::Bills;
use crate::units::Rate;

/// Prices of the calls of a session, to price tokens that join the context at a call.
#[derive(Clone, Debug)]
pub struct RereadPrices {
    /// USD of a token that joins, by call.
    joins: Vec<f64>,
    /// USD of a token that the calls before each call read; one more for the end.
    read_before: Vec<f64>,
    are_known: bool,
}

impl RereadPrices {
    /// Collects the prices of all calls. A call that is not billed costs nothing.
    pub fn new(bills: &Bills<'_>, n_calls: usize) -> Self {
        let mut prices = Self {
            joins: vec![0.0; n_calls],
            read_before: vec![0.0; n_calls + 1],
            are_known: !bills.calls.is_empty(),
        };
        let mut reads = vec![0.0; n_calls];
        for call in &bills.calls {
            let Some(tariff) = call.tariff else {
                prices.are_known = false;
                continue;
            };
            prices.joins[call.index] = per_token(tariff.write().unwrap_or(tariff.price.input));
            reads[call.index] = per_token(tariff.price.cache_read);
        }
        let mut sum = 0.0;
        for (before, read) in prices.read_before[1..].iter_mut().zip(reads) {
            sum += read;
            *before = sum;
        }
        prices
    }

    /// Returns prices that are not known.
    pub fn unknown(n_calls: usize) -> Self {
        Self { joins: vec![0.0; n_calls], read_before: vec![0.0; n_calls + 1], are_known: false }
    }

    /// Returns the price of a token that joins at a call and is sent by the calls up to and excluding `end`.
    pub(super) fn of(&self, call: usize, end: usize) -> f64 {
        let later = self.read_before[end] - self.read_before[call + 1];
        self.joins[call] + later.max(0.0)
    }

    /// Returns whether every billed call has a price.
    pub fn are_known(&self) -> bool {
        self.are_known
    }
}

/// Returns USD per token.
fn per_token(rate: Rate) -> f64 {
    rate.0 / 1e6
}
