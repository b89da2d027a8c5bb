//! `plimsoll tools`: the tools of a session, the tokens of their results and what became of these.

mod json_output;
mod text;

use super::args::{FileArg, GlobalOptions, row_limit};
use super::lanes;
use super::output::{json, print};
use super::status::Status;
use crate::analysis::LastUses;
use crate::analysis::resent::resent;
use crate::analysis::tools::{ToolColumn, ToolTable};
use crate::engine::recorded;
use clap::builder::{PossibleValuesParser, TypedValueParser};
pub(super) use json_output::ToolList;

/// List the tools of a session: calls, tokens of results, unused and repeated results
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Tools with names such as mcp__SERVER__TOOL are also summed by MCP server. `sent` is the share of all tokens sent by the calls of the recorded run, calls and results together. A result is never named later if it contains names (paths, symbols, hashes, numbers) and the model writes none of them afterwards; it may still have used them. A repeated result has the same tool, arguments and text as an earlier one.\n\nExamples:\n  plimsoll tools sample_sessions/compacted.jsonl\n  plimsoll tools sample_sessions/many-tool-results.jsonl --sort repeated --csv"
)]
pub(super) struct Args {
    #[command(flatten)]
    file: FileArg,
    /// Column to sort by: figures from the largest on, names from A to Z
    #[arg(long, value_name = "COLUMN", value_parser = column(), default_value = ToolColumn::Sent.name())]
    sort: ToolColumn,
    /// Number of tools and of servers; 0: all
    #[arg(long, value_name = "N", value_parser = row_limit, default_value = "40")]
    limit: usize,
    /// Print one line per tool and server
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl Args {
    pub(super) fn run(&self, shared: &GlobalOptions) -> anyhow::Result<Status> {
        let none = lanes::none(shared)?;
        let loaded = shared.load(&self.file.file)?;
        let case = &loaded.case;
        let recorded = recorded(case, none.checked_reserve(case, shared)?, None);
        let (resent, uses) = (resent(case, &recorded), LastUses::new(&case.session));
        let mut table = ToolTable::new(case, &resent, &uses);
        table.sort_by(self.sort);
        if shared.json {
            json(&ToolList::new(&table, self.limit))?;
        } else if self.csv {
            print(&text::csv(&table, self.limit))?;
        } else {
            print(&text::text(case, &table, self.limit))?;
        }
        Ok(Status::Done)
    }
}

/// Parser of a column's name.
fn column() -> impl TypedValueParser<Value = ToolColumn> {
    let names = PossibleValuesParser::new(ToolColumn::ALL.map(ToolColumn::name));
    names.map(|name| {
        let mut columns = ToolColumn::ALL.into_iter();
        columns.find(|column| column.name() == name).unwrap_or(ToolColumn::Sent)
    })
}
