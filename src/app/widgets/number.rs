//! Number formatting with thin spaces between groups of digits.

/// Formats a whole number with a thin space between thousands.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_numbers_by_thousands() {
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
}
