//! Writes a picture: a new file, or in the place of another picture, never over anything else.

use super::place::{cannot_create, is_same_file, refuse_nowhere, replace};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What every PNG begins with.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// Writes a PNG, whole or not at all. `opened` are files that it must not replace, by whatever name.
///
/// # Errors
/// One line that says what to do; then nothing was written.
pub fn write_picture(output: &Path, png: &[u8], opened: &[PathBuf]) -> Result<(), String> {
    let place = picture_place(output, opened)?;
    replace(&place, png).map_err(|error| cannot_create(output, &error))
}

/// Where a picture named `output` really goes (a link is followed), if it may be written there.
///
/// # Errors
/// One line that says what to do when it would replace one of `opened` or anything but a PNG.
pub fn picture_place(output: &Path, opened: &[PathBuf]) -> Result<PathBuf, String> {
    let shown = output.display();
    if output.symlink_metadata().is_err() {
        return refuse_nowhere(output).map(|()| output.to_owned());
    }
    if opened.iter().any(|source| is_same_file(source, output)) {
        return Err(format!(
            "{shown} is the session itself, which is never written; choose another name for the picture"
        ));
    }
    match output.canonicalize() {
        Ok(place) if is_png(&place) => Ok(place),
        _ => Err(format!(
            "{shown} already exists and is no PNG; choose another name for the picture"
        )),
    }
}

fn is_png(path: &Path) -> bool {
    // A pipe or a device might never answer.
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
    fn a_picture_replaces_a_picture_and_nothing_else() {
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
                .contains("is no PNG")
        );
        assert_eq!(fs::read(&text).unwrap(), b"a diary");
        let nowhere = folder.path().join("no/such.png");
        assert!(
            write_picture(&nowhere, &bytes, &[])
                .unwrap_err()
                .contains("is no folder")
        );
    }

    #[cfg(unix)]
    #[test]
    fn an_opened_file_is_never_replaced_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        // Even if it were a picture: it is what was opened that counts.
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
