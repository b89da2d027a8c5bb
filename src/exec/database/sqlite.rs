//! Asks a copy of a database for rows of plain tables, and lets a file made for harm do nothing else: no views, triggers,
//! virtual tables, functions or extensions, no more text than the file can hold, no more steps than its size explains.

use crate::formats::{Cell, RowFilter, Rows, Table, TableQuery};
use crate::progress::Progress;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Steps of `SQLite`'s machine between looks at whether to stop.
const STEPS: i32 = 1_000;
/// Steps that every question may take, and one more for each byte of the file.
const FREE_STEPS: u64 = 20_000_000;
/// A question has no more rows than this.
const MOST_ROWS: usize = 2_000_000;
/// Bytes beyond the file's own that texts may have: short files are mostly padding either way.
const FREE_BYTES: u64 = 1 << 20;
/// The longest value that is read: providers accept no longer request.
pub(super) const MOST_VALUE: i32 = 32 << 20;
/// The most bytes that all values of an answer may have as JSON.
const MOST_BYTES: u64 = 256 << 20;

/// A database that can be asked.
#[derive(Debug)]
pub(super) struct Asked {
    connection: Connection,
    /// Bytes of the file and its log.
    bytes: u64,
    steps: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

/// What a question gave.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) rows: Rows,
    /// Why not all rows are there.
    pub(super) trouble: Option<Trouble>,
    /// Texts that were no UTF-8.
    pub(super) n_mended: usize,
    /// Rows with a value longer than [`MOST_VALUE`], which is left out.
    pub(super) n_cut: usize,
}

/// Why a question was not answered, or not to the end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    #[error("cancelled")]
    Cancelled,
    #[error("it keeps SQLite busy without end")]
    Endless,
    #[error("it holds more than its size allows")]
    TooMuch,
    #[error("it is damaged ({0})")]
    Damaged(String),
}

impl Asked {
    /// Opens a copy of so many bytes.
    pub(super) fn open(path: &Path, bytes: u64, progress: &Progress) -> Result<Self, Trouble> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let (steps, stop) = (Arc::default(), progress.stop_sign());
        let connection = Connection::open_with_flags(path, flags);
        let mut asked = Self {
            connection: connection.map_err(|error| Trouble::Damaged(error.to_string()))?,
            bytes,
            steps,
            stop,
        };
        asked.restrain().map_err(|error| asked.trouble(&error))?;
        Ok(asked)
    }

    fn restrain(&mut self) -> rusqlite::Result<()> {
        let connection = &mut self.connection;
        for (config, is_on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        ] {
            connection.set_db_config(config, is_on)?;
        }
        for (limit, most) in [
            (Limit::SQLITE_LIMIT_LENGTH, MOST_VALUE),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
            (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 20),
            (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            connection.set_limit(limit, most)?;
        }
        let (steps, stop) = (Arc::clone(&self.steps), Arc::clone(&self.stop));
        let most = self.bytes.saturating_add(FREE_STEPS) / u64::from(STEPS.unsigned_abs());
        let is_enough =
            move || stop.load(Ordering::Relaxed) || steps.fetch_add(1, Ordering::Relaxed) > most;
        connection.progress_handler(STEPS, Some(is_enough))?;
        for (name, value) in [
            ("trusted_schema", 0),
            ("query_only", 1),
            ("cell_size_check", 1),
            ("mmap_size", 0),
            // In memory, and in so many KiB of it at most.
            ("temp_store", 2),
            ("cache_size", -16_384),
        ] {
            connection.pragma_update(None, name, value)?;
        }
        Ok(())
    }

    /// The plain tables of these names; what else has such a name is left out.
    pub(super) fn tables(&self, names: &[&str]) -> Result<Vec<Table>, Trouble> {
        self.steps.store(0, Ordering::Relaxed);
        let tables = self.plain_tables(names);
        tables.map_err(|error| self.trouble(&error))
    }

    fn plain_tables(&self, names: &[&str]) -> rusqlite::Result<Vec<Table>> {
        let mut found = Vec::new();
        let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let mut making = self.connection.prepare(sql)?;
        for name in names {
            let mut rows = making.query([name])?;
            let mut is_plain = false;
            while let Some(row) = rows.next()? {
                is_plain |= is_plain_table(row);
            }
            if is_plain {
                found.push(Table {
                    name: (*name).to_owned(),
                    columns: self.columns(name)?,
                });
            }
        }
        Ok(found)
    }

    /// The columns that hold something themselves; others are worked out by what the file says.
    fn columns(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let mut columns = Vec::new();
        self.connection.pragma(None, "table_xinfo", table, |row| {
            if row.get::<_, i64>("hidden")? == 0 {
                columns.push(row.get("name")?);
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// Names of some tables, for a sentence.
    pub(super) fn some_tables(&self) -> Result<String, Trouble> {
        let names = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 5";
            let mut listing = self.connection.prepare(sql)?;
            let names = listing.query_map([], |row| row.get::<_, String>(0))?;
            names.collect()
        };
        let names = names().map_err(|error| self.trouble(&error))?;
        Ok(match &names[..] {
            [] => "without a table".to_owned(),
            [only] => format!("its table is {}", short(only)),
            names => {
                let names: Vec<String> = names.iter().map(|name| short(name)).collect();
                format!("it has tables such as {}", names.join(", "))
            }
        })
    }

    /// From here on nothing but reading columns of tables is allowed.
    pub(super) fn restrict_to_reading(&mut self) -> Result<(), Trouble> {
        let allow = |context: AuthContext<'_>| match context.action {
            // Defaults of columns name functions; which ones a schema may, trusting none of it decides.
            AuthAction::Select | AuthAction::Function { .. } => Authorization::Allow,
            AuthAction::Read { .. } if context.accessor.is_none() => Authorization::Allow,
            _ => Authorization::Deny,
        };
        let set = self.connection.authorizer(Some(allow));
        set.map_err(|error| self.trouble(&error))
    }

    /// Rows of a table. What was read before something went wrong is given all the same.
    pub(super) fn rows(&self, ask: &TableQuery, table: Option<&Table>) -> Answered {
        self.steps.store(0, Ordering::Relaxed);
        let mut answered = Answered {
            rows: Rows {
                columns: ask.columns,
                rows: Vec::new(),
            },
            trouble: None,
            n_mended: 0,
            n_cut: 0,
        };
        if let Some(table) = table {
            answered.trouble = self.read(ask, table, &mut answered).err();
        }
        answered
    }

    fn read(
        &self,
        ask: &TableQuery,
        table: &Table,
        answered: &mut Answered,
    ) -> Result<(), Trouble> {
        let to_trouble = |error: rusqlite::Error| self.trouble(&error);
        let (sql, values) = question(ask, table);
        let mut statement = self.connection.prepare(&sql).map_err(to_trouble)?;
        let values = rusqlite::params_from_iter(values);
        let mut rows = statement.query(values).map_err(to_trouble)?;
        let most = self.bytes.saturating_mul(2).saturating_add(FREE_BYTES);
        let mut left = most.min(MOST_BYTES);
        while let Some(row) = rows.next().map_err(to_trouble)? {
            let mut cells = Vec::with_capacity(ask.columns.len());
            for idx in 0..ask.columns.len() {
                let value = row.get_ref(idx).map_err(to_trouble)?;
                cells.push(cell(value, &mut left, &mut answered.n_mended)?);
            }
            if answered.rows.rows.len() >= MOST_ROWS {
                return Err(Trouble::TooMuch);
            }
            let is_cut: bool = row.get(ask.columns.len()).map_err(to_trouble)?;
            answered.n_cut += usize::from(is_cut);
            answered.rows.rows.push(cells);
        }
        Ok(())
    }

    fn trouble(&self, error: &rusqlite::Error) -> Trouble {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) if self.stop.load(Ordering::Relaxed) => {
                Trouble::Cancelled
            }
            Some(ErrorCode::OperationInterrupted) => Trouble::Endless,
            Some(ErrorCode::TooBig) => Trouble::TooMuch,
            _ => Trouble::Damaged(error.to_string()),
        }
    }
}

/// Whether a row of the schema makes a table of its own, rather than one of an extension.
fn is_plain_table(row: &Row<'_>) -> bool {
    let sql = row.get_ref(0).ok().and_then(|sql| sql.as_str().ok());
    let start = sql.and_then(|sql| sql.get(..12));
    start.is_some_and(|start| start.eq_ignore_ascii_case("CREATE TABLE"))
}

/// The words for a question, and what it compares with. The last column of the answer tells whether a value was too long.
/// The length of a value is known without reading it.
fn question(ask: &TableQuery, table: &Table) -> (String, Vec<String>) {
    let has = |column: &str| table.columns.iter().any(|c| c == column);
    let mut is_cut = "0".to_owned();
    let mut columns: Vec<String> = Vec::new();
    for column in ask.columns {
        if has(column) {
            let column = quoted(column);
            let is_long = format!("ifnull(octet_length({column}) > {MOST_VALUE}, 0)");
            columns.push(format!("iif({is_long}, NULL, {column})"));
            is_cut = format!("{is_cut} OR {is_long}");
        } else {
            columns.push("NULL".to_owned());
        }
    }
    columns.push(is_cut);
    let (only, values) = match &ask.filter {
        RowFilter::All => (String::new(), Vec::new()),
        RowFilter::Equals(column, value) => (
            format!(" WHERE {} = ?1 COLLATE BINARY", quoted(column)),
            vec![value.clone()],
        ),
        RowFilter::StartsWith(column, start) => {
            let column = quoted(column);
            (
                format!(" WHERE {column} >= ?1 COLLATE BINARY AND {column} < ?2 COLLATE BINARY"),
                vec![start.to_string(), behind(start)],
            )
        }
    };
    let columns = columns.join(", ");
    let table = quoted(ask.table);
    (format!("SELECT {columns} FROM {table}{only}"), values)
}

/// A name of a length that can be read.
fn short(name: &str) -> String {
    name.chars().take(40).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The first text behind all those that begin so.
fn behind(start: &str) -> String {
    let mut chars: Vec<char> = start.chars().collect();
    if let Some(last) = chars.last_mut() {
        *last = char::from_u32(u32::from(*last) + 1).unwrap_or(char::MAX);
    }
    chars.into_iter().collect()
}

fn cell(value: ValueRef<'_>, left: &mut u64, n_mended: &mut usize) -> Result<Cell, Trouble> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            *left = left.checked_sub(json_len(bytes)).ok_or(Trouble::TooMuch)?;
            let text = String::from_utf8_lossy(bytes);
            *n_mended += usize::from(matches!(text, std::borrow::Cow::Owned(_)));
            Cell::Text(text.into_owned())
        }
    })
}

/// The most bytes that a text may take as JSON, where controls are written as six. What is worked out of a value is as
/// long as that.
fn json_len(text: &[u8]) -> u64 {
    let is_escaped = |byte: &&u8| **byte < b' ' && !matches!(**byte, b'\n' | b'\r' | b'\t');
    (text.len() + 5 * text.iter().filter(is_escaped).count()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_only_columns_that_are_there() {
        let table = Table {
            name: "messages".to_owned(),
            columns: vec!["id".to_owned(), "role".to_owned()],
        };
        let ask = TableQuery {
            table: "messages",
            columns: &["id", "tokens", "role"],
            filter: RowFilter::StartsWith("id", "a:".into()),
        };
        let (sql, values) = question(&ask, &table);
        assert!(
            sql.starts_with(
                "SELECT iif(ifnull(octet_length(\"id\") > 33554432, 0), NULL, \"id\"), NULL, "
            ),
            "{sql}"
        );
        assert!(
            sql.contains(" FROM \"messages\" WHERE \"id\" >= ?1"),
            "{sql}"
        );
        assert_eq!(values, ["a:", "a;"]);
    }
}
