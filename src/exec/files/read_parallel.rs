//! Reads large files on all cores, since most of the time is spent on copying and on allocating memory for the copy.

use super::limits::CHUNK;
use super::load_error::LoadError;
use super::unpack::is_packed;
use crate::formats;
use crate::progress::{Phase, Progress};
use crate::units::Bytes;
use rayon::prelude::*;
use std::fs::File;
use std::io;

/// Smallest file that is read on all cores, in bytes. The first chunk is read alone to detect the format, so there are
/// at least three for the cores; smaller files take a few milliseconds in any case.
pub(super) const LARGE: u64 = 4 * CHUNK;

/// Reads a file of `len` bytes. Returns `None` if it must be read as a stream: it is compressed, its size changed
/// meanwhile, or memory is short.
pub(super) fn read_parallel(
    file: &File,
    name: &str,
    len: u64,
    progress: &Progress,
) -> Result<Option<Vec<u8>>, LoadError> {
    let unreadable = |error: io::Error| LoadError::unreadable(name, &error);
    // Parsing is the second half of the phase.
    progress.begin(Phase::Reading, Bytes(len * 2));
    let chunk = CHUNK as usize;
    let read = |nth: usize, buffer: &mut [u8]| {
        progress.check_cancelled().map_err(|cancelled| LoadError::cancelled(name, cancelled))?;
        let is_full = fill(file, buffer, nth as u64 * CHUNK).map_err(unreadable)?;
        progress.advance(buffer.len() as u64);
        Ok(is_full)
    };
    let mut start = vec![0; usize::try_from(len).map_or(chunk, |len| chunk.min(len))];
    if !read(0, &mut start)? || is_packed(&start) {
        return Ok(None);
    }
    formats::check_start(&start).map_err(|refusal| LoadError(format!("{name}: {refusal}")))?;
    // Reading as a stream reports that memory is short.
    let Some(mut bytes) = zeros(len) else {
        return Ok(None);
    };
    bytes[..start.len()].copy_from_slice(&start);
    let rest = bytes.par_chunks_mut(chunk).enumerate().skip(1);
    let filled: Vec<bool> =
        rest.map(|(nth, buffer)| read(nth, buffer)).collect::<Result<_, LoadError>>()?;
    let has_grown = read_at(file, &mut [0], len).map_err(unreadable)? > 0;
    let is_whole = !has_grown && filled.into_iter().all(|is_full| is_full);
    Ok(is_whole.then_some(bytes))
}

/// Allocates zeros if there is enough memory. The system provides them untouched, unlike those that a vector grows by.
fn zeros(len: u64) -> Option<Vec<u8>> {
    let len = usize::try_from(len).ok()?;
    Vec::<u8>::new().try_reserve_exact(len).ok()?;
    Some(vec![0; len])
}

/// Fills a buffer from an offset of the file. Returns false if the file ends first.
fn fill(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<bool> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset) {
            Ok(0) => return Ok(false),
            Ok(n) => {
                buffer = &mut buffer[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    /// Reads a file of these bytes that is expected to have `len` bytes.
    fn read(bytes: &[u8], len: usize) -> Result<Option<Vec<u8>>, LoadError> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("enough space");
        read_parallel(&file, "talk", len as u64, &Progress::default())
    }

    #[test]
    fn a_file_of_another_size_than_expected_is_not_read() {
        let text: Vec<u8> = (0..3 * CHUNK + 17).map(|at| b'a' + (at % 7) as u8).collect();
        assert_eq!(read(&text, text.len()).ok(), Some(Some(text.clone())));
        for other in [text.len() - 1, text.len() + 1, text.len() + CHUNK as usize] {
            assert_eq!(read(&text, other).ok(), Some(None), "{other}");
        }
    }

    #[test]
    fn compressed_files_are_not_read_and_binary_files_are_rejected() {
        let mut bytes = vec![b' '; LARGE as usize];
        bytes[..2].copy_from_slice(&[0x1f, 0x8b]);
        assert_eq!(read(&bytes, bytes.len()).ok(), Some(None));
        bytes.fill(0);
        let error = read(&bytes, bytes.len()).expect_err("it is not text");
        assert!(error.to_string().starts_with("talk: "), "{error}");
    }

    #[test]
    fn cancellation_stops_reading() {
        let progress = Progress::default();
        progress.cancel();
        let file = tempfile::tempfile().expect("a file");
        let stopped = read_parallel(&file, "talk", LARGE, &progress);
        assert_eq!(stopped.map_err(|error| error.to_string()), Err("talk: cancelled".to_owned()));
    }
}
