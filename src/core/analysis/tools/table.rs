//! Figures of each tool and of each MCP server.

use super::mcp::server_of_tool;
use super::tool_use::{ToolUse, tool_uses};
use crate::analysis::LastUses;
use crate::analysis::resent::{Resent, ResentMessage};
use crate::engine::Case;
use crate::session::Body;
use crate::units::{Share, Tokens};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

/// The figures of all tools of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolTable {
    /// One row per tool.
    pub tools: Vec<ToolRow>,
    /// One row per MCP server, whose tools have names of the form `mcp__SERVER__TOOL`.
    pub servers: Vec<ToolRow>,
    /// Sums over all tools.
    pub total: ToolRow,
    /// Tokens sent by all calls of the recorded run.
    pub sent: Tokens,
}

/// The figures of a tool, of an MCP server or of all tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRow {
    /// Name; empty for the total.
    pub name: String,
    /// Number of calls and of failed results, and their tokens.
    pub tool_use: ToolUse,
    /// All results. An image in a result counts for it.
    pub results: ResultSum,
    /// Cumulative tokens of calls and results: tokens × calls that sent them in the recorded run.
    pub cumulative: Tokens,
    /// The largest result, the first of equal ones.
    pub largest: Option<LargestResult>,
    /// Results with a name (path, symbol, hash, number) of which the model writes none later.
    pub never_named: ResultSum,
    /// Results that are identical to an earlier one (see [`crate::session::Repeats`]).
    pub repeated: ResultSum,
}

/// Number and size of some results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultSum {
    /// Number of results.
    pub results: usize,
    /// Actual tokens.
    pub tokens: Tokens,
}

/// A result that is the largest of its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargestResult {
    /// Index of its message.
    pub message: usize,
    /// Index of the first call that sent it; `None` if no call did.
    pub call: Option<usize>,
    /// Actual tokens.
    pub tokens: Tokens,
}

/// A column that the rows can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolColumn {
    /// Share of the tokens sent.
    Sent,
    /// Number of calls.
    Calls,
    /// Number of failed results.
    Failed,
    /// Tokens of the results.
    Results,
    /// Tokens of the largest result.
    Largest,
    /// Tokens of the results that are never named later.
    NeverNamed,
    /// Tokens of the repeated results.
    Repeated,
    /// Name.
    Name,
}

impl ToolColumn {
    /// All columns, in the order of the table.
    pub const ALL: [Self; 8] = [
        Self::Name,
        Self::Calls,
        Self::Failed,
        Self::Results,
        Self::Sent,
        Self::Largest,
        Self::NeverNamed,
        Self::Repeated,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Calls => "calls",
            Self::Failed => "failed",
            Self::Results => "results",
            Self::Largest => "largest",
            Self::NeverNamed => "never-named",
            Self::Repeated => "repeated",
            Self::Name => "name",
        }
    }

    /// Compares rows by this column: figures from the largest on, names from A to Z. Equal rows are compared by name.
    pub fn compare(self, a: &ToolRow, b: &ToolRow) -> Ordering {
        let figures = Reverse(self.figure(a)).cmp(&Reverse(self.figure(b)));
        figures.then_with(|| a.name.cmp(&b.name))
    }

    /// Returns the figure of a row in this column; 0 for the name.
    fn figure(self, row: &ToolRow) -> u64 {
        match self {
            Self::Sent => row.cumulative.0,
            Self::Calls => row.tool_use.calls as u64,
            Self::Failed => row.tool_use.errors as u64,
            Self::Results => row.results.tokens.0,
            Self::Largest => row.largest.map_or(0, |largest| largest.tokens.0),
            Self::NeverNamed => row.never_named.tokens.0,
            Self::Repeated => row.repeated.tokens.0,
            Self::Name => 0,
        }
    }
}

impl ToolTable {
    /// Computes the figures of a session, sorted by their share of the tokens sent.
    pub fn new(case: &Case, resent: &Resent, uses: &LastUses<'_>) -> Self {
        let mut rows: BTreeMap<&str, ToolRow> = BTreeMap::new();
        for (tool, tool_use) in tool_uses(case) {
            rows.entry(tool).or_default().tool_use = tool_use;
        }
        for (idx, message) in case.session.messages.iter().enumerate() {
            for part in message.parts.clone() {
                let tool = case.index.calls.tool_of(&case.session, part);
                let body = &case.session.parts[part].body;
                // A definition belongs to a tool, but to no call.
                let row = tool.filter(|_| !matches!(body, Body::ToolDefinition { .. }));
                let Some(row) = row.map(|tool| rows.entry(tool).or_default()) else {
                    continue;
                };
                let tokens = case.ledger.part(part);
                row.cumulative += ResentMessage { tokens, ..resent.messages[idx] }.cumulative();
                if let Body::ToolResult { text, .. } = body
                    && message.in_history
                {
                    let is_repeated = case.index.repeats.repeats_result(part);
                    let is_named = uses.is_named_later(idx, text);
                    row.add_result(case, (idx, part), is_named == Some(false), is_repeated);
                }
            }
        }
        let mut servers: BTreeMap<&str, ToolRow> = BTreeMap::new();
        let mut total = ToolRow::default();
        for (tool, row) in &rows {
            total.add(row);
            if let Some(server) = server_of_tool(tool) {
                servers.entry(server).or_default().add(row);
            }
        }
        let mut table =
            Self { tools: named(rows), servers: named(servers), total, sent: resent.sent };
        table.sort_by(ToolColumn::Sent);
        table
    }

    /// Sorts the rows by a column, see [`ToolColumn::compare`].
    pub fn sort_by(&mut self, column: ToolColumn) {
        for rows in [&mut self.tools, &mut self.servers] {
            rows.sort_by(|a, b| column.compare(a, b));
        }
    }

    /// Returns the share of a row in the tokens sent.
    pub fn share_of_sent(&self, row: &ToolRow) -> Share {
        row.cumulative.share_of(self.sent)
    }
}

fn named(rows: BTreeMap<&str, ToolRow>) -> Vec<ToolRow> {
    let named = |(name, row): (&str, ToolRow)| ToolRow { name: name.to_owned(), ..row };
    rows.into_iter().map(named).collect()
}

impl ToolRow {
    /// Adds a result, given its message and part.
    fn add_result(
        &mut self,
        case: &Case,
        (message, part): (usize, usize),
        is_never_named: bool,
        is_repeated: bool,
    ) {
        let tokens = result_tokens(case, message, part);
        let result = ResultSum { results: 1, tokens };
        self.results.add(result);
        if is_never_named {
            self.never_named.add(result);
        }
        if is_repeated {
            self.repeated.add(result);
        }
        let call = case.session.first_call_with(message);
        self.keep_largest(LargestResult { message, call, tokens });
    }

    /// Adds the figures of a tool to a sum.
    fn add(&mut self, row: &Self) {
        self.tool_use.calls += row.tool_use.calls;
        self.tool_use.errors += row.tool_use.errors;
        self.tool_use.tokens += row.tool_use.tokens;
        self.results.add(row.results);
        self.cumulative += row.cumulative;
        self.never_named.add(row.never_named);
        self.repeated.add(row.repeated);
        if let Some(largest) = row.largest {
            self.keep_largest(largest);
        }
    }

    fn keep_largest(&mut self, other: LargestResult) {
        let size = |result: &LargestResult| (result.tokens, Reverse(result.message));
        if self.largest.is_none_or(|largest| size(&other) > size(&largest)) {
            self.largest = Some(other);
        }
    }
}

impl ResultSum {
    fn add(&mut self, other: Self) {
        self.results += other.results;
        self.tokens += other.tokens;
    }
}

/// Returns the tokens of a result with the images and documents in it, which follow it.
fn result_tokens(case: &Case, message: usize, part: usize) -> Tokens {
    let following = part + 1..case.session.messages[message].parts.end;
    let is_result =
        |part: &usize| matches!(case.session.parts[*part].body, Body::ToolResult { .. });
    let inside = following
        .take_while(|part| !is_result(part))
        .filter(|other| case.index.owner[*other] == Some(part as u32));
    case.ledger.part(part) + inside.map(|part| case.ledger.part(part)).sum()
}
