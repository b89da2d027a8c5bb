//! Files that a project keeps from one check to the next: written over where they are our own, never otherwise.

use super::load::{LoadError, must_exist, read_text};
use super::place::{cannot_create, refuse_nowhere, replace};
use std::path::Path;

/// None of ours is this long.
const LONGEST: u64 = 256 << 20;

/// Reads such a file.
///
/// # Errors
/// One line that says what to do.
pub fn read_own(path: &Path) -> Result<String, LoadError> {
    let shown = path.display();
    let metadata = must_exist(path)?;
    if !metadata.is_file() || metadata.len() > LONGEST {
        return Err(LoadError(format!(
            "{shown} was not written by plimsoll; choose another file"
        )));
    }
    read_text(path, LONGEST)
}

/// Writes such a file, whole or not at all; `is_own` tells whether what is there may be written over, `what` it is then.
///
/// # Errors
/// One line that says what to do; then nothing was written.
pub fn write_own(
    path: &Path,
    text: &str,
    (what, is_own): (&str, impl Fn(&str) -> bool),
) -> Result<(), LoadError> {
    check_own(path, (what, is_own))?;
    // A link stays one.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    replace(&place, text.as_bytes()).map_err(|error| LoadError(cannot_create(path, &error)))
}

/// Whether such a file could be written: to be asked before long work.
///
/// # Errors
/// One line that says what to do.
pub fn check_own(
    path: &Path,
    (what, is_own): (&str, impl Fn(&str) -> bool),
) -> Result<(), LoadError> {
    if path.symlink_metadata().is_err() {
        return refuse_nowhere(path).map_err(LoadError);
    }
    match read_own(path) {
        Ok(text) if is_own(&text) => Ok(()),
        _ => Err(LoadError(format!(
            "{} is there already and is no {what}; choose another name",
            path.display()
        ))),
    }
}

/// What tells bytes from others: SHA-256, in hexadecimal.
pub fn fingerprint(bytes: &[u8]) -> String {
    super::export::sha256(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_what_is_ours_is_written_over() {
        let here = tempfile::tempdir().unwrap();
        let (own, other) = (here.path().join("own"), here.path().join("other"));
        let is_own = |text: &str| text.starts_with("ours");
        for text in ["ours 1", "ours 2"] {
            write_own(&own, text, ("list", is_own)).unwrap();
            assert_eq!(read_own(&own).unwrap(), text);
        }
        fs::write(&other, "a diary").unwrap();
        let error = write_own(&other, "ours", ("list", is_own)).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("is there already and is no list; choose another name")
        );
        assert_eq!(fs::read_to_string(&other).unwrap(), "a diary");
        assert!(write_own(here.path(), "ours", ("list", is_own)).is_err());
    }
}
