//! Quantities with their unit in the type.
//!
//! Shares are 0 to 1 everywhere; `figure` and the window format them as percent. Short token figures are
//! formatted here, so that the command line, reports and the window show the same.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::time::{Duration, UNIX_EPOCH};

/// Formats a time since the start of 1970 in UTC as RFC 3339 with seconds: `YYYY-MM-DDTHH:MM:SSZ`. Returns `None`
/// after the year 9999.
pub fn rfc3339(time: Duration) -> Option<String> {
    // Days from 1970-01-01 to 10000-01-01. RFC 3339 has four digits for the year, and humantime panics beyond it.
    const YEAR_10_000: Duration = Duration::from_hours(24 * 2_932_897);
    (time < YEAR_10_000).then(|| humantime::format_rfc3339_seconds(UNIX_EPOCH + time).to_string())
}

/// A number of tokens. Addition and subtraction saturate.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct Tokens(pub u64);

impl Tokens {
    /// No tokens.
    pub const ZERO: Self = Self(0);

    /// Converts to a float, for shares and expressions.
    #[inline]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Returns this number as a share of `whole`; 0 if `whole` is 0.
    #[inline]
    pub fn share_of(self, whole: Self) -> Share {
        if whole.0 == 0 { Share(0.0) } else { Share(self.as_f64() / whole.as_f64()) }
    }

    /// Formats with at most three significant digits: `310`, `7.78k`, `126k`, `2.16M`.
    pub fn short(self) -> String {
        let n = self.0;
        match n {
            0..1_000 => n.to_string(),
            // Thresholds at which rounding would add a digit.
            1_000..999_500 => three_figures(n, 1_000, 'k'),
            999_500..999_500_000 => three_figures(n, 1_000_000, 'M'),
            999_500_000..999_500_000_000 => three_figures(n, 1_000_000_000, 'G'),
            _ => three_figures(n, 1_000_000_000_000, 'T'),
        }
    }
}

fn three_figures(n: u64, unit: u64, name: char) -> String {
    let value = n as f64 / unit as f64;
    let places = match value {
        ..9.995 => 2,
        9.995..99.95 => 1,
        _ => 0,
    };
    let digits = format!("{value:.places$}");
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    format!("{digits}{name}")
}

impl From<u32> for Tokens {
    #[inline]
    fn from(n: u32) -> Self {
        Self(u64::from(n))
    }
}

impl Add for Tokens {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Tokens {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Tokens {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct Bytes(pub u64);

/// A share of a whole, 0 to 1 (above 1 on overflow).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct Share(pub f64);

impl Share {
    /// Returns the share unless it is unknown: a share of nothing.
    pub fn known(self) -> Option<Self> {
        self.0.is_finite().then_some(self)
    }
}

/// US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct Usd(pub f64);

impl Usd {
    /// No dollars.
    pub const ZERO: Self = Self(0.0);
}

impl Add for Usd {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Usd {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct Rate(pub f64);

impl Rate {
    /// Returns the cost of a number of tokens.
    pub fn of(self, tokens: Tokens) -> Usd {
        Usd(self.0 * tokens.as_f64() / 1e6)
    }

    /// Multiplies the rate.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

/// Milliseconds since 1970-01-01 UTC, as recorded in a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_figures_have_at_most_three_digits() {
        let numbers = [
            0,
            310,
            1_000,
            1_234,
            7_780,
            9_996,
            12_804,
            99_960,
            126_000,
            999_499,
            999_500,
            2_160_000,
            61_400_000,
            999_499_999_999,
            1_794_106_568_622,
        ];
        let formatted = numbers.map(|n| Tokens(n).short());
        assert_eq!(
            formatted,
            [
                "0", "310", "1k", "1.23k", "7.78k", "10k", "12.8k", "100k", "126k", "999k", "1M",
                "2.16M", "61.4M", "999G", "1.79T"
            ]
        );
    }
}
