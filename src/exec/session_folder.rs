//! Gathers the files of a session that its program keeps as a folder; how they fit together [`formats::FolderFile`] tells.
//!
//! Only files of known names in known places are read, no links are followed, and nothing is looked for beyond them.

use super::load::{LoadError, MOST_BYTES, read_bounded};
use crate::formats::{self, FolderFile};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a task's folder that say something about its conversation.
const TASK: [&str; 4] = [
    formats::CLINE_HISTORY,
    "ui_messages.json",
    "task_metadata.json",
    "history_item.json",
];
/// No session has more files.
const MOST_FILES: usize = 200_000;

/// The session that a path stands for, as one document with the name to show for it; none where it is an ordinary file
/// or any other folder.
///
/// # Errors
/// A [`LoadError`] when the files are too many or too large, or cannot be read.
pub(super) fn session_at(path: &Path) -> Result<Option<(String, Vec<u8>)>, LoadError> {
    let Some((root, files)) = members(path) else {
        return Ok(None);
    };
    let mut read = Vec::with_capacity(files.len());
    let mut left = MOST_BYTES;
    for file in files.iter().take(MOST_FILES) {
        let metadata = fs::symlink_metadata(file)
            .ok()
            .filter(fs::Metadata::is_file);
        let Some(metadata) = metadata else { continue };
        left = left
            .checked_sub(metadata.len())
            .ok_or_else(|| too_much(path))?;
        let bytes = read_bounded(file, MOST_BYTES)?;
        let name = file.strip_prefix(&root).unwrap_or(file);
        let names: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        read.push(FolderFile {
            name: names.join("/"),
            bytes,
        });
    }
    if files.len() > MOST_FILES {
        return Err(too_much(path));
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok(formats::combined_document(&read).map(|bytes| (name.to_string_lossy().into_owned(), bytes)))
}

fn too_much(path: &Path) -> LoadError {
    LoadError(format!(
        "{} holds more than {} GiB or {MOST_FILES} files, the most that is read; give a smaller session",
        path.display(),
        MOST_BYTES >> 30
    ))
}

/// Whether a folder is a session itself, which its program keeps as files.
pub(super) fn is_session(folder: &Path) -> bool {
    folder.is_dir() && members(folder).is_some()
}

/// The files of a folder that is a session of events, each of which looks like a session by itself.
pub(super) fn events_in(folder: &Path) -> Option<Vec<PathBuf>> {
    events(folder).map(|(_, files)| files)
}

/// Whether a file is but a piece of a session that another file stands for.
pub(super) fn is_piece(path: &Path) -> bool {
    let name = |path: Option<&Path>| Some(path?.file_name()?.to_str()?.to_owned());
    let (file, folder) = (name(Some(path)).unwrap_or_default(), path.parent());
    let is_beside = |other: &str| folder.is_some_and(|folder| folder.join(other).is_file());
    if file.starts_with("msg_") || file.starts_with("prt_") {
        let kind = name(folder.and_then(Path::parent));
        return kind.is_some_and(|kind| kind == "message" || kind == "part");
    }
    if let Some(stem) = file.strip_suffix(".meta.json") {
        return is_beside(&format!("{stem}.jsonl"));
    }
    file != TASK[0] && TASK.contains(&&*file) && is_beside(TASK[0])
}

/// The folder that the names are told from, and the files of the session at a path.
fn members(path: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    if path.is_dir() {
        return task(path).or_else(|| events(path)).or_else(|| stored(path));
    }
    let name = path.file_name()?.to_str()?;
    if name.starts_with("ses_") || name.starts_with("msg_") || name.starts_with("prt_") {
        return opencode(path, name);
    }
    let stem = name
        .strip_suffix(".meta.json")
        .or_else(|| name.strip_suffix(".jsonl"))?;
    let folder = path.parent()?;
    let pair = [format!("{stem}.jsonl"), format!("{stem}.meta.json")].map(|name| folder.join(name));
    pair.iter()
        .all(|file| file.is_file())
        .then(|| (folder.to_owned(), pair.to_vec()))
}

fn task(folder: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    let files: Vec<PathBuf> = TASK
        .iter()
        .map(|name| folder.join(name))
        .filter(|file| file.is_file())
        .collect();
    (files.first()? == &folder.join(formats::CLINE_HISTORY)).then(|| (folder.to_owned(), files))
}

/// A conversation of `OpenHands`: its folder, or the one with the events.
fn events(folder: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    let inner = folder.join("events");
    let events = if inner.is_dir() {
        inner
    } else {
        folder.to_owned()
    };
    let is_named = events.file_name().is_some_and(|name| name == "events");
    let files = json_files(&events);
    (is_named && !files.is_empty()).then(|| (folder.to_owned(), files))
}

/// The one session of `OpenCode`'s storage, of one of its projects, or of the messages in a folder of it; none where
/// there are several.
fn stored(folder: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
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

/// A session in `OpenCode`'s storage: `session/PROJECT/ses_*.json`, `message/ses_*/msg_*.json`, `part/msg_*/prt_*.json`.
fn opencode(path: &Path, name: &str) -> Option<(PathBuf, Vec<PathBuf>)> {
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
    let files: Vec<PathBuf> = std::iter::once(session)
        .chain(messages)
        .chain(parts)
        .collect();
    (files.len() > 1).then(|| (storage.to_owned(), files))
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

/// The JSON files of a folder by name.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
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
        let (name, bytes) = session_at(path).expect("it can be read")?;
        let input = formats::Input {
            name,
            bytes: bytes.into(),
        };
        Some(formats::parse(&input).ok()?.sessions[0].source.format)
    }

    #[test]
    fn what_stands_for_a_session_is_told_from_its_pieces() {
        let here = tempfile::tempdir().expect("a folder");
        let files = [
            "tasks/7/api_conversation_history.json",
            "tasks/7/ui_messages.json",
            "notes/ui_messages.json",
            "pico/k.jsonl",
            "pico/k.meta.json",
            "pico/other.meta.json",
            "talk/events/0.json",
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
        ] {
            assert_eq!(is_piece(&here.path().join(path)), is, "{path}");
        }
        for (folder, is) in [
            ("tasks/7", true),
            ("talk", true),
            ("talk/events", true),
            ("pico", false),
        ] {
            assert_eq!(is_session(&here.path().join(folder)), is, "{folder}");
        }
    }

    #[test]
    fn a_storage_with_one_session_opens_as_that_session() {
        let here = tempfile::tempdir().expect("a folder");
        let files = [
            ("storage/session/p/ses_1.json", r#"{"id":"ses_1"}"#),
            ("storage/message/ses_1/msg_1.json", r#"{"role":"user"}"#),
            (
                "storage/part/msg_1/prt_1.json",
                r#"{"type":"text","text":"hi"}"#,
            ),
        ];
        write(here.path(), &files);
        let folders = ["", "storage", "storage/session/p", "storage/message/ses_1"];
        for folder in folders {
            assert_eq!(
                format_at(&here.path().join(folder)),
                Some("opencode"),
                "{folder}"
            );
        }
        write(
            here.path(),
            &[("storage/session/q/ses_2.json", r#"{"id":"ses_2"}"#)],
        );
        for (folder, is) in folders.into_iter().zip([false, false, true, true]) {
            assert_eq!(is_session(&here.path().join(folder)), is, "{folder}");
        }
    }

    #[test]
    fn folders_of_every_program_open_from_any_of_their_files() {
        let here = tempfile::tempdir().expect("a folder");
        let root = here.path();
        write(
            root,
            &[
                (
                    "storage/session/p/ses_1.json",
                    r#"{"id":"ses_1","title":"T"}"#,
                ),
                (
                    "storage/message/ses_1/msg_1.json",
                    r#"{"id":"msg_1","role":"user"}"#,
                ),
                (
                    "storage/part/msg_1/prt_1.json",
                    r#"{"type":"text","text":"hello"}"#,
                ),
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
            ("other", None),
            ("other/a.json", None),
        ] {
            assert_eq!(format_at(&root.join(path)), format, "{path}");
        }
    }
}
