//! The database of Crush (`.crush/crush.db` in a project) and of the older `OpenCode` in Go (`.opencode/opencode.db`): a
//! table of sessions and a table of messages with JSON parts.
//! <https://github.com/charmbracelet/crush/tree/main/internal/db/migrations>

use crate::formats::database::{Database, DatabaseSession, Record, RowFilter, Rows, TableQuery};
use crate::formats::folder::{json_list, json_object};

/// The database of both programs.
pub(super) static DATABASE: Database = Database {
    tables: &[
        ("sessions", &["id", "parent_session_id", "title", "prompt_tokens"]),
        ("messages", &["id", "session_id", "role", "parts", "model"]),
    ],
    binary: &[],
    listing: TableQuery { table: "sessions", columns: SESSION, filter: RowFilter::All },
    entries,
    queries,
    document,
};

const SESSION: &[&str] = &[
    "id",
    "parent_session_id",
    "title",
    "message_count",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "summary_message_id",
    "created_at",
    "updated_at",
];
const MESSAGE: &[&str] = &[
    "id",
    "role",
    "model",
    "provider",
    "is_summary_message",
    "created_at",
    "finished_at",
    "parts",
];

/// Returns the sessions with messages. A session that only requested a title has none.
fn entries(rows: &Rows) -> Vec<DatabaseSession> {
    let entry = |row: Record<'_>| DatabaseSession {
        id: row.id("id"),
        title: row.text("title").to_owned(),
        created: row.time("created_at"),
        updated: row.time("updated_at"),
        parent: Some(row.id("parent_session_id")).filter(|id| !id.is_empty()),
        // Several messages may be added within the second of `updated_at`.
        version: row.count("message_count"),
        bytes: row.bytes(),
        ..DatabaseSession::default()
    };
    rows.iter().filter(|row| row.integer("message_count") != Some(0)).map(entry).collect()
}

fn queries(entry: &DatabaseSession) -> Vec<TableQuery> {
    let of = |table, columns, key| TableQuery {
        table,
        columns,
        filter: RowFilter::Equals(key, entry.id.clone()),
    };
    vec![of("sessions", SESSION, "id"), of("messages", MESSAGE, "session_id")]
}

/// Returns the rows of a session.
fn document(_entry: &DatabaseSession, rows: &[Rows]) -> Vec<u8> {
    let [sessions, messages] = rows else {
        return Vec::new();
    };
    let named = |columns: &[&'static str]| -> Vec<(&'static str, &'static str)> {
        columns.iter().filter(|name| **name != "parts").map(|name| (*name, *name)).collect()
    };
    let head = sessions.iter().next().map(|row| row.members(&named(SESSION)));
    let mut messages: Vec<Record<'_>> = messages.iter().collect();
    messages.sort_by_key(|row| row.integer("created_at"));
    let message = |row: Record<'_>| {
        let mut members = row.members(&named(MESSAGE));
        members.push(("parts", row.json("parts")));
        json_object(members.into_iter())
    };
    let mut members = head.unwrap_or_default();
    members.push(("messages", json_list(messages.into_iter().map(message))));
    json_object(members.into_iter())
}
