//! A number in its source notation.

use std::fmt;

/// A number. Keeps its notation, except that exponents become `e+5` or `e-5` as in `serde_json`. Equal numbers have equal
/// notations: `1.0` differs from `1.00`.
#[derive(Clone, PartialEq, Eq)]
pub struct Number(Box<str>);

impl Number {
    /// Makes a number of its notation in a JSON text.
    pub(super) fn of_notation(notation: &str) -> Self {
        Self(match notation.split_once(['e', 'E']) {
            Some((digits, power)) if power.starts_with(['+', '-']) => {
                format!("{digits}e{power}").into()
            }
            Some((digits, power)) => format!("{digits}e+{power}").into(),
            None => notation.into(),
        })
    }

    /// Makes a number of a float, or `None` if it is infinite or not a number.
    pub fn from_f64(value: f64) -> Option<Self> {
        let text = serde_json::to_string(&value).ok().filter(|_| value.is_finite())?;
        Some(Self(text.into()))
    }

    /// Returns the notation.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number as a `u64`, if it is written as an integer within its range.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// Returns the number as an `i64`, if it is written as an integer within its range.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Returns the nearest float, unless it would be infinite.
    pub fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|value: &f64| value.is_finite())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({self})")
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Number {
            fn from(value: $integer) -> Self {
                Self(value.to_string().into())
            }
        }
    )*};
}

from_integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
