//! Files that plimsoll wrote and may overwrite, such as baselines. Other files are never overwritten.

use super::hash::sha256;
use super::load_error::LoadError;
use super::path::require_parent;
use super::read::{must_exist, read_text};
use super::write::{replace, write_error};
use std::path::Path;

/// Maximum size of a file that Plimsoll wrote, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// A kind of files that Plimsoll writes.
#[derive(Clone, Copy, Debug)]
pub struct OwnFileKind {
    /// Name of the kind, such as `baseline of plimsoll gate`.
    pub name: &'static str,
    /// Returns whether a text is the content of such a file.
    pub is_own: fn(&str) -> bool,
}

/// Reads a file of ours.
///
/// # Errors
/// Returns one line if the file is missing, unreadable or too large.
pub fn read_own(path: &Path) -> Result<String, LoadError> {
    let shown = path.display();
    let metadata = must_exist(path)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(LoadError(format!(
            "{shown} is not a file that plimsoll wrote; choose another file"
        )));
    }
    read_text(path, MAX_BYTES)
}

/// Writes a file of ours atomically. An existing file is replaced if it is of this kind.
///
/// # Errors
/// Returns one line if the file cannot be written; then nothing was written.
pub fn write_own(path: &Path, text: &str, kind: OwnFileKind) -> Result<(), LoadError> {
    check_own(path, kind)?;
    // Through a link, the linked file is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    replace(&target, text.as_bytes()).map_err(|error| LoadError(write_error(path, &error)))
}

/// Checks before long work that a file of ours can be written.
///
/// # Errors
/// Returns one line if the path is taken by another file or its folder does not exist.
pub fn check_own(path: &Path, kind: OwnFileKind) -> Result<(), LoadError> {
    if path.symlink_metadata().is_err() {
        return require_parent(path).map_err(LoadError);
    }
    match read_own(path) {
        Ok(text) if (kind.is_own)(&text) => Ok(()),
        _ => Err(LoadError(format!(
            "{} already exists and is not a {}; choose another name",
            path.display(),
            kind.name
        ))),
    }
}

/// Returns the SHA-256 hash of bytes in hexadecimal.
pub fn fingerprint(bytes: &[u8]) -> String {
    sha256(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_files_of_ours_are_overwritten() {
        let here = tempfile::tempdir().unwrap();
        let (own, other) = (here.path().join("own"), here.path().join("other"));
        let list = OwnFileKind { name: "list", is_own: |text| text.starts_with("ours") };
        for text in ["ours 1", "ours 2"] {
            write_own(&own, text, list).unwrap();
            assert_eq!(read_own(&own).unwrap(), text);
        }
        fs::write(&other, "a diary").unwrap();
        let error = write_own(&other, "ours", list).unwrap_err();
        assert!(
            error.to_string().ends_with("already exists and is not a list; choose another name")
        );
        assert_eq!(fs::read_to_string(&other).unwrap(), "a diary");
        assert!(write_own(here.path(), "ours", list).is_err());
    }
}
