//! Who a session says it is among those of its program, and what a session tells of the sub-agents that it started.

use super::{ImportReport, codex_rollout, gemini_cli, json, jsonl, opencode, title};
use crate::session::{Body, Session, Source, SubAgent};
use std::collections::{BTreeMap, HashMap};

/// Who a session says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kin {
    /// Its id.
    pub id: Box<str>,
    /// The session that started it, which is a sub-agent's.
    pub parent: Option<Box<str>>,
    /// What kind of agent it is.
    pub kind: Option<Box<str>>,
    /// What it is called.
    pub name: Option<Box<str>>,
}

/// What the beginning of a file of this format says of it; none where the format does not tell, or the beginning holds no
/// head of a session. Of JSON Lines the first line is enough.
pub fn kin(format: &str, start: &[u8]) -> Option<Kin> {
    told_by(format)?(start)
}

/// The same of a file that was read.
pub fn kin_of(source: &Source) -> Option<Kin> {
    let tell = told_by(source.format)?;
    if source.format == codex_rollout::FORMAT.name {
        return tell(&jsonl::opening(&source.bytes, 1));
    }
    tell(&source.bytes.whole())
}

/// Reads the beginning of a file.
type Tell = fn(&[u8]) -> Option<Kin>;

fn told_by(format: &str) -> Option<Tell> {
    match format {
        "codex_rollout" => Some(codex_rollout::kin),
        "gemini_cli" => Some(gemini_cli::kin),
        "opencode" => Some(opencode::identity),
        _ => None,
    }
}

/// What a session tells of the sub-agents that it started.
#[derive(Debug)]
pub struct Started<'a> {
    /// What each call asks for, by its id.
    asked: HashMap<&'a str, &'a str>,
    /// The calls, by the ids of the sub-agents.
    calls: &'a BTreeMap<String, Box<str>>,
}

impl<'a> Started<'a> {
    /// That of a session that was read.
    pub fn new(main: &'a Session, report: &'a ImportReport) -> Self {
        let call = |body: &'a Body| match body {
            Body::ToolCall {
                call, arguments, ..
            } => Some((&**call, &**arguments)),
            _ => None,
        };
        Self {
            asked: main.parts.iter().filter_map(|p| call(&p.body)).collect(),
            calls: &report.sub_agents,
        }
    }

    /// What is known of the sub-agent that says this of itself, and a title in the words of the call that started it.
    pub fn agent(&self, kin: &Kin) -> (SubAgent, Option<String>) {
        let call = self.calls.get(&*kin.id).cloned();
        let asked = call.as_ref().and_then(|call| self.asked.get(&**call));
        let asked = asked.and_then(|asked| serde_json::from_str(asked).ok());
        let asked: serde_json::Value = asked.unwrap_or_default();
        let says = |keys: &[&str]| {
            let mut said = keys.iter().filter_map(|key| json::str_at(&asked, &[key]));
            said.find(|said| !said.trim().is_empty())
        };
        let kind = says(&["subagent_type", "agent_type", "agent_name"]).map(Into::into);
        let agent = SubAgent {
            id: Some(kin.id.clone()),
            kind: kin.kind.clone().or(kind),
            call,
        };
        (
            agent,
            says(&["description", "message", "prompt"]).and_then(title::of),
        )
    }
}
