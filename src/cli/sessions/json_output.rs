//! The result of `plimsoll sessions` as JSON.

use super::{recorded_time, rfc3339, shown};
use crate::analysis::usage::UsageRow;
use crate::cli::args::InputArgs;
use crate::cli::usage::{CallSums, UsageSums};
use crate::engine::WindowSource;
use crate::exec::stores::{
    FoundFile, ListedSession, Listing, PeakAccuracy, SessionSummary, SessionTree, SessionTrees,
    existing_folders,
};
use crate::units::{Bytes, Share, Tokens};
use schemars::JsonSchema;
use serde::Serialize;

/// Sessions, newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionList<'a> {
    /// Sessions that can be opened.
    sessions: Vec<SessionEntry<'a>>,
    /// Files that cannot be opened as a session.
    unreadable: Vec<UnreadableEntry<'a>>,
    /// Folders that were searched.
    searched: Vec<FolderEntry>,
    /// Number of older sessions that `--limit` excluded.
    not_listed: usize,
    /// Number of model calls of the listed sessions, without those that a session repeats.
    distinct_calls: usize,
    /// Number of files that Plimsoll wrote (`compact`, `context`, `convert`). They are left out unless named.
    own_outputs: usize,
}

/// The place and the title of a session.
#[derive(Serialize, JsonSchema)]
pub(super) struct SessionLocation<'a> {
    /// Path of the file.
    pub(super) path: String,
    /// Number of the conversation that `--conversation` takes; null if the session is the whole file.
    pub(super) conversation: Option<usize>,
    /// Agent whose folder contains the file; null in a folder that was given.
    pub(super) agent: Option<&'a str>,
    /// Title of the session.
    pub(super) title: &'a str,
    /// Folder that the agent worked in; null if not recorded.
    pub(super) project: Option<&'a str>,
    /// Detected format.
    pub(super) format: &'a str,
    /// Time of the first call as RFC 3339, in UTC; null if the session records none.
    pub(super) start_time: Option<String>,
    /// Time of the last call as RFC 3339, in UTC, by which the list is sorted; null if the session records none. Such
    /// sessions are last.
    pub(super) end_time: Option<String>,
    /// Modification time of the file as RFC 3339, in UTC; null if unknown.
    pub(super) modified: Option<String>,
}

/// A session.
#[derive(Serialize, JsonSchema)]
struct SessionEntry<'a> {
    #[serde(flatten)]
    location: SessionLocation<'a>,
    /// Id of the session; null if its format has none.
    session_id: Option<&'a str>,
    /// Version of the agent that recorded the session; null if not recorded.
    agent_version: Option<&'a str>,
    /// Size of the file in bytes.
    bytes: Bytes,
    /// Number of messages of the history.
    messages: usize,
    /// Number of model calls.
    calls: usize,
    /// Number of recorded compactions; null if the format does not record them.
    compactions: Option<usize>,
    /// Largest context in tokens, including the one at the end; null without calls.
    peak_tokens: Option<Tokens>,
    /// How exactly the peak is known.
    peak_accuracy: PeakAccuracy,
    /// Largest context as a share of the usable window; null without calls and if the reserve leaves no usable tokens.
    peak_share: Option<Share>,
    /// Source of the context window.
    window_source: WindowSource,
    /// Number of conversations in the file.
    conversations: usize,
    /// The session that started this one as a sub-agent; null if none did.
    parent: Option<ParentEntry<'a>>,
    /// Calls that an earlier session has too; null if none are known.
    repeats: Option<RepeatsEntry<'a>>,
    #[serde(flatten)]
    used: CallSums<'a>,
    /// The session with its sub-agents and with the sessions that resumed or forked it; null if it is alone or belongs to
    /// another session of the list.
    tree: Option<TreeEntry<'a>>,
}

/// A session with its sub-agents and with the sessions that resumed or forked it.
#[derive(Serialize, JsonSchema)]
struct TreeEntry<'a> {
    /// Sums over all agents; each call counts once.
    total: UsageSums<'a>,
    /// The agents, the session's own conversation first.
    agents: Vec<AgentEntry<'a>>,
}

/// An agent of a tree.
#[derive(Serialize, JsonSchema)]
struct AgentEntry<'a> {
    /// Path of its file.
    path: String,
    /// Number of its conversation in the file, from 1.
    conversation: usize,
    /// Title of the conversation.
    title: &'a str,
    /// Whether it is a sub-agent.
    is_sub_agent: bool,
    /// Kind of the sub-agent; null if it is not one or not recorded.
    kind: Option<&'a str>,
    /// Time of its first call as RFC 3339, in UTC; null if not recorded.
    start_time: Option<String>,
    #[serde(flatten)]
    used: UsageSums<'a>,
}

/// Calls of a session that an earlier one has too: its program wrote them again when it resumed that session.
#[derive(Serialize, JsonSchema)]
struct RepeatsEntry<'a> {
    /// Number of these calls.
    calls: usize,
    /// Name of the other file.
    file: &'a str,
}

/// The session that started a sub-agent.
#[derive(Serialize, JsonSchema)]
struct ParentEntry<'a> {
    /// Id of the session.
    id: &'a str,
    /// Title of the session; null if it was not found.
    title: Option<&'a str>,
}

/// A file that cannot be opened as a session.
#[derive(Serialize, JsonSchema)]
pub(super) struct UnreadableEntry<'a> {
    /// Path of the file.
    path: String,
    /// Agent whose folder contains the file; null in a folder that was given.
    agent: Option<&'a str>,
    /// Why the file cannot be opened.
    reason: &'a str,
}

impl<'a> UnreadableEntry<'a> {
    pub(super) fn new(found: &'a FoundFile, reason: &'a str) -> Self {
        Self { path: shown(&found.path), agent: found.agent, reason }
    }
}

/// A folder that was searched.
#[derive(Serialize, JsonSchema)]
struct FolderEntry {
    /// Agent that the folder belongs to; null for a folder that was given.
    agent: Option<&'static str>,
    /// Path of the folder.
    folder: String,
}

/// Returns the JSON output.
pub(super) fn json_output<'a>(
    listing: &'a Listing,
    trees: &'a SessionTrees,
    inputs: &InputArgs,
    (output_reserve, own_outputs): (Tokens, usize),
) -> SessionList<'a> {
    let unreadable = listing.unread.iter().map(|listed| {
        let reason = listed.summary.as_ref().err().map_or("", String::as_str);
        UnreadableEntry::new(&listed.found, reason)
    });
    let readable = listing.sessions.iter().enumerate().filter_map(|(idx, listed)| {
        let summary = listed.summary.as_ref().ok()?;
        Some(SessionEntry {
            tree: trees.tree(idx).map(|tree| tree_entry(listing, tree)),
            ..session(listed, summary, &trees.own[idx], output_reserve)
        })
    });
    SessionList {
        sessions: readable.collect(),
        unreadable: unreadable.collect(),
        searched: searched(inputs),
        not_listed: listing.left,
        distinct_calls: listing.calls().1,
        own_outputs,
    }
}

fn session<'a>(
    listed: &'a ListedSession,
    summary: &'a SessionSummary,
    own: &'a UsageRow,
    output_reserve: Tokens,
) -> SessionEntry<'a> {
    let has_calls = summary.calls > 0;
    SessionEntry {
        location: SessionLocation {
            path: shown(&listed.found.path),
            conversation: listed.conversation.map(|idx| idx + 1),
            agent: listed.found.agent,
            title: &summary.title,
            project: summary.project.as_deref(),
            format: &summary.format,
            start_time: summary.begun.and_then(recorded_time),
            end_time: summary.ended.and_then(recorded_time),
            modified: listed.found.modified.and_then(rfc3339),
        },
        session_id: summary.id.as_deref(),
        agent_version: summary.agent_version.as_deref(),
        bytes: listed.found.size,
        messages: summary.messages,
        calls: summary.calls,
        compactions: summary.records_compactions().then_some(summary.compactions),
        peak_tokens: has_calls.then_some(Tokens(summary.peak)),
        peak_accuracy: summary.peak_accuracy,
        peak_share: summary.peak_share(output_reserve).known().filter(|_| has_calls),
        window_source: summary.window_source,
        conversations: summary.conversations,
        parent: listed
            .parent
            .as_ref()
            .map(|parent| ParentEntry { id: &parent.id, title: parent.title.as_deref() }),
        repeats: listed
            .repeats
            .as_ref()
            .map(|repeats| RepeatsEntry { calls: repeats.calls, file: &repeats.file }),
        used: CallSums::new(own),
        tree: None,
    }
}

fn tree_entry<'a>(listing: &Listing, tree: &'a SessionTree) -> TreeEntry<'a> {
    let agents = tree.agents.iter().map(|agent| {
        let listed = &listing.sessions[agent.listed];
        AgentEntry {
            path: shown(&listed.found.path),
            conversation: agent.conversation().number + 1,
            title: &agent.conversation().title,
            is_sub_agent: agent.is_sub_agent(listed),
            kind: agent.kind(),
            start_time: agent.conversation().times.and_then(|(first, _)| recorded_time(first.0)),
            used: UsageSums::new(&agent.row),
        }
    });
    TreeEntry { total: UsageSums::new(&tree.total), agents: agents.collect() }
}

/// Returns the given folders, or those of the agents if none is given.
fn searched(inputs: &InputArgs) -> Vec<FolderEntry> {
    let given =
        inputs.files.iter().map(|folder| FolderEntry { agent: None, folder: shown(folder) });
    if !inputs.are_empty() {
        return given.collect();
    }
    let stores = existing_folders()
        .into_iter()
        .map(|store| FolderEntry { agent: Some(store.agent), folder: shown(&store.folder) });
    stores.collect()
}
