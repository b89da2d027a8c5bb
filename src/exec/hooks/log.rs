//! The log of hooks: one line per handled event. Agents do not show failures of hooks, so the user finds them here.

use super::location::folder;
use crate::exec::files::{create_private_folder, parent_folder, read_bounded, replace_private};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Size at which the older half of the log is removed, in bytes. A line has about 100 bytes.
const MAX_BYTES: u64 = 256 << 10;
/// Maximum length of a line in bytes.
const MAX_LINE: usize = 400;

/// Returns the path of the log; `None` without a home folder.
pub fn hook_log_path() -> Option<PathBuf> {
    Some(folder()?.join("hooks.log"))
}

/// Reads the log; empty without a file.
pub fn read_hook_log() -> String {
    let bytes = hook_log_path().and_then(|path| read_bounded(&path, 2 * MAX_BYTES).ok());
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Adds a line with the time.
///
/// # Errors
/// Returns an error if the log cannot be written.
pub(super) fn note(text: &str) -> io::Result<()> {
    let path = hook_log_path().ok_or_else(|| io::Error::other("no home folder"))?;
    note_at(&path, text)
}

fn note_at(path: &Path, text: &str) -> io::Result<()> {
    create_private_folder(parent_folder(path))?;
    let now = humantime::format_rfc3339_seconds(SystemTime::now());
    let text = text.replace(['\n', '\r'], " ");
    let line = format!("{now} {}\n", &text[..text.floor_char_boundary(MAX_LINE)]);
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    // One write, so that lines of several processes do not mix.
    file.write_all(line.as_bytes())?;
    if file.metadata()?.len() > MAX_BYTES {
        shorten(path)?;
    }
    Ok(())
}

/// Removes the older half.
fn shorten(path: &Path) -> io::Result<()> {
    let bytes = read_bounded(path, 2 * MAX_BYTES).map_err(io::Error::other)?;
    let half = &bytes[bytes.len() / 2..];
    let start = half.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    replace_private(path, &half[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_log_keeps_the_newest_lines_within_its_limit() {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join("deep").join("hooks.log");
        note_at(&path, "first\nline").unwrap();
        assert!(fs::read_to_string(&path).unwrap().ends_with("Z first line\n"));
        let long = "ä".repeat(1_000);
        for _ in 0..MAX_BYTES / MAX_LINE as u64 + 10 {
            note_at(&path, &long).unwrap();
        }
        note_at(&path, "last").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.len() as u64 <= MAX_BYTES && text.ends_with("Z last\n"));
        assert!(!text.contains("first") && text.starts_with("20"));
    }
}
