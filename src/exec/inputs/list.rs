//! Lists of paths, as `find -print0` and `git ls-files` write them.

use crate::exec::files::{LoadError, must_exist};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum size of a list in bytes: forty million paths of 100 bytes.
const MAX_BYTES: u64 = 4 << 30;

/// Reads the paths of a list in a file.
///
/// # Errors
/// Returns a [`LoadError`] if the file cannot be read or is too large.
pub fn read_list(path: &Path) -> Result<Vec<PathBuf>, LoadError> {
    must_exist(path)?;
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| LoadError::unreadable(&name, &error))?;
    list_from(&name, file)
}

/// Reads the paths of a list: separated by NUL if it contains one, else one a line.
///
/// # Errors
/// Returns a [`LoadError`] if the stream cannot be read or is too large.
pub fn list_from(name: &str, stream: impl Read) -> Result<Vec<PathBuf>, LoadError> {
    let mut bytes = Vec::new();
    let read = stream.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| LoadError::unreadable(name, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let most = MAX_BYTES >> 30;
        return Err(LoadError(format!("{name} is larger than the limit of {most} GiB for a list")));
    }
    Ok(paths(&bytes))
}

fn paths(list: &[u8]) -> Vec<PathBuf> {
    let has_nul = list.contains(&0);
    let end = if has_nul { 0 } else { b'\n' };
    let items = list.split(|byte| *byte == end);
    // Lines of a list that was written on Windows end with a carriage return.
    let items =
        items.map(|item| if has_nul { item } else { item.strip_suffix(b"\r").unwrap_or(item) });
    items.filter(|item| !item.is_empty()).map(path).collect()
}

/// Returns the path of an item. A file may be called `-`.
fn path(item: &[u8]) -> PathBuf {
    if item == b"-" { Path::new(".").join("-") } else { path_of_bytes(item) }
}

#[cfg(unix)]
fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(bytes: &[u8]) -> Vec<PathBuf> {
        list_from("list", bytes).expect("it is short")
    }

    fn expected<const N: usize>(paths: [&str; N]) -> Vec<PathBuf> {
        paths.map(PathBuf::from).into()
    }

    #[test]
    fn paths_are_separated_by_newlines_or_nul() {
        assert_eq!(list(b"a.json\nb c.json\r\n\n-\n"), expected(["a.json", "b c.json", "./-"]));
        assert_eq!(list(b"a\nb.json\0c.json\0"), expected(["a\nb.json", "c.json"]));
        assert_eq!(list(b""), expected([]));
    }
}
