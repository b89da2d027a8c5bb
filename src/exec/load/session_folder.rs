//! Collects the files of a session that its program stores as a folder. [`formats::combined_document`] joins them.
//!
//! Only files with known names and positions are read, and links are not followed.

use crate::exec::files::{Hasher, LoadError, MAX_SESSION_BYTES, Stamp, file_name, read_bounded};
use crate::formats::{self, FolderFile, Input};
use crate::json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a Cline task that belong to its conversation, the main one first.
const TASK: [&str; 4] =
    [formats::CLINE_HISTORY, "ui_messages.json", "task_metadata.json", "history_item.json"];
/// End of the name of the history of a session of Cline's core.
const HISTORY: &str = ".messages.json";
/// End of the name of the last compaction of a session of Cline's core.
const LAST_COMPACTION: &str = ".compaction.json";
/// Files of a session of Mistral Vibe, the main one first.
const VIBE: [&str; 2] = ["messages.jsonl", "meta.json"];
/// File of a session of Strands Agents, next to its agents.
const STRANDS: &str = "session.json";
/// Maximum number of files of a session. Chosen: programs that write a file for each message or part reach tens of
/// thousands.
const MAX_FILES: usize = 200_000;

/// Maximum size of a metadata file in bytes. Chosen: it holds a summary, which is shorter than any context window.
const MAX_METADATA: u64 = 16 << 20;

/// The files of a session, and the folder that their names are relative to.
struct SessionFiles {
    root: PathBuf,
    paths: Vec<PathBuf>,
}

/// Reads the session folder at a path, or the one that the file at a path belongs to, as one document. Returns `None`
/// for any other path.
///
/// # Errors
/// Returns a [`LoadError`] if the files are too many or too large, or cannot be read.
pub(super) fn document(path: &Path) -> Result<Option<Input>, LoadError> {
    let Some(SessionFiles { root, paths }) = files_at(path) else {
        return Ok(None);
    };
    let mut read = Vec::with_capacity(paths.len());
    let mut left = MAX_SESSION_BYTES;
    for file in paths.iter().take(MAX_FILES) {
        let metadata = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file);
        let Some(metadata) = metadata else { continue };
        left = left.checked_sub(metadata.len()).ok_or_else(|| too_large(path))?;
        let bytes = read_bounded(file, MAX_SESSION_BYTES)?;
        let name = file.strip_prefix(&root).unwrap_or(file);
        let names: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        read.push(FolderFile { name: names.join("/"), bytes });
    }
    if paths.len() > MAX_FILES {
        return Err(too_large(path));
    }
    Ok(formats::combined_document(&read)
        .map(|bytes| Input { name: file_name(path), bytes: bytes.into() }))
}

fn too_large(path: &Path) -> LoadError {
    LoadError(format!(
        "{} is larger than the limit of {} GiB or {MAX_FILES} files; give a smaller session",
        path.display(),
        MAX_SESSION_BYTES >> 30
    ))
}

/// Returns true if a folder is a session that its program stores as several files.
pub(super) fn is_session(folder: &Path) -> bool {
    folder.is_dir() && files_at(folder).is_some()
}

/// Lists the files of an `OpenHands` session folder. Each of them looks like a session by itself.
pub(crate) fn events_in(folder: &Path) -> Option<Vec<PathBuf>> {
    events(folder).map(|files| files.paths)
}

/// Returns the files of the session at a path; the path itself if it is a single file.
pub(crate) fn files_of(path: &Path) -> Vec<PathBuf> {
    files_at(path).map_or_else(|| vec![path.to_owned()], |files| files.paths)
}

/// Returns a text that differs after any file of the session at a path has changed; `None` if one cannot be read.
pub(crate) fn stamp_of(path: &Path) -> Option<String> {
    let files = files_of(path);
    let mut hasher = Hasher::new();
    for file in files {
        hasher.update(file.as_os_str().as_encoded_bytes());
        hasher.update(Stamp::of(&file)?.text().as_bytes());
    }
    Some(hasher.finish())
}

/// Returns true if a file is a part of a session that another file represents.
pub(crate) fn is_piece(path: &Path) -> bool {
    let name = |path: Option<&Path>| Some(path?.file_name()?.to_str()?.to_owned());
    let (file, folder) = (name(Some(path)).unwrap_or_default(), path.parent());
    let has_sibling = |other: &str| folder.is_some_and(|folder| folder.join(other).is_file());
    if file.starts_with("msg_") || file.starts_with("prt_") {
        let kind = name(folder.and_then(Path::parent));
        return kind.is_some_and(|kind| kind == "message" || kind == "part");
    }
    if file != STRANDS && strands_session(path, &file).is_some() {
        return true;
    }
    if file == VIBE[1] {
        return has_sibling(VIBE[0]);
    }
    if let Some(stem) = file.strip_suffix(".meta.json") {
        return has_sibling(&format!("{stem}.jsonl"));
    }
    if let Some(stem) = file.strip_suffix(LAST_COMPACTION) {
        return has_sibling(&format!("{stem}{HISTORY}"));
    }
    file != TASK[0] && TASK.contains(&&*file) && has_sibling(TASK[0])
}

/// Finds the files of the session at a path.
fn files_at(path: &Path) -> Option<SessionFiles> {
    if path.is_dir() {
        return cline_task(path)
            .or_else(|| cline_session(path))
            .or_else(|| events(path))
            .or_else(|| strands(path))
            .or_else(|| vibe(path))
            .or_else(|| only_stored(path));
    }
    let name = path.file_name()?.to_str()?;
    if let Some(session) = strands_session(path, name) {
        return strands(session);
    }
    if VIBE.contains(&name)
        && let Some(session) = vibe(path.parent()?)
    {
        return Some(session);
    }
    if name.starts_with("ses_") || name.starts_with("msg_") || name.starts_with("prt_") {
        return opencode(path, name);
    }
    let of_core = [HISTORY, LAST_COMPACTION].iter().find_map(|end| name.strip_suffix(end));
    if let Some(stem) = of_core {
        return core_files(path.parent()?, stem).filter(|files| files.paths.len() > 1);
    }
    let stem = name.strip_suffix(".meta.json").or_else(|| name.strip_suffix(".jsonl"))?;
    let folder = path.parent()?;
    let pair = [format!("{stem}.jsonl"), format!("{stem}.meta.json")].map(|name| folder.join(name));
    let is_pair = pair.iter().all(|file| file.is_file()) && is_metadata(&pair[1]);
    is_pair.then(|| SessionFiles::new(folder, pair.to_vec()))
}

/// Returns whether a file holds the metadata of a session of PicoClaw. Claude Code has files of the same name that describe
/// sub-agents.
fn is_metadata(path: &Path) -> bool {
    let bytes = read_bounded(path, MAX_METADATA).ok();
    let members = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    members.is_some_and(|members| {
        let has = |key: &str| members.get(key).is_some();
        has("key")
            && ["created", "updated", "created_at", "updated_at", "skip", "count"]
                .iter()
                .any(|key| has(key))
    })
}

impl SessionFiles {
    fn new(root: &Path, paths: Vec<PathBuf>) -> Self {
        Self { root: root.to_owned(), paths }
    }
}

fn cline_task(folder: &Path) -> Option<SessionFiles> {
    let files: Vec<PathBuf> =
        TASK.iter().map(|name| folder.join(name)).filter(|file| file.is_file()).collect();
    (files.first()? == &folder.join(formats::CLINE_HISTORY))
        .then(|| SessionFiles::new(folder, files))
}

/// Finds the files of a session of Cline's core in its folder, which has its name.
fn cline_session(folder: &Path) -> Option<SessionFiles> {
    core_files(folder, folder.file_name()?.to_str()?)
}

fn core_files(folder: &Path, stem: &str) -> Option<SessionFiles> {
    let files = [HISTORY, LAST_COMPACTION].map(|end| folder.join(format!("{stem}{end}")));
    let has_history = files[0].is_file();
    let files = files.into_iter().filter(|file| file.is_file()).collect();
    has_history.then(|| SessionFiles::new(folder, files))
}

/// Finds the events of an `OpenHands` conversation in its folder or in the folder of the events.
fn events(folder: &Path) -> Option<SessionFiles> {
    let inner = folder.join("events");
    let events = if inner.is_dir() { inner } else { folder.to_owned() };
    let is_named = events.file_name().is_some_and(|name| name == "events");
    let files = json_files(&events);
    (is_named && !files.is_empty()).then(|| SessionFiles::new(folder, files))
}

/// Finds the files of a session of Strands Agents: `session.json` and `agents/agent_ID/messages/message_N.json`.
fn strands(folder: &Path) -> Option<SessionFiles> {
    let head = folder.join(STRANDS);
    let agents = subfolders(&folder.join("agents"));
    let of_agent = |agent: &PathBuf| {
        let state = Some(agent.join("agent.json")).filter(|file| file.is_file());
        state.into_iter().chain(json_files(&agent.join("messages"))).collect::<Vec<_>>()
    };
    let files: Vec<PathBuf> = agents.iter().flat_map(of_agent).collect();
    (head.is_file() && !files.is_empty()).then(|| {
        let paths = std::iter::once(head).chain(files).collect();
        SessionFiles::new(folder, paths)
    })
}

/// Finds the files of a session of Mistral Vibe.
fn vibe(folder: &Path) -> Option<SessionFiles> {
    let files = VIBE.map(|name| folder.join(name));
    files.iter().all(|file| file.is_file()).then(|| SessionFiles::new(folder, files.to_vec()))
}

/// Returns the folder of the session of Strands Agents that a file belongs to.
fn strands_session<'a>(path: &'a Path, name: &str) -> Option<&'a Path> {
    let depth = match name {
        STRANDS => 1,
        "agent.json" => 3,
        name if name.starts_with("message_") => 4,
        _ => return None,
    };
    let folder = path.ancestors().nth(depth)?;
    let is_session = folder.file_name()?.to_str()?.starts_with("session_");
    (is_session && folder.join(STRANDS).is_file()).then_some(folder)
}

/// Finds the only session in a folder of `OpenCode`'s storage: the storage itself, a project, or the messages of a
/// session. Returns `None` if there are several.
fn only_stored(folder: &Path) -> Option<SessionFiles> {
    let name = folder.file_name().and_then(|name| name.to_str());
    let file = if name.is_some_and(|name| name.starts_with("ses_")) {
        json_files(folder).into_iter().next()?
    } else {
        let is_storage =
            |folder: &&Path| folder.join("session").is_dir() && folder.join("message").is_dir();
        let inner = folder.join("storage");
        let projects = match [folder, &inner].into_iter().find(is_storage) {
            Some(storage) => subfolders(&storage.join("session")),
            None => vec![folder.to_owned()],
        };
        let mut files = projects.iter().flat_map(|project| json_files(project));
        files.next().filter(|_| files.next().is_none())?
    };
    let name = file.file_name()?.to_str()?;
    if !name.starts_with("ses_") && !name.starts_with("msg_") {
        return None;
    }
    opencode(&file, name)
}

/// Finds the files of the session that a file of `OpenCode`'s storage belongs to: `session/PROJECT/ses_*.json`,
/// `message/ses_*/msg_*.json`, `part/msg_*/prt_*.json`.
fn opencode(path: &Path, name: &str) -> Option<SessionFiles> {
    let storage = path.parent()?.parent()?.parent()?;
    let session = match name.split('_').next()? {
        "ses" => path.to_owned(),
        "msg" => session_file(storage, path.parent()?.file_name()?.to_str()?)?,
        _ => {
            let message = format!("{}.json", path.parent()?.file_name()?.to_str()?);
            let of = subfolders(&storage.join("message"))
                .into_iter()
                .find(|folder| folder.join(&message).is_file())?;
            session_file(storage, of.file_name()?.to_str()?)?
        }
    };
    let id = session.file_stem()?;
    let messages = json_files(&storage.join("message").join(id));
    let parts = messages
        .iter()
        .flat_map(|m| json_files(&storage.join("part").join(m.file_stem().unwrap_or_default())));
    let parts: Vec<PathBuf> = parts.collect();
    let files: Vec<PathBuf> = std::iter::once(session).chain(messages).chain(parts).collect();
    (files.len() > 1).then(|| SessionFiles::new(storage, files))
}

fn session_file(storage: &Path, id: &str) -> Option<PathBuf> {
    let projects = subfolders(&storage.join("session"));
    projects
        .into_iter()
        .map(|project| project.join(format!("{id}.json")))
        .find(|file| file.is_file())
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| p.is_dir()).collect();
    found.sort();
    found
}

/// Lists the JSON files of a folder, sorted by name.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(is_json).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, text).expect("it can be written");
        }
    }

    fn format_at(path: &Path) -> Option<&'static str> {
        let document = document(path).expect("it can be read")?;
        Some(formats::parse(&document).ok()?.sessions[0].source.format)
    }

    #[test]
    fn sessions_are_distinguished_from_their_pieces() {
        let here = tempfile::tempdir().expect("a folder");
        let files = [
            "tasks/7/api_conversation_history.json",
            "tasks/7/ui_messages.json",
            "notes/ui_messages.json",
            "pico/k.jsonl",
            "pico/k.meta.json",
            "pico/other.meta.json",
            "talk/events/0.json",
            "core/9_a.messages.json",
            "core/9_a.compaction.json",
        ];
        write(here.path(), &files.map(|name| (name, "{}")));
        for (path, is) in [
            ("storage/session/p/ses_1.json", false),
            ("storage/message/ses_1/msg_1.json", true),
            ("storage/part/msg_1/prt_1.json", true),
            ("mine/msg_1.json", false),
            (files[0], false),
            (files[1], true),
            (files[2], false),
            (files[3], false),
            (files[4], true),
            (files[5], false),
            (files[7], false),
            (files[8], true),
        ] {
            assert_eq!(is_piece(&here.path().join(path)), is, "{path}");
        }
        for (folder, is) in
            [("tasks/7", true), ("talk", true), ("talk/events", true), ("pico", false)]
        {
            assert_eq!(is_session(&here.path().join(folder)), is, "{folder}");
        }
    }

    #[test]
    fn a_storage_with_one_session_opens_as_that_session() {
        let here = tempfile::tempdir().expect("a folder");
        let files = [
            ("storage/session/p/ses_1.json", r#"{"id":"ses_1"}"#),
            ("storage/message/ses_1/msg_1.json", r#"{"role":"user"}"#),
            ("storage/part/msg_1/prt_1.json", r#"{"type":"text","text":"hi"}"#),
        ];
        write(here.path(), &files);
        let folders = ["", "storage", "storage/session/p", "storage/message/ses_1"];
        for folder in folders {
            assert_eq!(format_at(&here.path().join(folder)), Some("opencode"), "{folder}");
        }
        write(here.path(), &[("storage/session/q/ses_2.json", r#"{"id":"ses_2"}"#)]);
        for (folder, is) in folders.into_iter().zip([false, false, true, true]) {
            assert_eq!(is_session(&here.path().join(folder)), is, "{folder}");
        }
    }

    #[test]
    fn a_session_folder_opens_from_any_of_its_files() {
        let here = tempfile::tempdir().expect("a folder");
        let root = here.path();
        write(
            root,
            &[
                ("storage/session/p/ses_1.json", r#"{"id":"ses_1","title":"T"}"#),
                ("storage/message/ses_1/msg_1.json", r#"{"id":"msg_1","role":"user"}"#),
                ("storage/part/msg_1/prt_1.json", r#"{"type":"text","text":"hello"}"#),
                (
                    "tasks/7/api_conversation_history.json",
                    r#"[{"role":"user","content":[{"type":"text","text":"a"}],"ts":1}]"#,
                ),
                ("tasks/7/ui_messages.json", "[]"),
                (
                    "talk/events/0.json",
                    r#"{"id":0,"source":"user","action":"message","args":{"content":"a"}}"#,
                ),
                ("pico/k.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\n"),
                ("pico/k.meta.json", r#"{"key":"k","summary":"s","skip":0}"#),
                (
                    "core/9_a/9_a.messages.json",
                    r#"{"agent":"lead","sessionId":"9_a","messages":[{"role":"user","content":"a"}]}"#,
                ),
                (
                    "core/9_a/9_a.compaction.json",
                    r#"{"source_message_count":1,"messages":[{"role":"user","content":"s"}]}"#,
                ),
                ("session_1/session.json", r#"{"session_id":"1"}"#),
                (
                    "session_1/agents/agent_a/messages/message_0.json",
                    r#"{"message":{"role":"user","content":[{"text":"a"}]},"message_id":0}"#,
                ),
                ("vibe/messages.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\n"),
                ("vibe/meta.json", r#"{"session_id":"1","tools_available":[]}"#),
                ("other/a.json", "[]"),
            ],
        );
        for (path, format) in [
            ("storage/session/p/ses_1.json", Some("opencode")),
            ("storage/message/ses_1/msg_1.json", Some("opencode")),
            ("storage/part/msg_1/prt_1.json", Some("opencode")),
            ("tasks/7", Some("cline")),
            ("talk", Some("openhands")),
            ("talk/events", Some("openhands")),
            ("pico/k.jsonl", Some("picoclaw")),
            ("pico/k.meta.json", Some("picoclaw")),
            ("core/9_a", Some("cline")),
            ("core/9_a/9_a.messages.json", Some("cline")),
            ("core/9_a/9_a.compaction.json", Some("cline")),
            ("session_1", Some("strands")),
            ("session_1/session.json", Some("strands")),
            ("session_1/agents/agent_a/messages/message_0.json", Some("strands")),
            ("vibe", Some("mistral_vibe")),
            ("vibe/messages.jsonl", Some("mistral_vibe")),
            ("vibe/meta.json", Some("mistral_vibe")),
            ("other", None),
            ("other/a.json", None),
        ] {
            assert_eq!(format_at(&root.join(path)), format, "{path}");
        }
    }
}
