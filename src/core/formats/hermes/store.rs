//! The database of Hermes Agent (`state.db`): a table of sessions, one of messages, and the usage of each model.
//! <https://github.com/NousResearch/hermes-agent/blob/main/hermes_state.py>

use crate::formats::database::{Database, DatabaseSession, Record, RowFilter, Rows, TableQuery};
use crate::formats::folder::{json_list, json_object};
use crate::formats::json;
use std::collections::HashMap;

/// The database of sessions.
pub(super) static DATABASE: Database = Database {
    tables: &[
        ("sessions", &["id", "source", "started_at", "end_reason", "system_prompt"]),
        ("messages", &["id", "session_id", "role", "content", "tool_calls", "timestamp"]),
        ("session_model_usage", &[]),
        ("system_prompts", &[]),
    ],
    binary: &[],
    listing: TableQuery { table: "sessions", columns: SESSION, filter: RowFilter::All },
    entries,
    queries,
    document,
};

const SESSION: &[&str] = &[
    "id",
    "source",
    "model",
    "system_prompt",
    "system_prompt_hash",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cwd",
    "title",
];
const MESSAGE: &[&str] = &[
    "id",
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "timestamp",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "active",
    "compacted",
    "api_content",
    "_compressed_summary",
];
const USAGE: &[&str] = &[
    "model",
    "task",
    "api_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
];
/// Start of a content that is JSON.
const JSON_PREFIX: &str = "\0json:";
/// Ends of a session that another one continues. Other sessions with a parent are those of sub-agents.
const CONTINUED: [&str; 2] = ["compression", "branched"];

fn entries(rows: &Rows) -> Vec<DatabaseSession> {
    let ends: HashMap<&str, &str> =
        rows.iter().map(|row| (row.text("id"), row.text("end_reason"))).collect();
    let is_agent = |parent: &str| ends.get(parent).is_some_and(|end| !CONTINUED.contains(end));
    let entry = |row: Record<'_>| DatabaseSession {
        id: row.id("id"),
        title: row.text("title").to_owned(),
        created: row.time("started_at"),
        updated: row.time("ended_at").or_else(|| row.time("started_at")),
        parent: Some(row.id("parent_session_id")).filter(|parent| is_agent(parent)),
        // Newer versions store each prompt once.
        key: row.id("system_prompt_hash"),
        // Every call and message changes a count.
        version: ["message_count", "input_tokens", "output_tokens"]
            .iter()
            .fold(0, |version, count| row.count(count).saturating_add(version)),
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
        of("sessions", SESSION, "id"),
        of("messages", MESSAGE, "session_id"),
        of("session_model_usage", USAGE, "session_id"),
        TableQuery {
            table: "system_prompts",
            columns: &["prompt"],
            filter: RowFilter::Equals("hash", entry.key.clone()),
        },
    ]
}

/// Returns the session as `hermes sessions export` writes it, with the usage of each model.
fn document(_entry: &DatabaseSession, rows: &[Rows]) -> Vec<u8> {
    let [sessions, messages, usage, prompts] = rows else {
        return Vec::new();
    };
    let named = |columns: &[&'static str]| -> Vec<(&'static str, &'static str)> {
        columns.iter().map(|name| (*name, *name)).collect()
    };
    let head = sessions.iter().next().map(|row| row.members(&named(SESSION)));
    let mut messages: Vec<Record<'_>> = messages.iter().collect();
    messages.sort_by_key(|row| row.integer("id"));
    let mut members = head.unwrap_or_default();
    if let Some(row) = prompts.iter().next() {
        members.retain(|(name, _)| *name != "system_prompt");
        members.push(("system_prompt", row.plain("prompt")));
    }
    members.push(("messages", json_list(messages.into_iter().map(message))));
    let usage = usage.iter().map(|row| json_object(row.members(&named(USAGE)).into_iter()));
    members.push(("model_usage", json_list(usage)));
    json_object(members.into_iter())
}

fn message(row: Record<'_>) -> Vec<u8> {
    let plain = MESSAGE.iter().filter(|name| !matches!(**name, "content" | "tool_calls"));
    let plain: Vec<(&str, &str)> = plain.map(|name| (*name, *name)).collect();
    let mut members = row.members(&plain);
    let blocks = row.text("content").strip_prefix(JSON_PREFIX).map(str::as_bytes);
    members.push(match blocks.filter(|blocks| json::is_one_value(blocks)) {
        Some(blocks) => ("content", blocks.to_vec()),
        None => ("content", row.plain("content")),
    });
    if !row.text("tool_calls").is_empty() {
        members.push(("tool_calls", row.json("tool_calls")));
    }
    json_object(members.into_iter())
}
