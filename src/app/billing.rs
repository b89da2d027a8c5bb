//! How calls are billed, as a person sets it: at the prices of the recorded models, of another one, or of their own.

use crate::analysis::cost::{Billing, Lifetime};
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
    /// Answers.
    pub output: Rate,
    /// Name of the caching rule.
    pub caching: String,
}

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
                output: zero,
                caching: rule.map_or_else(String::new, |rule| rule.name.clone()),
            },
            |price| Self {
                input: price.input,
                cache_read: price.cache_read,
                cache_write: price.cache_write.unwrap_or(price.input),
                output: price.output,
                caching: price.caching.clone(),
            },
        )
    }

    fn row(&self) -> Price {
        let nothing = Datetime {
            date: None,
            time: None,
            offset: None,
        };
        Price {
            name: OWN.to_owned(),
            caching: self.caching.clone(),
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            // Where writing costs no more than input, nothing is told apart.
            cache_write: (self.cache_write != self.input).then_some(self.cache_write),
            cache_write_hour: None,
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
    fn prices_of_ones_own_begin_as_those_that_were_shown() {
        let known = Prices::bundled().lookup("claude-opus-4-5", None);
        let own = OwnPrice::like(known);
        assert_eq!(own.input, Rate(5.0));
        assert_eq!(own.cache_write, Rate(6.25));
        assert_eq!(own.caching, "anthropic");
        assert_eq!(OwnPrice::like(None).output, Rate(0.0));
    }
}
