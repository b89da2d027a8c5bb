//! Gemini CLI's sub-agents: `chats/PARENT/ID.jsonl` (older: `.json`) beside the parent's `chats/session-*`, where PARENT is the
//! whole id of the parent's session.

use super::{Found, entries, is_file, name_of, told};
use crate::formats::{self, ImportReport, SessionIdentity};
use crate::session::Session;
use std::path::Path;

/// The folder of all sessions of a project.
const CHATS: &str = "chats";
/// What the names of main sessions begin with.
const MAIN: &str = "session-";

/// The sub-agents of the session at `path`, by name.
pub(super) fn found(path: &Path, main: &Session, report: &ImportReport) -> Vec<Found> {
    let identity = formats::identity_of(&main.source);
    // An id is one name here, never a path.
    let is_name = |id: &str| {
        let mut bytes = id.bytes();
        !id.is_empty() && bytes.all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    let chats = path.parent().filter(|folder| name_of(folder) == CHATS);
    let (Some(chats), Some(identity)) = (chats, identity.filter(|identity| is_name(&identity.id)))
    else {
        return Vec::new();
    };
    let child = |file: &Path| {
        let id = file.file_stem()?.to_str()?;
        let ends = file.extension()?;
        let is_chat = ends == "jsonl" || ends == "json";
        let identity = SessionIdentity {
            id: id.into(),
            ..SessionIdentity::default()
        };
        (is_chat && is_file(file)).then(|| (file.to_owned(), identity))
    };
    let folder = chats.join(&*identity.id);
    let files = entries(&folder).into_iter().take(super::MOST);
    let children = files.filter_map(|file| child(&file)).collect();
    told(main, report, children)
}

/// The session whose sub-agent's file lies at `path`.
pub(super) fn parent(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let is_one = !name_of(path).starts_with(MAIN) && name_of(folder.parent()?) == CHATS;
    is_one.then(|| name_of(folder).to_owned())
}
