//! The program's own state between runs, as one small JSON file in the platform's data folder.
//!
//! It never holds anything of a session but its path, and `--no-state` neither reads nor writes it.

use super::load::read_bounded;
use super::place::replace_private;
use crate::units::Rate;
use etcetera::BaseStrategy as _;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// How many recent files are remembered.
const RECENT: usize = 12;

/// Bytes of the file; a path has at most a few thousand.
const LONGEST: u64 = 1 << 20;
/// How often, and in which steps, another program's update is waited for.
const WAITS: (u32, Duration) = (100, Duration::from_millis(10));

/// The program's own state between runs: recent files and how the window was left.
/// In the platform's data folder; never with `--no-state`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// Files opened lately, newest first.
    pub recent: Vec<PathBuf>,
    /// Theme: `dark`, `light` or `system`.
    pub theme: String,
    /// Prices that the person typed, if any.
    pub price: Option<KeptPrice>,
}

/// Prices that a person typed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptPrice {
    /// Prompt that no cache served.
    pub input: Rate,
    /// Prompt that the cache served.
    pub cache_read: Rate,
    /// Prompt that joins the cache.
    pub cache_write: Rate,
    /// The same for the longer time, where it costs something else.
    pub cache_write_hour: Option<Rate>,
    /// Answers.
    pub output: Rate,
    /// Name of the caching rule.
    pub caching: String,
}

impl State {
    /// Reads it; the default where there is none or it cannot be read.
    pub fn load() -> Self {
        Self::path()
            .map(|path| Self::load_from(&path))
            .unwrap_or_default()
    }

    /// What is kept, if anything is: a file that cannot be read counts as one that says nothing.
    pub fn kept() -> Option<Self> {
        let path = Self::path().filter(|path| path.symlink_metadata().is_ok())?;
        Some(Self::load_from(&path))
    }

    /// Removes what is kept; false where nothing was.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn clear() -> io::Result<bool> {
        match Self::path().map(fs::remove_file) {
            Some(Ok(())) => Ok(true),
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(false),
        }
    }

    /// Changes what is kept and returns it: what other windows wrote meanwhile stays. Errors are returned for a notice.
    ///
    /// # Errors
    /// When the data folder cannot be made or written.
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

    /// Where it lies, for people.
    pub fn path() -> Option<PathBuf> {
        let strategy = etcetera::choose_base_strategy().ok()?;
        Some(strategy.data_dir().join("plimsoll").join("state.json"))
    }

    /// Puts a file first among the recent ones, once, by a path that means the same in every folder.
    pub fn remember(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.recent.retain(|known| *known != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }

    fn load_from(path: &Path) -> Self {
        let read = read_bounded(path, LONGEST).ok();
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    fn save_to(&self, path: &Path) -> io::Result<()> {
        // JSON is Unicode: a path that is not cannot be remembered.
        let recent = self
            .recent
            .iter()
            .filter(|p| p.to_str().is_some())
            .cloned()
            .collect();
        let writable = Self {
            recent,
            theme: self.theme.clone(),
            price: self.price.clone(),
        };
        replace_private(path, &serde_json::to_vec_pretty(&writable)?)
    }
}

/// A lock among the windows of this program, held as long as the file is open. Without one after a second, or on a file
/// system that has none, the last update wins.
fn locked(path: &Path) -> Option<File> {
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
    fn what_was_saved_is_loaded_again_and_recent_files_are_listed_once_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("state.json");
        let mut state = State {
            theme: "light".to_owned(),
            price: Some(KeptPrice {
                output: Rate(0.3),
                ..KeptPrice::default()
            }),
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
    fn windows_that_open_files_at_the_same_time_all_remember_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        std::thread::scope(|scope| {
            for n in 0..RECENT {
                let path = &path;
                scope.spawn(move || {
                    State::update_at(path, |state| state.remember(Path::new(&n.to_string())))
                });
            }
        });
        assert_eq!(State::load_from(&path).recent.len(), RECENT);
    }

    #[test]
    fn a_broken_state_file_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        fs::write(&path, "{\"recent\": 3").unwrap();
        assert_eq!(State::load_from(&path), State::default());
    }
}
