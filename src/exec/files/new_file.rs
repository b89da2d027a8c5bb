//! Output files: new ones only, complete or absent.

use super::path::{is_same_file, is_taken, require_parent};
use super::write::{write_error, write_new, write_new_private};
use std::path::Path;

/// Checks that an output path is free. Nothing that exists is ever overwritten.
///
/// # Errors
/// Returns one line if the path is taken or its folder does not exist.
pub fn check_is_new(output: &Path) -> Result<(), String> {
    if output.is_dir() {
        return Err(format!("{} is a folder; give the path of a new file", output.display()));
    }
    if is_taken(output) {
        return Err(format!(
            "{} already exists and is never overwritten; choose another name",
            output.display()
        ));
    }
    require_parent(output)
}

/// Checks that an output is not the session's own file under another spelling or link.
///
/// # Errors
/// Returns one line if it is the session's own file.
pub fn check_is_not_source(output: &Path, source: &Path) -> Result<(), String> {
    if is_same_file(output, source) {
        return Err(format!(
            "{} is the session's own file, which is never overwritten; choose another name",
            output.display()
        ));
    }
    Ok(())
}

/// Writes a new file atomically, with the permissions that the system's mask allows.
///
/// # Errors
/// Returns one line if the file cannot be written; then nothing was written.
pub fn write_file(output: &Path, bytes: &[u8]) -> Result<(), String> {
    check_is_new(output)?;
    write_new(output, bytes).map_err(|error| write_error(output, &error))
}

/// Writes a new file atomically. Only its owner can read it.
///
/// # Errors
/// Returns one line if the file cannot be written; then nothing was written.
pub(crate) fn write_private_file(output: &Path, bytes: &[u8]) -> Result<(), String> {
    check_is_new(output)?;
    write_new_private(output, bytes).map_err(|error| write_error(output, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_recognized_under_any_spelling() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("talk.json");
        std::fs::write(&source, "{}").unwrap();
        let other = folder.path().join("other.json");
        assert_eq!(check_is_not_source(&other, &source), Ok(()));
        std::fs::write(&other, "{}").unwrap();
        assert_eq!(check_is_not_source(&other, &source), Ok(()));
        let spelled = folder.path().join(".").join("talk.json");
        let error = check_is_not_source(&spelled, &source).unwrap_err();
        assert!(error.contains("the session's own file"), "{error}");
        #[cfg(unix)]
        {
            let hard = folder.path().join("hard.json");
            std::fs::hard_link(&source, &hard).unwrap();
            assert!(check_is_not_source(&hard, &source).is_err());
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_that_exists_is_overwritten_not_even_through_a_dangling_link() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
        assert!(check_is_new(&link).unwrap_err().contains("already exists"));
        assert!(write_new(&link, b"x").is_err());
        assert!(!folder.path().join("nowhere").exists());
        assert!(
            check_is_new(&folder.path().join("no/such/file"))
                .unwrap_err()
                .contains("is not a folder")
        );
        assert_eq!(check_is_new(&folder.path().join("new")), Ok(()));
    }
}
