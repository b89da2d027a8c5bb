//! Texts of the page: figures, remarks and hover texts.

use crate::analysis::usage::{UsageRow, UsageTable};
use crate::app::state::sessions::usage::view::UsageColumn;
use crate::app::state::wording;
use crate::safe_text;
use crate::units::Tokens;

/// Text of a value that is unknown or zero.
pub const NONE: &str = "–";

/// Returns the name of a row.
pub fn key_text(key: &str) -> String {
    if key.is_empty() { "not recorded".to_owned() } else { safe_text::one_line(key, 200) }
}

/// Returns the text of a cell.
pub fn cell(row: &UsageRow, column: UsageColumn) -> String {
    let number = |n: usize| if n == 0 { NONE.to_owned() } else { wording::grouped(n as u64) };
    match column {
        UsageColumn::Key => key_text(&row.key),
        UsageColumn::Sessions => number(row.sessions),
        UsageColumn::Calls => number(row.calls),
        UsageColumn::Input => wording::short(row.input),
        UsageColumn::Cached => row.cached_share().map_or_else(|| NONE.to_owned(), wording::percent),
        UsageColumn::Output => wording::short(row.output),
        UsageColumn::Cost => {
            let star = if row.unpriced > 0 { "*" } else { "" };
            let cost = row.cost().map(|cost| format!("{}{star}", wording::usd(cost)));
            cost.unwrap_or_else(|| NONE.to_owned())
        }
        UsageColumn::Misses => match row.miss_cost() {
            Some(cost) => format!("{} · {}", number(row.misses), wording::usd(cost)),
            None => number(row.misses),
        },
        UsageColumn::Compactions => number(row.compactions),
        UsageColumn::Peak => wording::percent(row.peak),
        UsageColumn::Overflows => number(row.overflows),
    }
}

/// Returns the exact figures of a row, a line each.
pub fn details(row: &UsageRow) -> Vec<String> {
    let mut lines = vec![format!(
        "{}, {}",
        wording::count(row.calls, "call"),
        wording::count(row.sessions, "session")
    )];
    if let Some(cost) = row.cost() {
        let cost = wording::usd(cost);
        lines.push(match row.unpriced {
            0 => format!("cost {cost}"),
            n => format!(
                "cost {cost} without {} of models without a known price",
                wording::count(n, "call")
            ),
        });
    }
    let cached = row.cached_share().map(|share| {
        let share = wording::percent(share);
        format!(", {share} read from the cache")
    });
    let input = wording::tokens(row.input);
    lines.push(format!("input {input} tokens{}", cached.unwrap_or_default()));
    let reasoning = match row.reasoning {
        Tokens::ZERO => String::new(),
        tokens => format!(", {} of them reasoning", wording::tokens(tokens)),
    };
    lines.push(format!("output {} tokens{reasoning}", wording::tokens(row.output)));
    if row.misses > 0 {
        let cost = row.miss_cost().map(|cost| format!(" for {}", wording::usd(cost)));
        let cause = row.top_cause().map(|cause| format!(", mostly {}", cause.text()));
        lines.push(format!(
            "{}: {} tokens sent again{}{}",
            wording::count(row.misses, "large cache miss"),
            wording::tokens(row.miss_tokens),
            cost.unwrap_or_default(),
            cause.unwrap_or_default()
        ));
    }
    if !row.models.is_empty() {
        const MAX_MODELS: usize = 6;
        let names: Vec<&str> = row.models.iter().take(MAX_MODELS).map(String::as_str).collect();
        let more = row.models.len().saturating_sub(MAX_MODELS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(safe_text::one_line(&format!("models: {}{more}", names.join(", ")), 300));
    }
    lines
}

/// Returns what the sums lack, and how much of them is counted rather than reported. `unread` is the number of files that
/// cannot be opened.
pub fn remarks(table: &UsageTable, unread: usize) -> Vec<String> {
    let total = &table.total;
    let calls = |n: usize| wording::count(n, "call");
    let answers = total.estimated_outputs.saturating_sub(total.estimated_inputs);
    let all = [
        (
            total.unpriced,
            format!("* without {} of models without a known price", calls(total.unpriced)),
        ),
        (
            total.estimated_inputs,
            format!(
                "{} without recorded usage: counted from the text",
                calls(total.estimated_inputs)
            ),
        ),
        (
            answers,
            format!(
                "{} without a plausible recorded size: counted from the text",
                wording::count(answers, "answer")
            ),
        ),
        (table.copies, format!("{} in two sessions: counted once", calls(table.copies))),
        (unread, format!("{} not opened", wording::count(unread, "other file"))),
    ];
    all.into_iter().filter(|(n, _)| *n > 0).map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Share, Usd};

    #[test]
    fn unknown_figures_are_dashes_and_an_incomplete_cost_has_a_mark() {
        let row = UsageRow { calls: 2, unpriced: 2, ..UsageRow::default() };
        assert_eq!(cell(&row, UsageColumn::Cost), NONE);
        assert_eq!(cell(&row, UsageColumn::Cached), NONE);
        assert_eq!(cell(&row, UsageColumn::Key), "not recorded");
        let row = UsageRow {
            calls: 1_200,
            unpriced: 1,
            usd: Usd(2.5),
            misses: 3,
            miss_usd: Usd(0.25),
            peak: Share(0.5),
            ..UsageRow::default()
        };
        assert_eq!(cell(&row, UsageColumn::Calls), "1,200");
        assert_eq!(cell(&row, UsageColumn::Cost), "$2.50*");
        assert_eq!(cell(&row, UsageColumn::Misses), "3 · $0.25");
    }
}
