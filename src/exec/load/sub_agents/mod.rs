//! Finds the conversations of sub-agents that are stored apart from their session: in files of their own or as further
//! sessions of a database.
//!
//! Only the start of such a file is read until the user opens it. Only the folders in which the program keeps its
//! sessions are searched, and links are not followed.

mod claude;
mod codex;
mod database;
mod gemini;
mod opencode;
mod scan;

use super::session_folder;
use crate::exec::files::{LoadError, file_name, read_all};
use crate::formats::{self, ImportReport, Input, Parsed, SubAgentCalls, SubAgentFiles};
use crate::progress::Progress;
use crate::session::{Conversation, Session, Track};
use crate::units::Bytes;
pub(super) use database::in_database;
use scan::{FoundSubAgent, MAX_SUB_AGENTS, open};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The way in which a program stores sub-agents in separate files.
struct SubAgentLayout {
    /// Location of the files.
    location: SubAgentFiles,
    /// Finds the sub-agents of the session at a path.
    find: fn(&Path, &Session, &ImportReport) -> Vec<FoundSubAgent>,
    /// Returns the id of the session that started the sub-agent at a path. Receives the id in the file too, which is that
    /// session's for some programs.
    parent_id: fn(&Path, Option<&str>) -> Option<String>,
    /// Returns the title of a session, if it is stored near another one. Receives the other's path, the format and the
    /// id.
    title_of: fn(&Path, &str, &str) -> Option<String>,
    /// Sets the track and the title of the sub-agent's session at a path.
    describe: fn(&Path, &Session, &ImportReport, &mut Session),
}

impl SubAgentLayout {
    /// Defaults for the rows: paths reveal neither parent nor title. Every row sets `location` and `find`.
    const DEFAULT: Self = Self {
        location: SubAgentFiles::SessionFolder,
        find: |_, _, _| Vec::new(),
        parent_id: |_, _| None,
        title_of: |_, _, _| None,
        describe: describe_by_identity,
    };

    fn of(format: &str) -> Option<&'static Self> {
        let location = formats::by_name(format)?.sub_agent_files?;
        LAYOUTS.iter().find(|layout| layout.location == location)
    }
}

/// One row for each location.
static LAYOUTS: [SubAgentLayout; 4] =
    [claude::LAYOUT, codex::LAYOUT, gemini::LAYOUT, opencode::LAYOUT];

/// Adds the sub-agents of the session at `path` to its conversations. Returns the files of those with a file of their
/// own, by the index of the conversation. A file replaces a conversation of the same sub-agent in the session's file.
pub(super) fn attach(
    path: &Path,
    parsed: &mut Parsed,
    conversations: &mut Vec<Conversation>,
) -> BTreeMap<usize, PathBuf> {
    let mut files = BTreeMap::new();
    let Some(main) = parsed.sessions.first() else {
        return files;
    };
    let Some(stored) = SubAgentLayout::of(main.source.format) else {
        return files;
    };
    let report = &mut parsed.report;
    let id = || formats::identity_of(&main.source).map(|identity| identity.id);
    report.parent = report.parent.take().or_else(|| (stored.parent_id)(path, id().as_deref()));
    let found = (stored.find)(path, main, report).into_iter();
    for FoundSubAgent { path, conversation } in found.take(MAX_SUB_AGENTS) {
        let same = conversations.iter().position(|c| is_same(&c.track, &conversation.track));
        let index = same.unwrap_or(conversations.len());
        if same.is_some() {
            conversations[index] = conversation;
        } else {
            conversations.push(conversation);
        }
        files.insert(index, path);
    }
    files
}

/// Returns the id of the session that started the one at `path`, if its program stores sub-agents in files of their own.
/// `id` is the id in the file.
pub(crate) fn started_by(path: &Path, format: &str, id: Option<&str>) -> Option<String> {
    (SubAgentLayout::of(format)?.parent_id)(path, id)
}

/// Returns the title of the session that started the one at `path`, if its program stores both in one folder.
pub(crate) fn parent_name(path: &Path, format: &str, parent: &str) -> Option<String> {
    (SubAgentLayout::of(format)?.title_of)(path, format, parent)
}

/// Reads the file of a sub-agent.
///
/// # Errors
/// Returns a [`LoadError`] if the file cannot be read or contains no conversation.
pub(super) fn read(
    path: &Path,
    main: &Session,
    report: &ImportReport,
    progress: &Progress,
) -> Result<Parsed, LoadError> {
    let shown = path.display().to_string();
    let document = if let Some(document) = session_folder::document(path)? {
        document
    } else {
        let file = open(path).ok_or_else(|| {
            LoadError(format!("cannot read {shown} (it is missing or not a regular file)"))
        })?;
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        Input { name: file_name(path), bytes: read_all(file, &shown, Bytes(size), progress)? }
    };
    let mut parsed = formats::parse_with(&document, progress)
        .map_err(|error| LoadError(format!("{shown}: {error}")))?;
    let stored = SubAgentLayout::of(main.source.format);
    if let Some((session, stored)) = parsed.sessions.first_mut().zip(stored) {
        (stored.describe)(path, main, report, session);
    }
    Ok(parsed)
}

/// Sets the track and the title of a sub-agent's session by the id in its file.
fn describe_by_identity(
    _path: &Path,
    main: &Session,
    report: &ImportReport,
    session: &mut Session,
) {
    let identity = formats::identity_of(&session.source).unwrap_or_default();
    let (agent, title) = SubAgentCalls::new(main, report).agent(&identity);
    session.track = Track::SubAgent(agent);
    session.title = title.unwrap_or_else(|| std::mem::take(&mut session.title));
}

fn is_same(a: &Track, b: &Track) -> bool {
    let id = |track: &Track| match track {
        Track::SubAgent(agent) => agent.id.clone(),
        _ => None,
    };
    id(a).is_some() && id(a) == id(b)
}
