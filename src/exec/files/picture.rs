//! Writes images. An image may replace another image, but no other file.

use super::path::{is_same_file, require_parent};
use super::write::{replace, write_error};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// First bytes of every PNG.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// Writes a PNG atomically. It never replaces a file of `opened`, under whatever name.
///
/// # Errors
/// Returns one line if the file cannot be written; then nothing was written.
pub fn write_picture(output: &Path, png: &[u8], opened: &[PathBuf]) -> Result<(), String> {
    let path = picture_path(output, opened)?;
    replace(&path, png).map_err(|error| write_error(output, &error))
}

/// Returns the path that an image named `output` is written to, after following links.
///
/// # Errors
/// Returns one line if it would replace a file of `opened` or a file that is not a PNG.
pub fn picture_path(output: &Path, opened: &[PathBuf]) -> Result<PathBuf, String> {
    let shown = output.display();
    if output.symlink_metadata().is_err() {
        return require_parent(output).map(|()| output.to_owned());
    }
    if opened.iter().any(|source| is_same_file(source, output)) {
        return Err(format!(
            "{shown} is the session itself, which is never overwritten; choose another name for the image"
        ));
    }
    match output.canonicalize() {
        Ok(path) if is_png(&path) => Ok(path),
        _ => Err(format!(
            "{shown} already exists and is not a PNG; choose another name for the image"
        )),
    }
}

fn is_png(path: &Path) -> bool {
    // Reading a pipe or a device might never end.
    let is_file = path.metadata().is_ok_and(|m| m.is_file());
    let mut start = [0; SIGNATURE.len()];
    is_file
        && File::open(path)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok()
        && start == SIGNATURE
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_image_replaces_an_image_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (png, text) = (folder.path().join("a.png"), folder.path().join("b.png"));
        let bytes = [&SIGNATURE[..], b"1"].concat();
        assert_eq!(write_picture(&png, &bytes, &[]), Ok(()));
        assert_eq!(
            write_picture(&png, &[&bytes[..], b"2"].concat(), &[]),
            Ok(())
        );
        assert!(fs::read(&png).unwrap().ends_with(b"12"));
        fs::write(&text, "a diary").unwrap();
        assert!(
            write_picture(&text, &bytes, &[])
                .unwrap_err()
                .contains("is not a PNG")
        );
        assert_eq!(fs::read(&text).unwrap(), b"a diary");
        let nowhere = folder.path().join("no/such.png");
        assert!(
            write_picture(&nowhere, &bytes, &[])
                .unwrap_err()
                .contains("is not a folder")
        );
    }

    #[cfg(unix)]
    #[test]
    fn an_opened_file_is_never_replaced_under_any_name() {
        let folder = tempfile::tempdir().unwrap();
        // Even if it looks like an image.
        let source = folder.path().join("v.json");
        fs::write(&source, SIGNATURE).unwrap();
        let (link, hard) = (
            folder.path().join("link.png"),
            folder.path().join("hard.png"),
        );
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
