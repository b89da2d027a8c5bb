//! Sub-agents: their records are taken out of the main conversation, and told apart.
//!
//! The oldest versions write them between the main ones (`isSidechain`), without saying whose they are: each sub-agent
//! begins a tree of its own. Later ones tell of them in `progress` records, and the newest keep a file for each; there
//! `agentId` names the sub-agent, and the result of the call that started it names it, too.

use super::entry::Entry;
use super::id::Id;
use super::tree::{speaks, uuid};
use crate::formats::{ImportReport, json, title};
use crate::session::{Body, Role, Session, SubAgent, Track};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Tools that start a sub-agent.
const TOOLS: [&str; 2] = ["Task", "Agent"];

/// A sub-agent's records.
#[derive(Debug, Default)]
pub(super) struct Agent {
    pub id: Option<Box<str>>,
    /// The tool call that started it.
    pub call: Option<Box<str>>,
    /// Those that stand between the main ones.
    pub inline: Vec<Entry>,
    /// Those that the program told of while it waited.
    pub embedded: Vec<Entry>,
}

/// What tells sub-agents apart.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Id(Box<str>),
    /// The first record of a tree.
    Root(usize),
}

/// The records of the main conversation, and the sub-agents in order of their first ones. A file that holds nothing else
/// is a sub-agent's own.
pub(super) fn take_out(entries: Vec<Entry>) -> (Vec<Entry>, Vec<Agent>) {
    if !entries.iter().any(|e| speaks(e) && !is_side(e)) {
        return (entries, Vec::new());
    }
    if !entries.iter().any(|e| is_side(e) || e.embedded.is_some()) {
        return (entries, Vec::new());
    }
    let roots = roots(&entries);
    let mut main = Vec::with_capacity(entries.len());
    let mut agents: Vec<Agent> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    for (mut entry, root) in entries.into_iter().zip(roots) {
        let mut agent = |key: Key| {
            let id = match &key {
                Key::Id(id) => Some(id.clone()),
                Key::Root(_) => None,
            };
            *places.entry(key).or_insert_with(|| {
                agents.push(Agent {
                    id,
                    ..Agent::default()
                });
                agents.len() - 1
            })
        };
        if let Some(embedded) = entry.embedded.take() {
            let at = agent(Key::Id(embedded.agent));
            agents[at].call = agents[at].call.take().or(embedded.call);
            agents[at].embedded.push(embedded.entry);
            main.push(entry);
        } else if let Some(root) = root {
            let id = entry.node.as_ref().and_then(|node| node.agent.as_deref());
            let at = agent(id.map_or(Key::Root(root), |id| Key::Id(id.into())));
            agents[at].inline.push(entry);
        } else {
            main.push(entry);
        }
    }
    (main, agents)
}

fn is_side(entry: &Entry) -> bool {
    entry.node.as_ref().is_some_and(|node| node.is_sidechain)
}

/// For every record of a sub-agent the first record of its tree. One whose parent is nowhere goes with the record of a
/// sub-agent before it.
fn roots(entries: &[Entry]) -> Vec<Option<usize>> {
    let side = || entries.iter().enumerate().filter(|(_, e)| is_side(e));
    let by_uuid: HashMap<&Id, usize> = side()
        .filter_map(|(at, entry)| Some((uuid(entry)?, at)))
        .collect();
    let main: HashSet<&Id> = entries
        .iter()
        .filter(|e| !is_side(e))
        .filter_map(uuid)
        .collect();
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
        let mut way = Vec::new();
        let mut next = at;
        // A ring of parents ends where it began.
        let root = loop {
            if let Some(root) = roots[next] {
                break root;
            }
            roots[next] = Some(next);
            way.push(next);
            match parents[next] {
                Some(parent) => next = parent,
                None => break next,
            }
        };
        for at in way {
            roots[at] = Some(root);
        }
    }
    roots
}

/// Sub-agents whose results are in the main conversation: the call that started each, by its id.
pub(super) fn reported(entries: &[Entry]) -> BTreeMap<String, Box<str>> {
    let reports = entries.iter().filter_map(|entry| entry.reports.as_deref());
    reports
        .map(|it| (it.agent.to_string(), it.call.clone()))
        .collect()
}

/// The calls of a main conversation that start sub-agents.
#[derive(Debug)]
pub struct Starts<'a> {
    /// What each call asks for, by its id.
    calls: HashMap<&'a str, &'a str>,
    /// The calls that ask for this.
    by_prompt: HashMap<String, &'a str>,
    /// The calls of sub-agents that reported, by the ids of these.
    reported: &'a BTreeMap<String, Box<str>>,
}

impl<'a> Starts<'a> {
    /// Those of a session that was read.
    pub fn new(main: &'a Session, report: &'a ImportReport) -> Self {
        let (mut calls, mut by_prompt) = (HashMap::new(), HashMap::new());
        for part in &main.parts {
            let Body::ToolCall {
                call,
                tool,
                arguments,
            } = &part.body
            else {
                continue;
            };
            calls.insert(&**call, &**arguments);
            let prompt = TOOLS
                .contains(&&**tool)
                .then(|| says(arguments, "prompt"))
                .flatten();
            if let Some(prompt) = prompt {
                by_prompt.entry(prompt).or_insert(&**call);
            }
        }
        Self {
            calls,
            by_prompt,
            reported: &report.sub_agents,
        }
    }

    /// Says of the conversation of the sub-agent with this id whose it is, and names it as the call that started it does.
    pub fn name(&self, id: &str, session: &mut Session) {
        self.tell((Some(id.into()), None), session);
    }

    /// The same for one whose id or call may be known.
    pub(super) fn tell(
        &self,
        (id, call): (Option<Box<str>>, Option<Box<str>>),
        session: &mut Session,
    ) {
        let of_id = || self.reported.get(&**id.as_ref()?).cloned();
        let call = call.or_else(of_id).or_else(|| {
            let prompt = session.messages.iter().find(|m| m.role == Role::User)?;
            let prompt = session.parts_of(prompt).first()?.body.text();
            self.by_prompt.get(prompt).map(|call| Box::from(*call))
        });
        let asked = call.as_ref().and_then(|call| self.calls.get(&**call));
        let says = |key: &str| says(asked?, key);
        let kind = says("subagent_type").map(Into::into);
        if let Some(words) = says("description").as_deref().and_then(title::of) {
            session.title = words;
        }
        session.track = Track::SubAgent(SubAgent { id, kind, call });
    }
}

/// A text among the arguments of a call.
fn says(arguments: &str, key: &str) -> Option<String> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    json::str_at(&arguments, &[key]).map(str::to_owned)
}
