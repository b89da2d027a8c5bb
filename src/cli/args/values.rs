//! What stands behind an option, read as people write it: numbers, tokens, calls, names.

use crate::engine::ProviderError;
use crate::presets::{provider_error, provider_errors};
use crate::tokens::{self, COUNTERS, Counter};
use crate::units::Tokens;
use anyhow::bail;

/// A number from 1, as an index from 0.
pub(in crate::cli) fn ordinal(option: &str, text: &str) -> anyhow::Result<usize> {
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(n - 1),
        _ => bail!("{option} {text}: give a whole number from 1"),
    }
}

/// An error of the provider at a call. One word is a name; what is no name is what the provider says.
pub(super) fn error(option: &str, text: &str) -> anyhow::Result<ProviderError> {
    let known = || {
        let names: Vec<_> = provider_errors().iter().map(|e| &*e.name).collect();
        names.join(", ")
    };
    let Some((step, said)) = text.split_once('=') else {
        bail!(
            "{option} {text}: give STEP=NAME or STEP=WORDS; the names are {}",
            known()
        );
    };
    let step = ordinal(option, step)?;
    let said = said.trim();
    let words = match provider_error(said) {
        Some(words) => words,
        None if said.contains(char::is_whitespace) => said,
        None => bail!(
            "{option} {text}: no error is named {said:?}; there are {}, or give its words",
            known()
        ),
    };
    Ok(ProviderError {
        step,
        text: words.into(),
    })
}

/// A number as people write it: `0.75`, `40000`, `40_000`, `40k`, `1.5M`.
pub(in crate::cli) fn number(text: &str) -> Option<f64> {
    let digits = text.trim().replace('_', "");
    let (digits, unit) = match digits.strip_suffix(['k', 'K']) {
        Some(rest) => (rest, 1e3),
        None => digits
            .strip_suffix(['m', 'M'])
            .map_or((digits.as_str(), 1.0), |rest| (rest, 1e6)),
    };
    // Rust also reads "inf" and "nan", which are no quantities.
    digits
        .parse::<f64>()
        .ok()
        .map(|n| n * unit)
        .filter(|n| n.is_finite())
}

/// A number of tokens.
pub(super) fn whole(option: &str, text: &str) -> anyhow::Result<Tokens> {
    /// Far above any context window; keeps sums of them exact.
    const LARGEST: f64 = 1e12;
    let rounded = number(text).map(|n| (n, n.round()));
    match rounded {
        Some((n, tokens)) if (n - tokens).abs() < 1e-6 && (0.0..=LARGEST).contains(&tokens) => {
            Ok(Tokens(tokens as u64))
        }
        _ => bail!("{option} {text}: give a number of tokens such as 200000, 200k or 1M"),
    }
}

/// A number of tokens that is not nothing.
pub(super) fn at_least_one(option: &str, text: &str) -> anyhow::Result<Tokens> {
    match whole(option, text)? {
        Tokens::ZERO => {
            bail!("{option} {text}: give a number of tokens such as 200000, 200k or 1M")
        }
        tokens => Ok(tokens),
    }
}

/// The counter of this name.
pub(super) fn counter(name: &str) -> anyhow::Result<&'static Counter> {
    tokens::by_name(name).ok_or_else(|| {
        let known: Vec<_> = COUNTERS.iter().map(|c| c.name).collect();
        anyhow::anyhow!(
            "no counter is named {name:?}; there are {}",
            known.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let read: Vec<_> = ["200000", "200k", "1M", "0.75", "1_000", "1.5m", "-3"]
            .map(number)
            .into();
        let meant = [
            200_000.0,
            200_000.0,
            1_000_000.0,
            0.75,
            1_000.0,
            1_500_000.0,
            -3.0,
        ];
        assert_eq!(read, meant.map(Some));
        assert_eq!(
            ["", "k", "inf", "NaN", "12x", "1e999"].map(number),
            [None; 6]
        );
    }

    #[test]
    fn a_window_of_nothing_or_of_half_a_token_is_refused() {
        for text in ["0", "-1", "0.5", "1e15", "many"] {
            assert!(at_least_one("--window", text).is_err(), "{text}");
        }
        assert_eq!(at_least_one("--window", "1.5k").unwrap(), Tokens(1_500));
    }

    #[test]
    fn numbers_of_things_start_at_one() {
        assert_eq!(ordinal("--at", "1").unwrap(), 0);
        assert!(ordinal("--at", "0").is_err());
    }
}
