//! Creates databases with the schemas of the programs.

use plimsoll::json::Value;
use rusqlite::{Connection, Result, params};
use std::path::Path;

/// `OpenCode`'s tables with the columns that are read.
pub(crate) const OPENCODE: &str = "
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
  directory text NOT NULL, title text NOT NULL, version text NOT NULL, share_url text, cost real NOT NULL DEFAULT 0,
  time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX part_session_idx ON part (session_id);
";

/// Goose's tables of schema version 7.
const GOOSE: &str = "
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
  user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  extension_data TEXT DEFAULT '{}', total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER,
  schedule_id TEXT, recipe_json TEXT, provider_name TEXT, model_config_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT,
  session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
CREATE INDEX idx_messages_session ON messages(session_id);
";

/// `CowAgent`'s tables except the virtual ones of its memory.
const COWAGENT: &str = "
CREATE VIRTUAL TABLE chunks_fts USING fts5(text);
CREATE TABLE sessions (agent_id TEXT NOT NULL DEFAULT '', session_id TEXT NOT NULL,
  channel_type TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '', context_start_seq INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, last_active INTEGER NOT NULL, msg_count INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (agent_id, session_id));
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL DEFAULT '',
  session_id TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL,
  created_at INTEGER NOT NULL, extras TEXT NOT NULL DEFAULT '', UNIQUE (agent_id, session_id, seq));
";

/// The tables of Cursor's `state.vscdb`.
const CURSOR: &str = "
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
";

/// Returns the text of a member, or an empty one.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Serializes an object without these members.
fn without(value: &Value, keys: &[&str]) -> String {
    let mut value = value.clone();
    if let Some(members) = value.as_object_mut() {
        members.retain(|key, _| !keys.contains(&key.as_str()));
    }
    value.to_string()
}

fn items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Adds an exported session to the tables of [`OPENCODE`] under another id.
pub(crate) fn add_opencode(db: &Connection, id: &str, created: i64, export: &Value) -> Result<()> {
    let info = &export["info"];
    db.execute(
        "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
         VALUES (?1, 'p', 's', ?2, ?3, '1.2.0', ?4, ?4)",
        params![id, text(info, "directory"), text(info, "title"), created],
    )?;
    // In reverse order, because the reader must sort them.
    let messages: Vec<&Value> = items(export, "messages").collect();
    for (n, message) in messages.into_iter().enumerate().rev() {
        let info = &message["info"];
        let (mut message_id, n) =
            (text(info, "id").to_owned(), i64::try_from(n).unwrap_or(i64::MAX));
        if id != "ses_1" {
            message_id = format!("{message_id}-{id}");
        }
        db.execute(
            "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
            params![message_id, id, created + n, without(info, &["id", "sessionID"])],
        )?;
        let parts: Vec<&Value> = items(message, "parts").collect();
        for (m, part) in parts.into_iter().enumerate().rev() {
            let part_id = format!("{message_id}-prt_{m:03}");
            let data = without(part, &["id", "sessionID", "messageID"]);
            db.execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                params![part_id, message_id, id, created + n, data],
            )?;
        }
    }
    Ok(())
}

/// Creates a database of `OpenCode` with these sessions: an id, a start time and an export each.
pub(crate) fn opencode(path: &Path, sessions: &[(&str, i64, &Value)]) -> Result<()> {
    let db = Connection::open(path)?;
    db.execute_batch(OPENCODE)?;
    for (id, created, export) in sessions {
        add_opencode(&db, id, *created, export)?;
    }
    Ok(())
}

/// Creates a database of Goose from an exported session.
pub(crate) fn goose(path: &Path, export: &Value) -> Result<()> {
    let db = Connection::open(path)?;
    db.execute_batch(GOOSE)?;
    db.execute(
        "INSERT INTO sessions (id, name, working_dir, model_config_json) VALUES (?1, ?2, ?3, ?4)",
        params![
            text(export, "id"),
            text(export, "name"),
            text(export, "working_dir"),
            export["model_config"].to_string()
        ],
    )?;
    for message in items(export, "conversation") {
        db.execute(
            "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                text(message, "id"),
                text(export, "id"),
                text(message, "role"),
                message["content"].to_string(),
                message["created"].as_i64(),
                message.get("metadata").map(Value::to_string),
            ],
        )?;
    }
    Ok(())
}

/// Creates a database of `CowAgent` in which two agents have sessions with the same id. The second is that of the document.
pub(crate) fn cowagent(path: &Path, document: &Value) -> Result<()> {
    let db = Connection::open(path)?;
    db.execute_batch(COWAGENT)?;
    let id = text(document, "session_id");
    for (agent, title) in [("", "Nothing"), ("second", text(document, "title"))] {
        db.execute(
            "INSERT INTO sessions VALUES (?1, ?2, 'web', ?3, ?4, ?5, ?6, 8)",
            params![
                agent,
                id,
                title,
                document["context_start_seq"].as_i64(),
                document["created_at"].as_i64(),
                document["last_active"].as_i64()
            ],
        )?;
    }
    let add = "INSERT INTO messages (agent_id, session_id, seq, role, content, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    db.execute(add, params!["", id, 0, "user", "\"Anybody there?\"", 1])?;
    for message in items(document, "messages") {
        db.execute(
            add,
            params![
                "second",
                id,
                message["seq"].as_i64(),
                text(message, "role"),
                message["content"].to_string(),
                message["created_at"].as_i64()
            ],
        )?;
    }
    Ok(())
}

/// Creates a database of Cursor with a conversation, an empty one, and private data.
pub(crate) fn cursor(path: &Path, document: &Value) -> Result<()> {
    let db = Connection::open(path)?;
    db.execute_batch(CURSOR)?;
    let put = |table: &str, key: &str, value: &str| {
        db.execute(&format!("INSERT INTO {table} VALUES (?1, ?2)"), params![key, value.as_bytes()])
    };
    put("ItemTable", "cursorAuth/accessToken", "hidden-token")?;
    put("cursorDiskKV", "secret://x", "hidden-secret")?;
    let id = text(document, "composerId");
    let mut head = document.clone();
    let bubbles: Vec<Value> = items(document, "conversation").cloned().collect();
    let bubble_id = |b: &Value| b.as_str().unwrap_or_else(|| text(b, "bubbleId")).to_owned();
    let headers: Vec<Value> = bubbles
        .iter()
        .map(|b| plimsoll::json::json!({"bubbleId": bubble_id(b), "type": b["type"]}))
        .collect();
    head["conversation"] = Value::Array(Vec::new());
    head["fullConversationHeadersOnly"] = Value::Array(headers);
    head["blobEncryptionKey"] = "hidden-key".into();
    put("cursorDiskKV", &format!("composerData:{id}"), &head.to_string())?;
    let empty = plimsoll::json::json!({"composerId": "e", "fullConversationHeadersOnly": []});
    put("cursorDiskKV", "composerData:e", &empty.to_string())?;
    for bubble in bubbles.iter().filter(|b| b.is_object()) {
        let mut bubble = bubble.clone();
        let key = format!("bubbleId:{id}:{}", bubble_id(&bubble));
        bubble["symbolLinks"] = "hidden-members".into();
        put("cursorDiskKV", &key, &bubble.to_string())?;
    }
    // Deleted from the conversation, but still in the table.
    put("cursorDiskKV", &format!("bubbleId:{id}:old"), "{\"type\":1,\"text\":\"gone\"}")?;
    Ok(())
}
