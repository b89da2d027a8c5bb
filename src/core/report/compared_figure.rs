//! Compared figures as text, with the numbers of the command line or of the window.

use crate::analysis::comparison::Quantity;
use crate::units::{Share, Usd};

/// Formats of numbers.
#[derive(Clone, Copy, Debug)]
pub struct NumberFormat {
    /// Formats a whole number.
    pub grouped: fn(u64) -> String,
    /// Formats a share that is not negative.
    pub percent: fn(Share) -> String,
    /// Formats an amount of money that is not negative.
    pub usd: fn(Usd) -> String,
    /// Sign of a negative number.
    pub minus: char,
}

impl NumberFormat {
    /// Formats a value.
    pub fn value(&self, value: Quantity) -> String {
        match value {
            Quantity::Count(n) => (self.grouped)(n as u64),
            Quantity::Tokens(tokens) => (self.grouped)(tokens.0),
            Quantity::Share(share) => (self.percent)(share),
            Quantity::Usd(usd) => (self.usd)(usd),
        }
    }

    /// Formats a difference of values such as `value`, with its sign.
    pub fn difference(&self, value: Quantity, difference: f64) -> String {
        let size = difference.abs();
        let text = match value {
            Quantity::Count(_) | Quantity::Tokens(_) => (self.grouped)(size as u64),
            Quantity::Share(_) => format!("{:.1} points", size * 100.0),
            Quantity::Usd(_) => (self.usd)(Usd(size)),
        };
        self.signed(difference, text)
    }

    /// Formats a relative change, with its sign.
    pub fn change(&self, change: Share) -> String {
        self.signed(change.0, (self.percent)(Share(change.0.abs())))
    }

    /// Adds the sign of `number` to its absolute value. A number that rounds to zero has no sign.
    fn signed(&self, number: f64, size: String) -> String {
        let is_zero = !size.contains(|c: char| ('1'..='9').contains(&c));
        match number {
            _ if is_zero => size,
            ..0.0 => format!("{}{size}", self.minus),
            _ => format!("+{size}"),
        }
    }
}
