//! `CowAgent`'s database: a table of sessions and a table of messages with JSON contents.
//! <https://github.com/zhayujie/CowAgent/blob/master/agent/memory/conversation_store.py>

use crate::formats::database::{Database, DatabaseSession, Record, RowFilter, Rows, TableQuery};
use crate::formats::folder::{json_list, json_object};

/// CowAgent's database.
pub(super) static DATABASE: Database = Database {
    tables: &[
        ("sessions", &["session_id", "last_active"]),
        ("messages", &["session_id", "seq", "role", "content"]),
    ],
    binary: &[],
    listing: TableQuery { table: "sessions", columns: SESSION, filter: RowFilter::All },
    entries,
    queries,
    document,
};

const SESSION: &[&str] = &[
    "agent_id",
    "session_id",
    "channel_type",
    "title",
    "context_start_seq",
    "created_at",
    "last_active",
    "msg_count",
];
const MESSAGE: &[&str] = &["agent_id", "seq", "role", "content", "created_at"];

/// Returns the sessions. Several agents may use the same session id.
fn entries(rows: &Rows) -> Vec<DatabaseSession> {
    let entry = |row: Record<'_>| DatabaseSession {
        id: row.id("session_id"),
        owner: row.id("agent_id"),
        title: row.text("title").to_owned(),
        created: row.time("created_at"),
        updated: row.time("last_active"),
        // Several messages may be added within the second of `last_active`.
        version: row.count("msg_count"),
        bytes: row.bytes(),
        ..DatabaseSession::default()
    };
    rows.iter().map(entry).collect()
}

fn queries(entry: &DatabaseSession) -> Vec<TableQuery> {
    let of = |table, columns| TableQuery {
        table,
        columns,
        filter: RowFilter::Equals("session_id", entry.id.clone()),
    };
    vec![of("sessions", SESSION), of("messages", MESSAGE)]
}

fn document(entry: &DatabaseSession, rows: &[Rows]) -> Vec<u8> {
    let [sessions, messages] = rows else {
        return Vec::new();
    };
    let is_match = |row: &Record<'_>| row.id("agent_id") == entry.owner;
    let head = sessions.iter().find(is_match);
    let mut members = head.map(|row| {
        let named: Vec<(&str, &str)> = SESSION.iter().map(|name| (*name, *name)).collect();
        row.members(&named)
    });
    let mut messages: Vec<Record<'_>> = messages.iter().filter(is_match).collect();
    messages.sort_by_key(|row| row.integer("seq"));
    let message = |row: &Record<'_>| {
        let named = [("seq", "seq"), ("role", "role"), ("created_at", "created_at")];
        let mut members = row.members(&named);
        members.push(("content", row.json("content")));
        json_object(members.into_iter())
    };
    let messages = json_list(messages.iter().map(message));
    let members = members.get_or_insert_default();
    members.push(("messages", messages));
    json_object(members.drain(..))
}
