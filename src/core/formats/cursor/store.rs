//! Cursor's database (`state.vscdb`): a key-value table. Only conversations (`composerData:ID`) and their messages
//! (`bubbleId:ID:MESSAGE`) are queried. The same file holds login tokens, and records of conversations hold keys. For
//! this reason only members with known names are copied.

use crate::formats::database::{Database, DatabaseSession, Record, RowFilter, Rows, TableQuery};
use crate::formats::folder::{json_list, json_object};
use crate::formats::json;
use crate::json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// Cursor's database.
pub(super) static DATABASE: Database = Database {
    tables: &[("cursorDiskKV", &["key", "value"])],
    binary: &[],
    listing: TableQuery {
        table: "cursorDiskKV",
        columns: KEY_VALUE,
        filter: RowFilter::StartsWith("key", Cow::Borrowed(COMPOSER)),
    },
    entries,
    queries,
    document,
};

const KEY_VALUE: &[&str] = &["key", "value"];
/// Key prefix of conversations.
const COMPOSER: &str = "composerData:";
/// Members copied from a conversation.
const COPIED_MEMBERS: [&str; 9] = [
    "composerId",
    "name",
    "createdAt",
    "lastUpdatedAt",
    "modelConfig",
    "workspaceIdentifier",
    "contextTokensUsed",
    "contextTokenLimit",
    "latestConversationSummary",
];
/// Members copied from a message.
const BUBBLE: [&str; 10] = [
    "bubbleId",
    "type",
    "capabilityType",
    "createdAt",
    "text",
    "thinking",
    "toolFormerData",
    "tokenCount",
    "errorDetails",
    "images",
];

/// Returns the conversations with messages. Cursor creates an empty one for each new tab.
fn entries(rows: &Rows) -> Vec<DatabaseSession> {
    rows.iter().filter_map(entry).collect()
}

fn entry(row: Record<'_>) -> Option<DatabaseSession> {
    let id = row.text("key").strip_prefix(COMPOSER)?;
    let value = row.text("value").as_bytes();
    let members = json::members(value, &json::document_span(value))?;
    let at = |name: &str| members.iter().rfind(|(key, _)| key == name);
    let value_of = |name: &str| json::parse_span(value, &at(name)?.1);
    let is_empty = |name: &str| {
        let listed = at(name).and_then(|(_, span)| json::elements(value, span));
        listed.is_none_or(|listed| listed.is_empty())
    };
    if is_empty("fullConversationHeadersOnly") && is_empty("conversation") {
        return None;
    }
    let title =
        value_of("name").or_else(|| value_of("latestConversationSummary")?.get("title").cloned());
    Some(DatabaseSession {
        id: id.to_owned(),
        title: title.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(),
        created: value_of("createdAt").as_ref().and_then(json::millis),
        updated: value_of("lastUpdatedAt")
            .or_else(|| value_of("createdAt"))
            .as_ref()
            .and_then(json::millis),
        bytes: row.bytes(),
        ..DatabaseSession::default()
    })
}

fn queries(entry: &DatabaseSession) -> Vec<TableQuery> {
    let of = |filter| TableQuery { table: "cursorDiskKV", columns: KEY_VALUE, filter };
    let messages = format!("bubbleId:{}:", entry.id);
    vec![
        of(RowFilter::Equals("key", format!("{COMPOSER}{}", entry.id))),
        of(RowFilter::StartsWith("key", messages.into())),
    ]
}

/// Returns the conversation with its messages embedded, the notation of older Cursor versions.
fn document(entry: &DatabaseSession, rows: &[Rows]) -> Vec<u8> {
    let [heads, bubbles] = rows else {
        return Vec::new();
    };
    let head = heads.iter().next().map_or("", |row| row.text("value"));
    let head = head.as_bytes();
    let whole = json::document_span(head);
    let mut members = copied(head, &COPIED_MEMBERS);
    let within = json::member(head, &whole, "conversation")
        .and_then(|list| json::elements(head, &list))
        .filter(|list| !list.is_empty());
    let bubbles = match within {
        Some(spans) => json_list(spans.into_iter().map(|span| bubble(&head[span]))),
        None => json_list(ordered(entry, head, bubbles).into_iter()),
    };
    members.push(("conversation", bubbles));
    json_object(members.into_iter())
}

/// Returns the messages in the order of the conversation's list. A message that is missing or listed before becomes its
/// id, which the reader reports.
fn ordered(entry: &DatabaseSession, head: &[u8], bubbles: &Rows) -> Vec<Vec<u8>> {
    let start = format!("bubbleId:{}:", entry.id);
    let mut by_id: HashMap<&str, Record<'_>> = bubbles
        .iter()
        .filter_map(|row| Some((row.text("key").strip_prefix(&*start)?, row)))
        .collect();
    let listed = json::member(head, &json::document_span(head), "fullConversationHeadersOnly");
    let listed = listed.and_then(|list| json::elements(head, &list));
    let listed = listed.unwrap_or_default().into_iter();
    let message = |span| {
        let listed = json::parse_span(head, &span)?;
        let id = json::str_at(&listed, &["bubbleId"])?;
        let kept = by_id.remove(id).map(|row| bubble(row.text("value").as_bytes()));
        Some(kept.unwrap_or_else(|| Value::from(id).to_string().into_bytes()))
    };
    listed.filter_map(message).collect()
}

fn bubble(value: &[u8]) -> Vec<u8> {
    json_object(copied(value, &BUBBLE).into_iter())
}

/// Returns the members with these names in their source notation.
fn copied<'a>(value: &[u8], names: &[&'a str]) -> Vec<(&'a str, Vec<u8>)> {
    let members = json::members(value, &json::document_span(value)).unwrap_or_default();
    let member = |name: &&'a str| {
        let (_, span) = members.iter().rfind(|(key, _)| key == name)?;
        let text = &value[span.clone()];
        json::is_one_value(text).then(|| (*name, text.to_vec()))
    };
    names.iter().filter_map(member).collect()
}
