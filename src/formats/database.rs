//! Sessions that their program keeps in a database: which tables tell whose it is, what is asked of them, and how the rows
//! of one session become the document that the program itself would export, so that one reader reads both. How a
//! database is opened is not known here.

use super::{cowagent, cursor, goose, json, opencode, time};
use crate::units::Millis;
use serde_json::Value;
use std::borrow::Cow;

/// A program's database.
#[derive(Debug)]
pub struct Database {
    /// Name of the format that its sessions are read as.
    pub format: &'static str,
    /// Tables that tell it, each with columns that it must have.
    pub tables: &'static [(&'static str, &'static [&'static str])],
    /// What lists its sessions.
    pub listing: Ask,
    /// The sessions that these rows list.
    pub entries: fn(&Rows) -> Vec<Entry>,
    /// What one of them is made of.
    pub asks: fn(&Entry) -> Vec<Ask>,
    /// Its document, of the rows that were asked for.
    pub document: fn(&Entry, &[Rows]) -> Vec<u8>,
}

/// Every database we know.
pub static DATABASES: &[Database] = &[
    opencode::DATABASE,
    goose::DATABASE,
    cowagent::DATABASE,
    cursor::DATABASE,
];

/// What is asked of a table.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The table.
    pub table: &'static str,
    /// Columns; one that the table lacks reads as [`Cell::Null`].
    pub columns: &'static [&'static str],
    /// Which rows.
    pub only: Only,
}

/// Which rows of a table are meant.
#[derive(Clone, Debug)]
pub enum Only {
    /// All of them.
    All,
    /// Those where this column is this text.
    Is(&'static str, String),
    /// Those where this column is a text that begins so; the last character is an ASCII one.
    Begins(&'static str, Cow<'static, str>),
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// A text, or bytes that hold one.
    Text(String),
}

/// Rows as they were asked for, in no order.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The columns.
    pub columns: &'static [&'static str],
    /// A cell a column.
    pub rows: Vec<Vec<Cell>>,
}

/// A session in a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// Whose it is, where the same id may be used twice.
    pub owner: String,
    /// What to call it.
    pub title: String,
    /// When it began.
    pub created: Option<Millis>,
    /// When something was added last.
    pub updated: Option<Millis>,
    /// Id of the session that started it, where it is a sub-agent's.
    pub parent: Option<String>,
    /// Bytes of what the list itself says of it: this and `updated` tell whether it has changed.
    pub bytes: u64,
}

/// A table of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
}

/// The program whose database has these tables.
pub fn database_of(tables: &[Table]) -> Option<&'static Database> {
    let has = |(name, columns): &(&str, &[&str])| {
        let table = tables.iter().find(|table| table.name == *name);
        let has_column =
            |column: &&str| table.is_some_and(|t| t.columns.iter().any(|c| c == *column));
        columns.iter().all(has_column)
    };
    DATABASES
        .iter()
        .find(|database| database.tables.iter().all(has))
}

/// Labels of the programs whose databases are read.
pub fn known_databases() -> String {
    let labels = DATABASES
        .iter()
        .filter_map(|database| super::by_name(database.format))
        .map(|format| format.label);
    labels.collect::<Vec<_>>().join(", ")
}

impl Database {
    /// The sessions of these rows, the oldest first: their numbers stay when more are begun.
    pub fn entries_of(&self, rows: &Rows) -> Vec<Entry> {
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
    /// One after another.
    pub(super) fn iter(&self) -> impl Iterator<Item = Record<'_>> {
        self.rows.iter().map(|cells| Record {
            columns: self.columns,
            cells,
        })
    }
}

/// A row by the names of its columns.
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

    /// A text, if one stands there.
    pub(super) fn text(&self, column: &str) -> &'a str {
        match self.cell(column) {
            Cell::Text(text) => text,
            _ => "",
        }
    }

    /// An id, also where it is a number.
    pub(super) fn id(&self, column: &str) -> String {
        match self.cell(column) {
            Cell::Text(text) => text.clone(),
            Cell::Integer(number) => number.to_string(),
            _ => String::new(),
        }
    }

    /// A whole number.
    pub(super) fn integer(&self, column: &str) -> Option<i64> {
        match self.cell(column) {
            Cell::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// A time; see [`time::millis`].
    pub(super) fn time(&self, column: &str) -> Option<Millis> {
        time::millis(&self.value(column))
    }

    fn value(&self, column: &str) -> Value {
        match self.cell(column) {
            Cell::Null => Value::Null,
            Cell::Integer(number) => (*number).into(),
            Cell::Real(number) => (*number).into(),
            Cell::Text(text) => text.as_str().into(),
        }
    }

    /// What stands there as JSON: a text as a string.
    pub(super) fn plain(&self, column: &str) -> Vec<u8> {
        self.value(column).to_string().into_bytes()
    }

    /// The JSON that a text holds, as it is written; a text that is none as a string.
    pub(super) fn json(&self, column: &str) -> Vec<u8> {
        let text = self.text(column).trim();
        if json::is_one_value(text.as_bytes()) {
            text.as_bytes().to_vec()
        } else {
            self.plain(column)
        }
    }

    /// The same, where it is an object with these members before its own.
    pub(super) fn json_with(&self, column: &str, members: &[(&str, &str)]) -> Vec<u8> {
        let own = self.json(column);
        let Some(rest) = own.strip_prefix(b"{") else {
            return own;
        };
        let before = members
            .iter()
            .map(|(key, value)| format!("{}: {}", Value::from(*key), Value::from(*value)));
        let before: Vec<String> = before.collect();
        let comma = if rest.trim_ascii_start().starts_with(b"}") {
            ""
        } else {
            ", "
        };
        [b"{", before.join(", ").as_bytes(), comma.as_bytes(), rest].concat()
    }

    /// Members of an object: each column that says anything under a name.
    pub(super) fn members<'k>(&self, named: &[(&'k str, &str)]) -> Vec<(&'k str, Vec<u8>)> {
        let says = named
            .iter()
            .filter(|(_, column)| *self.cell(column) != Cell::Null);
        says.map(|(key, column)| (*key, self.plain(column)))
            .collect()
    }

    /// Bytes of its texts.
    pub(super) fn bytes(&self) -> u64 {
        let len = |cell: &Cell| match cell {
            Cell::Text(text) => text.len() as u64,
            _ => 0,
        };
        self.cells.iter().map(len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: &[&str]) -> Table {
        Table {
            name: name.to_owned(),
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
        }
    }

    #[test]
    fn tables_and_their_columns_tell_the_program() {
        let format = |tables: &[Table]| database_of(tables).map(|d| d.format);
        let session = table("session", &["id", "title", "time_created"]);
        let message = table("message", &["id", "session_id", "time_created", "data"]);
        let part = table("part", &["id", "message_id", "session_id", "data"]);
        let all = [session.clone(), message.clone(), part];
        assert_eq!(format(&all), Some("opencode"));
        assert_eq!(format(&[session, message]), None);
        let kv = table("cursorDiskKV", &["key", "value"]);
        assert_eq!(format(&[kv]), Some("cursor"));
        assert_eq!(format(&[table("ItemTable", &["key", "value"])]), None);
        assert_eq!(format(&[]), None);
    }

    #[test]
    fn members_stand_before_those_of_an_object_and_what_is_none_stays_as_it_is() {
        let with = |text: &str| {
            let rows = Rows {
                columns: &["data"],
                rows: vec![vec![Cell::Text(text.to_owned())]],
            };
            let made = rows
                .iter()
                .next()
                .map(|r| r.json_with("data", &[("id", "a\"b")]));
            String::from_utf8(made.unwrap_or_default()).unwrap()
        };
        assert_eq!(with(" {\"b\": 1e400}\n"), r#"{"id": "a\"b", "b": 1e400}"#);
        assert_eq!(with("{ }"), r#"{"id": "a\"b" }"#);
        assert_eq!(with("[1]"), "[1]");
        assert_eq!(with("{\"torn"), r#""{\"torn""#);
    }
}
