//! The billing settings: prices of the recorded models, of another model, or custom prices.

use crate::analysis::cost::{Billing, Lifetime};
use crate::exec::KeptPrice;
use crate::presets::prices::{Caching, Price, Prices};
use crate::units::Rate;
use std::borrow::Cow;
use toml::value::Datetime;

/// The billing settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BillingChoice {
    /// The source of the prices.
    pub price: PriceChoice,
    /// The provider bills calls that it rejects as too long.
    pub bills_rejected: bool,
    /// Lifetime of a cached prefix; `None` to derive it from the file.
    pub lifetime: Option<Lifetime>,
}

/// The source of the prices of all calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PriceChoice {
    /// The prices of each call's own model.
    #[default]
    Recorded,
    /// The prices of the model with this name.
    Model(String),
    /// Custom prices.
    Own(OwnPrice),
}

/// Custom prices in USD per million tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnPrice {
    /// Uncached input.
    pub input: Rate,
    /// Input read from the cache.
    pub cache_read: Rate,
    /// Input written to the cache.
    pub cache_write: Rate,
    /// Input written to the cache for the longer lifetime, if its price differs.
    pub cache_write_hour: Option<Rate>,
    /// Output.
    pub output: Rate,
    /// Name of the caching rule.
    pub caching: String,
}

/// Maximum accepted price, in USD per million tokens.
pub const MAX_PRICE: f64 = 10_000.0;

/// The label of the row of custom prices.
const OWN: &str = "own";

impl OwnPrice {
    /// Returns custom prices that start from another model's prices, or from zero if those are unknown.
    pub fn starting_at(price: Option<&Price>) -> Self {
        let zero = Rate::default();
        let rule = Prices::in_use().rules().first();
        price.map_or_else(
            || Self {
                input: zero,
                cache_read: zero,
                cache_write: zero,
                cache_write_hour: None,
                output: zero,
                caching: rule.map_or_else(String::new, |rule| rule.name.clone()),
            },
            |price| Self {
                input: price.input,
                cache_read: price.cache_read,
                cache_write: price.cache_write.unwrap_or(price.input),
                cache_write_hour: price.cache_write_hour,
                output: price.output,
                caching: price.caching.clone(),
            },
        )
    }

    /// Returns the form that is saved between runs.
    pub fn to_kept(&self) -> KeptPrice {
        KeptPrice {
            input: self.input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_hour: self.cache_write_hour,
            output: self.output,
            caching: self.caching.clone(),
        }
    }

    /// Restores saved prices; `None` if they are invalid, since anyone can edit the file.
    pub fn from_kept(kept: &KeptPrice) -> Option<Self> {
        let rates = [kept.input, kept.cache_read, kept.cache_write, kept.output];
        let mut rates = rates.iter().chain(&kept.cache_write_hour);
        let is_price = |rate: &Rate| (0.0..=MAX_PRICE).contains(&rate.0);
        let is_known = Prices::in_use().rule(&kept.caching).is_some();
        (is_known && rates.all(is_price)).then(|| Self {
            input: kept.input,
            cache_read: kept.cache_read,
            cache_write: kept.cache_write,
            cache_write_hour: kept.cache_write_hour,
            output: kept.output,
            caching: kept.caching.clone(),
        })
    }

    /// Returns the row of the price table.
    fn price_row(&self) -> Price {
        let nothing = Datetime { date: None, time: None, offset: None };
        // The price of the longer lifetime is neither shown nor used if the cache has only one lifetime.
        let rule = Prices::in_use().rule(&self.caching);
        let has_longer = rule.is_some_and(|rule| seconds(rule, Lifetime::Long).is_some());
        Price {
            name: OWN.to_owned(),
            caching: self.caching.clone(),
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            // If a cache write costs as much as input, the two are not distinguished.
            cache_write: (self.cache_write != self.input).then_some(self.cache_write),
            cache_write_hour: self.cache_write_hour.filter(|_| has_longer),
            minimum: None,
            long: Vec::new(),
            since: None,
            hours: None,
            source: String::new(),
            read: nothing,
            verified: false,
            note: None,
        }
    }
}

impl BillingChoice {
    /// Returns the price table in use.
    pub fn prices(&self) -> Cow<'static, Prices> {
        match &self.price {
            PriceChoice::Own(own) => Cow::Owned(Prices::in_use().with_row(own.price_row())),
            PriceChoice::Recorded | PriceChoice::Model(_) => Cow::Borrowed(Prices::in_use()),
        }
    }

    /// Returns these settings for the analysis, at the prices of that table.
    pub fn at<'a>(&'a self, prices: &'a Prices) -> Billing<'a> {
        Billing {
            prices,
            model: match &self.price {
                PriceChoice::Recorded => None,
                PriceChoice::Model(name) => Some(name),
                PriceChoice::Own(_) => Some(OWN),
            },
            bills_rejected: self.bills_rejected,
            lifetime: self.lifetime,
        }
    }
}

/// Parses a typed price: `3.5`, `3,5`, `$3.50`, `1,234.50`. Returns `None` if it is not a price.
pub fn typed_price(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != '$').collect();
    let is_decimal = !text.contains('.') && text.matches(',').count() == 1;
    let plain = text.replace(',', if is_decimal { "." } else { "" });
    plain.parse::<f64>().ok().filter(|price| price.is_finite())
}

/// Returns the seconds a rule keeps a prefix, if known.
pub fn seconds(rule: &Caching, lifetime: Lifetime) -> Option<u64> {
    match lifetime {
        Lifetime::Usual => rule.seconds,
        Lifetime::Long => rule.seconds_long,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_prices_apply_to_every_model() {
        let own = OwnPrice { input: Rate(7.0), ..OwnPrice::starting_at(None) };
        let choice = BillingChoice { price: PriceChoice::Own(own), ..BillingChoice::default() };
        let prices = choice.prices();
        let billing = choice.at(&prices);
        let row = prices.lookup(billing.model.unwrap_or_default(), None);
        assert_eq!(row.map(|row| row.input), Some(Rate(7.0)));
        assert!(row.is_some_and(|row| prices.rule(&row.caching).is_some()));
    }

    #[test]
    fn longer_cache_lifetimes_apply_only_if_the_cache_has_them() {
        let hour = |caching: &str| {
            let own = OwnPrice {
                cache_write_hour: Some(Rate(9.0)),
                caching: caching.to_owned(),
                ..OwnPrice::starting_at(None)
            };
            own.price_row().cache_write_hour
        };
        assert_eq!(hour("anthropic"), Some(Rate(9.0)));
        assert_eq!(hour("google"), None);
    }

    #[test]
    fn saved_prices_are_restored_and_invalid_ones_ignored() {
        let own = OwnPrice {
            output: Rate(0.25),
            cache_write_hour: Some(Rate(8.0)),
            ..OwnPrice::starting_at(None)
        };
        let kept = own.to_kept();
        assert_eq!(OwnPrice::from_kept(&kept), Some(own));
        for output in [-1.0, 1e9, f64::NAN] {
            let output = Rate(output);
            let nonsense = KeptPrice { output, ..kept.clone() };
            assert_eq!(OwnPrice::from_kept(&nonsense), None, "{nonsense:?}");
        }
        let nonsense = KeptPrice { cache_write_hour: Some(Rate(-1.0)), ..kept.clone() };
        assert_eq!(OwnPrice::from_kept(&nonsense), None);
        let caching = "nobody's".to_owned();
        assert_eq!(OwnPrice::from_kept(&KeptPrice { caching, ..kept }), None);
    }

    #[test]
    fn prices_may_have_a_decimal_comma() {
        let read = ["3.5", "3,5", " $3.50", "1,234.5", "1,234,567", "0"].map(typed_price);
        assert_eq!(read, [3.5, 3.5, 3.5, 1_234.5, 1_234_567.0, 0.0].map(Some));
        assert_eq!(["", ",", "x", "3.5.1", "inf"].map(typed_price), [None; 5]);
    }

    #[test]
    fn custom_prices_start_with_the_displayed_ones() {
        let known = Prices::in_use().lookup("claude-opus-4-5", None);
        let own = OwnPrice::starting_at(known);
        assert_eq!(own.input, Rate(5.0));
        assert_eq!(own.cache_write, Rate(6.25));
        assert_eq!(own.caching, "anthropic");
        assert_eq!(OwnPrice::starting_at(None).output, Rate(0.0));
    }
}
