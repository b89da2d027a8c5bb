//! The identity in a file's head, and the sub-agents that its calls started.

use crate::formats::{SessionIdentity, json};
use crate::json::Value;
use crate::session::{Body, Session};
use std::collections::BTreeMap;

/// Reads the identity from the first line or the document's own members.
pub(super) fn read(start: &[u8]) -> Option<SessionIdentity> {
    let whole = json::document_span(start);
    let line = start.split(|b| *b == b'\n').next()?;
    let first: Value = crate::json::from_slice(line).unwrap_or_default();
    let id = if let Some(id) = json::str_at(&first, &["sessionId"]) {
        id.to_owned()
    } else {
        let id = json::member(start, &whole, "sessionId")?;
        json::parse_span(start, &id)?.as_str()?.to_owned()
    };
    Some(SessionIdentity { id: id.into(), ..SessionIdentity::default() })
}

/// Returns the calls that started sub-agents, by agent id.
pub(super) fn started(session: &Session) -> BTreeMap<String, Box<str>> {
    let mut started = BTreeMap::new();
    for message in &session.messages {
        let parts = session.parts_of(message).iter();
        let has_calls = |body: &Body| matches!(body, Body::ToolCall { .. });
        if !parts.map(|part| &part.body).any(has_calls) {
            continue;
        }
        for span in &message.raw {
            let Some(record) = json::parse_span(&session.source.bytes.whole(), span) else {
                continue;
            };
            let calls = record.get("toolCalls").and_then(Value::as_array);
            for call in calls.into_iter().flatten() {
                let str_of = |key| json::str_at(call, &[key]);
                if let (Some(agent), Some(call)) = (str_of("agentId"), str_of("id")) {
                    started.insert(agent.to_owned(), call.into());
                }
            }
        }
    }
    started
}
