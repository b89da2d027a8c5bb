//! Separates the records of sub-agents from the main conversation and from each other.
//!
//! The oldest versions write them between the main records (`isSidechain`) without naming the sub-agent: each one
//! begins a separate tree. Later versions record them in `progress` records. The newest keep one file per sub-agent, in
//! which `agentId` names it, and the result of the call that started it names it as well.

use super::entry::ClaudeEntry;
use super::id::Id;
use super::tree::{is_message, uuid};
use crate::formats::{ImportReport, json, title};
use crate::json::Value;
use crate::session::{Body, Role, Session, SubAgent, Track};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Tools that start a sub-agent.
const AGENT_TOOLS: [&str; 2] = ["Task", "Agent"];

/// Records of a sub-agent.
#[derive(Debug, Default)]
pub(super) struct Agent {
    pub id: Option<Box<str>>,
    /// The tool call that started it.
    pub call: Option<Box<str>>,
    /// Records between those of the main conversation.
    pub inline: Vec<ClaudeEntry>,
    /// Records from the program's `progress` records.
    pub embedded: Vec<ClaudeEntry>,
}

/// Identifies a sub-agent.
#[derive(Debug, PartialEq, Eq, Hash)]
enum AgentKey {
    Id(Box<str>),
    /// The first record of a tree.
    Root(usize),
}

/// Separates the records of the main conversation from the sub-agents, in order of their first records. A file with
/// sub-agent records only is returned as a main conversation.
pub(super) fn take_out(entries: Vec<ClaudeEntry>) -> (Vec<ClaudeEntry>, Vec<Agent>) {
    if !entries.iter().any(|e| is_message(e) && !is_side(e)) {
        return (entries, Vec::new());
    }
    if !entries.iter().any(|e| is_side(e) || e.embedded.is_some()) {
        return (entries, Vec::new());
    }
    let roots = roots(&entries);
    let mut main = Vec::with_capacity(entries.len());
    let mut agents: Vec<Agent> = Vec::new();
    let mut places: HashMap<AgentKey, usize> = HashMap::new();
    for (mut entry, root) in entries.into_iter().zip(roots) {
        let mut agent = |key: AgentKey| {
            let id = match &key {
                AgentKey::Id(id) => Some(id.clone()),
                AgentKey::Root(_) => None,
            };
            *places.entry(key).or_insert_with(|| {
                agents.push(Agent { id, ..Agent::default() });
                agents.len() - 1
            })
        };
        if let Some(embedded) = entry.embedded.take() {
            let at = agent(AgentKey::Id(embedded.agent));
            agents[at].call = agents[at].call.take().or(embedded.call);
            agents[at].embedded.push(embedded.entry);
            main.push(entry);
        } else if let Some(root) = root {
            let id = entry.node.as_ref().and_then(|node| node.agent.as_deref());
            let at = agent(id.map_or(AgentKey::Root(root), |id| AgentKey::Id(id.into())));
            agents[at].inline.push(entry);
        } else {
            main.push(entry);
        }
    }
    (main, agents)
}

fn is_side(entry: &ClaudeEntry) -> bool {
    entry.node.as_ref().is_some_and(|node| node.is_sidechain)
}

/// Returns the first record of the tree for every record of a sub-agent. A record whose parent is missing belongs to
/// the tree of the sub-agent record before it.
fn roots(entries: &[ClaudeEntry]) -> Vec<Option<usize>> {
    let side = || entries.iter().enumerate().filter(|(_, e)| is_side(e));
    let by_uuid: HashMap<&Id, usize> =
        side().filter_map(|(at, entry)| Some((uuid(entry)?, at))).collect();
    let main: HashSet<&Id> = entries.iter().filter(|e| !is_side(e)).filter_map(uuid).collect();
    let mut parents: Vec<Option<usize>> = vec![None; entries.len()];
    let mut before = None;
    for (at, entry) in side() {
        let named = entry.node.as_ref().and_then(|n| n.parent.as_ref());
        let is_root = named.is_none_or(|uuid| main.contains(uuid));
        let found = named.and_then(|uuid| by_uuid.get(uuid).copied());
        parents[at] = found.filter(|p| *p != at).or(before).filter(|_| !is_root);
        before = Some(at);
    }
    let mut roots: Vec<Option<usize>> = vec![None; entries.len()];
    for (at, _) in side() {
        let mut path = Vec::new();
        let mut next = at;
        // A cycle of parents ends at its start.
        let root = loop {
            if let Some(root) = roots[next] {
                break root;
            }
            roots[next] = Some(next);
            path.push(next);
            match parents[next] {
                Some(parent) => next = parent,
                None => break next,
            }
        };
        for at in path {
            roots[at] = Some(root);
        }
    }
    roots
}

/// Returns the sub-agents whose results are in the main conversation: the id of the call that started each, by agent
/// id.
pub(super) fn reported_agents(entries: &[ClaudeEntry]) -> BTreeMap<String, Box<str>> {
    let reports = entries.iter().filter_map(|entry| entry.agent_result.as_deref());
    reports.map(|it| (it.agent.to_string(), it.call.clone())).collect()
}

/// The calls of a main conversation that started sub-agents.
#[derive(Debug)]
pub struct AgentCalls<'a> {
    /// Arguments of each call, by its id.
    calls: HashMap<&'a str, &'a str>,
    /// Ids of the calls, by their prompts.
    by_prompt: HashMap<String, &'a str>,
    /// Ids of the calls of sub-agents with results, by the agent ids.
    reported_agents: &'a BTreeMap<String, Box<str>>,
}

impl<'a> AgentCalls<'a> {
    /// Collects the calls of a session.
    pub fn new(main: &'a Session, report: &'a ImportReport) -> Self {
        let (mut calls, mut by_prompt) = (HashMap::new(), HashMap::new());
        for part in &main.parts {
            let Body::ToolCall { call, tool, arguments } = &part.body else {
                continue;
            };
            calls.insert(&**call, &**arguments);
            let prompt =
                AGENT_TOOLS.contains(&&**tool).then(|| argument(arguments, "prompt")).flatten();
            if let Some(prompt) = prompt {
                by_prompt.entry(prompt).or_insert(&**call);
            }
        }
        Self { calls, by_prompt, reported_agents: &report.sub_agents }
    }

    /// Sets track and title of the conversation of the sub-agent with this id.
    pub fn name(&self, id: &str, session: &mut Session) {
        self.set_track((Some(id.into()), None), session);
    }

    /// Sets track and title of a sub-agent's conversation, whose id or call may be known.
    pub(super) fn set_track(
        &self,
        (id, call): (Option<Box<str>>, Option<Box<str>>),
        session: &mut Session,
    ) {
        let of_id = || self.reported_agents.get(&**id.as_ref()?).cloned();
        let call = call.or_else(of_id).or_else(|| {
            let prompt = session.messages.iter().find(|m| m.role == Role::User)?;
            let prompt = session.parts_of(prompt).first()?.body.text();
            self.by_prompt.get(prompt).map(|call| Box::from(*call))
        });
        let arguments = call.as_ref().and_then(|call| self.calls.get(&**call));
        let text = |key: &str| argument(arguments?, key);
        let kind = text("subagent_type").map(Into::into);
        if let Some(description) = text("description").as_deref().and_then(title::first_line) {
            session.title = description;
        }
        session.track = Track::SubAgent(SubAgent { id, kind, call });
    }
}

/// Returns a string argument of a call.
fn argument(arguments: &str, key: &str) -> Option<String> {
    let arguments: Value = crate::json::from_str(arguments).ok()?;
    json::str_at(&arguments, &[key]).map(str::to_owned)
}
