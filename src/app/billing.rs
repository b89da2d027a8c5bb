//! How calls are billed, as a person sets it: at the prices of the recorded models, of another one, or of their own.

use crate::analysis::cost::{Billing, Lifetime};
use crate::exec::KeptPrice;
use crate::presets::prices::{Caching, Price, Prices};
use crate::units::Rate;
use std::borrow::Cow;
use toml::value::Datetime;

/// How calls are billed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BillingChoice {
    /// Whose prices.
    pub price: PriceChoice,
    /// The provider bills calls that it rejects as too long.
    pub bills_rejected: bool,
    /// How long its cache keeps a prefix; none to go by what the file shows.
    pub lifetime: Option<Lifetime>,
}

/// Whose prices all calls have.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PriceChoice {
    /// Each call's own model's.
    #[default]
    Recorded,
    /// Those of the model of this name.
    Model(String),
    /// What a person typed.
    Own(OwnPrice),
}

/// Prices that a person typed, USD for a million tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnPrice {
    /// Prompt that no cache served.
    pub input: Rate,
    /// Prompt that the cache served.
    pub cache_read: Rate,
    /// Prompt that joins the cache.
    pub cache_write: Rate,
    /// The same for the longer time, where it costs something else.
    pub cache_write_hour: Option<Rate>,
    /// Answers.
    pub output: Rate,
    /// Name of the caching rule.
    pub caching: String,
}

/// The most that a price can be, USD for a million tokens.
pub const MOST: f64 = 10_000.0;

/// What the row of a person's own prices is called.
const OWN: &str = "own";

impl OwnPrice {
    /// As another model's, to begin with; nothing at all where that is not known.
    pub fn like(price: Option<&Price>) -> Self {
        let zero = Rate::default();
        let rule = Prices::bundled().rules().first();
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

    /// As it is remembered between runs.
    pub fn kept(&self) -> KeptPrice {
        KeptPrice {
            input: self.input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_hour: self.cache_write_hour,
            output: self.output,
            caching: self.caching.clone(),
        }
    }

    /// As it was remembered; none where that makes no sense, since anybody may have written the file.
    pub fn remembered(kept: &KeptPrice) -> Option<Self> {
        let rates = [kept.input, kept.cache_read, kept.cache_write, kept.output];
        let mut rates = rates.iter().chain(&kept.cache_write_hour);
        let is_price = |rate: &Rate| (0.0..=MOST).contains(&rate.0);
        let is_known = Prices::bundled().rule(&kept.caching).is_some();
        (is_known && rates.all(is_price)).then(|| Self {
            input: kept.input,
            cache_read: kept.cache_read,
            cache_write: kept.cache_write,
            cache_write_hour: kept.cache_write_hour,
            output: kept.output,
            caching: kept.caching.clone(),
        })
    }

    fn row(&self) -> Price {
        let nothing = Datetime {
            date: None,
            time: None,
            offset: None,
        };
        // Where a cache knows no longer time the price of it is not shown, and does not count.
        let rule = Prices::bundled().rule(&self.caching);
        let has_longer = rule.is_some_and(|rule| seconds(rule, Lifetime::Long).is_some());
        Price {
            name: OWN.to_owned(),
            caching: self.caching.clone(),
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            // Where writing costs no more than input, nothing is told apart.
            cache_write: (self.cache_write != self.input).then_some(self.cache_write),
            cache_write_hour: self.cache_write_hour.filter(|_| has_longer),
            minimum: None,
            long: None,
            since: None,
            source: String::new(),
            read: nothing,
            verified: false,
            note: None,
        }
    }
}

impl BillingChoice {
    /// The table to go by.
    pub fn prices(&self) -> Cow<'static, Prices> {
        match &self.price {
            PriceChoice::Own(own) => Cow::Owned(Prices::bundled().with_row(own.row())),
            PriceChoice::Recorded | PriceChoice::Model(_) => Cow::Borrowed(Prices::bundled()),
        }
    }

    /// The same for the analysis, at the prices of that table.
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

/// A price as people type it: `3.5`, `3,5`, `$3.50`, `1,234.50`. None for what is no price.
pub fn typed_price(text: &str) -> Option<f64> {
    let text: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '$')
        .collect();
    let is_decimal = !text.contains('.') && text.matches(',').count() == 1;
    let plain = text.replace(',', if is_decimal { "." } else { "" });
    plain.parse::<f64>().ok().filter(|price| price.is_finite())
}

/// Seconds that a rule keeps a prefix, if it says.
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
    fn a_price_of_ones_own_is_found_whatever_the_model() {
        let own = OwnPrice {
            input: Rate(7.0),
            ..OwnPrice::like(None)
        };
        let choice = BillingChoice {
            price: PriceChoice::Own(own),
            ..BillingChoice::default()
        };
        let prices = choice.prices();
        let billing = choice.at(&prices);
        let row = prices.lookup(billing.model.unwrap_or_default(), None);
        assert_eq!(row.map(|row| row.input), Some(Rate(7.0)));
        assert!(row.is_some_and(|row| prices.rule(&row.caching).is_some()));
    }

    #[test]
    fn a_price_for_a_longer_time_counts_only_where_the_cache_has_one() {
        let hour = |caching: &str| {
            let own = OwnPrice {
                cache_write_hour: Some(Rate(9.0)),
                caching: caching.to_owned(),
                ..OwnPrice::like(None)
            };
            own.row().cache_write_hour
        };
        assert_eq!(hour("anthropic"), Some(Rate(9.0)));
        assert_eq!(hour("google"), None);
    }

    #[test]
    fn a_remembered_price_is_the_one_that_was_typed_and_nonsense_is_none() {
        let own = OwnPrice {
            output: Rate(0.25),
            cache_write_hour: Some(Rate(8.0)),
            ..OwnPrice::like(None)
        };
        let kept = own.kept();
        assert_eq!(OwnPrice::remembered(&kept), Some(own));
        for output in [-1.0, 1e9, f64::NAN] {
            let output = Rate(output);
            let nonsense = KeptPrice {
                output,
                ..kept.clone()
            };
            assert_eq!(OwnPrice::remembered(&nonsense), None, "{nonsense:?}");
        }
        let nonsense = KeptPrice {
            cache_write_hour: Some(Rate(-1.0)),
            ..kept.clone()
        };
        assert_eq!(OwnPrice::remembered(&nonsense), None);
        let caching = "nobody's".to_owned();
        assert_eq!(OwnPrice::remembered(&KeptPrice { caching, ..kept }), None);
    }

    #[test]
    fn a_price_is_read_with_a_decimal_comma_too() {
        let read = ["3.5", "3,5", " $3.50", "1,234.5", "1,234,567", "0"].map(typed_price);
        assert_eq!(read, [3.5, 3.5, 3.5, 1_234.5, 1_234_567.0, 0.0].map(Some));
        assert_eq!(["", ",", "x", "3.5.1", "inf"].map(typed_price), [None; 5]);
    }

    #[test]
    fn prices_of_ones_own_begin_as_those_that_were_shown() {
        let known = Prices::bundled().lookup("claude-opus-4-5", None);
        let own = OwnPrice::like(known);
        assert_eq!(own.input, Rate(5.0));
        assert_eq!(own.cache_write, Rate(6.25));
        assert_eq!(own.caching, "anthropic");
        assert_eq!(OwnPrice::like(None).output, Rate(0.0));
    }
}
