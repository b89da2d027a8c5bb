//! litellm's price map, `model_prices_and_context_window.json`: windows and prices of models at many providers.
//!
//! `assets/update_models.py` builds the bundled tables from it by the same rules. A model that its vendor offers has
//! the vendor's window and price. Any other has the window that most hosts offer, and the price of the host in the
//! middle.

use super::price::{Long, Price, no_date};
use crate::json::{Map, Value};
use crate::presets::families::Family;
use crate::session::{bare_model_name, model_key, model_keys};
use crate::units::Rate;
use std::collections::BTreeMap;

/// A model of the map.
#[derive(Debug)]
pub(crate) struct MappedModel {
    /// Its own name.
    pub(crate) name: String,
    /// Longest prompt in tokens, if listed.
    pub(crate) window: Option<u64>,
    /// Its price, and the one at reduced hours.
    pub(crate) prices: Vec<Price>,
}

/// A row of the map.
type PriceRow<'a> = (&'a str, &'a Map<String, Value>);

/// Returns true if a text may be a price map: it is JSON.
pub(crate) fn is_map(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Parses a price map. Ignores models that do not chat, and those of unknown families.
///
/// # Errors
/// A sentence about the problem.
pub(crate) fn parse(text: &str) -> Result<Vec<MappedModel>, String> {
    let map = crate::json::from_str(text).map_err(|error| error.to_string())?;
    let mut groups: BTreeMap<String, Vec<PriceRow<'_>>> = BTreeMap::new();
    for (name, row) in map.as_object().into_iter().flatten() {
        let Value::Object(row) = row else { continue };
        let is_chat = matches!(text_of(row, "mode"), Some("chat" | "completion" | "responses"));
        // Fine-tuned models have their own prices.
        if is_chat && !name.starts_with("ft:") {
            groups.entry(model_key(name)).or_default().push((name, row));
        }
    }
    let unlisted = |key: &str| vendor_rows(&groups, key).is_empty();
    // A vendor may list a model only as a preview or with its date.
    let dated = groups
        .keys()
        .rev()
        .flat_map(|key| model_keys(key).skip(1).map(move |short| (short, key.as_str())));
    let longer: BTreeMap<&str, &str> = dated.filter(|(short, _)| unlisted(short)).collect();
    let models: Vec<_> = groups
        .iter()
        .filter_map(|(key, rows)| {
            let mut vendors = vendor_rows(&groups, key);
            if let (true, Some(longer)) = (vendors.is_empty(), longer.get(key.as_str())) {
                vendors = vendor_rows(&groups, longer);
            }
            mapped(key, rows, &vendors)
        })
        .collect();
    if models.is_empty() {
        let expected = "litellm's model_prices_and_context_window.json";
        return Err(format!("no known model; expected {expected}"));
    }
    Ok(models)
}

/// Returns the rows of the model's own vendor, the best first.
fn vendor_rows<'a>(groups: &BTreeMap<String, Vec<PriceRow<'a>>>, key: &str) -> Vec<PriceRow<'a>> {
    let (Some(family), Some(rows)) = (Family::of(key), groups.get(key)) else {
        return Vec::new();
    };
    let rank = |row: &PriceRow<'_>| {
        let provider = text_of(row.1, "litellm_provider")?;
        let rank = family.litellm.iter().position(|vendor| vendor == provider)?;
        // Names of regions and routes are longer.
        Some((rank, row.0.len()))
    };
    let mut rows: Vec<_> = rows.iter().filter(|row| rank(row).is_some()).copied().collect();
    rows.sort_by_key(rank);
    rows
}

fn mapped(key: &str, rows: &[PriceRow<'_>], vendors: &[PriceRow<'_>]) -> Option<MappedModel> {
    let family = Family::of(key)?;
    let chosen = if vendors.is_empty() { rows } else { vendors };
    let window =
        |row: &PriceRow<'_>| row.1.get("max_input_tokens")?.as_u64().filter(|window| *window > 0);
    let window = if vendors.is_empty() {
        most_common(chosen.iter().filter_map(window))
    } else {
        chosen.iter().chain(rows).find_map(window)
    };
    let mut prices: Vec<_> =
        chosen.iter().filter_map(|row| Some((price(family, row.1)?, row.1))).collect();
    if vendors.is_empty() {
        prices.sort_by(|(a, _), (b, _)| {
            (a.input, a.output)
                .partial_cmp(&(b.input, b.output))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        prices.drain(..prices.len().saturating_sub(1) / 2);
        prices.retain(|_| !family.closed);
    }
    let name = chosen.iter().chain(rows).find(|row| model_key(row.0) == key)?.0;
    let prices = prices.into_iter().take(1).flat_map(|(price, row)| {
        let reduced = reduced(&price, row);
        std::iter::once(price).chain(reduced)
    });
    let name = bare_model_name(name);
    let prices = prices.map(|price| Price { name: name.clone(), ..price }).collect();
    Some(MappedModel { name, window, prices })
}

/// Returns the most common value, the larger one of equally common ones.
fn most_common(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(value, n)| (*n, *value)).map(|(value, _)| value)
}

/// Returns the price of a row; `None` if it has none. A price of zero is a free host's, or unknown.
fn price(family: &Family, row: &Map<String, Value>) -> Option<Price> {
    let tiers = row.get("tiered_pricing").and_then(Value::as_array);
    let first = tiers.and_then(|tiers| tiers.first()?.as_object());
    let rate = |field: &str| {
        million(first.and_then(|tier| million_of(tier, field)).or_else(|| million_of(row, field)))
    };
    let input = rate("input_cost_per_token").filter(|rate| rate.0 > 0.0)?;
    let output = rate("output_cost_per_token")?;
    let positive = |field: &str| rate(field).filter(|rate| rate.0 > 0.0);
    let cache_write = positive("cache_creation_input_token_cost").filter(|write| *write != input);
    let hour = ["1hr", "12hr"]
        .iter()
        .find_map(|time| positive(&format!("cache_creation_input_token_cost_above_{time}")));
    Some(Price {
        name: String::new(),
        caching: family.caching(cache_write.is_some()).to_owned(),
        input,
        output,
        cache_read: positive("cache_read_input_token_cost").unwrap_or(input),
        cache_write,
        cache_write_hour: hour.filter(|_| cache_write.is_some()),
        minimum: row.get("prompt_cache_min_tokens").and_then(Value::as_u64),
        long: long_prompts(row, input, output),
        since: None,
        hours: None,
        source: text_of(row, "source").unwrap_or("litellm's price map").to_owned(),
        read: no_date(),
        verified: false,
        note: None,
    })
}

/// Returns the factors of long prompts, from the shortest.
fn long_prompts(row: &Map<String, Value>, input: Rate, output: Rate) -> Vec<Long> {
    let above = |field: &str| {
        let middle = field.strip_prefix("input_cost_per_token_above_")?.strip_suffix("k_tokens")?;
        Some(middle.parse::<u64>().ok()? * 1_000)
    };
    let factors = |row: &Map<String, Value>, above: u64, sent: &str, answer: &str| {
        let sent = million(million_of(row, sent))?;
        let answer = million(million_of(row, answer)).unwrap_or(output);
        let factor = |rate: Rate, base: Rate| if base.0 > 0.0 { rate.0 / base.0 } else { 1.0 };
        Some(Long { above, input: factor(sent, input), output: factor(answer, output) })
    };
    let mut found: Vec<Long> = match row.get("tiered_pricing").and_then(Value::as_array) {
        Some(tiers) => tiers
            .iter()
            .skip(1)
            .filter_map(|tier| {
                let tier = tier.as_object()?;
                let begin = tier.get("range")?.get(0)?.as_f64()?;
                factors(tier, begin as u64, "input_cost_per_token", "output_cost_per_token")
            })
            .collect(),
        None => row
            .keys()
            .filter_map(|field| {
                factors(row, above(field)?, field, &field.replacen("input", "output", 1))
            })
            .collect(),
    };
    found.sort_by_key(|long| long.above);
    found
}

/// Returns the price at the hours in which a provider charges less, if it has such hours.
fn reduced(price: &Price, row: &Map<String, Value>) -> Option<Price> {
    let hours = row.get("off_peak_pricing")?.as_object()?;
    let rate = |field: &str, base: Rate| million(million_of(hours, field)).unwrap_or(base);
    Some(Price {
        input: rate("input_cost_per_token", price.input),
        output: rate("output_cost_per_token", price.output),
        cache_read: rate("cache_read_input_token_cost", price.cache_read),
        hours: serde_json::from_str(&hours.get("windows")?.to_string()).ok()?,
        ..price.clone()
    })
}

fn text_of<'a>(row: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    row.get(field)?.as_str()
}

fn million_of(row: &Map<String, Value>, field: &str) -> Option<f64> {
    row.get(field)?.as_f64()
}

/// Converts a price of a token to one of a million tokens, without the errors of binary fractions.
fn million(price: Option<f64>) -> Option<Rate> {
    price.map(|price| Rate((price * 1e12).round() / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = r#"{
        "sample_spec": {"mode": "one of: chat"},
        "gpt-9": {"mode": "chat", "litellm_provider": "openai", "max_input_tokens": 5000, "input_cost_per_token": 2e-06,
            "output_cost_per_token": 1e-05, "cache_creation_input_token_cost": 2.5e-06, "input_cost_per_token_above_272k_tokens": 4e-06},
        "other/gpt-9": {"mode": "chat", "litellm_provider": "other", "max_input_tokens": 9000, "input_cost_per_token": 9e-06, "output_cost_per_token": 1e-05},
        "a/qwen9-8b": {"mode": "chat", "litellm_provider": "a", "max_input_tokens": 70, "input_cost_per_token": 1e-07, "output_cost_per_token": 1e-07},
        "b/qwen9-8b": {"mode": "chat", "litellm_provider": "b", "max_input_tokens": 80, "input_cost_per_token": 2e-07, "output_cost_per_token": 1e-07},
        "c/qwen9-8b": {"mode": "chat", "litellm_provider": "c", "max_input_tokens": 80, "input_cost_per_token": 3e-07, "output_cost_per_token": 1e-07},
        "picture": {"mode": "image_generation"},
        "deepseek/deepseek-v9": {"mode": "chat", "litellm_provider": "deepseek", "max_input_tokens": 100, "input_cost_per_token": 2e-06,
            "output_cost_per_token": 4e-06, "off_peak_pricing": {"input_cost_per_token": 1e-06, "windows": [{"hours_utc": "00:00-00:00"}]}}
    }"#;

    #[test]
    fn vendors_come_first_and_then_the_host_in_the_middle() {
        let models = parse(MAP).expect("a price map");
        let found: Vec<_> = models
            .iter()
            .map(|model| {
                (&*model.name, model.window, model.prices.first().map(|price| price.input.0))
            })
            .collect();
        let expected = [
            ("deepseek-v9", Some(100), Some(2.0)),
            ("gpt-9", Some(5_000), Some(2.0)),
            ("qwen9-8b", Some(80), Some(0.2)),
        ];
        assert_eq!(found, expected);
        let [_, reduced] = &*models[0].prices else { panic!("{models:?}") };
        assert!(
            reduced.input == Rate(1.0) && reduced.output == Rate(4.0) && reduced.hours.is_some()
        );
        let gpt = &models[1].prices[0];
        assert_eq!(
            (&*gpt.caching, gpt.factors(crate::units::Tokens(300_000)).0),
            ("openai-5.6", 2.0)
        );
    }

    #[test]
    fn other_json_is_no_price_map() {
        for wrong in ["{}", "{\"a\": {\"mode\": \"chat\"}}", "{"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
