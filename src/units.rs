//! Quantities that carry their unit in the type.
//!
//! Shares are 0 to 1 everywhere; only `app/wording.rs` and `cli/output.rs` turn them into percent.

use serde::Serialize;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// A number of tokens. Subtraction stops at zero: a context is never lighter than nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Tokens {
    /// No tokens.
    pub const ZERO: Self = Self(0);

    /// As a float, for shares and expressions.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// This many tokens as a share of `whole`; 0 when `whole` is empty.
    pub fn share_of(self, whole: Self) -> Share {
        if whole.0 == 0 {
            Share(0.0)
        } else {
            Share(self.as_f64() / whole.as_f64())
        }
    }
}

impl From<u32> for Tokens {
    fn from(n: u32) -> Self {
        Self(u64::from(n))
    }
}

impl Add for Tokens {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Tokens {
    type Output = Self;
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
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A part of a whole, 0 to 1 (above 1 where something overflows).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Share(pub f64);

/// Milliseconds since 1970-01-01 UTC, as recorded in a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Millis(pub i64);
