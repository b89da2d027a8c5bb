//! Figures of two sessions as text.

use crate::analysis::comparison::{Figure, Quantity};
use crate::figure;
use crate::units::Usd;

/// Text of an unknown value.
const UNKNOWN: &str = "-";

/// Returns the values of A and B, their difference and the relative change.
pub(super) fn texts(figure: &Figure) -> [String; 4] {
    let unknown = || UNKNOWN.to_owned();
    let value = |side: usize| {
        let mark = if figure.is_estimated[side] { "≈" } else { "" };
        figure.values[side].map_or_else(unknown, |value| format!("{mark}{}", text(value)))
    };
    let difference = figure.values[0]
        .zip(figure.difference())
        .map(|(a, n)| difference(a, n));
    let change = figure.change().map(|change| {
        let text = figure::percent(change);
        if change.0 > 0.0 {
            format!("+{text}")
        } else {
            text
        }
    });
    [
        value(0),
        value(1),
        difference.unwrap_or_else(unknown),
        change.unwrap_or_default(),
    ]
}

fn text(value: Quantity) -> String {
    match value {
        Quantity::Count(n) => figure::grouped(n as u64),
        Quantity::Tokens(tokens) => figure::tokens(tokens),
        Quantity::Share(share) => figure::percent(share),
        Quantity::Usd(usd) => figure::usd(usd),
    }
}

/// Returns a difference of values such as `value`, with its sign.
fn difference(value: Quantity, difference: f64) -> String {
    let size = difference.abs();
    let text = match value {
        Quantity::Count(_) | Quantity::Tokens(_) => figure::grouped(size as u64),
        Quantity::Share(_) => format!("{:.1} points", size * 100.0),
        Quantity::Usd(_) => figure::usd(Usd(size)),
    };
    // A difference that rounds to zero has no sign.
    let is_zero = !text.contains(|c: char| ('1'..='9').contains(&c));
    match difference {
        _ if is_zero => text,
        ..0.0 => format!("-{text}"),
        _ => format!("+{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Share, Tokens};

    fn of(a: Option<Quantity>, b: Option<Quantity>) -> [String; 4] {
        texts(&Figure::new("", "", [a, b]))
    }

    #[test]
    fn values_and_differences_have_their_units() {
        let both = |a, b| of(Some(a), Some(b));
        let tokens = |n| Quantity::Tokens(Tokens(n));
        let share = |n| Quantity::Share(Share(n));
        let usd = |n| Quantity::Usd(Usd(n));
        assert_eq!(
            both(tokens(2_000), tokens(1_500)),
            ["2,000", "1,500", "-500", "-25.0 %"]
        );
        assert_eq!(
            both(share(0.5), share(0.625)),
            ["50.0 %", "62.5 %", "+12.5 points", ""]
        );
        assert_eq!(
            both(usd(1.0), usd(1.0)),
            ["$1.00", "$1.00", "$0.00", "0.0 %"]
        );
        assert_eq!(of(Some(usd(1.0)), None), ["$1.00", "-", "-", ""]);
    }
}
