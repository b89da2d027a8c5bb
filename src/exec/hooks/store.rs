//! State of a session between the events of its hooks: one small private file per session.

use super::location::folder;
use crate::exec::files::{create_private_folder, read_bounded, replace_private, sha256};
use crate::exec::state::locked;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Age at which a file is removed. A compaction and its events are minutes apart.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);

/// The constraints of a session around its last compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionState {
    /// Whether a compaction began whose constraints are not known yet.
    pub(super) is_reading: bool,
    /// Constraints of the user before the compaction, without keys, oldest first.
    pub(super) constraints: Vec<String>,
    /// Indices of those that came back as context.
    pub(super) handed_back: Vec<usize>,
    /// Indices of those that the summary lacks; empty until the summary is known.
    pub(super) lost: Vec<usize>,
    /// Whether the summary of the compaction was compared with the constraints, so that the compaction is over.
    pub(super) is_compared: bool,
    /// Length of the session file at the last event of the compaction before the summary was known, in bytes.
    pub(super) session_len: u64,
    /// Number of recorded compactions whose losses came back.
    pub(super) handled_compactions: usize,
}

impl SessionState {
    /// Starts a compaction with these constraints, read from a session file of this length.
    pub(super) fn new(constraints: Vec<String>, session_len: u64) -> Self {
        Self { constraints, session_len, ..Self::default() }
    }

    /// Returns the indices of the lost constraints that did not come back.
    pub(super) fn pending(&self) -> Vec<usize> {
        let lost = self.lost.iter().copied();
        let is_known = |idx: &usize| *idx < self.constraints.len();
        lost.filter(|idx| is_known(idx) && !self.handed_back.contains(idx)).collect()
    }
}

/// The file of a session.
#[derive(Debug)]
pub(super) struct SessionFile {
    path: PathBuf,
    /// Held until the process ends, so that parallel events do not hand back the same.
    _lock: Option<File>,
}

impl SessionFile {
    /// Opens the file of a session of an agent and locks it.
    ///
    /// # Errors
    /// Returns one line if there is no home folder or the folder cannot be created.
    pub(super) fn open(agent: &str, session: &str) -> Result<Self, String> {
        let folder = sessions_folder().ok_or("there is no home folder to keep constraints in")?;
        Self::open_in(&folder, agent, session)
    }

    fn open_in(folder: &Path, agent: &str, session: &str) -> Result<Self, String> {
        create_private_folder(folder)
            .map_err(|error| format!("cannot create {} ({error})", folder.display()))?;
        let path = path_in(folder, agent, session);
        let lock = locked(&path.with_extension("lock"));
        Ok(Self { path, _lock: lock })
    }

    /// Returns whether a session has a file, without locking it.
    pub(super) fn is_kept(agent: &str, session: &str) -> bool {
        sessions_folder().is_some_and(|folder| path_in(&folder, agent, session).is_file())
    }

    /// Reads the state; `None` if it does not exist or cannot be read.
    pub(super) fn read(&self) -> Option<SessionState> {
        let bytes = read_bounded(&self.path, MAX_BYTES).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Replaces the state.
    ///
    /// # Errors
    /// Returns one line if the file cannot be written.
    pub(super) fn write(&self, state: &SessionState) -> Result<(), String> {
        let cannot = |error: &dyn std::fmt::Display| {
            format!("cannot write {} ({error})", self.path.display())
        };
        let bytes = serde_json::to_vec(state).map_err(|error| cannot(&error))?;
        replace_private(&self.path, &bytes).map_err(|error| cannot(&error))
    }

    /// Removes the files of old sessions.
    pub(super) fn remove_old(&self) {
        let Some(folder) = self.path.parent() else {
            return;
        };
        for file in files_in(folder) {
            let age = file.metadata().and_then(|metadata| metadata.modified());
            let age = age.map(|modified| SystemTime::now().duration_since(modified));
            if matches!(age, Ok(Ok(age)) if age > MAX_AGE) {
                let _ = fs::remove_file(&file);
            }
        }
    }
}

fn sessions_folder() -> Option<PathBuf> {
    Some(folder()?.join("sessions"))
}

fn path_in(folder: &Path, agent: &str, session: &str) -> PathBuf {
    let hash = sha256(format!("{agent}\n{session}").as_bytes());
    folder.join(format!("{}.json", &hash[..32]))
}

/// Returns the files of sessions in a folder.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let is_own =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "json" || end == "lock");
    files.filter(is_own).collect()
}

/// Returns the files of all sessions.
pub(super) fn files() -> Vec<PathBuf> {
    sessions_folder().map(|folder| files_in(&folder)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_kept_and_removed_when_it_is_old() {
        let here = tempfile::tempdir().unwrap();
        let folder = here.path().join("sessions");
        let file = SessionFile::open_in(&folder, "codex", "../a").unwrap();
        assert_eq!(file.read(), None);
        let state = SessionState::new(vec!["Never print it.".to_owned()], 7);
        file.write(&state).unwrap();
        assert_eq!(file.read(), Some(state));
        let other = SessionFile::open_in(&folder, "codex", "b").unwrap();
        other.remove_old();
        assert!(file.path.is_file());
        let opened = File::options().write(true).open(&file.path).unwrap();
        opened.set_modified(SystemTime::now() - MAX_AGE * 2).unwrap();
        other.remove_old();
        assert!(!file.path.is_file());
    }

    #[test]
    fn lost_constraints_are_pending_until_they_came_back() {
        let state = SessionState {
            constraints: vec!["a".to_owned(), "b".to_owned()],
            handed_back: vec![0],
            lost: vec![0, 1, 7],
            ..SessionState::default()
        };
        assert_eq!(state.pending(), [1]);
    }
}
