//! Writers of tables, a file per format.

mod csv;
mod json_lines;
#[cfg(feature = "tables")]
mod parquet_file;

use super::options::TableFormat;
use super::schema::{Rows, Table};
use std::io;

/// Number of rows at which a row group is closed. One of calls takes about 20 MB of memory.
const GROUP: usize = 100_000;

/// Returns the content of a file. `rows` are given in order, in pieces.
pub(super) fn encode(
    format: TableFormat,
    table: Table,
    with_text: bool,
    rows: impl Iterator<Item = Rows>,
) -> io::Result<Vec<u8>> {
    match format {
        #[cfg(feature = "tables")]
        TableFormat::Parquet => {
            let mut writer = parquet_file::ParquetWriter::new(table, with_text)?;
            groups(table, rows, |group| writer.write(&group))?;
            writer.finish()
        }
        #[cfg(not(feature = "tables"))]
        TableFormat::Parquet => Err(io::Error::other("this build writes no Parquet")),
        TableFormat::JsonLines => {
            let mut out = Vec::new();
            groups(table, rows, |group| json_lines::write(&mut out, &group, with_text))?;
            Ok(out)
        }
        TableFormat::Csv => {
            let mut out = csv::header(table, with_text);
            groups(table, rows, |group| {
                csv::write(&mut out, &group, with_text);
                Ok(())
            })?;
            Ok(out)
        }
    }
}

/// Joins pieces to groups of [`GROUP`] rows.
fn groups(
    table: Table,
    pieces: impl Iterator<Item = Rows>,
    mut write: impl FnMut(Rows) -> io::Result<()>,
) -> io::Result<()> {
    let mut group = Rows::new(table);
    for rows in pieces {
        group.append(rows);
        while group.len >= GROUP {
            let rest = group.split_off(GROUP);
            write(std::mem::replace(&mut group, rest))?;
        }
    }
    if group.len > 0 { write(group) } else { Ok(()) }
}
