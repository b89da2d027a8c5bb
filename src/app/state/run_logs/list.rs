//! The saved logs of live runs: list, replay and removal.

use crate::app::state::model::background::repaint::Repaint;
use crate::app::state::model::background::task;
use crate::app::state::model::background::task::Background;
use crate::exec;
use crate::exec::LogFile;
use crate::units::Bytes;
use std::path::{Path, PathBuf};

/// The logs in the window.
#[derive(Debug)]
pub struct RunLogs {
    /// Their folder; `None` if the program saves no files.
    pub folder: Option<PathBuf>,
    /// All logs, newest first.
    pub all: Vec<LogFile>,
    /// The logs to remove, pending confirmation.
    pub deletion: Option<Deletion>,
    opening: Option<Background<Result<(), String>>>,
}

/// Logs to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The log with this index in the list.
    One(usize),
    /// Every log in the list.
    All,
}

/// A command of the log list.
#[derive(Clone, Debug, PartialEq)]
pub enum RunLogsCommand {
    /// Show the list.
    Show,
    /// Close the list.
    Close,
    /// Ask for confirmation before the removal.
    ConfirmDeletion(Option<Deletion>),
    /// Remove the logs after confirmation.
    Delete,
    /// Show the folder in the system's file manager.
    OpenFolder,
    /// Prepare an export that replays a log.
    Replay(PathBuf),
}

impl RunLogs {
    /// Lists the logs in a folder.
    pub fn new(folder: Option<PathBuf>) -> Self {
        let mut logs = Self { folder, all: Vec::new(), deletion: None, opening: None };
        logs.refresh();
        logs
    }

    fn refresh(&mut self) {
        let folder = self.folder.as_deref();
        self.all = folder.map_or_else(Vec::new, exec::logs_in);
        self.all.reverse();
        self.deletion = None;
    }

    /// Opens the folder in the system's file manager.
    pub fn open_folder(&mut self, repaint: &Repaint) {
        if let Some(folder) = self.folder.clone().filter(|_| self.opening.is_none()) {
            let work = move || exec::open_folder(&folder);
            self.opening = Some(task::start_awaited("file manager", repaint, work));
        }
    }

    /// Returns the error of opening the folder, once known.
    pub fn poll(&mut self) -> Option<String> {
        match self.opening.take()?.take() {
            Ok(shown) => shown.and_then(Result::err),
            Err(opening) => {
                self.opening = Some(opening);
                None
            }
        }
    }

    /// Returns the total size.
    pub fn size(&self) -> Bytes {
        Bytes(self.all.iter().map(|log| log.bytes).sum())
    }

    /// Removes the confirmed logs. Returns their number.
    ///
    /// # Errors
    ///
    /// Returns a one-line message with the log that cannot be removed; earlier ones are removed.
    pub fn remove(&mut self) -> Result<usize, String> {
        let deletion: Vec<PathBuf> = match self.deletion {
            None => Vec::new(),
            Some(Deletion::One(idx)) => {
                self.all.get(idx).map(|log| log.path.clone()).into_iter().collect()
            }
            Some(Deletion::All) => self.all.iter().map(|log| log.path.clone()).collect(),
        };
        let removed = deletion.iter().try_for_each(|path| exec::remove_log(path));
        self.refresh();
        removed.map(|()| deletion.len())
    }
}

/// Returns the session name of a log: its file name without the time.
pub fn session_of(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let is_time = |(at, c): (usize, char)| match at {
        4 | 7 | 13 | 16 | 24 => c == '-',
        10 => c == 'T',
        19 => c == '.',
        23 => c == 'Z',
        _ => c.is_ascii_digit(),
    };
    let n_time_chars =
        name.char_indices().take_while(|(at, c)| *at < 25 && is_time((*at, *c))).count();
    if n_time_chars == 25 { name[25..].to_owned() } else { name.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn logs_are_deleted_only_after_confirmation() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["1.jsonl", "2.jsonl", "3.jsonl", "notes.txt"] {
            fs::write(folder.path().join(name), "12345").unwrap();
        }
        let mut logs = RunLogs::new(Some(folder.path().to_owned()));
        let names = |logs: &RunLogs| -> Vec<String> {
            logs.all.iter().map(|log| session_of(&log.path)).collect()
        };
        assert_eq!(
            (names(&logs), logs.size()),
            (vec!["3".into(), "2".into(), "1".into()], Bytes(15))
        );
        assert_eq!(logs.remove(), Ok(0));
        logs.deletion = Some(Deletion::One(1));
        assert_eq!(logs.remove(), Ok(1));
        assert_eq!((names(&logs), logs.deletion), (vec!["3".to_owned(), "1".to_owned()], None));
        logs.deletion = Some(Deletion::All);
        assert_eq!(logs.remove(), Ok(2));
        assert!(folder.path().join("notes.txt").exists(), "a file that is not a log stays");
        assert_eq!(RunLogs::new(None).all, []);
    }

    #[test]
    fn a_log_is_named_after_its_session() {
        let name = |name: &str| session_of(Path::new(name));
        assert_eq!(name("a/2026-11-22T08-01-27.123Z-my-session.json.jsonl"), "my-session.json");
        assert_eq!(name("2026-mine.jsonl"), "2026-mine");
        assert_eq!(name(""), "");
    }
}
