//! The result of `plimsoll tools` as text and CSV.

use crate::analysis::tools::{ResultSum, ToolRow, ToolTable};
use crate::cli::output::{clean, counted, grouped, percent, tokens};
use crate::engine::Case;
use crate::figure::number;
use crate::report::quoted;
use crate::safe_text::one_line;
use std::fmt::Write as _;

/// Characters of a name.
const NAME: usize = 32;

/// Returns the table as text, with this maximum number of tools and servers.
pub(super) fn text(case: &Case, table: &ToolTable, limit: usize) -> String {
    if table.tools.is_empty() {
        let messages = counted(case.session.messages.len(), "message");
        return format!("no tool calls in {messages}\n");
    }
    let total = &table.total;
    let mut text = format!(
        "{} of {} of {}: {} tokens of results; calls and results are {} of {} tokens sent\n\n",
        counted(total.tool_use.calls, "call"),
        counted(table.tools.len(), "tool"),
        clean(&case.session.source.name),
        tokens(total.results.tokens),
        percent(table.share_of_sent(total)),
        tokens(table.sent),
    );
    let servers = table.servers.iter().take(limit).map(|row| &row.name);
    let names = table.tools.iter().take(limit).map(|row| &row.name).chain(servers);
    let width = names.map(|name| shown(name).chars().count()).max().unwrap_or(0).max(10);
    rows(&mut text, table, ("tool", &table.tools), width, limit);
    if !table.servers.is_empty() {
        text.push('\n');
        rows(&mut text, table, ("MCP server", &table.servers), width, limit);
    }
    text.push('\n');
    row(&mut text, table, "all tools", total, width);
    text
}

fn rows(
    text: &mut String,
    table: &ToolTable,
    (heading, rows): (&str, &[ToolRow]),
    width: usize,
    limit: usize,
) {
    let _ = writeln!(
        text,
        "{heading:<width$} {:>7} {:>7} {:>12} {:>8} {:>10} {:>8} {:>7} {:>14} {:>14}",
        "calls",
        "failed",
        "results",
        "sent",
        "largest",
        "message",
        "call",
        "never named",
        "repeated"
    );
    for shown_row in rows.iter().take(limit) {
        row(text, table, &shown(&shown_row.name), shown_row, width);
    }
    if rows.len() > limit {
        let more = counted(rows.len() - limit, &format!("more {heading}"));
        let _ = writeln!(text, "{more} (--limit 0 lists all)");
    }
}

fn row(text: &mut String, table: &ToolTable, name: &str, row: &ToolRow, width: usize) {
    let or_dash = |n: Option<String>| n.unwrap_or_else(|| "–".to_owned());
    let _ = writeln!(
        text,
        "{name:<width$} {:>7} {:>7} {:>12} {:>8} {:>10} {:>8} {:>7} {:>14} {:>14}",
        grouped(row.tool_use.calls as u64),
        grouped(row.tool_use.errors as u64),
        tokens(row.results.tokens),
        percent(table.share_of_sent(row)),
        or_dash(row.largest.map(|largest| tokens(largest.tokens))),
        or_dash(row.largest.map(|largest| number(largest.message))),
        or_dash(row.largest.and_then(|largest| largest.call.map(number))),
        sum(row.never_named),
        sum(row.repeated),
    );
}

/// Formats results as their number and tokens: `3 (1,203)`.
fn sum(sum: ResultSum) -> String {
    match sum.results {
        0 => "0".to_owned(),
        n => format!("{} ({})", grouped(n as u64), tokens(sum.tokens)),
    }
}

/// Returns a name as the text shows it.
fn shown(name: &str) -> String {
    match &*one_line(name, NAME) {
        "" => "(no name)".to_owned(),
        name => clean(name).into_owned(),
    }
}

/// Returns the table as CSV, with this maximum number of tools and servers.
pub(super) fn csv(table: &ToolTable, limit: usize) -> String {
    let mut text = "kind,name,calls,failed_results,results,result_tokens,cumulative_tokens,share_of_sent,largest_result_tokens,largest_result_message,largest_result_call,never_named_results,never_named_tokens,repeated_results,repeated_tokens\n".to_owned();
    for (kind, rows) in [("tool", &table.tools), ("server", &table.servers)] {
        for row in rows.iter().take(limit) {
            let or_empty = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
            let largest = row.largest;
            let _ = writeln!(
                text,
                "{kind},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                quoted(&clean(&row.name)),
                row.tool_use.calls,
                row.tool_use.errors,
                row.results.results,
                row.results.tokens.0,
                row.cumulative.0,
                table.share_of_sent(row).0,
                or_empty(largest.map(|largest| largest.tokens.0)),
                or_empty(largest.map(|largest| largest.message as u64 + 1)),
                or_empty(largest.and_then(|largest| Some(largest.call? as u64 + 1))),
                row.never_named.results,
                row.never_named.tokens.0,
                row.repeated.results,
                row.repeated.tokens.0,
            );
        }
    }
    text
}
