//! Sessions in program databases: the tables that identify a program, the queries for a session, and the conversion of
//! its rows to the document that the program itself would export. One reader thus reads both. Opening a database is
//! outside of this module.

use super::{FORMATS, json};
use crate::json::Value;
use crate::units::Millis;
use std::borrow::Cow;

/// A program's database.
#[derive(Debug)]
pub struct Database {
    /// Its tables. Those with required columns identify it; the others may be missing.
    pub tables: &'static [(&'static str, &'static [&'static str])],
    /// Columns whose blobs are not texts.
    pub binary: &'static [&'static str],
    /// Query that lists its sessions.
    pub listing: TableQuery,
    /// Converts the listed rows to sessions.
    pub entries: fn(&Rows) -> Vec<DatabaseSession>,
    /// Returns the queries for the data of a session.
    pub queries: fn(&DatabaseSession) -> Vec<TableQuery>,
    /// Builds a session's document from the rows of its queries. It contains each row at most once, so that its size
    /// is bounded by theirs, whatever ids a damaged database repeats.
    pub document: fn(&DatabaseSession, &[Rows]) -> Vec<u8>,
}

/// A query of a table.
#[derive(Clone, Debug)]
pub struct TableQuery {
    /// The table.
    pub table: &'static str,
    /// Columns. A column that the table lacks reads as [`Cell::Null`].
    pub columns: &'static [&'static str],
    /// Selection of rows.
    pub filter: RowFilter,
}

/// A selection of rows of a table.
#[derive(Clone, Debug)]
pub enum RowFilter {
    /// All rows.
    All,
    /// Rows in which this column equals this text.
    Equals(&'static str, String),
    /// Rows in which this column is a text with this prefix, whose last character is ASCII.
    StartsWith(&'static str, Cow<'static, str>),
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Null, or a missing column.
    Null,
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// A text, or bytes that are one.
    Text(String),
    /// Bytes of a column that is not text, see [`Database::binary`].
    Blob(Vec<u8>),
}

/// The rows of a query, in no particular order.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The columns.
    pub columns: &'static [&'static str],
    /// Rows with one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A session in a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseSession {
    /// Session id.
    pub id: String,
    /// Owner of the session, if the same id may occur twice.
    pub owner: String,
    /// Title of the session.
    pub title: String,
    /// Time of its creation.
    pub created: Option<Millis>,
    /// Time of its last change.
    pub updated: Option<Millis>,
    /// Id of the session that started it, if it is a sub-agent's.
    pub parent: Option<String>,
    /// Another key that its queries need; empty if they need none.
    pub key: String,
    /// Bytes of its row in the listing.
    pub bytes: u64,
    /// Changes with the session where `updated` and `bytes` may not; zero if they suffice.
    pub version: u64,
}

/// A table of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Table name.
    pub name: String,
    /// Column names.
    pub columns: Vec<String>,
}

/// Returns the databases of all formats.
pub fn databases() -> impl Iterator<Item = &'static Database> {
    FORMATS.iter().filter_map(|format| format.database)
}

/// Returns the database that has these tables.
pub fn database_of(tables: &[Table]) -> Option<&'static Database> {
    let has = |(name, columns): &(&str, &[&str])| {
        let table = tables.iter().find(|table| table.name == *name);
        let has_column =
            |column: &&str| table.is_some_and(|t| t.columns.iter().any(|c| c == *column));
        columns.iter().all(has_column)
    };
    databases().find(|database| database.tables.iter().all(has))
}

/// Returns the labels of the programs whose databases are supported, as part of a sentence.
pub fn supported_databases() -> String {
    let formats = FORMATS.iter().filter(|format| format.database.is_some());
    let labels: Vec<_> = formats.map(|format| format.label).collect();
    labels.join(", ")
}

impl Database {
    /// Returns the tables that identify it.
    pub fn identifying_tables(&self) -> impl Iterator<Item = &'static str> {
        self.tables.iter().filter(|(_, columns)| !columns.is_empty()).map(|(name, _)| *name)
    }

    /// Returns the sessions of these rows, oldest first, so that their numbers stay when new ones are added.
    pub fn entries_of(&self, rows: &Rows) -> Vec<DatabaseSession> {
        let mut entries = (self.entries)(rows);
        entries.sort_by(|a, b| (a.created, &a.owner, &a.id).cmp(&(b.created, &b.owner, &b.id)));
        for entry in &mut entries {
            if entry.title.trim().is_empty() {
                entry.title.clone_from(&entry.id);
            }
        }
        entries
    }
}

impl Rows {
    /// Iterates over the rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = Record<'_>> {
        self.rows.iter().map(|cells| Record { columns: self.columns, cells })
    }
}

/// A row with access by column name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    columns: &'static [&'static str],
    cells: &'a [Cell],
}

impl<'a> Record<'a> {
    fn cell(&self, column: &str) -> &'a Cell {
        let place = self.columns.iter().position(|name| *name == column);
        let cell = place.and_then(|place| self.cells.get(place));
        cell.unwrap_or(&Cell::Null)
    }

    /// Returns a text, or an empty one for any other value.
    pub(super) fn text(&self, column: &str) -> &'a str {
        match self.cell(column) {
            Cell::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the bytes of a blob or a text, or none for any other value.
    pub(super) fn blob(&self, column: &str) -> &'a [u8] {
        match self.cell(column) {
            Cell::Blob(bytes) => bytes,
            Cell::Text(text) => text.as_bytes(),
            _ => &[],
        }
    }

    /// Returns an id, which may be stored as a number.
    pub(super) fn id(&self, column: &str) -> String {
        match self.cell(column) {
            Cell::Text(text) => text.clone(),
            Cell::Integer(number) => number.to_string(),
            _ => String::new(),
        }
    }

    /// Returns an integer.
    pub(super) fn integer(&self, column: &str) -> Option<i64> {
        match self.cell(column) {
            Cell::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns a count, or zero for any other value.
    pub(super) fn count(&self, column: &str) -> u64 {
        self.integer(column).and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
    }

    /// Returns a number, or zero for any other value.
    pub(super) fn number(&self, column: &str) -> f64 {
        self.value(column).as_f64().unwrap_or_default()
    }

    /// Returns a time, see [`json::millis`].
    pub(super) fn time(&self, column: &str) -> Option<Millis> {
        json::millis(&self.value(column))
    }

    fn value(&self, column: &str) -> Value {
        match self.cell(column) {
            Cell::Integer(number) => (*number).into(),
            Cell::Real(number) => (*number).into(),
            Cell::Text(text) => text.as_str().into(),
            Cell::Null | Cell::Blob(_) => Value::Null,
        }
    }

    /// Returns the value as JSON, a text as a string.
    pub(super) fn plain(&self, column: &str) -> Vec<u8> {
        self.value(column).to_string().into_bytes()
    }

    /// Returns a text's own JSON unchanged, or a text that is not JSON as a string.
    pub(super) fn json(&self, column: &str) -> Vec<u8> {
        let text = self.text(column).trim();
        if json::is_one_value(text.as_bytes()) {
            text.as_bytes().to_vec()
        } else {
            self.plain(column)
        }
    }

    /// Returns [`Self::json`] with these members added at the start if it is an object.
    pub(super) fn json_with(&self, column: &str, members: &[(&str, &str)]) -> Vec<u8> {
        let own = self.json(column);
        let Some(rest) = own.strip_prefix(b"{") else {
            return own;
        };
        let before = members
            .iter()
            .map(|(key, value)| format!("{}: {}", Value::from(*key), Value::from(*value)));
        let before: Vec<String> = before.collect();
        let comma = if rest.trim_ascii_start().starts_with(b"}") { "" } else { ", " };
        [b"{", before.join(", ").as_bytes(), comma.as_bytes(), rest].concat()
    }

    /// Returns the members of an object: each column with a value under its key.
    pub(super) fn members<'k>(&self, named: &[(&'k str, &str)]) -> Vec<(&'k str, Vec<u8>)> {
        let present = named.iter().filter(|(_, column)| *self.cell(column) != Cell::Null);
        present.map(|(key, column)| (*key, self.plain(column))).collect()
    }

    /// Returns the total bytes of its texts and blobs.
    pub(super) fn bytes(&self) -> u64 {
        let len = |cell: &Cell| match cell {
            Cell::Text(text) => text.len() as u64,
            Cell::Blob(bytes) => bytes.len() as u64,
            _ => 0,
        };
        self.cells.iter().map(len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: &[&str]) -> Table {
        Table { name: name.to_owned(), columns: columns.iter().map(|c| (*c).to_owned()).collect() }
    }

    #[test]
    fn detects_the_program_from_tables_and_columns() {
        let identifying = |tables: &[Table]| database_of(tables).map(|d| d.tables[0].0);
        let session = table("session", &["id", "title", "time_created"]);
        let message = table("message", &["id", "session_id", "time_created", "data"]);
        let part = table("part", &["id", "message_id", "session_id", "data"]);
        let all = [session.clone(), message.clone(), part];
        assert_eq!(identifying(&all), Some("session"));
        assert_eq!(identifying(&[session, message]), None);
        let kv = table("cursorDiskKV", &["key", "value"]);
        assert_eq!(identifying(&[kv]), Some("cursorDiskKV"));
        assert_eq!(identifying(&[table("ItemTable", &["key", "value"])]), None);
        assert_eq!(identifying(&[]), None);
    }

    #[test]
    fn adds_members_to_objects_only() {
        let with = |text: &str| {
            let rows = Rows { columns: &["data"], rows: vec![vec![Cell::Text(text.to_owned())]] };
            let made = rows.iter().next().map(|r| r.json_with("data", &[("id", "a\"b")]));
            String::from_utf8(made.unwrap_or_default()).unwrap()
        };
        assert_eq!(with(" {\"b\": 1e400}\n"), r#"{"id": "a\"b", "b": 1e400}"#);
        assert_eq!(with("{ }"), r#"{"id": "a\"b" }"#);
        assert_eq!(with("[1]"), "[1]");
        assert_eq!(with("{\"torn"), r#""{\"torn""#);
    }
}
