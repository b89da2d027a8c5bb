//! Finds the conversations of sub-agents that are stored apart from their session: in files of their own or as further
//! sessions of a database.
//!
//! Only the start of such a file is read until the user opens it. Only the folders in which the program keeps its sessions
//! are searched, and links are not followed.

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
use scan::{MAX_SUB_AGENTS, open};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Adds the sub-agents of the session at `path` to its conversations. Returns the files of those with a file of their own,
/// by the index of the conversation. A file replaces a conversation of the same sub-agent in the session's file.
pub(super) fn attach(
    path: &Path,
    parsed: &mut Parsed,
    conversations: &mut Vec<Conversation>,
) -> BTreeMap<usize, PathBuf> {
    let mut files = BTreeMap::new();
    let Some(main) = parsed.sessions.first() else {
        return files;
    };
    let report = &mut parsed.report;
    let found = match files_of(main.source.format) {
        Some(SubAgentFiles::SessionFolder) => claude::find(path, main, report),
        Some(SubAgentFiles::DayFolders) => codex::find(path, main, report),
        Some(SubAgentFiles::ParentFolder) => {
            report.parent = report.parent.take().or_else(|| gemini::parent(path));
            gemini::find(path, main, report)
        }
        Some(SubAgentFiles::ProjectFolder) => opencode::find(path, main, report),
        None => Vec::new(),
    };
    for (file, conversation) in found.into_iter().take(MAX_SUB_AGENTS) {
        let same = conversations
            .iter()
            .position(|c| is_same(&c.track, &conversation.track));
        let index = same.unwrap_or(conversations.len());
        if same.is_some() {
            conversations[index] = conversation;
        } else {
            conversations.push(conversation);
        }
        files.insert(index, file);
    }
    files
}

/// Returns the title of the session that started the one at `path`, if its program stores both in one folder.
pub(in crate::exec) fn parent_name(path: &Path, format: &str, parent: &str) -> Option<String> {
    match files_of(format)? {
        SubAgentFiles::ProjectFolder => opencode::title(path, format, parent),
        _ => None,
    }
}

fn files_of(format: &str) -> Option<SubAgentFiles> {
    formats::by_name(format)?.sub_agent_files
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
            LoadError(format!(
                "cannot read {shown} (it is missing or not a regular file)"
            ))
        })?;
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        Input {
            name: file_name(path),
            bytes: read_all(file, &shown, Bytes(size), progress)?,
        }
    };
    let mut parsed = formats::parse_with(&document, progress)
        .map_err(|error| LoadError(format!("{shown}: {error}")))?;
    if let Some(session) = parsed.sessions.first_mut() {
        if files_of(main.source.format) == Some(SubAgentFiles::SessionFolder) {
            claude::describe(path, main, report, session);
        } else {
            let identity = formats::identity_of(&session.source).unwrap_or_default();
            let (agent, title) = SubAgentCalls::new(main, report).agent(&identity);
            session.track = Track::SubAgent(agent);
            session.title = title.unwrap_or_else(|| std::mem::take(&mut session.title));
        }
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
