//! Numbers as people read them: grouped by thin spaces, or shortened where precision does not matter.

use crate::units::Tokens;

/// A whole number with its thousands set apart by thin spaces.
pub fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 { "\u{2212}" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// Tokens in about three figures: 950, 12.8k, 126k, 2.16M.
pub fn short(tokens: Tokens) -> String {
    let value = tokens.as_f64();
    match value {
        v if v < 999.5 => format!("{v:.0}"),
        v if v < 99_950.0 => trim(&format!("{:.1}", v / 1e3), "k"),
        v if v < 999_500.0 => format!("{:.0}k", v / 1e3),
        v if v < 9_995_000.0 => trim(&format!("{:.2}", v / 1e6), "M"),
        v => trim(&format!("{:.1}", v / 1e6), "M"),
    }
}

fn trim(digits: &str, unit: &str) -> String {
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    format!("{digits}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let all = [0.0, 999.0, 1024.0, 126_000.0, -2_160_000.0].map(grouped);
        assert_eq!(
            all,
            [
                "0",
                "999",
                "1\u{2009}024",
                "126\u{2009}000",
                "\u{2212}2\u{2009}160\u{2009}000"
            ]
        );
    }

    #[test]
    fn short_numbers_keep_about_three_figures() {
        let all = [
            0, 950, 12_804, 60_000, 126_000, 999_600, 2_160_000, 61_400_000,
        ]
        .map(|n| short(Tokens(n)));
        assert_eq!(
            all,
            ["0", "950", "12.8k", "60k", "126k", "1M", "2.16M", "61.4M"]
        );
    }
}
