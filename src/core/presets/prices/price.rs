//! The price of a model and the caching rule of a provider.

use super::price_hours::{Hours, midnight, one_or_many};
use crate::units::{Millis, Rate, Tokens};
use serde::Deserialize;
use toml::value::Datetime;

/// Prices of one model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The model's name, possibly without its date.
    #[serde(rename = "match")]
    pub name: String,
    /// Name of its caching rule.
    pub caching: String,
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: Rate,
    /// Tokens of the answer, including reasoning.
    pub output: Rate,
    /// Prompt tokens read from the cache.
    pub cache_read: Rate,
    /// Tokens written to the cache; `None` if they cost the same as input.
    pub cache_write: Option<Rate>,
    /// Tokens written to the cache for the longer lifetime.
    pub cache_write_hour: Option<Rate>,
    /// The shortest prefix that is cached, if it differs from the rule's.
    pub minimum: Option<u64>,
    /// Price factors of long prompts, from the shortest.
    #[serde(default, deserialize_with = "one_or_many")]
    pub long: Vec<Long>,
    /// Start of validity.
    pub since: Option<Datetime>,
    /// Hours at which the row applies; always if absent.
    pub hours: Option<Vec<Hours>>,
    /// The page that it comes from (default: that of the whole table).
    #[serde(default)]
    pub source: String,
    /// Date when the page was read (default: that of the whole table).
    #[serde(default = "no_date")]
    pub read: Datetime,
    /// Whether the vendor's own page confirms it.
    #[serde(default)]
    pub verified: bool,
    /// Remark for readers.
    pub note: Option<String>,
}

/// Price factors of a call with a prompt longer than usual.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Long {
    /// Applies to prompts of more tokens than this.
    pub above: u64,
    /// Factor on the whole prompt.
    pub input: f64,
    /// Factor on the answer.
    pub output: f64,
}

/// The prompt caching of a provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caching {
    /// Its name in the rows of prices.
    pub name: String,
    /// Whether a client must request it.
    #[serde(rename = "how")]
    pub mode: CacheMode,
    /// The shortest prefix that is cached.
    pub minimum: u64,
    /// Cached prefixes are multiples of this many tokens.
    pub step: u64,
    /// Lifetime of an unused prefix in seconds; `None` if not documented.
    pub seconds: Option<u64>,
    /// The longer lifetime that can be requested, in seconds.
    pub seconds_long: Option<u64>,
    /// Whether each use restarts the lifetime.
    pub refreshes: bool,
    /// The page that it comes from.
    pub source: String,
    /// Date when the page was read.
    pub read: Datetime,
    /// Whether the vendor's own page confirms it.
    pub verified: bool,
    /// Remark for readers.
    pub note: Option<String>,
}

/// Whether a client must request caching.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum CacheMode {
    /// Up to marks that the client sets.
    Explicit,
    /// Always.
    Automatic,
}

impl Price {
    /// Returns the start of validity; the smallest time if it is unlimited.
    pub(super) fn begins(&self) -> Millis {
        let date = self.since.and_then(|since| since.date);
        date.map_or(Millis(i64::MIN), |date| midnight(date.year, date.month, date.day))
    }

    /// Returns true if the row has hours and one of them contains the time.
    pub(super) fn is_reduced_at(&self, at: Millis) -> bool {
        let mut hours = self.hours.iter().flatten();
        hours.any(|hours| hours.contain(at))
    }

    /// Returns the shortest prefix that is cached.
    pub fn minimum(&self, rule: &Caching) -> Tokens {
        Tokens(self.minimum.unwrap_or(rule.minimum))
    }

    /// Returns the factors on prompt and answer of a call with a prompt of this length.
    pub fn factors(&self, prompt: Tokens) -> (f64, f64) {
        let long = self.long.iter().rev().find(|long| prompt.0 > long.above);
        long.map_or((1.0, 1.0), |long| (long.input, long.output))
    }
}

/// Returns the date that is used if a date is missing.
pub(super) fn no_date() -> Datetime {
    Datetime { date: None, time: None, offset: None }
}
