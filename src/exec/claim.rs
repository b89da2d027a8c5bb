//! Names of new files that were not given: a process claims one before long work, so that several started together take one
//! each.

use super::export_path::is_free;
use super::unfinished::{self, Unfinished};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A name to write to; as long as this is held, no other process of ours chooses it.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    _held: Option<Held>,
}

/// The file that stands for a claim: open, so that it is locked.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    _file: File,
    _unfinished: Unfinished,
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Claim {
    /// A name that a person gave; nothing is claimed.
    pub fn given(path: PathBuf) -> Self {
        Self { path, _held: None }
    }

    /// Claims the name that is free by now; none if there is none.
    pub fn new(free: impl Fn() -> Option<PathBuf>) -> Option<Self> {
        loop {
            let path = free()?;
            let place = unfinished::claim_path(&path);
            let (file, unfinished) = match unfinished::claim(&place) {
                Ok(made) => made,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                // Writing will fail for the same reason, and says it.
                Err(_) => return Some(Self::given(path)),
            };
            let claimed = Held {
                path: place,
                _file: file,
                _unfinished: unfinished,
            };
            // Who held the claim before may have written to it.
            if is_free(&path) {
                return Some(Self {
                    path,
                    _held: Some(claimed),
                });
            }
        }
    }

    /// The name.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
