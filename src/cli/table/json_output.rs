//! The result of `plimsoll table` as JSON.

use crate::exec::tables::{SCHEMA_VERSION, TableFormat, TableSummary, WrittenTable};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// Written tables.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TableOutput<'a> {
    /// Folder of the tables.
    output: String,
    /// Format of the files: `parquet`, `jsonl` or `csv`.
    format: &'static str,
    /// Version of the tables. It increases when a column, its meaning or a figure changes.
    schema_version: u32,
    /// Whether texts were written.
    text: bool,
    /// Number of files that were found, of all shards.
    found: usize,
    /// Number of files of the shard; all without `--shard`.
    files: usize,
    /// Number of files with rows.
    read: usize,
    /// Number of conversations with rows.
    conversations: usize,
    /// Number of files without rows.
    failed: usize,
    /// Number of rows of the table `failures`: files, and conversations of other files.
    failures: usize,
    /// Number of files that `--resume` skipped.
    skipped: usize,
    /// Number of files with the same content as another one, which were not read.
    duplicates: usize,
    /// Number of files that Plimsoll wrote. They are left out unless named.
    own_outputs: usize,
    /// Names of the written parts, in order.
    parts: &'a [String],
    /// The tables with rows.
    tables: Vec<WrittenTableEntry>,
}

/// Written files of a table.
#[derive(Serialize, JsonSchema)]
struct WrittenTableEntry {
    /// Name.
    table: &'static str,
    /// Number of rows.
    rows: usize,
    /// Number of files.
    files: usize,
    /// Size of the files in bytes.
    bytes: Bytes,
}

impl<'a> TableOutput<'a> {
    pub(super) fn new(
        output: &Path,
        format: TableFormat,
        text: bool,
        summary: &'a TableSummary,
    ) -> Self {
        Self {
            output: output.to_string_lossy().into_owned(),
            format: format.name(),
            schema_version: SCHEMA_VERSION,
            text,
            found: summary.found,
            files: summary.files,
            read: summary.read,
            conversations: summary.conversations,
            failed: summary.failed,
            failures: summary.failures,
            skipped: summary.skipped,
            duplicates: summary.duplicates,
            own_outputs: summary.own_outputs,
            parts: &summary.parts,
            tables: summary.tables.iter().map(entry).collect(),
        }
    }
}

fn entry(table: &WrittenTable) -> WrittenTableEntry {
    WrittenTableEntry {
        table: table.name,
        rows: table.rows,
        files: table.files,
        bytes: Bytes(table.bytes),
    }
}
