//! The result of `plimsoll usage` as text and as CSV.

use crate::analysis::usage::{UsageQuery, UsageRow, UsageTable};
use crate::cli::output::{clean, counted};
use crate::exec::stores::Listing;
use crate::figure::{usd, whole_percent};
use crate::report::quoted;
use crate::units::{Tokens, Usd};
use jiff::Timestamp;
use std::fmt::Write as _;

/// Heads of the columns behind the key.
const HEADS: [&str; 10] = [
    "sessions",
    "calls",
    "input",
    "cached",
    "output",
    "cost",
    "misses",
    "compactions",
    "peak",
    "overflows",
];

/// Text of a value that is unknown or zero.
const NONE: &str = "–";

/// Returns the table as text. `n_more` is the number of rows that are not shown.
pub(super) fn text(
    (table, n_more): (&UsageTable, usize),
    query: &UsageQuery,
    listing: &Listing,
) -> String {
    if table.total.calls == 0 {
        return nothing(query, listing);
    }
    let by = query.key.name();
    let mut lines: Vec<[String; 11]> = vec![line(by.to_owned(), HEADS.map(str::to_owned))];
    lines.extend(table.rows.iter().map(|row| line(name(&row.key), cells(row))));
    lines.push(line("total".to_owned(), cells(&table.total)));
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: [usize; 11] = std::array::from_fn(width);
    let mut text = String::new();
    for line in &lines {
        let key = &line[0];
        let _ = write!(text, "{key}{}", " ".repeat(widths[0] - key.chars().count()));
        for (cell, width) in line.iter().zip(widths).skip(1) {
            let _ = write!(text, "  {}{cell}", " ".repeat(width - cell.chars().count()));
        }
        text.push('\n');
    }
    if n_more > 0 {
        let _ = writeln!(
            text,
            "{} in the total only (--limit 0 shows all)",
            counted(n_more, "more row")
        );
    }
    for remark in remarks(table, listing) {
        let _ = writeln!(text, "{remark}");
    }
    text
}

/// Says that no call was found, and why.
fn nothing(query: &UsageQuery, listing: &Listing) -> String {
    let ended = listing.sessions.iter().filter_map(|listed| listed.summary.as_ref().ok()?.ended);
    let last = ended.max().and_then(|time| Timestamp::from_millisecond(time).ok());
    let last = last.map(|moment| moment.to_zoned(query.zone.clone()).date());
    match last.filter(|_| query.since.is_some() || query.until.is_some()) {
        Some(last) => format!("No call on these days; the last one was on {last}.\n"),
        None => "No call was found. `plimsoll sessions` says where it looks.\n".to_owned(),
    }
}

fn line(key: String, cells: [String; 10]) -> [String; 11] {
    let mut all = std::iter::once(key).chain(cells);
    std::array::from_fn(|_| all.next().unwrap_or_default())
}

/// Returns what the sums lack, and how much of them is counted rather than reported.
fn remarks(table: &UsageTable, listing: &Listing) -> Vec<String> {
    let total = &table.total;
    let mut remarks = Vec::new();
    if total.unpriced > 0 {
        let n = counted(total.unpriced, "call");
        remarks.push(format!("* without {n} of models without a known price"));
    }
    if total.estimated_inputs > 0 {
        let n = counted(total.estimated_inputs, "call");
        remarks.push(format!("{n} without recorded usage: counted from the text"));
    }
    let answers = total.estimated_outputs.saturating_sub(total.estimated_inputs);
    if answers > 0 {
        let n = counted(answers, "answer");
        remarks.push(format!("{n} without a plausible recorded size: counted from the text"));
    }
    if table.copies > 0 {
        let n = counted(table.copies, "call");
        remarks.push(format!("{n} in two sessions: counted once"));
    }
    if !listing.unread.is_empty() {
        let n = counted(listing.unread.len(), "file");
        remarks.push(format!(
            "{n}: not a session that can be opened (`plimsoll sessions --json` says why)"
        ));
    }
    remarks
}

fn name(key: &str) -> String {
    if key.is_empty() { "not recorded".to_owned() } else { clean(key).into_owned() }
}

/// Returns the figures of a row, in the order of [`HEADS`].
fn cells(row: &UsageRow) -> [String; 10] {
    let number = |n: usize| if n == 0 { NONE.to_owned() } else { n.to_string() };
    let star = if row.unpriced > 0 { "*" } else { "" };
    let misses = match (row.misses, row.miss_cost()) {
        (0, _) => NONE.to_owned(),
        (n, Some(cost)) => format!("{n} · {}", usd(cost)),
        (n, None) => n.to_string(),
    };
    [
        row.sessions.to_string(),
        row.calls.to_string(),
        row.input.short(),
        row.cached_share().map_or_else(|| NONE.to_owned(), whole_percent),
        row.output.short(),
        row.cost().map_or_else(|| NONE.to_owned(), |cost| format!("{}{star}", usd(cost))),
        misses,
        number(row.compactions),
        whole_percent(row.peak),
        number(row.overflows),
    ]
}

/// Formats tokens, cost, peak and calls above the window.
pub(crate) fn sums(row: &UsageRow) -> String {
    let cost = row.cost().map_or_else(|| "cost unknown".to_owned(), usd);
    let star = if row.unpriced > 0 && row.cost().is_some() { "*" } else { "" };
    let mut text = format!(
        "{}, {} in, {} out, {cost}{star}, peak {}",
        counted(row.calls, "call"),
        row.input.short(),
        row.output.short(),
        whole_percent(row.peak)
    );
    if row.misses > 0 {
        let _ = write!(text, ", {}", counted(row.misses, "cache miss"));
    }
    if row.overflows > 0 {
        let _ = write!(text, ", {} above the window", counted(row.overflows, "call"));
    }
    text
}

/// Returns one line a row, with names of `--json`. Unknown values are empty.
pub(super) fn csv(by: &str, table: &UsageTable) -> String {
    let mut text = format!(
        "{by},sessions,calls,rejected_calls,input_tokens,cache_read_input_tokens,cache_creation_input_tokens,output_tokens,reasoning_output_tokens,cost_usd,unpriced_calls,cache_miss_calls,cache_miss_tokens,cache_miss_usd,compactions,peak_share,overflows\n"
    );
    for row in &table.rows {
        let tokens = |n: Option<Tokens>| n.map_or_else(String::new, |n| n.0.to_string());
        let money = |usd: Option<Usd>| usd.map_or_else(String::new, |usd| format!("{:.6}", usd.0));
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            quoted(&clean(&row.key)),
            row.sessions,
            row.calls,
            row.rejected,
            row.input.0,
            tokens(row.known_cache_read()),
            tokens(row.known_cache_write()),
            row.output.0,
            row.reasoning.0,
            money(row.cost()),
            row.unpriced,
            row.misses,
            row.miss_tokens.0,
            money(row.miss_cost()),
            row.compactions,
            row.peak.known().map_or_else(String::new, |share| share.0.to_string()),
            row.overflows,
        );
    }
    text
}
