//! The identity in a rollout's first line, and the sub-agents that a rollout started.

use crate::formats::SessionIdentity;
use crate::formats::json::str_at;
use crate::json::Value;
use crate::session::{Body, Session};
use std::collections::BTreeMap;

/// The tool that starts a sub-agent.
const TOOL: &str = "spawn_agent";

/// Reads the identity from the first line.
pub(super) fn read(start: &[u8]) -> Option<SessionIdentity> {
    let line = start.split(|b| *b == b'\n').next()?;
    let head: Value = crate::json::from_slice(line).ok()?;
    let payload = head.get("payload")?;
    if str_at(&head, &["type"]) != Some("session_meta") {
        return None;
    }
    let of_agent = ["source", "subagent", "thread_spawn"];
    let text = |key: &str| {
        let spawned = || str_at(payload, &[&of_agent[..], &[key]].concat());
        str_at(payload, &[key]).or_else(spawned).map(Box::from)
    };
    let is_agent = payload.pointer("/source/subagent").is_some()
        || str_at(payload, &["thread_source"]) == Some("subagent");
    Some(SessionIdentity {
        id: str_at(payload, &["id"])?.into(),
        parent: text("parent_thread_id").filter(|_| is_agent),
        kind: text("agent_role").or_else(|| str_at(payload, &of_agent[..2]).map(Box::from)),
        name: text("agent_nickname"),
    })
}

/// Returns the calls of the sub-agents that the session itself started, by agent id. Calls copied from a parent do not
/// count.
pub(super) fn started(session: &Session) -> BTreeMap<String, Box<str>> {
    let mut calls: Vec<&str> = Vec::new();
    let mut started = BTreeMap::new();
    for message in &session.messages {
        for part in session.parts_of(message) {
            match &part.body {
                Body::ToolCall { call, tool, .. } if &**tool == TOOL && message.call.is_some() => {
                    calls.push(call);
                }
                Body::ToolResult { call, text, .. } if calls.contains(&&**call) => {
                    let output: Value = crate::json::from_str(text).unwrap_or_default();
                    if let Some(id) = str_at(&output, &["agent_id"]) {
                        started.insert(id.to_owned(), call.clone());
                    }
                }
                _ => {}
            }
        }
    }
    started
}
