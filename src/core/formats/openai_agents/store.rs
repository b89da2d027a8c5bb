//! The database of `SQLiteSession` and its variants: a table of sessions and a table of items. The advanced variant adds
//! the position of each item in its branches, and the usage of each turn.
//! <https://github.com/openai/openai-agents-python/tree/main/src/agents/memory>

use crate::formats::database::{Database, DatabaseSession, Record, RowFilter, Rows, TableQuery};
use crate::formats::folder::{json_list, json_object};
use std::collections::{HashMap, HashSet};

/// The database of sessions.
pub(super) static DATABASE: Database = Database {
    tables: &[
        ("agent_sessions", &["session_id"]),
        ("agent_messages", &["session_id", "message_data"]),
        ("message_structure", &[]),
        ("turn_usage", &[]),
    ],
    binary: &[],
    listing: TableQuery { table: "agent_sessions", columns: SESSION, filter: RowFilter::All },
    entries,
    queries,
    document,
};

const SESSION: &[&str] = &["session_id", "created_at", "updated_at"];
const ITEM: &[&str] = &["id", "message_data", "created_at"];
const STRUCTURE: &[&str] =
    &["id", "message_id", "branch_id", "sequence_number", "user_turn_number"];
const USAGE: &[&str] = &[
    "branch_id",
    "user_turn_number",
    "requests",
    "input_tokens",
    "output_tokens",
    "input_tokens_details",
    "output_tokens_details",
];

fn entries(rows: &Rows) -> Vec<DatabaseSession> {
    let entry = |row: Record<'_>| DatabaseSession {
        id: row.id("session_id"),
        created: row.time("created_at"),
        updated: row.time("updated_at"),
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
    vec![
        of("agent_sessions", SESSION),
        of("agent_messages", ITEM),
        of("message_structure", STRUCTURE),
        of("turn_usage", USAGE),
    ]
}

/// Position of an item in a branch.
#[derive(Clone, Copy)]
struct Position<'a> {
    row: Option<i64>,
    message: i64,
    branch: &'a str,
    sequence: i64,
    turn: Option<i64>,
}

impl<'a> Position<'a> {
    fn read(row: Record<'a>) -> Option<Self> {
        Some(Self {
            row: row.integer("id"),
            message: row.integer("message_id")?,
            branch: row.text("branch_id"),
            sequence: row.integer("sequence_number")?,
            turn: row.integer("user_turn_number"),
        })
    }
}

/// Returns the rows of a session. Of several branches, only the one with the latest item is included.
fn document(_entry: &DatabaseSession, rows: &[Rows]) -> Vec<u8> {
    let [sessions, items, structure, usage] = rows else {
        return Vec::new();
    };
    let named: Vec<(&str, &str)> = SESSION.iter().map(|name| (*name, *name)).collect();
    let mut members = sessions.iter().next().map(|row| row.members(&named)).unwrap_or_default();
    let all: Vec<Position<'_>> = structure.iter().filter_map(Position::read).collect();
    let latest = all.iter().max_by_key(|position| position.sequence);
    let mut items: Vec<Record<'_>> = items.iter().collect();
    items.sort_by_key(|row| row.integer("id"));
    let Some(branch) = latest.map(|position| position.branch) else {
        members.push(("items", json_list(items.into_iter().map(|row| item(row, None)))));
        return json_object(members.into_iter());
    };
    let mut listed: Vec<&Position<'_>> = all.iter().filter(|at| at.branch == branch).collect();
    listed.sort_by_key(|position| (position.sequence, position.row));
    let mut by_id: HashMap<Option<i64>, Record<'_>> =
        items.into_iter().map(|row| (row.integer("id"), row)).collect();
    let found = listed
        .iter()
        .filter_map(|at| Some(item(by_id.remove(&Some(at.message))?, at.turn)))
        .collect::<Vec<_>>();
    let branches: HashSet<&str> = all.iter().map(|position| position.branch).collect();
    let text = |text: String| crate::json::Value::from(text).to_string().into_bytes();
    members.push(("branch", text(branch.to_owned())));
    members.push(("branches", branches.len().to_string().into_bytes()));
    members.push(("items", json_list(found.into_iter())));
    members.push(("turn_usage", json_list(usage_of(&all, &listed, usage).into_iter())));
    json_object(members.into_iter())
}

fn item(row: Record<'_>, turn: Option<i64>) -> Vec<u8> {
    let mut members = row.members(&[("id", "id"), ("created_at", "created_at")]);
    members.extend(turn.map(|turn| ("turn", turn.to_string().into_bytes())));
    members.push(("message_data", row.json("message_data")));
    json_object(members.into_iter())
}

/// Returns the usage of the turns of a branch. A turn that was copied from another branch has its usage there.
fn usage_of(all: &[Position<'_>], listed: &[&Position<'_>], usage: &Rows) -> Vec<Vec<u8>> {
    let mut original: HashMap<i64, &Position<'_>> = HashMap::new();
    for position in all {
        let first = original.entry(position.message).or_insert(position);
        if position.row < first.row {
            *first = position;
        }
    }
    let mut by_turn: HashMap<(&str, Option<i64>), Record<'_>> = usage
        .iter()
        .map(|row| ((row.text("branch_id"), row.integer("user_turn_number")), row))
        .collect();
    let mut found = Vec::new();
    for position in listed {
        let first = original[&position.message];
        let Some(row) = by_turn.remove(&(first.branch, first.turn)) else {
            continue;
        };
        let mut members = row.members(&[
            ("requests", "requests"),
            ("input_tokens", "input_tokens"),
            ("output_tokens", "output_tokens"),
        ]);
        members.extend(position.turn.map(|turn| ("turn", turn.to_string().into_bytes())));
        for details in ["input_tokens_details", "output_tokens_details"] {
            members.push((details, row.json(details)));
        }
        found.push(json_object(members.into_iter()));
    }
    found
}
