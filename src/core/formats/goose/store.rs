//! Goose's database (since version 1.10): a table of sessions and a table of messages. A session is built in the
//! notation of Goose's export.
//! <https://github.com/block/goose/blob/main/crates/goose/src/session/session_manager.rs>

use crate::formats::database::{Database, DatabaseSession, Record, RowFilter, Rows, TableQuery};
use crate::formats::folder::{json_list, json_object};

/// Goose's database.
pub(super) static DATABASE: Database = Database {
    tables: &[
        ("sessions", &["id", "working_dir"]),
        ("messages", &["session_id", "role", "content_json"]),
    ],
    binary: &[],
    listing: TableQuery { table: "sessions", columns: SESSION, filter: RowFilter::All },
    entries,
    queries,
    document,
};

const SESSION: &[&str] = &[
    "id",
    "name",
    "description",
    "session_type",
    "working_dir",
    "created_at",
    "updated_at",
    "total_tokens",
    "input_tokens",
    "output_tokens",
    "accumulated_input_tokens",
    "accumulated_output_tokens",
    "provider_name",
    "model_config_json",
];
const MESSAGE: &[&str] =
    &["id", "message_id", "role", "content_json", "created_timestamp", "metadata_json"];

fn entries(rows: &Rows) -> Vec<DatabaseSession> {
    let entry = |row: Record<'_>| DatabaseSession {
        id: row.id("id"),
        title: name(row).to_owned(),
        created: row.time("created_at"),
        updated: row.time("updated_at"),
        bytes: row.bytes(),
        ..DatabaseSession::default()
    };
    rows.iter().map(entry).collect()
}

/// Returns the session's name. Older versions call it a description.
fn name(row: Record<'_>) -> &str {
    match row.text("name") {
        "" => row.text("description"),
        name => name,
    }
}

fn queries(entry: &DatabaseSession) -> Vec<TableQuery> {
    let of = |table, columns, key| TableQuery {
        table,
        columns,
        filter: RowFilter::Equals(key, entry.id.clone()),
    };
    vec![of("sessions", SESSION, "id"), of("messages", MESSAGE, "session_id")]
}

/// Returns the session as `goose session export` writes it.
fn document(_entry: &DatabaseSession, rows: &[Rows]) -> Vec<u8> {
    let [sessions, messages] = rows else {
        return Vec::new();
    };
    let mut members = sessions.iter().next().map(head).unwrap_or_default();
    let mut messages: Vec<Record<'_>> = messages.iter().collect();
    // In order of insertion: a compaction rewrites messages in order, whatever their times are.
    messages.sort_by_key(|row| row.integer("id"));
    members.push(("conversation", json_list(messages.into_iter().map(message))));
    json_object(members.into_iter())
}

fn head(row: Record<'_>) -> Vec<(&'static str, Vec<u8>)> {
    let mut members = row.members(&[
        ("id", "id"),
        ("session_type", "session_type"),
        ("working_dir", "working_dir"),
        ("created_at", "created_at"),
        ("updated_at", "updated_at"),
        ("total_tokens", "total_tokens"),
        ("input_tokens", "input_tokens"),
        ("output_tokens", "output_tokens"),
        ("accumulated_input_tokens", "accumulated_input_tokens"),
        ("accumulated_output_tokens", "accumulated_output_tokens"),
        ("provider_name", "provider_name"),
    ]);
    let name = crate::json::Value::from(name(row)).to_string();
    members.push(("name", name.into_bytes()));
    if !row.text("model_config_json").is_empty() {
        members.push(("model_config", row.json("model_config_json")));
    }
    members
}

fn message(row: Record<'_>) -> Vec<u8> {
    let id = if row.text("message_id").is_empty() {
        row.id("id")
    } else {
        row.text("message_id").to_owned()
    };
    let mut members = vec![("id", crate::json::Value::from(id).to_string().into_bytes())];
    members.extend(row.members(&[("role", "role"), ("created", "created_timestamp")]));
    members.push(("content", row.json("content_json")));
    if !row.text("metadata_json").is_empty() {
        members.push(("metadata", row.json("metadata_json")));
    }
    json_object(members.into_iter())
}
