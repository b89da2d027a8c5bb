//! Numbers of axes and settings.

use crate::figure;

/// Formats a whole number with its sign and grouped thousands.
pub fn grouped(value: f64) -> String {
    let sign = if value < 0.0 { "\u{2212}" } else { "" };
    format!("{sign}{}", figure::grouped(value.abs().round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_numbers_by_thousands() {
        let all = [0.0, 999.0, 126_000.0, -2_160_000.0].map(grouped);
        assert_eq!(all, ["0", "999", "126,000", "\u{2212}2,160,000"]);
    }
}
