//! The program's state between runs: one small JSON file in the platform's data folder.
//!
//! It contains the paths of sessions but nothing of their content. With `--no-state` it is neither read nor written.

use super::files::{read_bounded, replace_private};
use crate::units::Rate;
use etcetera::BaseStrategy as _;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// Maximum number of recent files that are remembered.
const MAX_RECENT: usize = 12;

/// Maximum size of the state file, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Number and length of the waits for another process that updates the state: one second in all. An update takes
/// milliseconds, so a process that takes longer hangs, and the user must not wait for it.
const WAITS: (u32, Duration) = (100, Duration::from_millis(10));

/// The program's state between runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Recently opened files, newest first.
    pub recent: Vec<PathBuf>,
    /// Theme: `dark`, `light` or `system`.
    pub theme: String,
    /// Zoom factor of the window's interface; `None` for the usual one.
    pub zoom: Option<f32>,
    /// Prices entered by the user, if any.
    pub price: Option<KeptPrice>,
    /// Choices of the window's page *Usage*.
    pub usage_view: KeptUsageView,
}

/// Choices of the window's page *Usage*, by their names. Empty texts are the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptUsageView {
    /// Key of the rows.
    pub by: String,
    /// Range of days.
    pub days: String,
    /// First day of the range, as typed.
    pub since: String,
    /// Last day of the range, as typed.
    pub until: String,
    /// Figure that the bars show.
    pub bars: String,
}

/// Prices entered by the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptPrice {
    /// Price of input tokens without a cache hit.
    pub input: Rate,
    /// Price of input tokens with a cache hit.
    pub cache_read: Rate,
    /// Price of input tokens that are written to the cache.
    pub cache_write: Rate,
    /// Price of writing to the cache for an hour, if it differs.
    pub cache_write_hour: Option<Rate>,
    /// Price of output tokens.
    pub output: Rate,
    /// Name of the caching rule.
    pub caching: String,
}

impl State {
    /// Reads the state; the default if the file is missing or unreadable.
    pub fn load() -> Self {
        Self::path().map(|path| Self::load_from(&path)).unwrap_or_default()
    }

    /// Reads the state if its file exists; the default if it cannot be read.
    pub fn kept() -> Option<Self> {
        let path = Self::path().filter(|path| path.symlink_metadata().is_ok())?;
        Some(Self::load_from(&path))
    }

    /// Removes the state. Returns false if there was none.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    pub fn clear() -> io::Result<bool> {
        match Self::path().map(fs::remove_file) {
            Some(Ok(())) => Ok(true),
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(false),
        }
    }

    /// Changes the state on the disk, including the changes of other processes, and returns it.
    ///
    /// # Errors
    /// Returns an error if the data folder cannot be created or written.
    pub fn update(change: impl FnOnce(&mut Self)) -> io::Result<Self> {
        let path = Self::path()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no home folder"))?;
        Self::update_at(&path, change)
    }

    fn update_at(path: &Path, change: impl FnOnce(&mut Self)) -> io::Result<Self> {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let _lock = locked(&path.with_extension("lock"));
        let mut state = Self::load_from(path);
        change(&mut state);
        state.save_to(path)?;
        Ok(state)
    }

    /// Returns the path of the file.
    pub fn path() -> Option<PathBuf> {
        let strategy = etcetera::choose_base_strategy().ok()?;
        Some(strategy.data_dir().join("plimsoll").join("state.json"))
    }

    /// Moves a file to the start of the recent files, under its absolute path.
    pub fn remember(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.recent.retain(|known| *known != path);
        self.recent.insert(0, path);
        self.recent.truncate(MAX_RECENT);
    }

    fn load_from(path: &Path) -> Self {
        let read = read_bounded(path, MAX_BYTES).ok();
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn save_to(&self, path: &Path) -> io::Result<()> {
        // JSON cannot contain a path that is not Unicode.
        let recent = self.recent.iter().filter(|p| p.to_str().is_some()).cloned().collect();
        let writable = Self { recent, ..self.clone() };
        replace_private(path, &serde_json::to_vec_pretty(&writable)?)
    }
}

/// Acquires a lock among the processes of this program, which is held while the file is open. Without a lock (after a second,
/// or on a file system without locks), the last update wins.
pub(super) fn locked(path: &Path) -> Option<File> {
    let file = File::options().create(true).append(true).open(path).ok()?;
    for _ in 0..WAITS.0 {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(fs::TryLockError::WouldBlock) => sleep(WAITS.1),
            Err(fs::TryLockError::Error(_)) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_state_is_loaded_and_recent_files_are_unique_and_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("state.json");
        let mut state = State {
            theme: "light".to_owned(),
            price: Some(KeptPrice { output: Rate(0.3), ..KeptPrice::default() }),
            ..State::default()
        };
        for name in ["a", "b", "a"] {
            state.remember(Path::new(name));
        }
        let absolute = ["a", "b"].map(|name| std::path::absolute(name).unwrap());
        assert_eq!(state.recent, absolute);
        let saved = State::update_at(&path, |kept| *kept = state.clone());
        assert_eq!(saved.unwrap(), state);
        assert_eq!(State::load_from(&path), state);
    }

    #[test]
    fn concurrent_updates_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        std::thread::scope(|scope| {
            for n in 0..MAX_RECENT {
                let path = &path;
                scope.spawn(move || {
                    State::update_at(path, |state| state.remember(Path::new(&n.to_string())))
                });
            }
        });
        assert_eq!(State::load_from(&path).recent.len(), MAX_RECENT);
    }

    #[test]
    fn a_broken_state_file_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        fs::write(&path, "{\"recent\": 3").unwrap();
        assert_eq!(State::load_from(&path), State::default());
    }
}
