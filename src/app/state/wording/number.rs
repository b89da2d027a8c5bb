//! Display text of numbers: tokens, shares, money, sizes and times. Also parses typed tokens.

use crate::analysis::cost::CostSource;
use crate::units::{Bytes, Rate, Share, Tokens, Usd};
use crate::{figure, units};
use std::cmp::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

pub use crate::figure::{counted as count, grouped, number, tokens};

/// Space before a percent sign; no line break.
pub(crate) const THIN: char = '\u{2009}';

/// Formats tokens as short as possible: `310`, `12.8k`, `126k`, `2.16M`.
pub fn short(n: Tokens) -> String {
    n.short()
}

/// Formats a difference with its sign: `+82k`, `−1.2M`, `±0`.
pub fn difference(more: Tokens, less: Tokens) -> String {
    signed(more.0.cmp(&less.0), &short(Tokens(more.0.abs_diff(less.0))))
}

/// Formats an amount with the sign of a comparison: `+82k`, `−82k`, `±0`.
pub fn signed(order: Ordering, amount: &str) -> String {
    match order {
        Ordering::Greater => format!("+{amount}"),
        Ordering::Less => format!("\u{2212}{amount}"),
        Ordering::Equal => "±0".to_owned(),
    }
}

/// Formats a multiple of a unit with three digits.
fn scaled(n: u64, unit: u64, name: &str) -> String {
    let value = n as f64 / unit as f64;
    // The thresholds are where rounding would add a digit.
    let places = match value {
        ..9.995 => 2,
        9.995..99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$}{name}")
}

/// Formats a share in percent: `8.9 %`, `92 %`.
pub fn percent(share: Share) -> String {
    let value = share.0 * 100.0;
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value > 0.0 && value < 0.05 {
        return format!("<0.1{THIN}%");
    }
    // A value that rounds to zero has no sign.
    let value = if value.abs() < 0.05 { 0.0 } else { value };
    let places = usize::from(value.abs() < 9.95);
    format!("{value:.places$}{THIN}%")
}

/// Formats a share of the usable window: `85 % of usable`.
pub fn of_usable(share: Share) -> String {
    format!("{} of usable", percent(share))
}

/// Formats a share of the context window: `92 % of window`.
pub fn of_window(share: Share) -> String {
    format!("{} of window", percent(share))
}

/// Groups the longer numbers in a sentence, except within words.
pub fn with_grouped(text: &str) -> String {
    let word = |word: &str| match word.parse::<u64>() {
        Ok(n) if word.len() > 3 && !word.starts_with('0') => grouped(n),
        _ => word.to_owned(),
    };
    let is_inner = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let mut out = String::new();
    for piece in text.split_inclusive(|c| !is_inner(c)) {
        let end = piece.trim_end_matches(|c| !is_inner(c));
        out.push_str(&word(end));
        out.push_str(&piece[end.len()..]);
    }
    out
}

/// Formats dollars as the command line does: `$25.24`, `$0.0093`, `$1,204`, `−$0.16`.
pub fn usd(sum: Usd) -> String {
    figure::usd(sum).replace('-', "\u{2212}")
}

/// Formats a cost, such as `≈$21.03`.
pub fn cost(source: CostSource, sum: Usd) -> String {
    format!("{}{}", source.mark(), usd(sum))
}

/// Returns the difference of two displayed sums: `$5.79` and `$4.77` differ by `$1.02`, independent of rounding.
pub fn shown_difference(a: Usd, b: Usd) -> Usd {
    let difference = figure::displayed_usd(a).0 - figure::displayed_usd(b).0;
    // Less than the smallest displayed digit is an error of the subtraction.
    Usd((difference * 1e8).round() / 1e8)
}

/// Formats a price per million tokens: `$5`, `$0.50`, `$6.25`, `$0.075`.
pub fn rate(rate: Rate) -> String {
    let cents = rate.0 * 100.0;
    match rate.0 {
        whole if whole.fract() == 0.0 => format!("${whole}"),
        _ if (cents - cents.round()).abs() < 1e-9 => format!("${:.2}", rate.0),
        other => format!("${other}"),
    }
}

/// Formats seconds, rounded down: `5 minutes`, `1 hour`.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => count(seconds as usize, "second"),
        60..3_600 => count((seconds / 60) as usize, "minute"),
        _ => count((seconds / 3_600) as usize, "hour"),
    }
}

/// Formats bytes, rounded: `812 B`, `45.2 MB`.
pub fn bytes(n: Bytes) -> String {
    let n = n.0;
    match n {
        0..1_000 => format!("{n} B"),
        1_000..999_500 => scaled(n, 1_000, " kB"),
        999_500..999_500_000 => scaled(n, 1_000_000, " MB"),
        _ => scaled(n, 1_000_000_000, " GB"),
    }
}

/// Formats a time to the minute in UTC: `2026-11-22 08:01 UTC`.
pub fn minute(at: SystemTime) -> String {
    let Some(text) = at.duration_since(UNIX_EPOCH).ok().and_then(units::rfc3339) else {
        return "–".to_owned();
    };
    let minute: String = text.chars().take(16).collect();
    format!("{} UTC", minute.replace('T', " "))
}

/// Parses tokens as typed: `128000`, `128,000`, `128 000`. Returns `None` if the text is not a whole number.
pub fn typed_tokens(text: &str) -> Option<Tokens> {
    let digits = text.trim().replace(['_', ',', ' '], "");
    digits.parse().ok().map(Tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_use_the_displayed_sums() {
        let text = |a, b| usd(shown_difference(Usd(a), Usd(b)));
        assert_eq!(text(5.794, 4.766), "$1.02");
        assert_eq!(text(4.766, 5.794), "\u{2212}$1.02");
        assert_eq!(text(0.0093, 0.0021), "$0.0072");
        assert_eq!(text(0.000_483, 0.000_071), "$0.00041");
        assert_eq!(text(5.001, 5.0), "$0.00");
        assert_eq!(text(1_204.4, 4.766), "$1,199");
    }

    #[test]
    fn typed_tokens_may_be_grouped() {
        let read = ["128000", "128,000", " 1 000 000", "200_000"].map(typed_tokens);
        let expected = [128_000, 128_000, 1_000_000, 200_000].map(|n| Some(Tokens(n)));
        assert_eq!(read, expected);
        assert_eq!(["", "12.5", "many", "-1"].map(typed_tokens), [None; 4]);
    }

    #[test]
    fn percentages_have_a_decimal_only_when_small() {
        assert_eq!(of_usable(Share(0.852)), "85\u{2009}% of usable");
        assert_eq!(of_window(Share(0.0893)), "8.9\u{2009}% of window");
        assert_eq!(percent(Share(f64::NAN)), "–");
        assert_eq!(percent(Share(1.004)), "100\u{2009}%");
        assert_eq!(percent(Share(-0.0003)), percent(Share(0.0)));
        assert_eq!(percent(Share(-0.0)), "0.0\u{2009}%");
        assert_eq!(percent(Share(0.000_49)), "<0.1\u{2009}%");
        assert_eq!(percent(Share(0.000_51)), "0.1\u{2009}%");
    }

    #[test]
    fn numbers_in_a_sentence_are_grouped_but_not_names() {
        assert_eq!(
            with_grouped("promised 44979, not 999 of call-44979.json"),
            "promised 44,979, not 999 of call-44979.json"
        );
    }

    #[test]
    fn money_has_cents_and_less_than_a_cent_is_not_zero() {
        let sums = [25.238, 0.64, 0.0093, 1_204.4, -0.16, 0.0, 0.000_483];
        let text = sums.map(|sum| usd(Usd(sum)));
        assert_eq!(
            text,
            ["$25.24", "$0.64", "$0.0093", "$1,204", "\u{2212}$0.16", "$0.00", "$0.00048"]
        );
    }

    #[test]
    fn prices_have_cents_where_they_are_not_whole() {
        let text = [5.0, 0.5, 6.25, 0.075].map(|price| rate(Rate(price)));
        assert_eq!(text, ["$5", "$0.50", "$6.25", "$0.075"]);
    }

    #[test]
    fn times_have_minutes() {
        let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_795_305_661);
        assert_eq!(minute(at), "2026-11-22 00:01 UTC");
    }
}
