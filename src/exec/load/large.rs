//! Reads large files on all cores: most of the time goes into copying, and into finding memory for the copy.

use super::LoadError;
use super::read::{CHUNK, cancelled, cannot_be_read};
use crate::exec::unpack::is_packed;
use crate::formats;
use crate::progress::{Phase, Progress};
use crate::units::Bytes;
use rayon::prelude::*;
use std::fs::File;
use std::io;

/// Files from this size on.
pub(super) const LARGE: u64 = 4 * CHUNK;

/// All bytes of a file that has so many. None where it is compressed, or grows or shrinks meanwhile: it can be read as a
/// stream then.
pub(super) fn read_large(
    file: &File,
    name: &str,
    len: u64,
    progress: &Progress,
) -> Result<Option<Vec<u8>>, LoadError> {
    let unread = |error: io::Error| cannot_be_read(name, &error);
    // Taking apart is the other half of it.
    progress.begin(Phase::Reading, Bytes(len * 2));
    let chunk = CHUNK as usize;
    let read = |nth: usize, place: &mut [u8]| {
        progress
            .go_on()
            .map_err(|stopped| cancelled(name, stopped))?;
        let is_full = fill(file, place, nth as u64 * CHUNK).map_err(unread)?;
        progress.advance(place.len() as u64);
        Ok(is_full)
    };
    let mut start = vec![0; usize::try_from(len).map_or(chunk, |len| chunk.min(len))];
    if !read(0, &mut start)? || is_packed(&start) {
        return Ok(None);
    }
    formats::check_start(&start).map_err(|refused| LoadError(format!("{name}: {refused}")))?;
    // Without room for it a stream says so.
    let Some(mut bytes) = zeros(len) else {
        return Ok(None);
    };
    bytes[..start.len()].copy_from_slice(&start);
    let rest = bytes.par_chunks_mut(chunk).enumerate().skip(1);
    let filled: Vec<bool> = rest
        .map(|(nth, place)| read(nth, place))
        .collect::<Result<_, LoadError>>()?;
    let has_grown = read_at(file, &mut [0], len).map_err(unread)? > 0;
    let is_whole = !has_grown && filled.into_iter().all(|is_full| is_full);
    Ok(is_whole.then_some(bytes))
}

/// So many zeros, where there is room for them. They are not touched, unlike those that a vector grows by.
fn zeros(len: u64) -> Option<Vec<u8>> {
    let len = usize::try_from(len).ok()?;
    Vec::<u8>::new().try_reserve_exact(len).ok()?;
    Some(vec![0; len])
}

/// Reads what stands from a place on; false where the file ends before there is enough.
fn fill(file: &File, mut place: &mut [u8], mut at: u64) -> io::Result<bool> {
    while !place.is_empty() {
        match read_at(file, place, at) {
            Ok(0) => return Ok(false),
            Ok(n) => {
                place = &mut place[n..];
                at += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[cfg(unix)]
fn read_at(file: &File, place: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, place, at)
}

#[cfg(windows)]
fn read_at(file: &File, place: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, place, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    /// What is read of a file of these bytes that is taken to have so many.
    fn read(bytes: &[u8], len: usize) -> Result<Option<Vec<u8>>, LoadError> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("room for it");
        read_large(&file, "talk", len as u64, &Progress::default())
    }

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let text: Vec<u8> = (0..3 * CHUNK + 17)
            .map(|at| b'a' + (at % 7) as u8)
            .collect();
        assert_eq!(read(&text, text.len()).ok(), Some(Some(text.clone())));
        for other in [text.len() - 1, text.len() + 1, text.len() + CHUNK as usize] {
            assert_eq!(read(&text, other).ok(), Some(None), "{other}");
        }
    }

    #[test]
    fn what_is_compressed_is_left_to_others_and_what_is_no_text_is_refused() {
        let mut bytes = vec![b' '; LARGE as usize];
        bytes[..2].copy_from_slice(&[0x1f, 0x8b]);
        assert_eq!(read(&bytes, bytes.len()).ok(), Some(None));
        bytes.fill(0);
        let refused = read(&bytes, bytes.len()).expect_err("it is no text");
        assert!(refused.to_string().starts_with("talk: "), "{refused}");
    }

    #[test]
    fn nothing_more_is_read_once_somebody_asked_to_stop() {
        let progress = Progress::default();
        progress.cancel();
        let file = tempfile::tempfile().expect("a file");
        let stopped = read_large(&file, "talk", LARGE, &progress);
        assert_eq!(
            stopped.map_err(|error| error.to_string()),
            Err("talk: cancelled".to_owned())
        );
    }
}
