//! The identity that a session file records, and the sub-agents that a session started.

use super::{ImportReport, by_name, json, jsonl, title};
use crate::session::{Body, Session, Source, SubAgent};
use std::collections::{BTreeMap, HashMap};

/// The identity of a session among those of its program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionIdentity {
    /// Session id.
    pub id: Box<str>,
    /// Id of the session that started it, if it is a sub-agent's.
    pub parent: Option<Box<str>>,
    /// Kind of agent.
    pub kind: Option<Box<str>>,
    /// Name of the agent.
    pub name: Option<Box<str>>,
}

/// Returns the identity recorded at the beginning of a file, or `None` if there is no session head or the format
/// records none. For JSON Lines the first line suffices.
pub fn identity(format: &str, start: &[u8]) -> Option<SessionIdentity> {
    (by_name(format)?.identity?)(start)
}

/// Returns the identity of a session whose file was read.
pub fn identity_of(source: &Source) -> Option<SessionIdentity> {
    let format = by_name(source.format)?;
    let read = format.identity?;
    if format.reads_in_pieces {
        return read(&jsonl::opening(&source.bytes, 1));
    }
    read(&source.bytes.whole())
}

/// The calls with which a session started its sub-agents.
#[derive(Debug)]
pub struct SubAgentCalls<'a> {
    /// Arguments of each call, by its id.
    arguments: HashMap<&'a str, &'a str>,
    /// Ids of the calls, by the ids of the sub-agents.
    calls: &'a BTreeMap<String, Box<str>>,
}

impl<'a> SubAgentCalls<'a> {
    /// Collects the calls of a session.
    pub fn new(main: &'a Session, report: &'a ImportReport) -> Self {
        let call = |body: &'a Body| match body {
            Body::ToolCall { call, arguments, .. } => Some((&**call, &**arguments)),
            _ => None,
        };
        Self {
            arguments: main.parts.iter().filter_map(|p| call(&p.body)).collect(),
            calls: &report.sub_agents,
        }
    }

    /// Returns the sub-agent with this identity, and a title from the arguments of the call that started it.
    pub fn agent(&self, identity: &SessionIdentity) -> (SubAgent, Option<String>) {
        let call = self.calls.get(&*identity.id).cloned();
        let arguments = call.as_ref().and_then(|call| self.arguments.get(&**call));
        let arguments = arguments.and_then(|arguments| crate::json::from_str(arguments).ok());
        let arguments: crate::json::Value = arguments.unwrap_or_default();
        let str_of = |keys: &[&str]| {
            let mut texts = keys.iter().filter_map(|key| json::str_at(&arguments, &[key]));
            texts.find(|texts| !texts.trim().is_empty())
        };
        let kind = str_of(&["subagent_type", "agent_type", "agent_name"]).map(Into::into);
        let agent =
            SubAgent { id: Some(identity.id.clone()), kind: identity.kind.clone().or(kind), call };
        (agent, str_of(&["description", "message", "prompt"]).and_then(title::first_line))
    }
}
