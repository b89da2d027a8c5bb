//! Reads rows of plain tables from a copy of a database. A malicious file cannot run code of its own: views, triggers,
//! virtual tables, functions and extensions are disabled. The size of the file limits the steps and the text of a
//! query.

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

/// Steps of `SQLite`'s virtual machine between two checks for cancellation. Few, since a step of a malicious file may
/// read a large value.
const STEPS: i32 = 1_000;
/// Steps that every query may take. A query may take one more step per byte of the file. A plain query takes a few
/// steps for each row, so only a file that makes a query loop exceeds this.
const FREE_STEPS: u64 = 20_000_000;
/// Maximum number of rows of a query. Twice as many as the messages of the largest session that we tested.
const MAX_ROWS: usize = 2_000_000;
/// Bytes of text that every query may return. A query may return two more bytes per byte of the file: text becomes
/// longer as JSON, but a damaged file may refer to the same page again and again.
const FREE_BYTES: u64 = 1 << 20;
/// Maximum length of a value that is read, in bytes. Providers reject longer requests.
pub(super) const MAX_VALUE_BYTES: i32 = 32 << 20;
/// Maximum size of all values of a query as JSON, in bytes. They are in memory twice while the session is parsed.
const MAX_RESULT_BYTES: u64 = 256 << 20;

/// A restricted connection to a copy of a database.
#[derive(Debug)]
pub(super) struct TableReader {
    connection: Connection,
    /// Size of the file and its log in bytes.
    bytes: u64,
    steps: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

/// Result of a query.
#[derive(Debug)]
pub(super) struct QueryResult {
    pub(super) rows: Rows,
    /// Reason why rows are missing.
    pub(super) error: Option<QueryError>,
    /// Number of texts that are not valid UTF-8.
    pub(super) n_invalid: usize,
    /// Number of rows with a value longer than [`MAX_VALUE_BYTES`], which is left out.
    pub(super) n_omitted: usize,
}

/// Reason why a query failed or ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum QueryError {
    #[error("cancelled")]
    Cancelled,
    #[error("reading it takes too many steps for its size")]
    TooManySteps,
    #[error("it returns more data than its size allows")]
    TooMuchData,
    #[error("it is damaged ({0})")]
    Damaged(String),
}

impl TableReader {
    /// Opens a copy of this size in bytes.
    pub(super) fn open(path: &Path, bytes: u64, progress: &Progress) -> Result<Self, QueryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let (steps, stop) = (Arc::default(), progress.cancel_flag());
        let connection = Connection::open_with_flags(path, flags);
        let mut reader = Self {
            connection: connection.map_err(|error| QueryError::Damaged(error.to_string()))?,
            bytes,
            steps,
            stop,
        };
        reader.restrict().map_err(|error| reader.query_error(&error))?;
        Ok(reader)
    }

    fn restrict(&mut self) -> rusqlite::Result<()> {
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
            (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES),
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
        let must_stop =
            move || stop.load(Ordering::Relaxed) || steps.fetch_add(1, Ordering::Relaxed) > most;
        connection.progress_handler(STEPS, Some(must_stop))?;
        for (name, value) in [
            ("trusted_schema", 0),
            ("query_only", 1),
            ("cell_size_check", 1),
            ("mmap_size", 0),
            // Keeps temporary tables in memory.
            ("temp_store", 2),
            // A negative size is in KiB instead of pages.
            ("cache_size", -16_384),
        ] {
            connection.pragma_update(None, name, value)?;
        }
        Ok(())
    }

    /// Returns the plain tables among these names; views and virtual tables are left out.
    pub(super) fn tables(&self, names: &[&str]) -> Result<Vec<Table>, QueryError> {
        self.steps.store(0, Ordering::Relaxed);
        let tables = self.plain_tables(names);
        tables.map_err(|error| self.query_error(&error))
    }

    fn plain_tables(&self, names: &[&str]) -> rusqlite::Result<Vec<Table>> {
        let mut found = Vec::new();
        let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let mut definition = self.connection.prepare(sql)?;
        for name in names {
            let mut rows = definition.query([name])?;
            let mut is_plain = false;
            while let Some(row) = rows.next()? {
                is_plain |= is_plain_table(row);
            }
            if is_plain {
                found.push(Table { name: (*name).to_owned(), columns: self.columns(name)? });
            }
        }
        Ok(found)
    }

    /// Returns the stored columns of a table; generated columns would run expressions of the file.
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

    /// Describes the tables by a few names, for an error message.
    pub(super) fn describe_tables(&self) -> Result<String, QueryError> {
        let names = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 5";
            let mut listing = self.connection.prepare(sql)?;
            let names = listing.query_map([], |row| row.get::<_, String>(0))?;
            names.collect()
        };
        let names = names().map_err(|error| self.query_error(&error))?;
        Ok(match &names[..] {
            [] => "without a table".to_owned(),
            [only] => format!("its table is {}", shortened(only)),
            names => {
                let names: Vec<String> = names.iter().map(|name| shortened(name)).collect();
                format!("it has tables such as {}", names.join(", "))
            }
        })
    }

    /// Disables all statements but reads of table columns.
    pub(super) fn restrict_to_reading(&mut self) -> Result<(), QueryError> {
        let allow = |context: AuthContext<'_>| match context.action {
            // Column defaults name functions; the untrusted schema limits which ones.
            AuthAction::Select | AuthAction::Function { .. } => Authorization::Allow,
            AuthAction::Read { .. } if context.accessor.is_none() => Authorization::Allow,
            _ => Authorization::Deny,
        };
        let set = self.connection.authorizer(Some(allow));
        set.map_err(|error| self.query_error(&error))
    }

    /// Reads rows of a table; none if the file has no such table. Blobs in `binary` columns are not texts. After an
    /// error, the result has the rows read so far.
    pub(super) fn rows(
        &self,
        query: &TableQuery,
        table: Option<&Table>,
        binary: &[&str],
    ) -> QueryResult {
        self.steps.store(0, Ordering::Relaxed);
        let mut result = QueryResult {
            rows: Rows { columns: query.columns, rows: Vec::new() },
            error: None,
            n_invalid: 0,
            n_omitted: 0,
        };
        if let Some(table) = table {
            result.error = self.read(query, table, binary, &mut result).err();
        }
        result
    }

    fn read(
        &self,
        query: &TableQuery,
        table: &Table,
        binary: &[&str],
        result: &mut QueryResult,
    ) -> Result<(), QueryError> {
        let query_error = |error: rusqlite::Error| self.query_error(&error);
        let select = Select::new(query, table);
        let mut statement = self.connection.prepare(&select.sql).map_err(query_error)?;
        let values = rusqlite::params_from_iter(select.parameters);
        let mut rows = statement.query(values).map_err(query_error)?;
        let most = self.bytes.saturating_mul(2).saturating_add(FREE_BYTES);
        let mut left = most.min(MAX_RESULT_BYTES);
        while let Some(row) = rows.next().map_err(query_error)? {
            let mut cells = Vec::with_capacity(query.columns.len());
            for (idx, column) in query.columns.iter().enumerate() {
                let value = row.get_ref(idx).map_err(query_error)?;
                cells.push(match value {
                    ValueRef::Blob(bytes) if binary.contains(column) => blob(bytes, &mut left)?,
                    value => cell(value, &mut left, &mut result.n_invalid)?,
                });
            }
            if result.rows.rows.len() >= MAX_ROWS {
                return Err(QueryError::TooMuchData);
            }
            let is_omitted: bool = row.get(query.columns.len()).map_err(query_error)?;
            result.n_omitted += usize::from(is_omitted);
            result.rows.rows.push(cells);
        }
        Ok(())
    }

    fn query_error(&self, error: &rusqlite::Error) -> QueryError {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) if self.stop.load(Ordering::Relaxed) => {
                QueryError::Cancelled
            }
            Some(ErrorCode::OperationInterrupted) => QueryError::TooManySteps,
            Some(ErrorCode::TooBig) => QueryError::TooMuchData,
            _ => QueryError::Damaged(error.to_string()),
        }
    }
}

/// Returns true if a row of the schema defines a plain table and not a virtual one.
fn is_plain_table(row: &Row<'_>) -> bool {
    let sql = row.get_ref(0).ok().and_then(|sql| sql.as_str().ok());
    let start = sql.and_then(|sql| sql.get(..12));
    start.is_some_and(|start| start.eq_ignore_ascii_case("CREATE TABLE"))
}

/// A `SELECT` statement with its parameters.
struct Select {
    sql: String,
    parameters: Vec<String>,
}

impl Select {
    /// Creates the statement of a query. The last column of the result is true if a value was left out because of its
    /// length, which is known without reading it.
    fn new(query: &TableQuery, table: &Table) -> Self {
        let has = |column: &str| table.columns.iter().any(|c| c == column);
        let mut is_omitted = "0".to_owned();
        let mut columns: Vec<String> = Vec::new();
        for column in query.columns {
            if has(column) {
                let column = quoted(column);
                let is_long = format!("ifnull(octet_length({column}) > {MAX_VALUE_BYTES}, 0)");
                columns.push(format!("iif({is_long}, NULL, {column})"));
                is_omitted = format!("{is_omitted} OR {is_long}");
            } else {
                columns.push("NULL".to_owned());
            }
        }
        columns.push(is_omitted);
        let (condition, parameters) = match &query.filter {
            RowFilter::All => (String::new(), Vec::new()),
            RowFilter::Equals(column, value) => {
                (format!(" WHERE {} = ?1 COLLATE BINARY", quoted(column)), vec![value.clone()])
            }
            RowFilter::StartsWith(column, start) => {
                let column = quoted(column);
                (
                    format!(
                        " WHERE {column} >= ?1 COLLATE BINARY AND {column} < ?2 COLLATE BINARY"
                    ),
                    vec![start.to_string(), end_of_prefix(start)],
                )
            }
        };
        let columns = columns.join(", ");
        let table = quoted(query.table);
        Self { sql: format!("SELECT {columns} FROM {table}{condition}"), parameters }
    }
}

fn shortened(name: &str) -> String {
    name.chars().take(40).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the smallest text greater than every text with this prefix.
fn end_of_prefix(start: &str) -> String {
    let mut chars: Vec<char> = start.chars().collect();
    if let Some(last) = chars.last_mut() {
        *last = char::from_u32(u32::from(*last) + 1).unwrap_or(char::MAX);
    }
    chars.into_iter().collect()
}

fn cell(value: ValueRef<'_>, left: &mut u64, n_invalid: &mut usize) -> Result<Cell, QueryError> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            *left = left.checked_sub(max_json_len(bytes)).ok_or(QueryError::TooMuchData)?;
            let text = String::from_utf8_lossy(bytes);
            *n_invalid += usize::from(matches!(text, std::borrow::Cow::Owned(_)));
            Cell::Text(text.into_owned())
        }
    })
}

fn blob(bytes: &[u8], left: &mut u64) -> Result<Cell, QueryError> {
    *left = left.checked_sub(bytes.len() as u64).ok_or(QueryError::TooMuchData)?;
    Ok(Cell::Blob(bytes.to_vec()))
}

/// Returns the maximum size of a text as JSON, in bytes. An escaped control character has six.
fn max_json_len(text: &[u8]) -> u64 {
    let is_escaped = |byte: &&u8| **byte < b' ' && !matches!(**byte, b'\n' | b'\r' | b'\t');
    (text.len() + 5 * text.iter().filter(is_escaped).count()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_only_columns_of_the_table() {
        let table = Table {
            name: "messages".to_owned(),
            columns: vec!["id".to_owned(), "role".to_owned()],
        };
        let query = TableQuery {
            table: "messages",
            columns: &["id", "tokens", "role"],
            filter: RowFilter::StartsWith("id", "a:".into()),
        };
        let Select { sql, parameters } = Select::new(&query, &table);
        assert!(
            sql.starts_with(
                "SELECT iif(ifnull(octet_length(\"id\") > 33554432, 0), NULL, \"id\"), NULL, "
            ),
            "{sql}"
        );
        assert!(sql.contains(" FROM \"messages\" WHERE \"id\" >= ?1"), "{sql}");
        assert_eq!(parameters, ["a:", "a;"]);
    }
}
