//! The folder of logs: new paths, listing and removal.

use super::log::RunLog;
use crate::exec::files::short_reason;
use etcetera::BaseStrategy as _;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum length of the first line of a log, in bytes. It may contain the user's own prompt.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Returns the folder of logs; `None` without a home folder.
pub fn logs_folder() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.data_dir().join("plimsoll").join("runs"))
}

/// Returns a new path for the log of a run on a session with this name; `None` without a home folder.
pub fn new_log(session: &str) -> Option<PathBuf> {
    Some(logs_folder()?.join(log_name(session, SystemTime::now())))
}

fn log_name(session: &str, now: SystemTime) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let mut endings = [".jsonl", ".json"].into_iter();
    let stem = endings.find_map(|ending| session.strip_suffix(ending));
    let name = stem.unwrap_or(session).chars();
    let name: String = name.filter(|c| is_plain(*c)).take(60).collect();
    let now = humantime::format_rfc3339_millis(now).to_string();
    format!("{}-{name}.jsonl", now.replace(':', "-"))
}

/// A log in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Path of the log.
    pub path: PathBuf,
    /// Length in bytes.
    pub bytes: u64,
    /// Modification time, if the platform has it.
    pub written: Option<SystemTime>,
    /// Name of the model and its host; `None` if the file is not a log.
    pub model: Option<String>,
}

/// Lists the logs, sorted by name, which starts with the time.
pub fn logs() -> Vec<LogFile> {
    logs_folder().map_or_else(Vec::new, |folder| logs_in(&folder))
}

/// Lists the logs in a folder, sorted by name.
pub fn logs_in(folder: &Path) -> Vec<LogFile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let path = entry.path();
        let is_log = path.extension().is_some_and(|e| e == "jsonl");
        let metadata = entry.metadata().ok().filter(|m| is_log && m.is_file())?;
        Some(LogFile {
            bytes: metadata.len(),
            written: metadata.modified().ok(),
            model: model_of(&path),
            path,
        })
    });
    let mut files: Vec<_> = files.collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Reads the model from the first line of a log.
fn model_of(path: &Path) -> Option<String> {
    let mut head = String::new();
    let file = File::open(path).ok()?.take(MAX_LINE_BYTES);
    BufReader::new(file).read_line(&mut head).ok()?;
    Some(serde_json::from_str::<RunLog>(&head).ok()?.model)
}

/// Removes a log.
///
/// # Errors
/// Returns one line if the log exists but cannot be removed.
pub fn remove_log(log: &Path) -> Result<(), String> {
    match fs::remove_file(log) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!(
            "cannot remove {} ({}); check its permissions",
            log.display(),
            short_reason(&error)
        )),
        _ => Ok(()),
    }
}

/// Removes all logs and returns their number.
///
/// # Errors
/// Returns an error if a log cannot be removed.
pub fn clear_logs() -> io::Result<usize> {
    let all = logs();
    for log in &all {
        fs::remove_file(&log.path)?;
    }
    Ok(all.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_log_is_named_after_the_time_and_the_session() {
        for (session, name) in
            [("fix: a/b.jsonl", "fixab"), ("talk.json", "talk"), ("v1.5", "v1.5")]
        {
            let expected = format!("1970-01-01T00-00-00.000Z-{name}.jsonl");
            assert_eq!(log_name(session, SystemTime::UNIX_EPOCH), expected);
        }
    }

    #[test]
    fn logs_are_listed_with_their_model_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let head = r#"{"plimsoll":"0.1.0","model":"m at localhost:1"}"#;
        let log = file("2026-01-01-a.jsonl", &format!("{head}\n"));
        file("2026-01-02-b.jsonl", "no log");
        file("notes.txt", head);
        let listed = logs_in(folder.path());
        let models: Vec<_> = listed.iter().map(|log| log.model.as_deref()).collect();
        assert_eq!(models, [Some("m at localhost:1"), None]);
        assert!(listed[0].written.is_some() && listed[0].bytes == head.len() as u64 + 1);
        assert_eq!(remove_log(&log), Ok(()));
        assert_eq!(remove_log(&log), Ok(()), "it is gone either way");
        assert_eq!(logs_in(folder.path()).len(), 1);
        assert!(remove_log(folder.path()).unwrap_err().contains("cannot remove"));
        assert_eq!(logs_in(&folder.path().join("nowhere")), []);
    }
}
