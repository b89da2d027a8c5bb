//! The database of `LangGraph`'s `SqliteSaver`: a table of checkpoints, each with the whole state of a thread, and a table of
//! the writes between them. The state is `MessagePack` or, from old versions, JSON.
//! <https://github.com/langchain-ai/langgraph/tree/main/libs/checkpoint-sqlite>

use super::checkpoint::Checkpoint;
use super::history::History;
use crate::formats::database::{Database, DatabaseSession, Record, RowFilter, Rows, TableQuery};
use crate::formats::folder::{json_list, json_object};
use crate::formats::json;
use crate::json::Value;
use crate::units::Millis;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The database of checkpoints.
pub(super) static DATABASE: Database = Database {
    tables: &[
        ("checkpoints", &["thread_id", "checkpoint_id", "parent_checkpoint_id", "checkpoint"]),
        ("writes", &[]),
    ],
    binary: &["checkpoint", "value"],
    listing: TableQuery { table: "checkpoints", columns: LISTED, filter: RowFilter::All },
    entries,
    queries,
    document,
};

const LISTED: &[&str] = &["thread_id", "checkpoint_ns", "checkpoint_id"];
const CHECKPOINT: &[&str] = &[
    "thread_id",
    "checkpoint_ns",
    "checkpoint_id",
    "parent_checkpoint_id",
    "type",
    "checkpoint",
    "metadata",
];
const WRITE: &[&str] =
    &["checkpoint_ns", "checkpoint_id", "task_path", "task_id", "idx", "channel", "type", "value"];

/// Returns the threads. The time of a checkpoint is part of its id.
fn entries(rows: &Rows) -> Vec<DatabaseSession> {
    let mut threads: BTreeMap<String, DatabaseSession> = BTreeMap::new();
    for row in rows.iter() {
        let id = row.id("thread_id");
        let entry = threads
            .entry(id.clone())
            .or_insert_with(|| DatabaseSession { id, ..DatabaseSession::default() });
        let checkpoint = row.text("checkpoint_id");
        let time = time_of(checkpoint);
        entry.created = entry.created.into_iter().chain(time).min();
        entry.updated = entry.updated.max(time);
        entry.bytes += row.bytes();
        // Checkpoints of subgraphs have a namespace.
        if row.text("checkpoint_ns").is_empty() && *entry.key < *checkpoint {
            checkpoint.clone_into(&mut entry.key);
        }
    }
    threads.into_values().filter(|entry| !entry.key.is_empty()).collect()
}

/// Returns the time in a UUID of version 6: the number of 100 nanoseconds since 1582.
fn time_of(id: &str) -> Option<Millis> {
    const UNIX_EPOCH: i64 = 0x01b2_1dd2_1381_4000;
    let digits: String = id.chars().filter(|c| *c != '-').take(16).collect();
    let (high, low) = digits.split_at_checked(12)?;
    let low = low.strip_prefix('6')?;
    let (high, low) = (i64::from_str_radix(high, 16).ok()?, i64::from_str_radix(low, 16).ok()?);
    let ticks = (high << 12) | low;
    Some(Millis((ticks - UNIX_EPOCH) / 10_000)).filter(|time| time.0 >= 0)
}

/// Returns the queries of a thread. The latest checkpoint is read first, since the others may exceed the limit.
fn queries(entry: &DatabaseSession) -> Vec<TableQuery> {
    let of = |table, columns, key, value: &str| TableQuery {
        table,
        columns,
        filter: RowFilter::Equals(key, value.to_owned()),
    };
    vec![
        of("checkpoints", LISTED, "thread_id", &entry.id),
        of("checkpoints", CHECKPOINT, "checkpoint_id", &entry.key),
        of("checkpoints", CHECKPOINT, "thread_id", &entry.id),
        of("writes", WRITE, "thread_id", &entry.id),
    ]
}

/// Returns the messages of the latest checkpoint and of those before it, each once, and the changes of the context.
fn document(entry: &DatabaseSession, rows: &[Rows]) -> Vec<u8> {
    let [listed, latest, all, writes] = rows else {
        return Vec::new();
    };
    let is_own =
        |row: &Record<'_>| row.id("thread_id") == entry.id && row.text("checkpoint_ns").is_empty();
    let by_id: HashMap<&str, Record<'_>> = all
        .iter()
        .chain(latest.iter())
        .filter(is_own)
        .map(|row| (row.text("checkpoint_id"), row))
        .collect();
    let mut chain = Vec::new();
    let mut seen = HashSet::new();
    let mut next = by_id.get(&*entry.key).copied();
    while let Some(row) = next.filter(|row| seen.insert(row.text("checkpoint_id"))) {
        chain.push(row);
        next = by_id.get(row.text("parent_checkpoint_id")).copied();
    }
    let head = chain.first().map(|row| Checkpoint::read(row.text("type"), row.blob("checkpoint")));
    chain.reverse();
    let mut by_checkpoint: HashMap<&str, Vec<Record<'_>>> = HashMap::new();
    for row in writes.iter().filter(|row| row.text("checkpoint_ns").is_empty()) {
        by_checkpoint.entry(row.text("checkpoint_id")).or_default().push(row);
    }
    let head = head.unwrap_or_default();
    let has_writes = |name: &str| {
        let mut all = by_checkpoint.values().flatten();
        all.any(|row| row.text("channel") == name)
    };
    let channel = head.main_channel().or_else(|| has_writes("messages").then_some("messages"));
    let mut history = History::default();
    let mut before: Vec<Record<'_>> = Vec::new();
    for row in &chain {
        let checkpoint = Checkpoint::read(row.text("type"), row.blob("checkpoint"));
        before.sort_by_key(|row| (row.text("task_path"), row.text("task_id"), row.integer("idx")));
        let written = before.iter().filter(|row| Some(row.text("channel")) == channel);
        let written = written.map(|row| (row.text("type"), row.blob("value")));
        let time = time_of(row.text("checkpoint_id"));
        let metadata = crate::json::from_str(row.text("metadata")).unwrap_or_default();
        let is_input = json::str_at(&metadata, &["source"]) == Some("input");
        history.add(checkpoint.messages(channel.unwrap_or_default()), written, time, is_input);
        before = by_checkpoint.remove(row.text("checkpoint_id")).unwrap_or_default();
    }
    let n_subgraphs = listed.iter().filter(|row| !row.text("checkpoint_ns").is_empty()).count();
    let text = |text: &str| Value::from(text).to_string().into_bytes();
    let number = |number: usize| number.to_string().into_bytes();
    let others = head.other_channels(channel.unwrap_or_default());
    let incomplete = history.is_incomplete.then(|| ("incomplete", b"true".to_vec()));
    json_object(
        [
            ("thread_id", text(&entry.id)),
            ("checkpoints", number(chain.len())),
            ("channel", text(channel.unwrap_or_default())),
            ("other_channels", json_list(others.into_iter().map(text))),
            ("checkpoints_of_subgraphs", number(n_subgraphs)),
            ("unread", text(head.unread)),
            ("has_summary", head.has_summary().to_string().into_bytes()),
            ("records", json_list(history.finish().into_iter())),
        ]
        .into_iter()
        .chain(incomplete),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_time_of_a_checkpoint() {
        let time = time_of("1f1ebe62-b9ed-6f75-8004-51afa7e899b7");
        assert_eq!(time, Some(Millis(1_795_950_923_203)));
        for other in ["", "6", "1f1ebe62-b9ed-4f75-8004-51afa7e899b7", "é".repeat(16).as_str()] {
            assert_eq!(time_of(other), None, "{other}");
        }
    }
}
