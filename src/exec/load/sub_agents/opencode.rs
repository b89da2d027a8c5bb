//! `OpenCode`'s sub-agents in its storage folder: sessions of the same project that name their parent.

use super::SubAgentLayout;
use super::scan::{FoundSubAgent, entries, name_of, open};
use crate::formats::{
    ImportReport, SessionIdentity, SubAgentCalls, SubAgentFiles, identity, identity_of,
};
use crate::session::{Conversation, Session};
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub(super) const LAYOUT: SubAgentLayout = SubAgentLayout {
    location: SubAgentFiles::ProjectFolder,
    find,
    title_of,
    ..SubAgentLayout::DEFAULT
};

/// Maximum number of sessions of a project that are read.
const MAX_FILES: usize = 10_000;
/// Maximum size of the description of a session, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Finds the sub-agents of the session to which the file at `path` belongs, the oldest first (ids grow).
fn find(path: &Path, main: &Session, report: &ImportReport) -> Vec<FoundSubAgent> {
    let parent = identity_of(&main.source).map(|identity| identity.id);
    let Some((folder, parent)) = project(path).zip(parent.filter(|id| !id.is_empty())) else {
        return Vec::new();
    };
    let started = SubAgentCalls::new(main, report);
    let child = |file: PathBuf| {
        let SessionIdentity { name, .. } = read_identity(main.source.format, &file)
            .filter(|identity| identity.parent.as_ref() == Some(&parent))?;
        let id = file.file_stem()?.to_str()?;
        let (agent, title) =
            started.agent(&SessionIdentity { id: id.into(), ..SessionIdentity::default() });
        let title = name.map(String::from).or(title).unwrap_or_else(|| id.to_owned());
        Some((file, (title, agent, None)))
    };
    let files = entries(&folder).into_iter().take(MAX_FILES);
    let (files, children): (Vec<_>, Vec<_>) = files.filter_map(child).unzip();
    let all = Conversation::sub_agents(main, children.into_iter());
    let found = files.into_iter().zip(all);
    found.map(|(path, conversation)| FoundSubAgent { path, conversation }).collect()
}

/// Returns the title of the session with this id in the project of the session at `path`.
fn title_of(path: &Path, format: &str, id: &str) -> Option<String> {
    // The id comes from a file and must not lead to another folder.
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let folder = project(path).filter(|_| id.chars().all(is_id))?;
    let identity = read_identity(format, &folder.join(format!("{id}.json")))?;
    identity.name.map(String::from)
}

/// Reads the identity of a session from its file.
fn read_identity(format: &str, file: &Path) -> Option<SessionIdentity> {
    let is_session = name_of(file).starts_with("ses_")
        && file.extension().is_some_and(|extension| extension == "json");
    let opened = is_session.then(|| open(file))??;
    let mut text = Vec::new();
    opened.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    identity(format, &text)
}

/// Returns the folder with the sessions of the project to which a session's file belongs.
fn project(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let is_session = name_of(path).starts_with("ses_") && name_of(folder.parent()?) == "session";
    is_session.then(|| folder.to_owned())
}
