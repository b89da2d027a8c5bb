//! Prices of models and caching rules of providers: the user's own rows, then the bundled ones of `assets/prices.toml`
//! with source and date.
//!
//! A model without a row has no price: an unknown cost is blank, never zero.

use super::models::bare_name;
use super::price_hours::{Hours, midnight};
use crate::units::{Millis, Rate, Tokens};
use serde::Deserialize;
use std::sync::LazyLock;

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
    /// Price factors of long prompts.
    pub long: Option<Long>,
    /// Start of validity.
    pub since: Option<toml::value::Datetime>,
    /// Hours at which the row applies; always if absent.
    pub hours: Option<Vec<Hours>>,
    /// The page that it comes from.
    pub source: String,
    /// Date when the page was read.
    pub read: toml::value::Datetime,
    /// Whether the vendor's own page confirms it.
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
    pub read: toml::value::Datetime,
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

/// Prices and caching rules.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    #[serde(default)]
    price: Vec<Price>,
    #[serde(default)]
    caching: Vec<Caching>,
}

/// An error in a table of prices, as one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PricesError(String);

static BUNDLED: LazyLock<Prices> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../assets/prices.toml"))
        .expect("the bundled table is read by a test")
});

impl Prices {
    /// Returns the table that comes with the program.
    pub fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// Puts a user's own rows before the bundled ones; they may name the bundled caching rules.
    ///
    /// # Errors
    /// A sentence that names the faulty row.
    pub fn with_own(toml: &str) -> Result<Self, PricesError> {
        let own: Self = toml::from_str(toml).map_err(|error| PricesError(error.to_string()))?;
        let mut all = Self::bundled().clone();
        all.price.retain(|row| {
            !own.price
                .iter()
                .any(|mine| plain(&mine.name) == plain(&row.name))
        });
        all.caching
            .retain(|rule| !own.caching.iter().any(|mine| mine.name == rule.name));
        all.price.splice(0..0, own.price);
        all.caching.splice(0..0, own.caching);
        all.check()?;
        Ok(all)
    }

    fn check(&self) -> Result<(), PricesError> {
        for row in &self.price {
            let name = &row.name;
            let rates = [Some(row.input), Some(row.output), Some(row.cache_read)];
            let writes = [row.cache_write, row.cache_write_hour];
            let factors = row
                .long
                .map_or([1.0, 1.0], |long| [long.input, long.output]);
            let numbers = rates.into_iter().chain(writes).flatten().map(|rate| rate.0);
            if numbers.chain(factors).any(|n| !n.is_finite() || n < 0.0) {
                return Err(PricesError(format!("{name}: a price must be 0 or more")));
            }
            if name.is_empty() || self.rule(&row.caching).is_none() {
                return Err(PricesError(format!(
                    "{name}: unknown caching rule {:?}; known: {}",
                    row.caching,
                    self.rule_names()
                )));
            }
        }
        match self.caching.iter().find(|rule| rule.step == 0) {
            Some(rule) => Err(PricesError(format!(
                "{}: step must be 1 or more",
                rule.name
            ))),
            None => Ok(()),
        }
    }

    fn rule_names(&self) -> String {
        let names: Vec<_> = self.caching.iter().map(|rule| &*rule.name).collect();
        names.join(", ")
    }

    /// Returns these prices with one more row, which comes first.
    #[must_use]
    pub fn with_row(&self, row: Price) -> Self {
        let mut all = self.clone();
        all.price.insert(0, row);
        all
    }

    /// Returns all rows.
    pub fn rows(&self) -> &[Price] {
        &self.price
    }

    /// Returns all caching rules.
    pub fn rules(&self) -> &[Caching] {
        &self.caching
    }

    /// Returns the caching rule of this name.
    pub fn rule(&self, name: &str) -> Option<&Caching> {
        self.caching.iter().find(|rule| rule.name == name)
    }

    /// Returns the price of a model at a time. Without a time it is the latest price, outside of reduced hours.
    pub fn lookup(&self, model: &str, at: Option<Millis>) -> Option<&Price> {
        let model = plain(&bare_name(model));
        let rows = || {
            self.price
                .iter()
                .filter(|row| is_named(&model, &plain(&row.name)))
        };
        let longest = rows().map(|row| row.name.len()).max()?;
        let rows: Vec<_> = rows().filter(|row| row.name.len() == longest).collect();
        let begun = |row: &&Price| at.is_none_or(|at| row.begins() <= at);
        let begins = rows
            .iter()
            .filter(|row| begun(row))
            .map(|row| row.begins())
            .max();
        let begins = begins.or_else(|| rows.iter().map(|row| row.begins()).min())?;
        let valid = || rows.iter().filter(|row| row.begins() == begins);
        let in_hours = |row: &&&Price| at.is_some_and(|at| row.is_reduced_at(at));
        let found = valid().find(in_hours);
        found
            .or_else(|| valid().find(|row| row.hours.is_none()))
            .or_else(|| valid().next())
            .copied()
    }
}

impl Price {
    /// Returns the start of validity; the smallest time if it is unlimited.
    fn begins(&self) -> Millis {
        let date = self.since.and_then(|since| since.date);
        date.map_or(Millis(i64::MIN), |date| {
            midnight(date.year, date.month, date.day)
        })
    }

    /// Returns true if the row has hours and one of them contains the time.
    fn is_reduced_at(&self, at: Millis) -> bool {
        let mut hours = self.hours.iter().flatten();
        hours.any(|hours| hours.contain(at))
    }

    /// Returns the shortest prefix that is cached.
    pub fn minimum(&self, rule: &Caching) -> Tokens {
        Tokens(self.minimum.unwrap_or(rule.minimum))
    }

    /// Returns the factors on prompt and answer of a call with a prompt of this length.
    pub fn factors(&self, prompt: Tokens) -> (f64, f64) {
        let long = self.long.filter(|long| prompt.0 > long.above);
        long.map_or((1.0, 1.0), |long| (long.input, long.output))
    }
}

/// Normalizes a name: some write a version with dots, some with dashes.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('.', "-")
}

/// Returns whether a model has this name, followed only by a date, a version or similar.
fn is_named(model: &str, name: &str) -> bool {
    let Some(rest) = model.strip_prefix(name) else {
        return false;
    };
    let rest = rest.strip_suffix("[1m]").unwrap_or(rest);
    let Some(tail) = rest.strip_prefix(['-', '@', ':']) else {
        return rest.is_empty();
    };
    let word = tail.split(['-', '@', ':']).next().unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_version = word.strip_prefix('v').is_some_and(is_number);
    // A date has at least four digits (a year); a single digit is another model's version.
    let is_date = word.len() >= 4 && is_number(word);
    is_date || is_version || matches!(word, "latest" | "preview")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(model: &str, at: Option<Millis>) -> Option<f64> {
        let price = Prices::bundled().lookup(model, at)?;
        Some(price.input.0)
    }

    #[test]
    fn every_row_has_a_source_a_date_and_a_known_rule() {
        let prices = Prices::bundled();
        prices.check().expect("the bundled table is right");
        assert!(prices.rows().len() > 50);
        for row in prices.rows() {
            let is_sourced = row.source.starts_with("https://") && row.read.date.is_some();
            assert!(is_sourced && row.cache_read <= row.input, "{row:?}");
        }
        for rule in &prices.caching {
            assert!(rule.source.starts_with("https://"), "{rule:?}");
        }
    }

    #[test]
    fn a_date_after_a_name_is_ignored_and_a_version_is_not() {
        assert_eq!(input("claude-opus-4-5-20251101", None), Some(5.0));
        assert_eq!(
            input("us.anthropic.claude-sonnet-4-5-20250929-v1:0", None),
            Some(3.0)
        );
        assert_eq!(input("anthropic/claude-opus-4.1", None), Some(15.0));
        assert_eq!(input("claude-opus-4-7[1m]", None), Some(5.0));
        assert_eq!(input("claude-opus-4-20250514", None), Some(15.0));
        assert_eq!(input("gpt-4o-2024-08-06", None), Some(2.5));
        for unknown in [
            "claude-opus-4-9",
            "gpt-5.9",
            "gpt-5.4-pro",
            "my-model",
            "",
            "<synthetic>",
        ] {
            assert_eq!(input(unknown, None), None, "{unknown}");
        }
    }

    #[test]
    fn a_call_has_the_price_of_its_day() {
        let sol = |year, month, day| input("gpt-5.6-sol", Some(midnight(year, month, day)));
        let days = [
            sol(2026, 7, 1),
            sol(2026, 8, 20),
            sol(2026, 8, 21),
            sol(2026, 11, 1),
        ];
        assert_eq!(days, [Some(5.0), Some(5.0), Some(4.0), Some(4.0)]);
        assert_eq!(input("gpt-5.6-sol", None), Some(4.0));
        assert_eq!(midnight(1970, 1, 1), Millis(0));
        assert_eq!(midnight(2026, 11, 22), Millis(1_795_305_600_000));
        assert_eq!(midnight(2000, 3, 1), Millis(951_868_800_000));
    }

    #[test]
    fn user_rows_replace_bundled_rows_and_invalid_rows_are_rejected() {
        let own = |price: &str, caching: &str| {
            format!(
                "[[price]]\nmatch = \"gpt-4o\"\ncaching = \"{caching}\"\ninput = {price}\noutput = 2\ncache_read = 0.1\n\
                 source = \"ours\"\nread = 2026-01-01\nverified = true\n"
            )
        };
        let prices = Prices::with_own(&own("7", "openai")).unwrap();
        assert_eq!(prices.lookup("gpt-4o", None).unwrap().input, Rate(7.0));
        let wrong = |toml: &str| Prices::with_own(toml).unwrap_err().to_string();
        assert!(wrong(&own("-1", "openai")).contains("gpt-4o"));
        assert!(wrong(&own("inf", "openai")).contains("gpt-4o"));
        assert!(wrong(&own("1", "nobody")).contains("anthropic"));
        assert!(wrong("price = 3").contains("price"));
    }
}
