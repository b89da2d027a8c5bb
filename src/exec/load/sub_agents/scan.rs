//! Helpers for finding the files of sub-agents. Links are not followed, and pipes are not opened.

use crate::formats::{self, ImportReport, Input, SessionIdentity, SubAgentCalls};
use crate::session::{Conversation, Session, Size};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Maximum number of sub-agents of a session that are listed.
pub(super) const MAX_SUB_AGENTS: usize = 500;
/// Number of bytes that are read from the start of a file until it is opened. They contain its title, and 500
/// sub-agents are 32 MB to read.
pub(super) const START_BYTES: u64 = 64 << 10;

/// A sub-agent with a file of its own.
pub(super) struct FoundSubAgent {
    /// The file.
    pub(super) path: PathBuf,
    /// The conversation according to the start of the file.
    pub(super) conversation: Conversation,
}

/// The file of a sub-agent that names its session.
pub(super) struct ChildFile {
    pub(super) path: PathBuf,
    pub(super) identity: SessionIdentity,
}

/// The start of a file, parsed.
pub(super) struct FileStart {
    pub(super) session: Session,
    /// The start is the whole file.
    pub(super) is_whole: bool,
}

/// Creates the conversations of these sub-agents of a session.
pub(super) fn conversations(
    main: &Session,
    report: &ImportReport,
    files: Vec<ChildFile>,
) -> Vec<FoundSubAgent> {
    let started = SubAgentCalls::new(main, report);
    let describe = |ChildFile { path, identity }: &ChildFile| {
        let (agent, title) = started.agent(identity);
        let start = read_start(path);
        let whole = start.as_ref().filter(|start| start.is_whole);
        let size = whole.map(|start| Size::of(&start.session));
        let own = || start.map(|start| start.session.title);
        let title = title.or(identity.name.clone().map(String::from)).or_else(own);
        (title.unwrap_or_else(|| identity.id.to_string()), agent, size)
    };
    let all = Conversation::sub_agents(main, files.iter().map(describe));
    let found = files.into_iter().zip(all);
    found
        .map(|(ChildFile { path, .. }, conversation)| FoundSubAgent { path, conversation })
        .collect()
}

/// Parses the start of a file; `None` if it contains no conversation.
pub(super) fn read_start(path: &Path) -> Option<FileStart> {
    let mut bytes = Vec::new();
    open(path)?.take(START_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let is_whole = bytes.len() as u64 <= START_BYTES;
    if !is_whole {
        bytes.truncate(bytes.iter().rposition(|b| *b == b'\n')?);
    }
    let input =
        Input { name: path.file_name()?.to_string_lossy().into_owned(), bytes: bytes.into() };
    let session = formats::parse(&input).ok()?.sessions.into_iter().next()?;
    Some(FileStart { session, is_whole })
}

/// Opens a regular file. Opening a pipe would wait for its writer.
pub(super) fn open(path: &Path) -> Option<File> {
    is_file(path).then(|| File::open(path).ok())?
}

pub(super) fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

pub(super) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Lists the paths in a folder, sorted by name.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

pub(super) fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Returns true for an id that is safe as a file name, since ids come from files.
pub(super) fn is_file_name(id: &str) -> bool {
    let mut bytes = id.bytes();
    bytes.all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}
