//! Claude Code's sub-agents: `ID/subagents/agent-*.jsonl` next to `ID.jsonl`; in older versions `agent-*.jsonl` next to
//! it.

use super::SubAgentLayout;
use super::scan::{
    FileStart, FoundSubAgent, MAX_SUB_AGENTS, START_BYTES, entries, is_file, is_file_name,
    is_folder, open, read_start,
};
use crate::formats::{AgentCalls, ImportReport, SubAgentFiles};
use crate::session::{Conversation, Session, SubAgent, Track};
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub(super) const LAYOUT: SubAgentLayout = SubAgentLayout {
    location: SubAgentFiles::SessionFolder,
    find,
    parent_id,
    describe,
    ..SubAgentLayout::DEFAULT
};

/// Prefix of the file names.
const PREFIX: &str = "agent-";
/// Suffix of the file names.
const SUFFIX: &str = ".jsonl";
/// Depth of the search below `subagents`, since workflows have folders of their own.
const DEPTH: usize = 3;

/// Finds the sub-agents of the session at `path`, the oldest first.
fn find(path: &Path, main: &Session, report: &ImportReport) -> Vec<FoundSubAgent> {
    let files = files(path, report);
    if files.is_empty() {
        return Vec::new();
    }
    let starts = AgentCalls::new(main, report);
    let mut found: Vec<(PathBuf, FileStart)> = files
        .into_iter()
        .filter_map(|AgentFile { id, path }| {
            let mut start = read_start(&path)?;
            describe_as(&path, &id, &starts, &mut start.session);
            Some((path, start))
        })
        .collect();
    let time = |start: &FileStart| start.session.messages.first().and_then(|m| m.time);
    found.sort_by(|(a_path, a), (b_path, b)| (time(a), a_path).cmp(&(time(b), b_path)));
    let all = Conversation::started_in(main, found.iter().map(|(_, start)| &start.session));
    found
        .into_iter()
        .zip(all)
        .map(|((path, start), mut conversation)| {
            conversation.size = conversation.size.filter(|_| start.is_whole);
            FoundSubAgent { path, conversation }
        })
        .collect()
}

/// Sets the track and the title of a sub-agent's session by the call that started it, else by its metadata file.
fn describe(path: &Path, main: &Session, report: &ImportReport, session: &mut Session) {
    let id = id(path).unwrap_or_default();
    describe_as(path, &id, &AgentCalls::new(main, report), session);
}

fn describe_as(path: &Path, id: &str, starts: &AgentCalls<'_>, session: &mut Session) {
    starts.name(id, session);
    read_metadata(path, session);
}

/// Returns the folder's name, or the id in the file: a sub-agent's records name the session that started it.
fn parent_id(path: &Path, id_in_file: Option<&str>) -> Option<String> {
    id(path)?;
    let mut folders = path.ancestors().skip(1);
    let folder = folders.find(|folder| folder.file_name().is_some_and(|name| name == "subagents"));
    let session = folder.and_then(|folder| folder.parent()?.file_name()?.to_str());
    session.or(id_in_file).map(str::to_owned)
}

/// Returns the sub-agent's id from its file name.
fn id(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let id = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    Some(id.to_owned())
}

/// The file of a sub-agent.
struct AgentFile {
    id: String,
    path: PathBuf,
}

/// Lists the files of a session's sub-agents. A file next to the session's own counts only if the session names it,
/// since it may belong to another session.
fn files(path: &Path, report: &ImportReport) -> Vec<AgentFile> {
    let mut found = Vec::new();
    let (Some(folder), Some(stem)) = (path.parent(), path.file_stem()) else {
        return found;
    };
    // A sub-agent has no sub-agents.
    if id(path).is_some() {
        return found;
    }
    search(&folder.join(stem).join("subagents"), DEPTH, &mut found);
    for id in report.sub_agents.keys() {
        let path = folder.join(format!("{PREFIX}{id}{SUFFIX}"));
        let is_new = found.iter().all(|known: &AgentFile| known.id != *id);
        if is_file_name(id) && is_new && found.len() < MAX_SUB_AGENTS && is_file(&path) {
            let id = id.clone();
            found.push(AgentFile { id, path });
        }
    }
    found
}

fn search(folder: &Path, depth: usize, found: &mut Vec<AgentFile>) {
    for path in entries(folder) {
        if found.len() >= MAX_SUB_AGENTS {
            return;
        }
        if let Some(id) = id(&path).filter(|_| is_file(&path)) {
            found.push(AgentFile { id, path });
        } else if depth > 1 && is_folder(&path) {
            search(&path, depth - 1, found);
        }
    }
}

/// Sets kind and title from the metadata file next to the file of a sub-agent whose call is unknown.
fn read_metadata(path: &Path, session: &mut Session) {
    let Track::SubAgent(SubAgent { kind: kind @ None, call: None, .. }) = &mut session.track else {
        return;
    };
    let file = open(&path.with_extension("meta.json"));
    let metadata: Option<crate::json::Value> =
        file.and_then(|file| serde_json::from_reader(file.take(START_BYTES)).ok());
    let text = |key: &str| {
        let text = metadata.as_ref()?.get(key)?.as_str();
        text.filter(|text| !text.is_empty())
    };
    *kind = text("agentType").map(Into::into);
    if let Some(title) = text("description") {
        title.clone_into(&mut session.title);
    }
}
