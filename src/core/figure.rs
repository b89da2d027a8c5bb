//! Numbers as text: thousands separators, percentages, prices, counted nouns.

use crate::units::{Share, Tokens, Usd};

/// Formats a number with thousands separators: `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats tokens with thousands separators.
pub fn tokens(tokens: Tokens) -> String {
    grouped(tokens.0)
}

/// Formats a share as whole percent: `92 %`, `<1 %` for a positive share below that. An infinite share, which an empty
/// window has, is `more than 100 %`.
pub fn whole_percent(share: Share) -> String {
    let value = share.0 * 100.0;
    if !value.is_finite() {
        return "more than 100 %".to_owned();
    }
    if value > 0.0 && value < 1.0 {
        return "<1 %".to_owned();
    }
    // A number that rounds to zero has no sign.
    let value = if value.abs() < 0.5 { 0.0 } else { value };
    format!("{value:.0} %")
}

/// Formats a share as percent with one decimal: `8.9 %`, `<0.1 %` for a positive share that rounds to zero. An infinite
/// share, which an empty window has, is `none left`.
pub fn percent(share: Share) -> String {
    let value = share.0 * 100.0;
    if !value.is_finite() {
        return "none left".to_owned();
    }
    if value > 0.0 && value < 0.05 {
        return "<0.1 %".to_owned();
    }
    // A number that rounds to zero has no sign.
    let value = if value.abs() < 0.05 { 0.0 } else { value };
    format!("{value:.1} %")
}

/// Formats dollars and cents: `$31.86`. Sums below a cent have two significant digits, sums from $1,000 no cents.
pub fn usd(usd: Usd) -> String {
    let sign = if usd.0 < 0.0 { "-" } else { "" };
    let size = usd.0.abs();
    match usd_places(size) {
        None => "$0.00".to_owned(),
        Some(0) => format!("{sign}${}", grouped(size.round() as u64)),
        Some(places) => format!("{sign}${size:.places$}"),
    }
}

/// Returns a sum as it is displayed.
pub fn displayed_usd(usd: Usd) -> Usd {
    let places = usd_places(usd.0.abs());
    Usd(places.map_or(0.0, |places| {
        let unit = 10_f64.powi(places.cast_signed() as i32);
        (usd.0 * unit).round() / unit
    }))
}

/// Returns the decimals of a displayed sum; `None` if it is displayed as `$0.00`. Rounding would add a digit at the limits.
fn usd_places(size: f64) -> Option<usize> {
    match size {
        ..1e-6 => None,
        1e-6..0.009_95 => Some((1 - size.log10().floor() as i32).clamp(2, 8) as usize),
        0.009_95..999.5 => Some(2),
        _ => Some(0),
    }
}

/// Returns a counted noun: `1 call`, `2 calls`, `2 matches`.
pub fn counted(n: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(n as u64), plural(n, what))
}

/// Returns the ending of a counted noun.
pub fn plural(n: usize, noun: &str) -> &'static str {
    match n {
        1 => "",
        _ if noun.ends_with("ch") || noun.ends_with("ss") => "es",
        _ => "s",
    }
}

/// Formats an index as a number from 1.
pub fn number(index: usize) -> String {
    grouped(index as u64 + 1)
}

/// Formats a setting or a quantity of an expression: whole numbers with thousands separators, others with up to three
/// decimals. An infinite number is `never`.
pub fn quantity(value: f64) -> String {
    if !value.is_finite() {
        return "never".to_owned();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let size = value.abs();
    // A whole number may have a rounding error of a calculation, such as 0.1 * 30.
    if size.fract() < 1e-9 {
        return format!("{sign}{}", grouped(size.round() as u64));
    }
    let text = format!("{size:.3}");
    format!("{sign}{}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_rounds_to_zero_has_no_sign() {
        let formatted = [-0.0, -0.0004, 0.0004, -0.0006].map(|share| percent(Share(share)));
        assert_eq!(formatted, ["0.0 %", "0.0 %", "<0.1 %", "-0.1 %"]);
    }

    #[test]
    fn a_small_share_is_not_rounded_to_a_whole_percent() {
        let formatted = [0.0, 0.0001, 0.0099, 0.01, 0.92, 1.2, -0.004, -0.2, f64::INFINITY];
        assert_eq!(
            formatted.map(|share| whole_percent(Share(share))),
            ["0 %", "<1 %", "<1 %", "1 %", "92 %", "120 %", "0 %", "-20 %", "more than 100 %"]
        );
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn small_sums_are_not_rounded_to_zero() {
        let formatted = [0.0, 31.857, 0.012, 0.004_25, 0.000_071, -1.5].map(|n| usd(Usd(n)));
        assert_eq!(formatted, ["$0.00", "$31.86", "$0.01", "$0.0043", "$0.000071", "-$1.50"]);
        let formatted = [0.009_97, 999.49, 999.5, 1_204.4].map(|n| usd(Usd(n)));
        assert_eq!(formatted, ["$0.01", "$999.49", "$1,000", "$1,204"]);
    }

    #[test]
    fn a_quantity_is_as_precise_as_it_needs_to_be() {
        let formatted = [0.75, 20.0, 40_000.0, -2.5, 0.0004, f64::INFINITY].map(quantity);
        assert_eq!(formatted, ["0.75", "20", "40,000", "-2.5", "0", "never"]);
    }
}
