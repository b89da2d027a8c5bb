//! The result of `plimsoll tools` as JSON.

use crate::analysis::tools::{ResultSum, ToolRow, ToolTable};
use crate::units::{Share, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

/// The tools of a session.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolList<'a> {
    /// Sum of the contexts of all calls of the recorded run in tokens.
    tokens_sent: Tokens,
    /// Tools, in the order of `--sort`.
    tools: Vec<ToolEntry<'a>>,
    /// Number of tools that `--limit` excluded.
    tools_not_listed: usize,
    /// MCP servers with the sums over their tools, whose names have the form `mcp__SERVER__TOOL`.
    servers: Vec<ToolEntry<'a>>,
    /// Number of servers that `--limit` excluded.
    servers_not_listed: usize,
    /// Sums over all tools.
    total: ToolFigures,
}

/// A tool or an MCP server.
#[derive(Serialize, JsonSchema)]
struct ToolEntry<'a> {
    /// Name.
    name: &'a str,
    #[serde(flatten)]
    figures: ToolFigures,
}

/// Figures of a tool, of an MCP server or of all tools.
#[derive(Serialize, JsonSchema)]
struct ToolFigures {
    /// Number of calls.
    calls: usize,
    /// Number of failed results, as the file marks them.
    failed_results: usize,
    /// Number of results.
    results: usize,
    /// Tokens of the results.
    result_tokens: Tokens,
    /// Tokens of calls and results × calls that sent them in the recorded run.
    cumulative_tokens: Tokens,
    /// `cumulative_tokens` as a share of `tokens_sent`; 0 if no call sent anything.
    share_of_sent: Share,
    /// The largest result; null without results.
    largest_result: Option<LargestEntry>,
    /// Results with names (paths, symbols, hashes, numbers) of which the model writes none later.
    never_named: SumEntry,
    /// Results with the same tool, arguments and text as an earlier one.
    repeated: SumEntry,
}

/// The largest result.
#[derive(Serialize, JsonSchema)]
struct LargestEntry {
    /// Message with the result, from 1.
    message: usize,
    /// First call that sent it, from 1; null if no call did.
    call: Option<usize>,
    /// Tokens of the result.
    tokens: Tokens,
}

/// Number and size of some results.
#[derive(Serialize, JsonSchema)]
struct SumEntry {
    /// Number of results.
    results: usize,
    /// Tokens of these results.
    tokens: Tokens,
}

impl<'a> ToolList<'a> {
    /// Creates the output, with this maximum number of tools and servers.
    pub(super) fn new(table: &'a ToolTable, limit: usize) -> Self {
        let entries = |rows: &'a [ToolRow]| {
            let entry =
                |row: &'a ToolRow| ToolEntry { name: &row.name, figures: figures(table, row) };
            rows.iter().take(limit).map(entry).collect()
        };
        Self {
            tokens_sent: table.sent,
            tools: entries(&table.tools),
            tools_not_listed: table.tools.len().saturating_sub(limit),
            servers: entries(&table.servers),
            servers_not_listed: table.servers.len().saturating_sub(limit),
            total: figures(table, &table.total),
        }
    }
}

fn figures(table: &ToolTable, row: &ToolRow) -> ToolFigures {
    ToolFigures {
        calls: row.tool_use.calls,
        failed_results: row.tool_use.errors,
        results: row.results.results,
        result_tokens: row.results.tokens,
        cumulative_tokens: row.cumulative,
        share_of_sent: table.share_of_sent(row),
        largest_result: row.largest.map(|largest| LargestEntry {
            message: largest.message + 1,
            call: largest.call.map(|call| call + 1),
            tokens: largest.tokens,
        }),
        never_named: sum(row.never_named),
        repeated: sum(row.repeated),
    }
}

fn sum(sum: ResultSum) -> SumEntry {
    SumEntry { results: sum.results, tokens: sum.tokens }
}
