//! Figures of two sessions as text.

use crate::analysis::comparison::Figure;
use crate::figure;
use crate::report::NumberFormat;

/// Text of an unknown value.
const UNKNOWN: &str = "-";
/// Formats of numbers.
const NUMBERS: NumberFormat = NumberFormat {
    grouped: figure::grouped,
    percent: figure::percent,
    usd: figure::usd,
    minus: '-',
};

/// Returns the values of A and B, their difference and the relative change.
pub(super) fn texts(figure: &Figure) -> [String; 4] {
    let unknown = || UNKNOWN.to_owned();
    let value = |side: usize| {
        let mark = figure.marks[side];
        figure.values[side].map_or_else(unknown, |value| format!("{mark}{}", NUMBERS.value(value)))
    };
    let difference = figure.values[0].zip(figure.difference());
    let difference = difference.map(|(a, by)| NUMBERS.difference(a, by));
    let change = figure.change().map(|change| NUMBERS.change(change));
    [value(0), value(1), difference.unwrap_or_else(unknown), change.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::Quantity;
    use crate::units::{Share, Tokens, Usd};

    fn of(a: Option<Quantity>, b: Option<Quantity>) -> [String; 4] {
        texts(&Figure::new("", "", [a, b]))
    }

    #[test]
    fn values_and_differences_have_their_units() {
        let both = |a, b| of(Some(a), Some(b));
        let tokens = |n| Quantity::Tokens(Tokens(n));
        let share = |n| Quantity::Share(Share(n));
        let usd = |n| Quantity::Usd(Usd(n));
        assert_eq!(both(tokens(2_000), tokens(1_500)), ["2,000", "1,500", "-500", "-25.0 %"]);
        assert_eq!(both(share(0.5), share(0.625)), ["50.0 %", "62.5 %", "+12.5 points", ""]);
        assert_eq!(both(usd(1.0), usd(1.0)), ["$1.00", "$1.00", "$0.00", "0.0 %"]);
        assert_eq!(both(tokens(100_000), tokens(100_001)), ["100,000", "100,001", "+1", "+<0.1 %"]);
        assert_eq!(both(tokens(100_001), tokens(100_000)), ["100,001", "100,000", "-1", "-<0.1 %"]);
        assert_eq!(of(Some(usd(1.0)), None), ["$1.00", "-", "-", ""]);
    }
}
