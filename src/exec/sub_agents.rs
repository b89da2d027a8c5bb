//! Finds what sub-agents did where their program keeps a file for each beside the session's: `ID/subagents/agent-*.jsonl`
//! beside `ID.jsonl`, in older versions `agent-*.jsonl` beside it.
//!
//! Only the beginning of such a file is read, until somebody chooses it. No links are followed.

use super::load::{LoadError, read_all};
use crate::formats::{self, ImportReport, Input, Parsed, Starts};
use crate::progress::Progress;
use crate::session::{Conversation, Session, SubAgent, Track};
use crate::units::Bytes;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The format whose sub-agents have files of their own.
const FORMAT: &str = "claude_code";
/// What their names begin and end with.
const NAME: (&str, &str) = ("agent-", ".jsonl");
/// No more of them are listed.
const MOST: usize = 500;
/// So much of a file tells what it is about, in bytes.
const HEAD: u64 = 64 << 10;
/// How deep they lie below `subagents`: workflows have folders of their own.
const DEEP: usize = 3;

/// The files beside a session's, by the number that their conversation has among those of the session (from 0).
pub(super) type Beside = BTreeMap<usize, PathBuf>;

/// Adds the conversations of sub-agents beside the file at `path` to those in it. Where the file itself tells of the same
/// sub-agent, that one's own file takes its place.
pub(super) fn beside(
    path: &Path,
    parsed: &Parsed,
    conversations: &mut Vec<Conversation>,
) -> Beside {
    let main = parsed.sessions.first();
    let Some(main) = main.filter(|m| m.source.format == FORMAT) else {
        return Beside::new();
    };
    let files = files(path, &parsed.report);
    if files.is_empty() {
        return Beside::new();
    }
    let starts = Starts::new(main, &parsed.report);
    let mut heads: Vec<(PathBuf, Session, bool)> = files
        .into_iter()
        .filter_map(|(id, path)| {
            let (session, is_whole) = head(&path, &id, &starts)?;
            Some((path, session, is_whole))
        })
        .collect();
    let time = |session: &Session| session.messages.first().and_then(|m| m.time);
    heads.sort_by(|(a_path, a, _), (b_path, b, _)| (time(a), a_path).cmp(&(time(b), b_path)));
    let all = Conversation::started_in(main, heads.iter().map(|(_, session, _)| session));
    let mut found = Beside::new();
    for ((path, _, is_whole), mut told) in heads.into_iter().zip(all) {
        told.size = told.size.filter(|_| is_whole);
        let same = conversations
            .iter()
            .position(|c| is_same(&c.track, &told.track));
        let at = same.unwrap_or(conversations.len());
        if same.is_some() {
            conversations[at] = told;
        } else {
            conversations.push(told);
        }
        found.insert(at, path);
    }
    found
}

/// Reads the conversation of a sub-agent of this session.
///
/// # Errors
/// A [`LoadError`] when its file cannot be read or holds no conversation.
pub(super) fn read(
    path: &Path,
    main: &Session,
    report: &ImportReport,
    progress: &Progress,
) -> Result<Parsed, LoadError> {
    let shown = path.display().to_string();
    let unread = |error: &dyn std::fmt::Display| LoadError(format!("{shown}: {error}"));
    let file = File::open(path).map_err(|error| unread(&error))?;
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let input = Input {
        name: path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        bytes: read_all(file, &shown, Bytes(size), progress)?,
    };
    let mut parsed = formats::parse_with(&input, progress).map_err(|error| unread(&error))?;
    if let Some(session) = parsed.sessions.first_mut() {
        let id = id(path).unwrap_or_default();
        Starts::new(main, report).name(&id, session);
        described(path, session);
    }
    Ok(parsed)
}

fn is_same(a: &Track, b: &Track) -> bool {
    let id = |track: &Track| match track {
        Track::SubAgent(agent) => agent.id.clone(),
        _ => None,
    };
    id(a).is_some() && id(a) == id(b)
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

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// What the beginning of a file tells, and whether that is all of it; none where it is no conversation.
fn head(path: &Path, id: &str, starts: &Starts<'_>) -> Option<(Session, bool)> {
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(HEAD + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    let is_whole = bytes.len() as u64 <= HEAD;
    if !is_whole {
        bytes.truncate(bytes.iter().rposition(|b| *b == b'\n')?);
    }
    let input = Input {
        name: path.file_name()?.to_string_lossy().into_owned(),
        bytes: bytes.into(),
    };
    let mut session = formats::parse(&input).ok()?.sessions.into_iter().next()?;
    starts.name(id, &mut session);
    described(path, &mut session);
    Some((session, is_whole))
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
    let file = File::open(&beside).ok().filter(|_| is_file(&beside));
    let said: Option<serde_json::Value> =
        file.and_then(|file| serde_json::from_reader(file.take(HEAD)).ok());
    let says = |key: &str| said.as_ref()?.get(key)?.as_str().filter(|s| !s.is_empty());
    *kind = says("agentType").map(Into::into);
    if let Some(title) = says("description") {
        title.clone_into(&mut session.title);
    }
}
