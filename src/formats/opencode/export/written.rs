//! Messages of ours, as the program writes its own: with an id that sorts them where they stand, and what it wants to
//! know of a message.
//!
//! The program puts messages in the order of their times and ids, so ours bear the time of the message before and
//! an id that begins with its.

use crate::formats::json;
use crate::session::{Role, Session};
use serde_json::{Map, Value, json};

/// Writes messages between those of a file.
pub(super) struct Writer {
    /// What the program notes of a person's message and of an answer, as the first of each in the file has it.
    asked: Map<String, Value>,
    answered: Map<String, Value>,
    /// The `info` of the message before.
    before: Option<Value>,
    written: usize,
}

impl Writer {
    /// For the messages of a session.
    pub(super) fn new(session: &Session) -> Self {
        let raw = session.messages.iter().filter_map(|m| m.raw.first());
        let mut starts: Vec<_> = raw.cloned().collect();
        starts.sort_by_key(|span| span.start);
        starts.dedup();
        let mut infos = starts
            .iter()
            .filter_map(|span| info(&session.source.bytes.whole()[span.clone()]));
        let mut first = |role, keys: &[&str]| {
            let found = infos
                .by_ref()
                .find(|info| json::str_at(info, &["role"]) == Some(role));
            let members = keys
                .iter()
                .filter_map(|key| Some(((*key).to_owned(), found.as_ref()?.get(key)?.clone())));
            members.collect()
        };
        Self {
            asked: first("user", &["agent", "model"]),
            answered: first(
                "assistant",
                &["modelID", "providerID", "mode", "agent", "path"],
            ),
            before: None,
            written: 0,
        }
    }

    /// Notes a message of the file that stands before what comes next.
    pub(super) fn passed(&mut self, record: &[u8]) {
        self.before = info(record).or(self.before.take());
    }

    /// A message that says this; `next` is the record of the file behind it.
    pub(super) fn write(&mut self, role: Role, text: &str, next: Option<&[u8]>) -> Vec<u8> {
        let next = next.and_then(info);
        let near = self.before.as_ref().or(next.as_ref());
        let near = |path: &[&str]| near.and_then(|info| json::at(info, path)).cloned();
        self.written += 1;
        let before = self
            .before
            .as_ref()
            .and_then(|info| json::str_at(info, &["id"]));
        let id = format!("{}plimsoll{:04}", before.unwrap_or("msg_0"), self.written);
        let mut info = Map::new();
        let mut put = |key: &str, value: Value| info.insert(key.to_owned(), value);
        put("id", id.clone().into());
        put("sessionID", near(&["sessionID"]).unwrap_or_default());
        put(
            "time",
            json!({"created": near(&["time", "created"]).unwrap_or_else(|| 0.into())}),
        );
        if role == Role::Assistant {
            put("role", "assistant".into());
            put("parentID", before.into());
            put("cost", 0.into());
            put(
                "tokens",
                json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}),
            );
            info.extend(self.answered.clone());
        } else {
            put("role", "user".into());
            info.extend(self.asked.clone());
        }
        let session = info.get("sessionID").cloned();
        let part = format!("prt_{}", id.trim_start_matches("msg_"));
        let part = json!({"id": part, "sessionID": session, "messageID": id, "type": "text", "text": text});
        let message = json!({"info": info, "parts": [part]});
        message.to_string().into_bytes()
    }
}

/// What a record says of its message.
fn info(record: &[u8]) -> Option<Value> {
    let place = json::member(record, &(0..record.len()), "info")?;
    json::parse_span(record, &place)
}
