//! `OpenCode`'s database (version 1.2 and later) has a table of sessions, one of messages and one of message parts. The
//! last two store each record's exported JSON without its ids.
//! <https://github.com/anomalyco/opencode/blob/dev/packages/opencode/src/session/session.sql.ts>

use crate::formats::database::{Database, DatabaseSession, Record, RowFilter, Rows, TableQuery};
use crate::formats::folder::{json_list, json_object};
use std::collections::HashMap;

/// The `OpenCode` database.
pub(super) static DATABASE: Database = Database {
    tables: &[
        ("session", &["id"]),
        ("message", &["id", "session_id", "data"]),
        ("part", &["id", "message_id", "session_id", "data"]),
    ],
    binary: &[],
    listing: TableQuery { table: "session", columns: SESSION, filter: RowFilter::All },
    entries,
    queries,
    document,
};

const SESSION: &[&str] = &[
    "id",
    "project_id",
    "parent_id",
    "slug",
    "directory",
    "title",
    "version",
    "time_created",
    "time_updated",
];

fn entries(rows: &Rows) -> Vec<DatabaseSession> {
    let entry = |row: Record<'_>| DatabaseSession {
        id: row.id("id"),
        title: row.text("title").to_owned(),
        created: row.time("time_created"),
        updated: row.time("time_updated"),
        parent: Some(row.id("parent_id")).filter(|id| !id.is_empty()),
        bytes: row.bytes(),
        ..DatabaseSession::default()
    };
    rows.iter().map(entry).collect()
}

fn queries(entry: &DatabaseSession) -> Vec<TableQuery> {
    let of = |table, columns, key| TableQuery {
        table,
        columns,
        filter: RowFilter::Equals(key, entry.id.clone()),
    };
    vec![
        of("session", SESSION, "id"),
        of("message", &["id", "time_created", "data"], "session_id"),
        of("part", &["id", "message_id", "data"], "session_id"),
    ]
}

/// Returns the document that `opencode export` writes for the session.
fn document(entry: &DatabaseSession, rows: &[Rows]) -> Vec<u8> {
    let [sessions, messages, parts] = rows else {
        return Vec::new();
    };
    let mut parts_by_message: HashMap<&str, Vec<Record<'_>>> = HashMap::new();
    for part in parts.iter() {
        parts_by_message.entry(part.text("message_id")).or_default().push(part);
    }
    let mut messages: Vec<Record<'_>> = messages.iter().collect();
    messages.sort_by_key(|row| (row.integer("time_created"), row.text("id")));
    let message = |row: &Record<'_>| {
        let id = row.text("id");
        // A damaged database may repeat an id: the parts are written once, for its first message.
        let mut parts = parts_by_message.remove(id).unwrap_or_default();
        parts.sort_by_key(|part| part.text("id"));
        let part = |part: &Record<'_>| {
            let ids = [("id", part.text("id")), ("sessionID", &entry.id), ("messageID", id)];
            part.json_with("data", &ids)
        };
        let info = row.json_with("data", &[("id", id), ("sessionID", &entry.id)]);
        json_object([("info", info), ("parts", json_list(parts.iter().map(part)))].into_iter())
    };
    let info = sessions.iter().next().map_or_else(|| b"{}".to_vec(), info);
    let messages = json_list(messages.iter().map(message));
    json_object([("info", info), ("messages", messages)].into_iter())
}

fn info(row: Record<'_>) -> Vec<u8> {
    let mut members = row.members(&[
        ("id", "id"),
        ("slug", "slug"),
        ("projectID", "project_id"),
        ("directory", "directory"),
        ("parentID", "parent_id"),
        ("title", "title"),
        ("version", "version"),
    ]);
    let time = row.members(&[("created", "time_created"), ("updated", "time_updated")]);
    members.push(("time", json_object(time.into_iter())));
    json_object(members.into_iter())
}
