//! The price of a part of a prompt, by its position.

use super::{Bills, Cost};
use crate::units::{Rate, Tokens, Usd};
use std::collections::BTreeMap;

/// The prices of the tokens of one prompt. The cache holds its beginning: first what is read, then what is written, then the
/// rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PromptPrice {
    read: (Tokens, Rate),
    written: (Tokens, Rate),
    uncached: Rate,
}

impl PromptPrice {
    /// Returns the price of the tokens from one position to another.
    pub fn of(&self, from: Tokens, to: Tokens) -> Usd {
        let before = |position: Tokens| {
            let read = position.min(self.read.0);
            let written = (position - read).min(self.written.0);
            let rest = position - read - written;
            [(self.read.1, read), (self.written.1, written), (self.uncached, rest)]
        };
        let pairs = before(to).into_iter().zip(before(from));
        pairs.map(|((rate, to), (_, from))| rate.of(to - from)).sum()
    }
}

/// Returns the prices of the prompt of each billed call of known price, by call.
pub fn prompt_prices(bills: &Bills<'_>, cost: &Cost) -> BTreeMap<usize, PromptPrice> {
    let tariffs: BTreeMap<usize, _> =
        bills.calls.iter().filter_map(|call| Some((call.index, call.tariff?))).collect();
    let price = |call: &super::CallCost| {
        let tariff = tariffs.get(&call.index)?;
        let (factor, _) = tariff.price.factors(call.read + call.written + call.uncached);
        let price = PromptPrice {
            read: (call.read, tariff.price.cache_read.times(factor)),
            written: (call.written, tariff.write().unwrap_or(tariff.price.input).times(factor)),
            uncached: tariff.price.input.times(factor),
        };
        Some((call.index, price))
    };
    cost.calls.iter().filter_map(price).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_prompt_costs_the_price_of_a_cache_read() {
        let price = PromptPrice {
            read: (Tokens(100), Rate(0.1)),
            written: (Tokens(50), Rate(1.25)),
            uncached: Rate(1.0),
        };
        let micro = |from, to| (price.of(Tokens(from), Tokens(to)).0 * 1e6 * 100.0).round();
        assert_eq!(micro(0, 100), 1000.0);
        assert_eq!(micro(90, 110), (1.0_f64 + 12.5) * 100.0);
        assert_eq!(micro(150, 160), 1000.0);
        assert_eq!(micro(0, 160), 1000.0 + 6250.0 + 1000.0);
    }
}
