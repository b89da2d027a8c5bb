//! Claims on default output paths. A process claims a path before long work, so that concurrent processes choose
//! different ones.

use crate::exec::files::unfinished::{self, Unfinished};
use crate::exec::outputs::is_free;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A path to write to. Other processes of this program do not choose it while this exists.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    _claim: Option<ClaimFile>,
}

/// The locked file that represents a claim.
#[derive(Debug)]
struct ClaimFile {
    path: PathBuf,
    _file: File,
    _unfinished: Unfinished,
}

impl Drop for ClaimFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Claim {
    /// Returns a path given by the user, without a claim.
    pub fn given(path: PathBuf) -> Self {
        Self { path, _claim: None }
    }

    /// Claims the path that `free` returns; `None` if it returns none.
    pub fn new(free: impl Fn() -> Option<PathBuf>) -> Option<Self> {
        loop {
            let path = free()?;
            let claim_path = unfinished::claim_path(&path);
            let (file, unfinished) = match unfinished::claim(&claim_path) {
                Ok(made) => made,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                // Writing will fail for the same reason and report it.
                Err(_) => return Some(Self::given(path)),
            };
            let claim = ClaimFile { path: claim_path, _file: file, _unfinished: unfinished };
            // The previous owner of the claim may have written to the path.
            if is_free(&path) {
                return Some(Self { path, _claim: Some(claim) });
            }
        }
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
