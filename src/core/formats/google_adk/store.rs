//! The databases of ADK's session services: a table of sessions and a table of events. Newer versions store an event as
//! JSON (`event_data`), older ones its members in columns, with its actions as a Python pickle.
//! <https://github.com/google/adk-python/tree/main/src/google/adk/sessions>

use super::PICKLED_CHANGE;
use crate::formats::database::{Database, DatabaseSession, Record, RowFilter, Rows, TableQuery};
use crate::formats::folder::{json_list, json_object};
use crate::formats::json;
use crate::json::Value;

/// The database of sessions.
pub(super) static DATABASE: Database = Database {
    tables: &[
        ("sessions", &["app_name", "user_id", "id", "create_time", "update_time"]),
        ("events", &["app_name", "user_id", "session_id", "invocation_id", "timestamp"]),
    ],
    binary: &["actions"],
    listing: TableQuery { table: "sessions", columns: SESSION, filter: RowFilter::All },
    entries,
    queries,
    document,
};

const SESSION: &[&str] = &["app_name", "user_id", "id", "state", "create_time", "update_time"];
const EVENT: &[&str] = &[
    "id",
    "app_name",
    "user_id",
    "invocation_id",
    "timestamp",
    "event_data",
    "author",
    "branch",
    "content",
    "usage_metadata",
    "partial",
    "error_code",
    "error_message",
    "actions",
];
/// Class of a compaction, which a pickle names if an event has one.
const COMPACTION: &[u8] = b"EventCompaction";
/// Member of every pickled event that names the invocation of a rewind.
const REWIND: &[u8] = b"rewind_before_invocation_id";

/// Returns the sessions. Several users may use the same session id.
fn entries(rows: &Rows) -> Vec<DatabaseSession> {
    let entry = |row: Record<'_>| DatabaseSession {
        id: row.id("id"),
        owner: owner(row),
        title: title(row),
        created: row.time("create_time"),
        updated: row.time("update_time"),
        bytes: row.bytes(),
        ..DatabaseSession::default()
    };
    rows.iter().map(entry).collect()
}

fn owner(row: Record<'_>) -> String {
    format!("{}/{}", row.id("app_name"), row.id("user_id"))
}

/// Returns the name that ADK's web interface stores in the state.
fn title(row: Record<'_>) -> String {
    let state = json::parse_span(row.text("state").as_bytes(), &(0..row.text("state").len()));
    let name = state.as_ref().and_then(|state| {
        json::str_at(state, &["__session_metadata__", "displayName"]).map(str::to_owned)
    });
    name.unwrap_or_default()
}

fn queries(entry: &DatabaseSession) -> Vec<TableQuery> {
    let of = |table, columns, key| TableQuery {
        table,
        columns,
        filter: RowFilter::Equals(key, entry.id.clone()),
    };
    vec![of("sessions", SESSION, "id"), of("events", EVENT, "session_id")]
}

/// Returns the session as ADK writes it as JSON, with the title instead of the state.
fn document(entry: &DatabaseSession, rows: &[Rows]) -> Vec<u8> {
    let [sessions, events] = rows else {
        return Vec::new();
    };
    let is_own = |row: &Record<'_>| owner(*row) == entry.owner;
    let mut members = sessions.iter().find(is_own).map_or_else(Vec::new, |row| {
        let mut members =
            row.members(&[("id", "id"), ("app_name", "app_name"), ("user_id", "user_id")]);
        let title = title(row);
        if !title.is_empty() {
            members.push(("title", Value::from(title).to_string().into_bytes()));
        }
        members
    });
    let mut events: Vec<Record<'_>> = events.iter().filter(is_own).collect();
    // A number or, in columns of `SQLAlchemy`, a text.
    events.sort_by(|a, b| {
        let by_number = a.number("timestamp").total_cmp(&b.number("timestamp"));
        by_number.then_with(|| a.text("timestamp").cmp(b.text("timestamp")))
    });
    members.push(("events", json_list(events.into_iter().map(event))));
    json_object(members.into_iter())
}

fn event(row: Record<'_>) -> Vec<u8> {
    if !row.text("event_data").is_empty() {
        return row.json("event_data");
    }
    let mut members = row.members(&[
        ("id", "id"),
        ("invocation_id", "invocation_id"),
        ("author", "author"),
        ("branch", "branch"),
        ("timestamp", "timestamp"),
        ("error_code", "error_code"),
        ("error_message", "error_message"),
    ]);
    if row.integer("partial") == Some(1) {
        members.push(("partial", b"true".to_vec()));
    }
    for column in ["content", "usage_metadata"] {
        if !row.text(column).is_empty() {
            members.push((column, row.json(column)));
        }
    }
    if changes_context(row.blob("actions")) {
        members.push(("actions", format!("{{\"{PICKLED_CHANGE}\": true}}").into_bytes()));
    }
    json_object(members.into_iter())
}

/// Returns whether pickled actions hold a compaction or a rewind.
fn changes_context(pickle: &[u8]) -> bool {
    let after = |name: &[u8]| {
        let at = pickle.windows(name.len()).position(|window| window == name)?;
        Some(&pickle[at + name.len()..])
    };
    // The value follows the name, which the pickle may remember. `N` is none.
    let rewind = after(REWIND).map(|rest| rest.strip_prefix(b"\x94").unwrap_or(rest));
    after(COMPACTION).is_some() || rewind.is_some_and(|value| !value.starts_with(b"N"))
}
