//! Reads files and streams. Folders, devices, binary data and files beyond a size limit are rejected early.

use super::limits::{CHUNK, MAX_SESSION_BYTES};
use super::load_error::LoadError;
use super::read_parallel::{LARGE, read_parallel};
use super::unpack::unpacked;
use crate::formats;
use crate::progress::{Phase, Progress};
use crate::session::{FileBytes, Packer};
use crate::units::Bytes;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek as _};
use std::path::Path;

/// Smallest file that is compressed in memory while it is read, in bytes. LZ4 leaves 20 to 40 % of a session, but
/// compressing while reading rules out reading on all cores, which matters more for smaller files.
const HUGE: u64 = 128 << 20;

/// Reads a regular file or a pipe.
pub(crate) fn read_file(
    path: &Path,
    metadata: &Metadata,
    progress: &Progress,
) -> Result<FileBytes, LoadError> {
    reject_folders_and_devices(path, metadata)?;
    let shown = path.display().to_string();
    if metadata.len() > MAX_SESSION_BYTES {
        return Err(LoadError::too_large(&shown));
    }
    let mut file = File::open(path).map_err(|error| cannot_open(path, &error))?;
    if metadata.is_file() && (LARGE..HUGE).contains(&metadata.len()) {
        if let Some(bytes) = read_parallel(&file, &shown, metadata.len(), progress)? {
            return Ok(bytes.into());
        }
        file.rewind().map_err(|error| LoadError::unreadable(&shown, &error))?;
    }
    read_all(file, &shown, Bytes(metadata.len()), progress)
}

/// Reads a stream of at most [`MAX_SESSION_BYTES`]. `expected` is 0 if the size is unknown. Binary data is rejected by
/// its first bytes.
pub(crate) fn read_all(
    stream: impl Read,
    name: &str,
    expected: Bytes,
    progress: &Progress,
) -> Result<FileBytes, LoadError> {
    // Parsing is the second half of the phase.
    progress.begin(Phase::Reading, Bytes(expected.0 * 2));
    let unpacked = unpacked(stream).map_err(|error| LoadError::unreadable(name, &error))?;
    if unpacked.was_packed {
        // The compressed size says nothing about the number of bytes.
        progress.begin(Phase::Reading, Bytes(0));
    }
    let mut stream = Stream { bytes: unpacked.bytes, n: 0, name, progress };
    let is_huge = expected.0 >= HUGE;
    let expected = if unpacked.was_packed || is_huge { 0 } else { expected.0 as usize };
    let mut bytes = Vec::with_capacity(expected.min(CHUNK as usize));
    stream.read_chunk(&mut bytes)?;
    formats::check_start(&bytes).map_err(|refusal| LoadError(format!("{name}: {refusal}")))?;
    bytes.reserve_exact(expected.saturating_sub(bytes.len()));
    while !is_huge && (bytes.len() as u64) < HUGE {
        if stream.read_chunk(&mut bytes)? == 0 {
            bytes.shrink_to_fit();
            return Ok(bytes.into());
        }
    }
    stream.read_packed(bytes)
}

/// A stream that is being read.
struct Stream<'a> {
    bytes: Box<dyn Read + 'a>,
    /// Number of bytes read so far.
    n: u64,
    name: &'a str,
    progress: &'a Progress,
}

impl Stream<'_> {
    /// Reads up to [`CHUNK`] more bytes and returns their number.
    fn read_chunk(&mut self, bytes: &mut Vec<u8>) -> Result<usize, LoadError> {
        let name = self.name;
        self.progress
            .check_cancelled()
            .map_err(|cancelled| LoadError::cancelled(name, cancelled))?;
        let chunk = self.bytes.by_ref().take(CHUNK).read_to_end(bytes);
        let n = chunk.map_err(|error| LoadError::unreadable(name, &error))?;
        self.n += n as u64;
        if self.n > MAX_SESSION_BYTES {
            return Err(LoadError::too_large(name));
        }
        self.progress.advance(n as u64);
        Ok(n)
    }

    /// Reads the rest of the stream and compresses each chunk while the next one is read. `start` are the bytes read so
    /// far.
    fn read_packed(mut self, start: Vec<u8>) -> Result<FileBytes, LoadError> {
        let mut packer = Packer::default();
        start.chunks(CHUNK as usize).for_each(|bytes| packer.push(bytes));
        drop(start);
        let (mut bytes, mut next) = (Vec::new(), Vec::new());
        self.read_chunk(&mut next)?;
        while !next.is_empty() {
            std::mem::swap(&mut bytes, &mut next);
            next.clear();
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| packer.push(&bytes));
                self.read_chunk(&mut next)
            })?;
        }
        Ok(packer.finish())
    }
}

/// Returns the metadata of an existing path, following links.
///
/// # Errors
/// Returns a [`LoadError`] if the path does not exist.
pub fn must_exist(path: &Path) -> Result<Metadata, LoadError> {
    if path.as_os_str().is_empty() {
        return Err(LoadError("the path is empty; give the path of a file".to_owned()));
    }
    fs::metadata(path).map_err(|error| match error.kind() {
        kind if kind != io::ErrorKind::PermissionDenied && path.is_symlink() => LoadError(format!(
            "{} is a broken link ({error}); give the file itself",
            path.display()
        )),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            LoadError(format!("{}: no such file; check the path", path.display()))
        }
        _ => cannot_open(path, &error),
    })
}

fn cannot_open(path: &Path, error: &io::Error) -> LoadError {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => "; check its permissions",
        _ => "; check the path",
    };
    LoadError(format!("cannot read {} ({error}){advice}", path.display()))
}

/// Rejects folders and devices, which may never end. Pipes are read, which `<(command)` needs.
fn reject_folders_and_devices(path: &Path, metadata: &Metadata) -> Result<(), LoadError> {
    match kind(metadata) {
        Some(FOLDER) => Err(LoadError(format!(
            "{0} is a folder; give a session file in it (`plimsoll sessions {0}` lists them)",
            path.display()
        ))),
        Some(DEVICE) => {
            Err(LoadError(format!("{} is a device; give a session file", path.display())))
        }
        _ => Ok(()),
    }
}

/// Reads a regular file of at most `most` bytes.
pub(crate) fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>, LoadError> {
    let metadata = must_exist(path)?;
    let shown = path.display();
    if let Some(kind) = kind(&metadata) {
        return Err(LoadError(format!("{shown} is {kind}; give a file")));
    }
    let mut bytes = Vec::new();
    if metadata.len() <= most {
        let file = File::open(path).map_err(|error| cannot_open(path, &error))?;
        let read = file.take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| cannot_open(path, &error))?;
    }
    if metadata.len().max(bytes.len() as u64) > most {
        let most = most >> 20;
        return Err(LoadError(format!(
            "{shown} is larger than the limit of {most} MiB; check that it is the right file"
        )));
    }
    Ok(bytes)
}

/// Returns whether a file may be a session that was damaged: a file without a session that is not whole.
pub fn is_damaged(path: &Path) -> bool {
    path.is_file() && !is_well_formed(path)
}

/// Returns whether a file is whole: JSON or JSON Lines without an error, a database with all its pages, or text.
fn is_well_formed(path: &Path) -> bool {
    /// The name of a file with JSON ends like this.
    const JSON: [&str; 3] = ["json", "jsonl", "ndjson"];
    let mut bytes = Vec::new();
    let Ok(file) = File::open(path).and_then(super::unpacked) else {
        return false;
    };
    let read = file.bytes.take(MAX_SESSION_BYTES).read_to_end(&mut bytes);
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if read.is_err() || bytes.trim_ascii().is_empty() {
        return false;
    }
    if let Some(is_whole) = is_whole_database(bytes) {
        return is_whole;
    }
    let is_json = |text: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
    let name = path.to_string_lossy().to_lowercase();
    let mut ends = name.trim_end_matches(".gz").rsplit('.');
    let is_named_json = ends.next().is_some_and(|end| JSON.contains(&end));
    if is_named_json || matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
        let mut lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        return is_json(bytes) || lines.all(|line| line.is_empty() || is_json(line));
    }
    std::str::from_utf8(bytes).is_ok()
}

/// Returns whether an `SQLite` database has all pages that its header counts; `None` for other files.
fn is_whole_database(bytes: &[u8]) -> Option<bool> {
    bytes.strip_prefix(b"SQLite format 3\0")?;
    let number = |at: usize, len: usize| {
        let bytes = bytes.get(at..at + len)?;
        Some(bytes.iter().fold(0_usize, |n, byte| n << 8 | usize::from(*byte)))
    };
    // A size of 65,536 is written as 1.
    let page = number(16, 2).map(|size| if size == 1 { 65_536 } else { size });
    let pages = number(28, 4);
    Some(page.zip(pages).is_some_and(|(page, pages)| page * pages <= bytes.len()))
}

/// Reads a regular file of at most `most` bytes as UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String, LoadError> {
    String::from_utf8(read_bounded(path, most)?).map_err(|_bytes| {
        LoadError(format!(
            "cannot read {} (it is not UTF-8 text); give a text file",
            path.display()
        ))
    })
}

/// Maximum size of a compressed text and of its content. The table behind the bundled coefficients has 2 MB.
const MAX_TEXT: u64 = 256 << 20;

/// Reads a regular file of UTF-8 text, also if it is compressed.
pub fn read_packed_text(path: &Path) -> Result<String, LoadError> {
    let bytes = read_bounded(path, MAX_TEXT)?;
    let unreadable = |error: &dyn std::fmt::Display| {
        LoadError(format!("cannot read {} ({error}); give a text file", path.display()))
    };
    let mut text = String::new();
    let unpacked = unpacked(bytes.as_slice()).map_err(|error| unreadable(&error))?;
    let mut bounded = unpacked.bytes.take(MAX_TEXT);
    bounded.read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    Ok(text)
}

const FOLDER: &str = "a folder";
const DEVICE: &str = "a device";

/// Returns the kind of a path that is not a regular file.
fn kind(metadata: &Metadata) -> Option<&'static str> {
    match metadata {
        metadata if metadata.is_file() => None,
        metadata if metadata.is_dir() => Some(FOLDER),
        metadata if is_device(metadata) => Some(DEVICE),
        _ => Some("a pipe or a socket"),
    }
}

#[cfg(unix)]
fn is_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = metadata.file_type();
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_metadata: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], expected: usize) -> FileBytes {
        let expected = Bytes(expected as u64);
        read_all(text, "talk", expected, &Progress::default()).expect("it is text")
    }

    #[test]
    fn a_file_of_another_size_than_expected_is_read_to_its_end() {
        let text: Vec<u8> = (0..3 * CHUNK).map(|at| b'a' + (at % 7) as u8).collect();
        let len = text.len();
        for expected in [0, 1, 5 << 20, len - 1, len, len + 9, HUGE as usize] {
            let read = read(&text, expected);
            assert!(*read.whole() == text, "{expected}");
        }
    }

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let here = tempfile::tempdir().expect("a folder");
        let path = here.path().join("file");
        fs::write(&path, "text").expect("enough space");
        assert_eq!(read_text(&path, 4).ok().as_deref(), Some("text"));
        let error = |path: &Path, most| read_text(path, most).expect_err("no").to_string();
        assert!(error(&path, 3).contains("larger than"));
        assert!(error(here.path(), 4).ends_with("is a folder; give a file"));
        fs::write(&path, [0xff]).expect("enough space");
        assert!(error(&path, 4).contains("not UTF-8"));
        #[cfg(unix)]
        {
            assert!(error(Path::new("/dev/zero"), 4).ends_with("is a device; give a file"));
            let socket = here.path().join("socket");
            let _held = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
            assert!(error(&socket, 4).ends_with("is a pipe or a socket; give a file"));
        }
    }

    #[test]
    fn a_huge_stream_is_compressed_whether_its_size_is_known_or_not() {
        let huge = b"so it goes ".repeat(HUGE as usize / 11 + 1);
        for expected in [0, huge.len()] {
            let read = read(&huge, expected);
            assert!(read.is_packed() && read.len() == huge.len());
        }
        assert!(!read(&huge[..1 << 20], 1 << 20).is_packed());
    }

    #[test]
    fn cancellation_stops_reading() {
        struct Stopping<'a>(&'a Progress, u64);
        impl Read for Stopping<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.1 += buffer.len() as u64;
                if self.1 > HUGE + 2 * CHUNK {
                    self.0.cancel();
                }
                buffer.fill(b'a');
                Ok(buffer.len())
            }
        }
        let progress = Progress::default();
        let stream = Stopping(&progress, 0);
        let stopped = read_all(stream, "talk", Bytes(0), &progress);
        assert_eq!(
            stopped.map(|_| ()).map_err(|error| error.to_string()),
            Err("talk: cancelled".to_owned())
        );
    }
}
