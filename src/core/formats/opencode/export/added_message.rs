//! Writes added messages in `OpenCode`'s form, with the metadata that `OpenCode` expects.
//!
//! `OpenCode` sorts messages by time and id. An added message therefore has the time of the previous message, and an
//! id that begins with the id of that message and precedes the id of the next one.

use crate::formats::json;
use crate::formats::record_ids::TakenIds;
use crate::json::{Map, Value, json};
use crate::session::{Role, Session};

/// Maximum number of times that a message is added before one that was added at the same place.
// Chosen: each compaction of a managed conversation may add one. Each makes the ids four digits longer.
const MAX_NESTED: usize = 16;

/// Writes added messages between those of a file.
pub(super) struct AddedMessageWriter {
    /// Metadata of the first user message in the file.
    user_members: Map<String, Value>,
    /// Metadata of the first answer in the file.
    assistant_members: Map<String, Value>,
    /// The `info` of the previous message.
    previous: Option<Value>,
    ids: TakenIds,
}

impl AddedMessageWriter {
    /// Creates a writer for a session, some of whose ids are in the new file.
    pub(super) fn new(session: &Session, ids: TakenIds) -> Self {
        let raw = session.messages.iter().filter_map(|m| m.raw.first());
        let mut starts: Vec<_> = raw.cloned().collect();
        starts.sort_by_key(|span| span.start);
        starts.dedup();
        let first = |role, keys: &[&str]| {
            let found = starts
                .iter()
                .filter_map(|span| info(&session.source.bytes.whole()[span.clone()]))
                .find(|info| json::str_at(info, &["role"]) == Some(role));
            let members = keys
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), found.as_ref()?.get(key)?.clone())));
            members.collect()
        };
        Self {
            user_members: first("user", &["agent", "model"]),
            assistant_members: first(
                "assistant",
                &["modelID", "providerID", "mode", "agent", "path"],
            ),
            previous: None,
            ids,
        }
    }

    /// Sets the message of the file that precedes the next added one.
    pub(super) fn set_previous(&mut self, record: &[u8]) {
        self.previous = info(record).or(self.previous.take());
    }

    /// Writes a message. `next` is the following record of the file.
    pub(super) fn write(&mut self, role: Role, text: &str, next: Option<&[u8]>) -> Vec<u8> {
        let next = next.and_then(info);
        let near = self.previous.as_ref().or(next.as_ref());
        let near = |path: &[&str]| near.and_then(|info| json::at(info, path)).cloned();
        let previous = self.previous.as_ref().and_then(|info| json::str_at(info, &["id"]));
        let start = previous.unwrap_or("msg_0");
        let follows = next.as_ref().and_then(|info| json::str_at(info, &["id"]));
        let follows = follows.filter(|next| *next > start).unwrap_or("~");
        // An id that was added before may follow.
        let zeros = (0..).map(|n| format!("{start}plimsoll{}", "0000".repeat(n)));
        let zeros = zeros.take(MAX_NESTED).find(|prefix| &**prefix < follows);
        let prefix = zeros.unwrap_or_else(|| format!("{start}plimsoll"));
        let id = self.ids.free(|n| format!("{prefix}{:04}", n + 1));
        let mut info = Map::new();
        let mut put = |key: &str, value: Value| info.insert(key.to_owned(), value);
        put("id", id.clone().into());
        put("sessionID", near(&["sessionID"]).unwrap_or_default());
        put("time", json!({"created": near(&["time", "created"]).unwrap_or_else(|| 0.into())}));
        if role == Role::Assistant {
            put("role", "assistant".into());
            put("parentID", previous.into());
            put("cost", 0.into());
            put(
                "tokens",
                json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}),
            );
            info.extend(self.assistant_members.clone());
        } else {
            put("role", "user".into());
            info.extend(self.user_members.clone());
        }
        let session = info.get("sessionID").cloned();
        let part = format!("prt_{}", id.trim_start_matches("msg_"));
        let part = json!({"id": part, "sessionID": session, "messageID": id, "type": "text", "text": text});
        let message = json!({"info": info, "parts": [part]});
        message.to_string().into_bytes()
    }
}

/// Returns the `info` of a record.
fn info(record: &[u8]) -> Option<Value> {
    let range = json::member(record, &(0..record.len()), "info")?;
    json::parse_span(record, &range)
}
