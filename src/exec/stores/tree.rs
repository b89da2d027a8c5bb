//! Sessions as trees: a session with its sub-agents and with the sessions that resumed or forked it.

use super::{
    Cache, ConversationUsage, FileUsage, FoundFile, ListCaches, ListedSession, Listing, Relation,
    UsageCache, list,
};
use crate::analysis::usage::{RecordedUsage, TreeUsage, UsageRow, UsedSession, usage_of_each};
use crate::exec::database::is_database;
use crate::exec::load::Loaded;
use crate::progress::{Cancelled, Progress};
use crate::session::Track;
use crate::units::{Millis, Tokens};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Usage of the sessions of a list, by conversation and by tree.
#[derive(Debug)]
pub struct ListUsage<'a> {
    conversations: Vec<UsedConversation<'a>>,
    /// Index of the root of the tree of each session; its own if it is a root.
    roots: Vec<usize>,
}

/// Usage of a conversation of a list.
#[derive(Debug)]
struct UsedConversation<'a> {
    /// Index of its session in the list.
    listed: usize,
    /// Usage of its file.
    file: &'a Arc<FileUsage>,
    /// Index of the conversation in `file`.
    idx: usize,
    /// Its calls, including those that another session contains.
    usage: RecordedUsage,
}

/// Usage of an agent of a tree.
#[derive(Clone, Debug)]
pub struct AgentUsage {
    /// Index of its session in the list.
    pub listed: usize,
    /// Sums over its calls, without those that an earlier conversation contains.
    pub row: UsageRow,
    /// Usage of its file.
    file: Arc<FileUsage>,
    /// Index of its conversation in `file`.
    idx: usize,
}

impl<'a> ListUsage<'a> {
    /// Returns what the sessions of a list used. Sessions without known usage are left out.
    pub fn new(listing: &'a Listing) -> Self {
        let listed = listing.sessions.par_iter().enumerate();
        let conversations = listed.flat_map_iter(|(listed, session)| {
            let all = session.usage.iter().flat_map(|file| {
                file.conversations.iter().enumerate().map(move |(idx, used)| (file, idx, used))
            });
            all.map(move |(file, idx, used)| UsedConversation {
                listed,
                file,
                idx,
                usage: used.usage(),
            })
        });
        Self { conversations: conversations.collect(), roots: roots(&listing.sessions) }
    }

    /// Returns the conversations for [`crate::analysis::usage::UsageTable`], with the session's tree as its session. Further
    /// main conversations of a file, such as those of a data set, are sessions of their own.
    pub fn sessions<'s>(&'s self, listing: &'s Listing) -> Vec<UsedSession<'s>> {
        let used = self.conversations.iter().enumerate().map(|(number, used)| {
            let listed = &listing.sessions[used.listed];
            let is_further =
                used.idx > 0 && used.file.conversations[used.idx].relation == Relation::Main;
            // Numbers behind those of the list.
            let own = is_further.then_some(listing.sessions.len() + number);
            let summary = listed.summary.as_ref().ok();
            UsedSession {
                session: own.unwrap_or(self.roots[used.listed]),
                project: summary.and_then(|s| s.project.as_deref()).unwrap_or_default(),
                agent: listed.agent_name(),
                time: summary.and_then(|s| s.begun).map(Millis),
                usage: &used.usage,
            }
        });
        used.collect()
    }
}

/// Usage of each session of a list, and the trees of those that belong together.
#[derive(Debug, Default)]
pub struct SessionTrees {
    /// Usage of each session by itself, without calls that an earlier session contains.
    pub own: Vec<UsageRow>,
    /// The trees by the index of their root.
    trees: BTreeMap<usize, SessionTree>,
}

/// A session with its sub-agents and with the sessions that resumed or forked it.
#[derive(Debug, Default)]
pub struct SessionTree {
    /// The agents, the root's own conversations first.
    pub agents: Vec<AgentUsage>,
    /// Sums over all agents.
    pub total: UsageRow,
}

impl SessionTrees {
    /// Returns what the sessions of a list used. A call that two of them contain counts in the first.
    pub fn new(listing: &Listing, output_reserve: Tokens) -> Self {
        let used = ListUsage::new(listing);
        let rows = usage_of_each(&used.sessions(listing), output_reserve);
        let mut found =
            Self { own: vec![UsageRow::default(); listing.sessions.len()], trees: BTreeMap::new() };
        for (conversation, mut row) in used.conversations.iter().zip(rows) {
            let UsedConversation { listed, file, idx, .. } = *conversation;
            found.own[listed].merge(&row);
            let root = used.roots[listed];
            let relation = &file.conversations[idx].relation;
            row.sessions = usize::from(root == listed && *relation == Relation::Main);
            let tree = found.trees.entry(root).or_default();
            tree.total.merge(&row);
            tree.agents.push(AgentUsage { listed, row, file: Arc::clone(file), idx });
        }
        for (root, tree) in &mut found.trees {
            let order = |agent: &AgentUsage| {
                (agent.listed != *root, agent.conversation().times, agent.listed, agent.idx)
            };
            tree.agents.sort_by_key(order);
        }
        found
    }

    /// Returns the tree of a session with this index; `None` if it is alone or not the root.
    pub fn tree(&self, listed: usize) -> Option<&SessionTree> {
        self.trees.get(&listed).filter(|tree| tree.agents.len() > 1)
    }
}

impl AgentUsage {
    /// Returns the conversation.
    pub fn conversation(&self) -> &ConversationUsage {
        &self.file.conversations[self.idx]
    }

    /// Returns whether the agent is a sub-agent. `listed` is its session.
    pub fn is_sub_agent(&self, listed: &ListedSession) -> bool {
        listed.parent.is_some() || matches!(self.conversation().relation, Relation::SubAgent(_))
    }

    /// Returns the recorded kind of a sub-agent.
    pub fn kind(&self) -> Option<&str> {
        match &self.conversation().relation {
            Relation::SubAgent(kind) => kind.as_deref(),
            Relation::Main | Relation::Branch => None,
        }
    }
}

impl Listing {
    /// Keeps the newest `most` sessions, with their sub-agents.
    pub fn shorten(&mut self, most: usize) {
        let starters = starters(&self.sessions);
        let mains = starters.iter().enumerate().filter(|(idx, starter)| idx == *starter);
        let kept: HashSet<usize> = mains.map(|(idx, _)| idx).take(most).collect();
        let n = self.sessions.len();
        let mut starters = starters.into_iter();
        self.sessions.retain(|_| starters.next().is_some_and(|starter| kept.contains(&starter)));
        self.left += n - self.sessions.len();
    }

    /// Returns the index of the session that started each sub-agent; the own index of other sessions.
    pub fn starters(&self) -> Vec<usize> {
        starters(&self.sessions)
    }
}

/// Returns the index of the root of each session: the session that started it, or whose calls it repeats, and so on.
fn roots(sessions: &[ListedSession]) -> Vec<usize> {
    roots_by(sessions, true)
}

/// Returns the index of the session that started each sub-agent, or was started by none; the own index of other sessions.
fn starters(sessions: &[ListedSession]) -> Vec<usize> {
    roots_by(sessions, false)
}

fn roots_by(sessions: &[ListedSession], joins_copies: bool) -> Vec<usize> {
    let id = |listed: &ListedSession| listed.summary.as_ref().ok()?.id.clone();
    let ids: HashMap<String, usize> =
        sessions.iter().enumerate().filter_map(|(idx, listed)| Some((id(listed)?, idx))).collect();
    let paths: HashMap<&Path, usize> =
        sessions.iter().enumerate().rev().map(|(idx, s)| (&*s.found.path, idx)).collect();
    let above = |listed: &ListedSession| {
        let parent = listed.parent.as_ref().and_then(|parent| ids.get(&parent.id));
        let original = || paths.get(&*listed.repeats.as_ref()?.path);
        parent.or_else(|| original().filter(|_| joins_copies)).copied()
    };
    let above: Vec<Option<usize>> = sessions.iter().map(above).collect();
    let mut roots: Vec<Option<usize>> = vec![None; sessions.len()];
    let (mut path, mut is_on_path) = (Vec::new(), vec![false; sessions.len()]);
    for start in 0..sessions.len() {
        let mut at = start;
        // Each session is walked once: a chain of parents can be as long as the list.
        let root = loop {
            if let Some(root) = roots[at] {
                break root;
            }
            path.push(at);
            is_on_path[at] = true;
            match above[at] {
                // A damaged file can name itself or a circle.
                Some(next) if is_on_path[next] => break next,
                Some(next) => at = next,
                None => break at,
            }
        };
        for walked in path.drain(..) {
            roots[walked] = Some(root);
            is_on_path[walked] = false;
        }
    }
    roots.into_iter().enumerate().map(|(idx, root)| root.unwrap_or(idx)).collect()
}

/// Limits that the figures of a session's tree are measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// Context window of all conversations; `None` for those of their models.
    pub window: Option<Tokens>,
    /// Tokens of the window that are kept for the answer.
    pub output_reserve: Tokens,
}

/// Reads what the conversations of a session used. `None` if it has no sub-agents and branches, or is in a database, in which
/// [`SessionTrees`] joins sessions. The files are read again: the caches of the list have all sessions, and take longer to read
/// than a few files.
///
/// # Errors
/// Returns [`Cancelled`] if `progress` is cancelled.
pub fn conversation_tree(
    loaded: &Loaded,
    limits: TreeLimits,
    progress: &Progress,
) -> Result<Option<TreeUsage>, Cancelled> {
    let is_tree = loaded.conversations.iter().any(|c| c.track != Track::Main);
    let Some(path) = loaded.main_file.as_deref().filter(|path| is_tree && !is_database(path))
    else {
        return Ok(None);
    };
    let own = loaded.sub_agent_files.iter().map(|(idx, path)| (&**path, *idx));
    let indices: HashMap<&Path, usize> = own.collect();
    let paths = std::iter::once(path).chain(indices.keys().copied());
    let files: Vec<FoundFile> = paths.filter_map(FoundFile::unnamed).collect();
    let (mut summaries, mut usage) = (Cache::default(), UsageCache::default());
    let caches = ListCaches { summaries: &mut summaries, usage: Some(&mut usage) };
    let mut listing = list(&files, usize::MAX, caches, progress, |_| {})?;
    if let Some(window) = limits.window {
        listing.set_window(window);
    }
    let trees = SessionTrees::new(&listing, limits.output_reserve);
    let mut tree = TreeUsage {
        rows: vec![None; loaded.conversations.len()],
        unread: listing.unread.len(),
        total: UsageRow::default(),
    };
    for agent in trees.trees.values().flat_map(|tree| &tree.agents) {
        let file = &*listing.sessions[agent.listed].found.path;
        let idx = indices.get(file).copied().unwrap_or(agent.conversation().number);
        tree.total.merge(&agent.row);
        if let Some(row) = tree.rows.get_mut(idx) {
            row.get_or_insert_default().merge(&agent.row);
        }
    }
    Ok(Some(tree))
}
