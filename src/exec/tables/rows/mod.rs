//! The rows of a conversation, a file per table.
//!
//! Figures come from the functions that the other commands call, so that they are the same.

mod call;
mod compaction;
mod conversation;
mod fact;
mod failure;
mod lane;
mod message;
mod session;
mod tool;
mod tool_definition;

pub(super) use conversation::{Conversation, FileOrigin};
pub(super) use failure::FailureRow;
pub use lane::TableLane;

use super::schema::{Row, Rows, Table};
use crate::analysis::facts::Facts;
use crate::analysis::rereads::RereadModel;
use lane::PlayedLane;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// All tables, in the order in which they are listed.
pub static TABLES: &[Table] = &[
    session::SessionRow::TABLE,
    call::CallRow::TABLE,
    message::MessageRow::TABLE,
    compaction::CompactionRow::TABLE,
    lane::LaneRow::TABLE,
    fact::FactRow::TABLE,
    tool::ToolRow::TABLE,
    tool_definition::ToolDefinitionRow::TABLE,
    FailureRow::TABLE,
];

/// Rows by table.
pub(super) type TableRows = BTreeMap<&'static str, Rows>;

/// Tables to compute.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowOptions<'a> {
    /// Names of the tables.
    pub(super) tables: &'a [&'static str],
    /// Policies to replay.
    pub(super) lanes: &'a [TableLane],
    /// Coefficients of expected re-reads.
    pub(super) reread_model: &'a RereadModel,
    /// Whether text of the session is included.
    pub(super) with_text: bool,
}

impl RowOptions<'_> {
    fn has(&self, table: Table) -> bool {
        self.tables.contains(&table.name)
    }
}

/// Appends rows to their table.
pub(super) fn add<R: Row>(all: &mut TableRows, rows: impl IntoIterator<Item = R>) {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_some() {
        let table = all.entry(R::TABLE.name).or_insert_with(|| Rows::new(R::TABLE));
        rows.for_each(|row| table.push(row));
    }
}

/// Returns the rows of a conversation in all tables that are computed.
pub(super) fn rows_of(of: &Conversation<'_>, options: &RowOptions<'_>) -> TableRows {
    let mut all = TableRows::new();
    let has = |table: Table| options.has(table);
    if has(session::SessionRow::TABLE) {
        add(&mut all, [session::row(of)]);
    }
    if has(call::CallRow::TABLE) {
        add(&mut all, call::rows(of));
    }
    if has(message::MessageRow::TABLE) {
        add(&mut all, message::rows(of, options.with_text));
    }
    if has(tool::ToolRow::TABLE) {
        add(&mut all, tool::rows(of));
    }
    if has(tool_definition::ToolDefinitionRow::TABLE) {
        add(&mut all, tool_definition::rows(of));
    }
    let of_lanes = [compaction::CompactionRow::TABLE, lane::LaneRow::TABLE, fact::FactRow::TABLE];
    if of_lanes.into_iter().any(has) {
        let mut lanes = vec![PlayedLane::recorded(of)];
        lanes.par_extend(options.lanes.par_iter().map(|lane| PlayedLane::play(of, lane)));
        if has(compaction::CompactionRow::TABLE) {
            add(&mut all, lanes.iter().flat_map(|lane| compaction::rows(of, lane)));
        }
        if has(lane::LaneRow::TABLE) {
            add(&mut all, lane::rows(of, &lanes, options.reread_model));
        }
        if has(fact::FactRow::TABLE) {
            let facts = Facts::new(&of.case.session);
            let with_text = options.with_text;
            add(&mut all, lanes.iter().flat_map(|lane| fact::rows(of, &facts, lane, with_text)));
        }
    }
    all
}
