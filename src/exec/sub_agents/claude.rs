//! Claude Code's sub-agents: `ID/subagents/agent-*.jsonl` beside `ID.jsonl`, in older versions `agent-*.jsonl` beside it.

use super::{Found, HEAD, MOST, head, is_file, open};
use crate::formats::{AgentCalls, ImportReport};
use crate::session::{Conversation, Session, SubAgent, Track};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What their names begin and end with.
const NAME: (&str, &str) = ("agent-", ".jsonl");
/// How deep they lie below `subagents`: workflows have folders of their own.
const DEEP: usize = 3;

/// The conversations of sub-agents beside the file at `path`.
pub(super) fn found(path: &Path, main: &Session, report: &ImportReport) -> Vec<Found> {
    let files = files(path, report);
    if files.is_empty() {
        return Vec::new();
    }
    let starts = AgentCalls::new(main, report);
    let mut heads: Vec<(PathBuf, Session, bool)> = files
        .into_iter()
        .filter_map(|(id, path)| {
            let (mut session, is_whole) = head(&path)?;
            name(&path, &id, &starts, &mut session);
            Some((path, session, is_whole))
        })
        .collect();
    let time = |session: &Session| session.messages.first().and_then(|m| m.time);
    heads.sort_by(|(a_path, a, _), (b_path, b, _)| (time(a), a_path).cmp(&(time(b), b_path)));
    let all = Conversation::started_in(main, heads.iter().map(|(_, session, _)| session));
    let told = heads.into_iter().zip(all);
    told.map(|((path, _, is_whole), mut told)| {
        told.size = told.size.filter(|_| is_whole);
        (path, told)
    })
    .collect()
}

/// Says of the conversation that a file holds whose it is.
pub(super) fn tell(path: &Path, main: &Session, report: &ImportReport, session: &mut Session) {
    let id = id(path).unwrap_or_default();
    name(path, &id, &AgentCalls::new(main, report), session);
}

fn name(path: &Path, id: &str, starts: &AgentCalls<'_>, session: &mut Session) {
    starts.name(id, session);
    described(path, session);
}

fn id(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let id = name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)?;
    Some(id.to_owned())
}

/// The files of the sub-agents of the session at a path, by their ids. One that lies right beside the session's may be
/// another session's, unless the session tells of it.
fn files(path: &Path, report: &ImportReport) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let (Some(folder), Some(stem)) = (path.parent(), path.file_stem()) else {
        return found;
    };
    // The file of a sub-agent itself.
    if id(path).is_some() {
        return found;
    }
    below(&folder.join(stem).join("subagents"), DEEP, &mut found);
    for id in report.sub_agents.keys() {
        // An id is part of a name here, never of a path.
        let is_name = id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        let file = folder.join(format!("{}{id}{}", NAME.0, NAME.1));
        let is_new = found.iter().all(|(known, _)| known != id);
        if is_name && is_new && found.len() < MOST && is_file(&file) {
            found.push((id.clone(), file));
        }
    }
    found
}

fn below(folder: &Path, deep: usize, found: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if found.len() >= MOST {
            return;
        }
        if let Some(id) = id(&path).filter(|_| is_file(&path)) {
            found.push((id, path));
        } else if deep > 1 && fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir()) {
            below(&path, deep - 1, found);
        }
    }
}

/// What the program wrote beside the file of a sub-agent whose call is not known.
fn described(path: &Path, session: &mut Session) {
    let Track::SubAgent(SubAgent {
        kind: kind @ None,
        call: None,
        ..
    }) = &mut session.track
    else {
        return;
    };
    let beside = path.with_extension("meta.json");
    let file = open(&beside);
    let said: Option<serde_json::Value> =
        file.and_then(|file| serde_json::from_reader(file.take(HEAD)).ok());
    let says = |key: &str| said.as_ref()?.get(key)?.as_str().filter(|s| !s.is_empty());
    *kind = says("agentType").map(Into::into);
    if let Some(title) = says("description") {
        title.clone_into(&mut session.title);
    }
}
