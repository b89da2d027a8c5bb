//! Finds what sub-agents did where their program keeps a file for each: a file a program here knows where they lie.
//!
//! Only the beginning of such a file is read, until somebody chooses it. No links are followed, and nothing is looked for
//! beyond the folder in which the program keeps the session itself.

mod claude;
mod codex;
mod gemini;
mod opencode;

use super::load::{LoadError, read_all};
use super::session_folder;
use crate::formats::{self, ImportReport, Input, Parsed, SessionIdentity, SubAgentCalls};
use crate::progress::Progress;
use crate::session::{Conversation, Session, Size, Track};
use crate::units::Bytes;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// No more of them are listed.
const MOST: usize = 500;
/// So much of a file tells what it is about, in bytes.
const HEAD: u64 = 64 << 10;

/// The files beside a session's, by the number that their conversation has among those of the session (from 0).
pub(super) type Beside = BTreeMap<usize, PathBuf>;

/// The file of a sub-agent, and what its beginning tells.
type Found = (PathBuf, Conversation);

/// Adds the conversations of sub-agents beside the file at `path` to those in it. Where the file itself tells of the same
/// sub-agent, that one's own file takes its place.
pub(super) fn beside(
    path: &Path,
    parsed: &mut Parsed,
    conversations: &mut Vec<Conversation>,
) -> Beside {
    let Some(main) = parsed.sessions.first() else {
        return Beside::new();
    };
    let report = &mut parsed.report;
    let found = match main.source.format {
        "claude_code" => claude::found(path, main, report),
        "codex_rollout" => codex::found(path, main, report),
        "gemini_cli" => {
            report.parent = report.parent.take().or_else(|| gemini::parent(path));
            gemini::found(path, main, report)
        }
        "opencode" => opencode::found(path, main, report),
        _ => Vec::new(),
    };
    let mut beside = Beside::new();
    for (path, told) in found.into_iter().take(MOST) {
        let same = conversations
            .iter()
            .position(|c| is_same(&c.track, &told.track));
        let at = same.unwrap_or(conversations.len());
        if same.is_some() {
            conversations[at] = told;
        } else {
            conversations.push(told);
        }
        beside.insert(at, path);
    }
    beside
}

/// What the session is called that started the one at `path`, where its program keeps both in one place.
pub(super) fn parent_name(path: &Path, format: &str, parent: &str) -> Option<String> {
    match format {
        "opencode" => opencode::name(path, format, parent),
        _ => None,
    }
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
    let input = if let Some((name, bytes)) = session_folder::session_at(path)? {
        Input {
            name,
            bytes: bytes.into(),
        }
    } else {
        let file = open(path).ok_or_else(|| unread(&"it cannot be read, or is no file"))?;
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        Input {
            name: super::load::file_name(path),
            bytes: read_all(file, &shown, Bytes(size), progress)?,
        }
    };
    let mut parsed = formats::parse_with(&input, progress).map_err(|error| unread(&error))?;
    if let Some(session) = parsed.sessions.first_mut() {
        if main.source.format == "claude_code" {
            claude::tell(path, main, report, session);
        } else {
            let identity = formats::identity_of(&session.source).unwrap_or_default();
            let (agent, title) = SubAgentCalls::new(main, report).agent(&identity);
            session.track = Track::SubAgent(agent);
            session.title = title.unwrap_or_else(|| std::mem::take(&mut session.title));
        }
    }
    Ok(parsed)
}

/// The conversations of these sub-agents of a session, each as its file says who it is.
fn told(
    main: &Session,
    report: &ImportReport,
    files: Vec<(PathBuf, SessionIdentity)>,
) -> Vec<Found> {
    let started = SubAgentCalls::new(main, report);
    let tell = |(path, identity): &(PathBuf, SessionIdentity)| {
        let (agent, title) = started.agent(identity);
        let head = head(path);
        let size = head.as_ref().filter(|(_, is_whole)| *is_whole);
        let size = size.map(|(session, _)| Size::of(session));
        let own = || head.map(|(session, _)| session.title);
        let title = title
            .or(identity.name.clone().map(String::from))
            .or_else(own);
        (
            title.unwrap_or_else(|| identity.id.to_string()),
            agent,
            size,
        )
    };
    let all = Conversation::sub_agents(main, files.iter().map(tell));
    files.into_iter().map(|(path, _)| path).zip(all).collect()
}

fn is_same(a: &Track, b: &Track) -> bool {
    let id = |track: &Track| match track {
        Track::SubAgent(agent) => agent.id.clone(),
        _ => None,
    };
    id(a).is_some() && id(a) == id(b)
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Opens an ordinary file; to open a pipe would wait for who writes to it.
fn open(path: &Path) -> Option<File> {
    is_file(path).then(|| File::open(path).ok())?
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// What lies in a folder, by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// What the beginning of a file tells, and whether that is all of it; none where it is no conversation.
fn head(path: &Path) -> Option<(Session, bool)> {
    let mut bytes = Vec::new();
    open(path)?.take(HEAD + 1).read_to_end(&mut bytes).ok()?;
    let is_whole = bytes.len() as u64 <= HEAD;
    if !is_whole {
        bytes.truncate(bytes.iter().rposition(|b| *b == b'\n')?);
    }
    let input = Input {
        name: path.file_name()?.to_string_lossy().into_owned(),
        bytes: bytes.into(),
    };
    let session = formats::parse(&input).ok()?.sessions.into_iter().next()?;
    Some((session, is_whole))
}
