//! Files of a ZIP archive: stored, deflated, or compressed with Zstandard.

use super::unpack::{Packing, unpacked_member};
use std::collections::BTreeMap;
use std::io::{self, Read as _};

/// First bytes of an archive with at least one file.
pub(crate) const START: &[u8] = b"PK\x03\x04";
const DIRECTORY_ENTRY: &[u8] = b"PK\x01\x02";
const DIRECTORY_END: &[u8] = b"PK\x05\x06";
/// Length of the end of the directory without its comment.
const END_LEN: usize = 22;
/// Length of an entry of the directory without its name.
const ENTRY_LEN: usize = 46;
/// Length of the header of a file without its name.
const HEADER_LEN: usize = 30;

/// Reads the files of an archive whose names `is_wanted` accepts, by name. They may have up to `most` bytes together.
///
/// # Errors
/// Returns an error if the archive is damaged, too large, or written in a way that is not supported.
pub(crate) fn files_in(
    archive: &[u8],
    is_wanted: impl Fn(&str) -> bool,
    most: u64,
) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let comment = archive.len().saturating_sub(END_LEN + usize::from(u16::MAX));
    let mut ends = archive[comment..].windows(DIRECTORY_END.len());
    let end = ends.rposition(|bytes| bytes == DIRECTORY_END);
    let end = end.ok_or_else(|| damaged("has no directory"))? + comment;
    let n_entries = number(archive, end + 10, 2)?;
    let mut at = number(archive, end + 16, 4)?;
    if n_entries == usize::from(u16::MAX) || at == u32::MAX as usize {
        return Err(damaged("uses ZIP64, which is not supported"));
    }
    let mut left = most;
    let mut files = BTreeMap::new();
    for _ in 0..n_entries {
        if !archive.get(at..).is_some_and(|rest| rest.starts_with(DIRECTORY_ENTRY)) {
            return Err(damaged("has a damaged directory"));
        }
        let method = number(archive, at + 10, 2)?;
        let len = number(archive, at + 20, 4)?;
        let (name_len, extra_len) = (number(archive, at + 28, 2)?, number(archive, at + 30, 2)?);
        let comment_len = number(archive, at + 32, 2)?;
        let start = number(archive, at + 42, 4)?;
        let name = slice(archive, at + ENTRY_LEN, name_len)?;
        at += ENTRY_LEN + name_len + extra_len + comment_len;
        let name = String::from_utf8_lossy(name).into_owned();
        if !is_wanted(&name) {
            continue;
        }
        let head =
            start + HEADER_LEN + number(archive, start + 26, 2)? + number(archive, start + 28, 2)?;
        let packing = match method {
            0 => Packing::Stored,
            8 => Packing::Deflate,
            93 => Packing::Zstandard,
            _ => return Err(damaged("is compressed in a way that is not supported")),
        };
        let mut bytes = Vec::new();
        let stream = unpacked_member(slice(archive, head, len)?, packing);
        stream.take(left.saturating_add(1)).read_to_end(&mut bytes)?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| damaged("is too large"))?;
        // An archive that is extended may hold a name several times; the last one counts.
        files.insert(name, bytes);
    }
    Ok(files)
}

/// Reads a number of `len` bytes.
fn number(archive: &[u8], at: usize, len: usize) -> io::Result<usize> {
    let bytes = slice(archive, at, len)?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

fn slice(archive: &[u8], at: usize, len: usize) -> io::Result<&[u8]> {
    archive.get(at..).and_then(|rest| rest.get(..len)).ok_or_else(|| damaged("is truncated"))
}

fn damaged(what: &str) -> io::Error {
    io::Error::other(format!("the archive {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::DeflateEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    /// Writes an archive.
    fn archive(files: &[(&str, usize, Vec<u8>)]) -> Vec<u8> {
        let u16 = |n: usize| u16::try_from(n).unwrap().to_le_bytes();
        let u32 = |n: usize| u32::try_from(n).unwrap().to_le_bytes();
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for (name, method, packed) in files {
            let start = out.len();
            let fields =
                [&u16(20)[..], &u16(0), &u16(*method), &[0; 8], &u32(packed.len()), &[0; 4]];
            let fields = [&fields.concat()[..], &u16(name.len()), &u16(0)].concat();
            out.extend([START, &fields, name.as_bytes(), packed].concat());
            let rest = [&u16(0)[..], &[0; 8], &u32(start), name.as_bytes()].concat();
            directory.extend([DIRECTORY_ENTRY, &u16(20), &fields, &rest].concat());
        }
        let (n, at, len) = (files.len(), out.len(), directory.len());
        out.extend(directory);
        let counts = [&[0; 4][..], &u16(n), &u16(n), &u32(len), &u32(at), &[0; 2]].concat();
        out.extend([DIRECTORY_END, &counts].concat());
        out
    }

    fn deflated(text: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        DeflateEncoder::new(text, Compression::best()).read_to_end(&mut packed).unwrap();
        packed
    }

    fn is_json(name: &str) -> bool {
        std::path::Path::new(name).extension().is_some_and(|end| end == "json")
    }

    fn example() -> Vec<u8> {
        archive(&[
            ("a.json", 0, b"{}".to_vec()),
            ("b/c.json", 8, deflated(b"[1]")),
            ("d.json", 93, compress_to_vec(&b"[2]"[..], CompressionLevel::Fastest)),
            ("e.bin", 99, vec![1]),
            ("a.json", 0, b"{\"n\":1}".to_vec()),
        ])
    }

    #[test]
    fn reads_the_last_version_of_each_wanted_file() {
        let files = files_in(&example(), is_json, 100).unwrap();
        let found: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (&**n, &b[..])).collect();
        let expected: [(&str, &[u8]); 3] =
            [("a.json", b"{\"n\":1}"), ("b/c.json", b"[1]"), ("d.json", b"[2]")];
        assert_eq!(found, expected);
    }

    #[test]
    fn rejects_large_damaged_and_unsupported_archives() {
        let archive = example();
        assert!(files_in(&archive, |_| true, 100).is_err());
        assert!(files_in(&archive, is_json, 10).is_err());
        for end in 0..archive.len() {
            let _ = files_in(&archive[..end], |_| true, 100);
        }
        for at in 0..archive.len() {
            let mut changed = archive.clone();
            changed[at] ^= 0xff;
            let _ = files_in(&changed, |_| true, 1 << 20);
        }
    }
}
