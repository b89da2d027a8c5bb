//! Bars of the chart: a bar per row, and gaps for days, weeks and months without a call.

use crate::analysis::usage::{Period, UsageKey, UsageRow};
use jiff::civil::Date;
use jiff::{Span, ToSpan as _};

/// Maximum number of bars with gaps. Beyond that, periods without a call are left out.
const MAX_BARS: usize = 1_000;

/// A bar, or a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Value of the key.
    pub key: String,
    /// Index of the row; `None` for a period without a call.
    pub row: Option<usize>,
}

/// Returns the bars of a table, from left to right.
pub fn bars(rows: &[UsageRow], key: UsageKey) -> Vec<Bar> {
    let all = rows.iter().enumerate();
    let plain = all.map(|(idx, row)| Bar { key: row.key.clone(), row: Some(idx) }).collect();
    match key {
        UsageKey::Period(period) => with_gaps(rows, step(period)).unwrap_or(plain),
        _ => plain,
    }
}

fn step(period: Period) -> Span {
    match period {
        Period::Day => 1.day(),
        Period::Week => 1.week(),
        Period::Month => 1.month(),
    }
}

/// Returns the bars with gaps; `None` if there are too many.
fn with_gaps(rows: &[UsageRow], step: Span) -> Option<Vec<Bar>> {
    let mut bars: Vec<Bar> = Vec::new();
    let mut next: Option<Date> = None;
    for (idx, row) in rows.iter().enumerate() {
        let date = row.key.parse::<Date>().ok();
        while let (Some(gap), Some(date)) = (next, date)
            && gap < date
        {
            if bars.len() >= MAX_BARS {
                return None;
            }
            bars.push(Bar { key: gap.to_string(), row: None });
            next = gap.checked_add(step).ok();
        }
        bars.push(Bar { key: row.key.clone(), row: Some(idx) });
        next = date.and_then(|date| date.checked_add(step).ok());
    }
    Some(bars)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(dates: &[&str], key: UsageKey) -> Vec<(String, Option<usize>)> {
        let row = |key: &&str| UsageRow { key: (*key).to_owned(), ..UsageRow::default() };
        let rows: Vec<UsageRow> = dates.iter().map(row).collect();
        bars(&rows, key).into_iter().map(|bar| (bar.key, bar.row)).collect()
    }

    #[test]
    fn periods_without_a_call_are_gaps() {
        let expected = |all: &[(&str, Option<usize>)]| -> Vec<(String, Option<usize>)> {
            all.iter().map(|(key, row)| ((*key).to_owned(), *row)).collect()
        };
        let days = keys(&["", "2026-02-27", "2026-03-01"], UsageKey::Period(Period::Day));
        let gap = ("2026-02-28", None);
        let all = [("", Some(0)), ("2026-02-27", Some(1)), gap, ("2026-03-01", Some(2))];
        assert_eq!(days, expected(&all));
        let months = keys(&["2025-12-01", "2026-02-01"], UsageKey::Period(Period::Month));
        let all = [("2025-12-01", Some(0)), ("2026-01-01", None), ("2026-02-01", Some(1))];
        assert_eq!(months, expected(&all));
        let models = keys(&["b", "a"], UsageKey::Model);
        assert_eq!(models, expected(&[("b", Some(0)), ("a", Some(1))]));
        let far = keys(&["1970-01-01", "2026-01-01"], UsageKey::Period(Period::Day));
        assert_eq!(far.len(), 2);
    }
}
