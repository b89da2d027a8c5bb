//! Gemini CLI's sub-agents: `chats/PARENT/ID.jsonl` (older versions: `.json`) next to the parent's `chats/session-*`.
//! PARENT is the id of the parent's session.

use super::SubAgentLayout;
use super::scan::{
    ChildFile, FoundSubAgent, MAX_SUB_AGENTS, conversations, entries, is_file, is_file_name,
    name_of,
};
use crate::formats::{self, ImportReport, SessionIdentity, SubAgentFiles};
use crate::session::Session;
use std::path::{Path, PathBuf};

pub(super) const LAYOUT: SubAgentLayout = SubAgentLayout {
    location: SubAgentFiles::ParentFolder,
    find,
    parent_id,
    ..SubAgentLayout::DEFAULT
};

/// Folder of all sessions of a project.
const CHATS: &str = "chats";
/// Prefix of the names of main sessions.
const MAIN: &str = "session-";

/// Finds the sub-agents of the session at `path`, sorted by file name.
fn find(path: &Path, main: &Session, report: &ImportReport) -> Vec<FoundSubAgent> {
    let identity = formats::identity_of(&main.source);
    let is_name = |id: &str| !id.is_empty() && is_file_name(id);
    let chats = path.parent().filter(|folder| name_of(folder) == CHATS);
    let (Some(chats), Some(identity)) = (chats, identity.filter(|identity| is_name(&identity.id)))
    else {
        return Vec::new();
    };
    let child = |path: PathBuf| {
        let id = path.file_stem()?.to_str()?;
        let extension = path.extension()?;
        let is_chat = extension == "jsonl" || extension == "json";
        let identity = SessionIdentity { id: id.into(), ..SessionIdentity::default() };
        (is_chat && is_file(&path)).then_some(ChildFile { path, identity })
    };
    let folder = chats.join(&*identity.id);
    let files = entries(&folder).into_iter().take(MAX_SUB_AGENTS);
    let children = files.filter_map(child).collect();
    conversations(main, report, children)
}

/// Returns the id of the parent of the sub-agent at `path`.
fn parent_id(path: &Path, _: Option<&str>) -> Option<String> {
    let folder = path.parent()?;
    let is_sub_agent = !name_of(path).starts_with(MAIN) && name_of(folder.parent()?) == CHATS;
    is_sub_agent.then(|| name_of(folder).to_owned())
}
