//! Expected re-reads as text.

use super::lane::RereadTotal;
use super::model::Expected;
use crate::figure::usd;
use crate::units::{Tokens, Usd};

/// Formats a number of re-reads: one decimal below ten, since most are small.
pub fn rereads_number(n: f64) -> String {
    if n < 9.95 { format!("{n:.1}") } else { format!("{n:.0}") }
}

/// Expected re-reads below this are none: they would be shown as 0.0.
const NONE: f64 = 0.05;

impl Expected {
    /// Returns the interval of a number of re-reads: `0.8 to 1.9`.
    pub fn range_text(&self) -> String {
        format!("{} to {}", rereads_number(self.low), rereads_number(self.high))
    }
}

impl RereadTotal {
    /// Returns whether nothing worth a number is expected.
    pub fn is_none(&self) -> bool {
        self.files.value < NONE
    }

    /// Returns the number as text: `1.3`.
    pub fn number(&self) -> String {
        rereads_number(self.files.value)
    }

    /// Returns `re-reads about 1.3 files (0.8 to 1.9), 8.2k tokens, $0.03`, or `no re-reads expected`.
    pub fn words(&self) -> String {
        if self.is_none() {
            return "no re-reads expected".to_owned();
        }
        let tokens = Tokens(self.tokens.value as u64).short();
        let price =
            self.usd.map_or_else(String::new, |price| format!(", {}", usd(Usd(price.value))));
        let noun = if self.number() == "1.0" { "file" } else { "files" };
        format!(
            "re-reads about {} {noun} ({}), {tokens} tokens{price}",
            self.number(),
            self.files.range_text(),
        )
    }
}
