//! Questions about paths.

use std::fs;
use std::path::Path;

/// Returns true if the path is a folder.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Returns true if anything has this path, including a dangling link.
pub fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Returns the folder that contains a file.
pub(crate) fn parent_folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the name of a file for messages.
pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Checks that an output path has a name and that its folder exists.
pub(crate) fn require_parent(output: &Path) -> Result<(), String> {
    if output.as_os_str().is_empty() {
        return Err("the output path is empty; give the path of a file".to_owned());
    }
    match parent_folder(output).metadata() {
        Ok(folder) if folder.is_dir() => Ok(()),
        _ => Err(format!(
            "{} is not a folder; create it or choose another path",
            parent_folder(output).display()
        )),
    }
}

/// Returns true if two paths name one file: through another spelling, a link, or a hard link where the platform has
/// inodes.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    let is_same_path = matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
    is_same_path
        || matches!((fs::metadata(a), fs::metadata(b)), (Ok(a), Ok(b)) if is_same_inode(&a, &b))
}

#[cfg(unix)]
pub(super) fn is_same_inode(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
pub(super) fn is_same_inode(_a: &fs::Metadata, _b: &fs::Metadata) -> bool {
    false
}
