//! The supported databases and their detection.

use super::database::{Database, Table};
use super::{cowagent, cursor, goose, opencode};

/// All supported databases.
pub static DATABASES: &[Database] = &[
    opencode::DATABASE,
    goose::DATABASE,
    cowagent::DATABASE,
    cursor::DATABASE,
];

/// Returns the database that has these tables.
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

/// Returns the labels of the programs whose databases are supported.
pub fn supported_databases() -> String {
    let labels = DATABASES
        .iter()
        .filter_map(|database| super::by_name(database.format))
        .map(|format| format.label);
    labels.collect::<Vec<_>>().join(", ")
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
    fn detects_the_program_from_tables_and_columns() {
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
}
