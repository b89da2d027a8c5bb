//! Reads bytes: what is no file for that, is too large or is no text is refused before it is read whole.

use super::LoadError;
use super::large::{LARGE, read_large};
use crate::exec::unpack::unpacked;
use crate::formats;
use crate::progress::{Cancelled, Phase, Progress};
use crate::session::{FileBytes, Packer};
use crate::units::Bytes;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek as _};
use std::path::Path;

/// No session is larger. What is would fill the memory several times over, once read and taken apart.
pub const MOST_BYTES: u64 = 4 << 30;
/// Read at a time, between looks at whether to stop.
pub(super) const CHUNK: u64 = 4 << 20;
/// What is as large as this is packed while it is read: beside all that is told of it, it would not be there whole.
const HUGE: u64 = 128 << 20;

/// All bytes of an ordinary file.
pub(in crate::exec) fn read_file(
    path: &Path,
    metadata: &Metadata,
    progress: &Progress,
) -> Result<FileBytes, LoadError> {
    refuse_folders_and_devices(path, metadata)?;
    let shown = path.display().to_string();
    if metadata.len() > MOST_BYTES {
        return Err(too_large(&shown));
    }
    let mut file = File::open(path).map_err(|error| cannot_read(path, &error))?;
    if metadata.is_file() && (LARGE..HUGE).contains(&metadata.len()) {
        if let Some(bytes) = read_large(&file, &shown, metadata.len(), progress)? {
            return Ok(bytes.into());
        }
        file.rewind()
            .map_err(|error| cannot_be_read(&shown, &error))?;
    }
    read_all(file, &shown, Bytes(metadata.len()), progress)
}

/// All bytes of a stream, up to [`MOST_BYTES`]; `expected` is 0 where nobody knows how many there are. What is no text
/// is refused by its first bytes.
pub(in crate::exec) fn read_all(
    stream: impl Read,
    name: &str,
    expected: Bytes,
    progress: &Progress,
) -> Result<FileBytes, LoadError> {
    // Taking apart is the other half of it.
    progress.begin(Phase::Reading, Bytes(expected.0 * 2));
    let unpacked = unpacked(stream).map_err(|error| cannot_be_read(name, &error))?;
    if unpacked.was_packed {
        // Its size tells nothing of how much there is.
        progress.begin(Phase::Reading, Bytes(0));
    }
    let mut stream = Stream {
        bytes: unpacked.bytes,
        n: 0,
        name,
        progress,
    };
    let is_huge = expected.0 >= HUGE;
    let expected = if unpacked.was_packed || is_huge {
        0
    } else {
        expected.0 as usize
    };
    let mut bytes = Vec::with_capacity(expected.min(CHUNK as usize));
    stream.read_on(&mut bytes)?;
    formats::check_start(&bytes).map_err(|refused| LoadError(format!("{name}: {refused}")))?;
    bytes.reserve_exact(expected.saturating_sub(bytes.len()));
    while !is_huge && (bytes.len() as u64) < HUGE {
        if stream.read_on(&mut bytes)? == 0 {
            bytes.shrink_to_fit();
            return Ok(bytes.into());
        }
    }
    stream.packed(bytes)
}

/// A stream being read, with somebody who waits.
struct Stream<'a> {
    bytes: Box<dyn Read + 'a>,
    /// Read so far.
    n: u64,
    name: &'a str,
    progress: &'a Progress,
}

impl Stream<'_> {
    /// Reads up to [`CHUNK`] more bytes; how many there were.
    fn read_on(&mut self, bytes: &mut Vec<u8>) -> Result<usize, LoadError> {
        let name = self.name;
        self.progress
            .go_on()
            .map_err(|stopped| cancelled(name, stopped))?;
        let chunk = self.bytes.by_ref().take(CHUNK).read_to_end(bytes);
        let n = chunk.map_err(|error| cannot_be_read(name, &error))?;
        self.n += n as u64;
        if self.n > MOST_BYTES {
            return Err(too_large(name));
        }
        self.progress.advance(n as u64);
        Ok(n)
    }

    /// These bytes and the rest, packed while what follows is read.
    fn packed(mut self, begun: Vec<u8>) -> Result<FileBytes, LoadError> {
        let mut packer = Packer::default();
        begun
            .chunks(CHUNK as usize)
            .for_each(|bytes| packer.push(bytes));
        drop(begun);
        let (mut bytes, mut next) = (Vec::new(), Vec::new());
        self.read_on(&mut next)?;
        while !next.is_empty() {
            std::mem::swap(&mut bytes, &mut next);
            next.clear();
            rayon::in_place_scope(|others| {
                others.spawn(|_| packer.push(&bytes));
                self.read_on(&mut next)
            })?;
        }
        Ok(packer.finish())
    }
}

pub(super) fn cannot_be_read(name: &str, error: &io::Error) -> LoadError {
    LoadError(format!("{name} cannot be read ({error})"))
}

pub(super) fn cancelled(name: &str, stopped: Cancelled) -> LoadError {
    LoadError(format!("{name}: {stopped}"))
}

fn too_large(name: &str) -> LoadError {
    LoadError(format!(
        "{name} is larger than {} GiB, the most that is read; give a smaller session file",
        MOST_BYTES >> 30
    ))
}

/// The file's metadata, following links.
///
/// # Errors
/// A [`LoadError`] that says what to do when there is nothing at this path.
pub fn must_exist(path: &Path) -> Result<Metadata, LoadError> {
    if path.as_os_str().is_empty() {
        return Err(LoadError(
            "the path is empty; give the path of a file".to_owned(),
        ));
    }
    fs::metadata(path).map_err(|error| match error.kind() {
        kind if kind != io::ErrorKind::PermissionDenied && path.is_symlink() => LoadError(format!(
            "{} is a link that leads to no file ({error}); give the file itself",
            path.display()
        )),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            LoadError(format!("{}: no such file; check the path", path.display()))
        }
        _ => cannot_read(path, &error),
    })
}

fn cannot_read(path: &Path, error: &io::Error) -> LoadError {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => "; check its permissions",
        _ => "; check the path",
    };
    LoadError(format!(
        "{} cannot be read ({error}){advice}",
        path.display()
    ))
}

/// A pipe can be read, which `<(command)` needs; an endless device cannot.
fn refuse_folders_and_devices(path: &Path, metadata: &Metadata) -> Result<(), LoadError> {
    match kind(metadata) {
        Some(FOLDER) => Err(LoadError(format!(
            "{0} is a folder; give a session file in it (`plimsoll sessions {0}` lists them)",
            path.display()
        ))),
        Some(DEVICE) => Err(LoadError(format!(
            "{} is a device; give a session file",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// All bytes of an ordinary file of at most `most` bytes. Anything else may never end, or never begin.
pub(in crate::exec) fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>, LoadError> {
    let metadata = must_exist(path)?;
    let shown = path.display();
    if let Some(kind) = kind(&metadata) {
        return Err(LoadError(format!("{shown} is {kind}; give a file")));
    }
    let mut bytes = Vec::new();
    if metadata.len() <= most {
        let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
        let read = file.take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| cannot_read(path, &error))?;
    }
    if metadata.len().max(bytes.len() as u64) > most {
        let most = most >> 20;
        return Err(LoadError(format!(
            "{shown} is larger than {most} MiB, the most that is read; check that it is the right file"
        )));
    }
    Ok(bytes)
}

/// The text of an ordinary file of at most `most` bytes.
pub(in crate::exec) fn read_text(path: &Path, most: u64) -> Result<String, LoadError> {
    String::from_utf8(read_bounded(path, most)?).map_err(|_bytes| {
        LoadError(format!(
            "{} cannot be read (it is no UTF-8 text); give a text file",
            path.display()
        ))
    })
}

const FOLDER: &str = "a folder";
const DEVICE: &str = "a device";

/// What is at a path, where it is no ordinary file.
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
    fn a_file_that_grows_or_shrinks_while_it_is_read_is_read_to_its_end() {
        let text: Vec<u8> = (0..3 * CHUNK).map(|at| b'a' + (at % 7) as u8).collect();
        let len = text.len();
        for expected in [0, 1, 5 << 20, len - 1, len, len + 9, HUGE as usize] {
            let read = read(&text, expected);
            assert!(*read.whole() == text, "{expected}");
        }
    }

    #[test]
    fn only_an_ordinary_file_of_a_bounded_size_is_read() {
        let here = tempfile::tempdir().expect("a folder");
        let path = here.path().join("file");
        fs::write(&path, "text").expect("room for it");
        assert_eq!(read_text(&path, 4).ok().as_deref(), Some("text"));
        let refused = |path: &Path, most| read_text(path, most).expect_err("no").to_string();
        assert!(refused(&path, 3).contains("larger than"));
        assert!(refused(here.path(), 4).ends_with("is a folder; give a file"));
        fs::write(&path, [0xff]).expect("room for it");
        assert!(refused(&path, 4).contains("no UTF-8"));
        #[cfg(unix)]
        {
            assert!(refused(Path::new("/dev/zero"), 4).ends_with("is a device; give a file"));
            let socket = here.path().join("socket");
            let _held = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
            assert!(refused(&socket, 4).ends_with("is a pipe or a socket; give a file"));
        }
    }

    #[test]
    fn what_is_huge_is_packed_whoever_knew_how_large_it_is() {
        let huge = b"so it goes ".repeat(HUGE as usize / 11 + 1);
        for expected in [0, huge.len()] {
            let read = read(&huge, expected);
            assert!(read.is_packed() && read.len() == huge.len());
        }
        assert!(!read(&huge[..1 << 20], 1 << 20).is_packed());
    }

    #[test]
    fn nothing_more_is_read_once_somebody_asked_to_stop() {
        struct Stopping<'a>(&'a Progress, u64);
        impl Read for Stopping<'_> {
            fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                self.1 += room.len() as u64;
                if self.1 > HUGE + 2 * CHUNK {
                    self.0.cancel();
                }
                room.fill(b'a');
                Ok(room.len())
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
