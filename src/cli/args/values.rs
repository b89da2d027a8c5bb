//! Parsers of option values: numbers, tokens, calls, names. Errors do not repeat the option: the caller adds it.

use crate::analysis::CallRange;
use crate::analysis::facts::FactKind;
use crate::engine::ProviderError;
use crate::names::unknown;
use crate::presets::{provider_error, provider_errors};
use crate::tokens::{self, COUNTERS, Counter};
use crate::units::Tokens;
use anyhow::{Context as _, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Parses a number from 1 as an index from 0.
pub(crate) fn ordinal(text: &str) -> anyhow::Result<usize> {
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(n - 1),
        _ => bail!("give a whole number from 1"),
    }
}

/// Parses a maximum number of rows; 0 lists all.
pub(crate) fn row_limit(text: &str) -> anyhow::Result<usize> {
    match text.parse() {
        Ok(0) => Ok(usize::MAX),
        Ok(n) => Ok(n),
        Err(_) => bail!("give a whole number; 0 lists all"),
    }
}

/// Parses a call or a range of calls from 1: `20`, `20-34`.
pub(crate) fn calls(text: &str) -> anyhow::Result<CallRange> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (Ok(first), Ok(last)) = (ordinal(first), ordinal(last)) else {
        bail!("give a call or a range of calls, such as 20-34");
    };
    if last < first {
        bail!("the range {text} is empty");
    }
    Ok(CallRange { first, last })
}

/// Parses the name of a kind of facts.
pub(crate) fn fact_kind(text: &str) -> anyhow::Result<FactKind> {
    let names = FactKind::ALL.map(FactKind::name).map(str::to_owned);
    FactKind::by_name(text).with_context(|| unknown("no kind of facts is named", text, &names))
}

/// Parses `CALL=NAME` or `CALL=TEXT`: one word is the name of a known error, more are the provider's text.
pub(super) fn provider_error_at(text: &str) -> anyhow::Result<ProviderError> {
    let known = || {
        let names: Vec<_> = provider_errors().iter().map(|e| &*e.name).collect();
        names.join(", ")
    };
    let Some((call, error)) = text.split_once('=') else {
        bail!("give CALL=NAME or CALL=TEXT; the names are {}", known());
    };
    let (call, error) = (ordinal(call)?, error.trim());
    let text = match provider_error(error) {
        Some(text) => text,
        None if error.contains(char::is_whitespace) => error,
        None => {
            bail!("no error is named {error:?}; choose from {}, or give its full text", known())
        }
    };
    Ok(ProviderError { call, text: text.into() })
}

/// Parses a number: `0.75`, `40000`, `40_000`, `40k`, `1.5M`.
pub(crate) fn number(text: &str) -> Option<f64> {
    let digits = text.trim().replace('_', "");
    let (digits, unit) = match digits.strip_suffix(['k', 'K']) {
        Some(rest) => (rest, 1e3),
        None => digits.strip_suffix(['m', 'M']).map_or((digits.as_str(), 1.0), |rest| (rest, 1e6)),
    };
    // Rust also parses "inf" and "nan".
    digits.parse::<f64>().ok().map(|n| n * unit).filter(|n| n.is_finite())
}

/// Parses a share: `0.75` or `75%`.
pub(crate) fn share_number(text: &str) -> Option<f64> {
    let Some(percent) = text.trim().strip_suffix('%') else {
        return number(text);
    };
    // 0.29 * 100 is not 29.
    number(percent).map(|percent| (percent * 1e7).round() / 1e9)
}

/// Parses a number of tokens.
pub(super) fn tokens(text: &str) -> anyhow::Result<Tokens> {
    /// Maximum number of tokens, far above any context window. Sums stay exact.
    const MAX_TOKENS: f64 = 1e12;
    let rounded = number(text).map(|n| (n, n.round()));
    match rounded {
        Some((n, tokens)) if (n - tokens).abs() < 1e-6 && (0.0..=MAX_TOKENS).contains(&tokens) => {
            Ok(Tokens(tokens as u64))
        }
        _ => bail!("give a number of tokens such as 200000, 200k or 1M"),
    }
}

/// Parses a number of tokens above 0.
pub(crate) fn nonzero_tokens(text: &str) -> anyhow::Result<Tokens> {
    match tokens(text)? {
        Tokens::ZERO => bail!("give a number of tokens such as 200000, 200k or 1M"),
        tokens => Ok(tokens),
    }
}

/// Parser of a tokenizer's name.
pub(super) fn counter() -> impl TypedValueParser<Value = &'static Counter> {
    let names = PossibleValuesParser::new(COUNTERS.iter().map(|counter| counter.name));
    names.map(|name| tokens::by_name(&name).unwrap_or_else(tokens::default_counter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_units_and_separators() {
        let read: Vec<_> =
            ["200000", "200k", "1M", "0.75", "1_000", "1.5m", "-3"].map(number).into();
        let meant = [200_000.0, 200_000.0, 1_000_000.0, 0.75, 1_000.0, 1_500_000.0, -3.0];
        assert_eq!(read, meant.map(Some));
        assert_eq!(["", "k", "inf", "NaN", "12x", "1e999"].map(number), [None; 6]);
    }

    #[test]
    fn parses_percentages() {
        assert_eq!(share_number("75%"), Some(0.75));
        assert_eq!(share_number(" 12.5 % "), Some(0.125));
        assert_eq!(share_number("0.29"), Some(0.29));
        assert_eq!(share_number("%"), None);
    }

    #[test]
    fn rejects_a_window_that_is_not_a_positive_integer() {
        for text in ["0", "-1", "0.5", "1e15", "many"] {
            assert!(nonzero_tokens(text).is_err(), "{text}");
        }
        assert_eq!(nonzero_tokens("1.5k").unwrap(), Tokens(1_500));
    }

    #[test]
    fn ordinals_start_at_one() {
        assert_eq!(ordinal("1").unwrap(), 0);
        assert!(ordinal("0").is_err());
    }
}
