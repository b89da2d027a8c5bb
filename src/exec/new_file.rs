//! Files that we write for people: new ones only, whole or not at all.

use super::place::{cannot_create, is_same_file, refuse_nowhere, write_new};
use std::path::Path;

/// Nothing that exists is overwritten: the source by another spelling or through a link least of all.
///
/// # Errors
/// One line that says what to do when something is there already, or when there is no such folder.
pub fn refuse_output(output: &Path) -> Result<(), String> {
    if output.is_dir() {
        return Err(format!(
            "{} is a folder; name a new file, in it or elsewhere",
            output.display()
        ));
    }
    if super::is_taken(output) {
        return Err(format!(
            "{} already exists and is never overwritten; choose another name",
            output.display()
        ));
    }
    refuse_nowhere(output)
}

/// The file that is read is not what is to be written, by whatever spelling.
///
/// # Errors
/// One line that says so.
pub fn refuse_source(output: &Path, source: &Path) -> Result<(), String> {
    if is_same_file(output, source) {
        return Err(format!(
            "{} is the session's own file, which is never overwritten; choose another name",
            output.display()
        ));
    }
    Ok(())
}

/// Writes a new file, whole or not at all.
///
/// # Errors
/// One line that says what to do; then nothing was written.
pub fn write_file(output: &Path, bytes: &[u8]) -> Result<(), String> {
    refuse_output(output)?;
    write_new(output, bytes).map_err(|error| cannot_create(output, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_told_by_any_spelling_and_another_file_is_not_it() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("talk.json");
        std::fs::write(&source, "{}").unwrap();
        let other = folder.path().join("other.json");
        assert_eq!(refuse_source(&other, &source), Ok(()));
        std::fs::write(&other, "{}").unwrap();
        assert_eq!(refuse_source(&other, &source), Ok(()));
        let spelled = folder.path().join(".").join("talk.json");
        let said = refuse_source(&spelled, &source).unwrap_err();
        assert!(said.contains("the session's own file"), "{said}");
        #[cfg(unix)]
        {
            let hard = folder.path().join("hard.json");
            std::fs::hard_link(&source, &hard).unwrap();
            assert!(refuse_source(&hard, &source).is_err());
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_that_exists_is_written_over_not_even_through_a_dangling_link() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
        assert!(refuse_output(&link).unwrap_err().contains("already exists"));
        assert!(write_new(&link, b"x").is_err());
        assert!(!folder.path().join("nowhere").exists());
        assert!(
            refuse_output(&folder.path().join("no/such/file"))
                .unwrap_err()
                .contains("is no folder")
        );
        assert_eq!(refuse_output(&folder.path().join("new")), Ok(()));
    }
}
