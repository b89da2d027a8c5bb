//! Prices of models and caching rules of providers: the user's own rows, then the bundled ones of `assets/prices.toml`
//! and `assets/caching.toml`.
//!
//! A model without a row has no price: an unknown cost is blank, never zero.

pub(super) mod cost_map;
mod price;
mod price_hours;

pub use price::{CacheMode, Caching, Long, Price};

use crate::session::{model_key, model_keys};
use crate::units::Millis;
use price::no_date;
use serde::Deserialize;
use std::collections::HashMap;
use std::hash::{Hash as _, Hasher as _};
use std::sync::{LazyLock, OnceLock};
use toml::value::Datetime;
use twox_hash::XxHash64;

/// Prices and caching rules.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Source of all rows without one of their own.
    #[serde(default)]
    source: String,
    /// Date of all rows without one of their own.
    #[serde(default = "no_date")]
    read: Datetime,
    #[serde(default)]
    price: Vec<Price>,
    #[serde(default)]
    caching: Vec<Caching>,
    /// Indices of the rows of each model, by its key.
    #[serde(skip)]
    by_model: HashMap<String, Vec<usize>>,
}

/// An error in a table of prices, as one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PricesError(String);

static BUNDLED: LazyLock<Prices> = LazyLock::new(|| {
    let parse = |text| Prices::parse(text, "").expect("the bundled table is read by a test");
    let rules = parse(include_str!("../../assets/caching.toml"));
    let mut prices = parse(include_str!("../../assets/prices.toml"));
    prices.caching = rules.caching;
    prices.indexed()
});

/// The table with the user's own rows.
static INSTALLED: OnceLock<Prices> = OnceLock::new();

impl Prices {
    /// Returns the table that comes with the program.
    pub fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// Returns the table in use: the installed one, else the bundled one.
    pub fn in_use() -> &'static Self {
        INSTALLED.get().unwrap_or(&BUNDLED)
    }

    /// Makes this the table in use, once for the whole program and before its first use.
    pub fn install(self) {
        // A second table is ignored: prices must not change while sessions are open.
        let _ = INSTALLED.set(self);
    }

    /// Returns a hash of the table, which figures in a cache depend on.
    pub fn fingerprint(&self) -> u64 {
        // The same in every version: tables of many sessions depend on it.
        let mut hasher = XxHash64::default();
        // Few rows, once a run: the text of all their fields.
        format!("{:?}{:?}", self.price, self.caching).hash(&mut hasher);
        hasher.finish()
    }

    /// Parses a table, or litellm's price map of a day, and gives each row its source and date.
    fn parse(text: &str, day: &str) -> Result<Self, PricesError> {
        let mut table: Self = if cost_map::is_map(text) {
            let map = cost_map::parse(text).map_err(PricesError)?;
            let rows = map.into_iter().flat_map(|model| model.prices).collect();
            // A map has no dates of its own.
            toml::from_str::<Self>(&format!("read = {day}"))
                .map(|empty| Self { price: rows, ..empty })
        } else {
            toml::from_str(text)
        }
        .map_err(|error| PricesError(error.to_string()))?;
        for row in &mut table.price {
            if row.source.is_empty() {
                row.source.clone_from(&table.source);
            }
            if row.read.date.is_none() {
                row.read = table.read;
            }
            if row.source.is_empty() || row.read.date.is_none() {
                let name = &row.name;
                return Err(PricesError(format!("{name}: missing `source` or `read`")));
            }
        }
        Ok(table)
    }

    /// Returns the table with the index of its rows.
    fn indexed(mut self) -> Self {
        self.by_model.clear();
        for (idx, row) in self.price.iter().enumerate() {
            self.by_model.entry(model_key(&row.name)).or_default().push(idx);
        }
        self
    }

    /// Puts a user's own rows before the bundled ones; they may name the bundled caching rules.
    ///
    /// # Errors
    /// A sentence that names the faulty row.
    pub fn with_own(text: &str) -> Result<Self, PricesError> {
        Self::bundled().clone().with(text, "")
    }

    /// Puts the rows of another table first. `day` is the date of one without dates, such as litellm's price map.
    ///
    /// # Errors
    /// A sentence that names the faulty row.
    pub fn with(self, text: &str, day: &str) -> Result<Self, PricesError> {
        let own = Self::parse(text, day)?.indexed();
        let mut all = self;
        all.price.retain(|row| !own.by_model.contains_key(&model_key(&row.name)));
        all.caching.retain(|rule| !own.caching.iter().any(|mine| mine.name == rule.name));
        all.price.splice(0..0, own.price);
        all.caching.splice(0..0, own.caching);
        all.check()?;
        Ok(all.indexed())
    }

    fn check(&self) -> Result<(), PricesError> {
        for row in &self.price {
            let name = &row.name;
            let rates = [Some(row.input), Some(row.output), Some(row.cache_read)];
            let writes = [row.cache_write, row.cache_write_hour];
            let factors = row.long.iter().flat_map(|long| [long.input, long.output]);
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
            Some(rule) => Err(PricesError(format!("{}: step must be 1 or more", rule.name))),
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
        all.indexed()
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
        // A host gives these away, at no price of the table.
        if model.ends_with(":free") {
            return None;
        }
        let key = model_key(model);
        let rows = model_keys(&key).find_map(|key| self.by_model.get(key))?;
        let rows: Vec<_> = rows.iter().map(|idx| &self.price[*idx]).collect();
        let begun = |row: &&Price| at.is_none_or(|at| row.begins() <= at);
        let begins = rows.iter().filter(|row| begun(row)).map(|row| row.begins()).max();
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

#[cfg(test)]
mod tests {
    use super::price_hours::midnight;
    use super::*;
    use crate::units::{Rate, Tokens};

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
            let source = &row.source;
            let is_sourced = source.starts_with("https://") || source.starts_with("litellm ");
            assert!(is_sourced && row.read.date.is_some(), "{row:?}");
            assert!(row.cache_read <= row.input && row.input > Rate(0.0), "{row:?}");
        }
        for rule in &prices.caching {
            assert!(rule.source.starts_with("https://"), "{rule:?}");
        }
    }

    #[test]
    fn a_date_after_a_name_is_ignored_and_a_version_is_not() {
        assert_eq!(input("claude-opus-4-5-20251101", None), Some(5.0));
        assert_eq!(input("us.anthropic.claude-sonnet-4-5-20250929-v1:0", None), Some(3.0));
        assert_eq!(input("anthropic/claude-opus-4.1", None), Some(15.0));
        assert_eq!(input("claude-opus-4-7[1m]", None), Some(5.0));
        assert_eq!(input("claude-opus-4-20250514", None), Some(15.0));
        assert_eq!(input("gpt-4o-2024-08-06", None), Some(2.5));
        for unknown in [
            "claude-opus-4-9",
            "gpt-5.9",
            "gpt-5.4-nova",
            "qwen/qwen3-coder:free",
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
        let days = [sol(2026, 7, 1), sol(2026, 8, 20), sol(2026, 8, 21), sol(2026, 11, 1)];
        assert_eq!(days, [Some(5.0), Some(5.0), Some(4.0), Some(4.0)]);
        assert_eq!(input("gpt-5.6-sol", None), Some(4.0));
        assert_eq!(midnight(1970, 1, 1), Millis(0));
        assert_eq!(midnight(2026, 11, 22), Millis(1_795_305_600_000));
        assert_eq!(midnight(2000, 3, 1), Millis(951_868_800_000));
    }

    #[test]
    fn a_call_has_the_price_of_its_hour() {
        let at = |day: u8, hour: i64| {
            let time = midnight(2026, 9, day).0 + hour * 3_600_000;
            input("deepseek-v4-pro", Some(Millis(time)))
        };
        // 2026-09-15 is a Tuesday, 2026-09-19 a Saturday. The peak is from 1 to 4 and from 6 to 10 o'clock UTC.
        let found = [at(15, 2), at(15, 5), at(15, 7), at(15, 12), at(19, 2)];
        assert_eq!(found, [1.32, 0.66, 1.32, 0.66, 0.66].map(Some));
        let before = input("deepseek-v4-pro", Some(midnight(2026, 8, 1)));
        assert_eq!((before, input("deepseek-v4-pro", None)), (Some(0.435), Some(1.32)));
    }

    #[test]
    fn prices_may_rise_with_the_length_of_the_prompt_in_several_steps() {
        let price = Prices::bundled().lookup("qwen3-coder-plus", None).expect("a price");
        let factors = [10_000, 32_001, 128_001, 256_001].map(|n| price.factors(Tokens(n)).0);
        assert_eq!(factors, [1.0, 1.8, 3.0, 6.0]);
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
