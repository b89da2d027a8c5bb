//! Writes images as new files.

use super::new_file::{check_is_new, write_file};
use super::path::is_same_file;
use std::path::{Path, PathBuf};

/// Writes a PNG atomically. It never replaces a file.
///
/// # Errors
/// Returns one line if the file cannot be written; then nothing was written.
pub fn write_picture(output: &Path, png: &[u8], opened: &[PathBuf]) -> Result<(), String> {
    check_picture(output, opened)?;
    write_file(output, png)
}

/// Checks that an image can be written to a path.
///
/// # Errors
/// Returns one line if the path is taken, possibly by a file of `opened`, or its folder does not exist.
pub fn check_picture(output: &Path, opened: &[PathBuf]) -> Result<(), String> {
    if opened.iter().any(|source| is_same_file(source, output)) {
        return Err(format!(
            "{} is the session itself, which is never overwritten; choose another name for the image",
            output.display()
        ));
    }
    check_is_new(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// First bytes of every PNG.
    const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

    #[test]
    fn an_image_replaces_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (png, text) = (folder.path().join("a.png"), folder.path().join("b.png"));
        let bytes = [&SIGNATURE[..], b"1"].concat();
        assert_eq!(write_picture(&png, &bytes, &[]), Ok(()));
        fs::write(&text, "a diary").unwrap();
        for (taken, content) in [(&png, &bytes[..]), (&text, b"a diary")] {
            let error = write_picture(taken, b"x", &[]).unwrap_err();
            assert!(error.contains("already exists"), "{error}");
            assert_eq!(fs::read(taken).unwrap(), content);
        }
        let nowhere = folder.path().join("no/such.png");
        assert!(write_picture(&nowhere, &bytes, &[]).unwrap_err().contains("is not a folder"));
    }

    #[cfg(unix)]
    #[test]
    fn an_opened_file_is_never_replaced_under_any_name() {
        let folder = tempfile::tempdir().unwrap();
        // Even if it looks like an image.
        let source = folder.path().join("v.json");
        fs::write(&source, SIGNATURE).unwrap();
        let (link, hard) = (folder.path().join("link.png"), folder.path().join("hard.png"));
        std::os::unix::fs::symlink(&source, &link).unwrap();
        fs::hard_link(&source, &hard).unwrap();
        let opened = [source.clone()];
        for name in [&source, &link, &hard, &folder.path().join("./v.json")] {
            let error = write_picture(name, b"x", &opened).unwrap_err();
            assert!(error.contains("the session itself"), "{error}");
        }
        assert_eq!(fs::read(&source).unwrap(), SIGNATURE);
        let dangling = folder.path().join("dangling.png");
        std::os::unix::fs::symlink(folder.path().join("gone"), &dangling).unwrap();
        assert!(write_picture(&dangling, b"x", &[]).is_err());
    }
}
