//! Price estimates of requests that share a prefix, with the provider's cache.

use super::billing::{Lifetime, Tariff};
use super::quote::PriceRange;
use crate::presets::prices::{CacheMode, Prices};
use crate::units::Tokens;

/// Requests that begin with the same prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefixGroup {
    /// Tokens of the prefix.
    pub prefix: Tokens,
    /// Number of requests.
    pub requests: u64,
    /// Tokens after the prefix, in all requests.
    pub rest: Tokens,
    /// Maximum tokens of all answers.
    pub answers: Tokens,
}

/// Requests to a model whose provider may cache their prefixes.
#[derive(Clone, Copy, Debug)]
pub struct PrefixRequests<'a> {
    /// Name of the model.
    pub model: &'a str,
    /// The requests mark their prefix for the cache, which some providers require.
    pub marks_prefix: bool,
    /// The requests by prefix.
    pub groups: &'a [PrefixGroup],
}

impl PrefixRequests<'_> {
    /// Estimates the price if the first request of each group writes its prefix to the cache and the others read it.
    /// Returns `None` if the price of the model is unknown.
    pub fn cached_price(&self, prices: &Prices) -> Option<PriceRange> {
        let price = prices.lookup(self.model, None)?;
        let rule = prices.rule(&price.caching)?;
        let tariff = Tariff::new(price, rule, Lifetime::Usual);
        let has_cache = self.marks_prefix || rule.mode == CacheMode::Automatic;
        let mut total = PriceRange::default();
        for group in self.groups.iter().filter(|group| group.requests > 0) {
            let cached = if has_cache { tariff.cached(group.prefix) } else { Tokens::ZERO };
            let uncached = Tokens((group.prefix - cached).0 * group.requests) + group.rest;
            let mean_request = Tokens(group.prefix.0 + group.rest.0 / group.requests);
            let (input, output) = price.factors(mean_request);
            let written = tariff.write().unwrap_or(price.input).times(input).of(cached);
            let reread = Tokens(cached.0 * (group.requests - 1));
            let read = price.cache_read.times(input).of(reread);
            let usd = written + read + price.input.times(input).of(uncached);
            total.sent += usd;
            total.most += usd + price.output.times(output).of(group.answers);
        }
        Some(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_written_once_and_read_by_the_other_requests() {
        let own = "[[price]]\nmatch = \"m\"\ncaching = \"own\"\ninput = 10\noutput = 100\ncache_read = 1\ncache_write = 12\n\
                   source = \"https://prices.example.net/x\"\nread = 2026-01-02\nverified = true\n\
                   [[caching]]\nname = \"own\"\nhow = \"explicit\"\nminimum = 1000\nstep = 1\nrefreshes = true\n\
                   source = \"https://docs.example.com/x\"\nread = 2026-01-02\nverified = true\n";
        let prices = Prices::with_own(own).expect("a valid table");
        let group = |prefix| PrefixGroup {
            prefix: Tokens(prefix),
            requests: 11,
            rest: Tokens(110),
            answers: Tokens(11),
        };
        let price = |model, marks_prefix, group| {
            let requests = PrefixRequests { model, marks_prefix, groups: &[group] };
            requests.cached_price(&prices)
        };
        let usd = |marks_prefix, prefix| {
            let price = price("m", marks_prefix, group(prefix)).expect("a price");
            [price.sent.0 * 1e6, price.most.0 * 1e6].map(f64::round)
        };
        // Written at 12, read ten times at 1, the rest at 10.
        assert_eq!(usd(true, 2_000), [24_000.0 + 20_000.0 + 1_100.0, 46_200.0]);
        assert_eq!(usd(false, 2_000), [220_000.0 + 1_100.0, 222_200.0]);
        assert_eq!(usd(true, 500), [55_000.0 + 1_100.0, 57_200.0], "too short for the cache");
        let nothing = PrefixGroup::default();
        assert_eq!(price("unknown", true, nothing), None);
        assert_eq!(price("m", true, nothing), Some(PriceRange::default()));
    }
}
