//! Files of a ZIP archive: stored, deflated, or compressed with Zstandard.

use super::unpack::{Packing, unpacked_member};
use flate2::Crc;
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

/// Flags of an encrypted file, and of one whose header is encrypted.
const ENCRYPTED: usize = 0x2001;

/// A file of the directory.
struct DirectoryEntry {
    flags: usize,
    method: usize,
    /// CRC-32 of its bytes.
    checksum: usize,
    packed_len: usize,
    len: usize,
    /// Position of its header.
    start: usize,
}

/// Reads the files of an archive whose names `is_wanted` accepts, by name. They may have up to `most` bytes together.
///
/// # Errors
/// Returns an error if the archive is damaged, too large, or written in a way that is not supported.
pub(crate) fn files_in(
    archive: &[u8],
    is_wanted: impl Fn(&str) -> bool,
    most: u64,
) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let (mut left, mut left_packed) = (most, archive.len());
    let mut files = BTreeMap::new();
    for (name, entry) in directory(archive, is_wanted)? {
        let packing = entry.packing()?;
        let rest = left_packed.checked_sub(entry.packed_len);
        left_packed = rest.ok_or_else(|| damaged("contains files that overlap"))?;
        let rest = left.checked_sub(entry.len as u64);
        left = rest.ok_or_else(|| damaged("is too large"))?;
        files.insert(name, entry.read(archive, packing)?);
    }
    Ok(files)
}

/// Reads the directory of an archive. If it lists a name several times, as one that was extended does, the last file counts.
fn directory(
    archive: &[u8],
    is_wanted: impl Fn(&str) -> bool,
) -> io::Result<BTreeMap<String, DirectoryEntry>> {
    let comment = archive.len().saturating_sub(END_LEN + usize::from(u16::MAX));
    let mut ends = archive[comment..].windows(DIRECTORY_END.len());
    let end = ends.rposition(|bytes| bytes == DIRECTORY_END);
    let end = end.ok_or_else(|| damaged("has no directory"))? + comment;
    let n_entries = number(archive, end + 10, 2)?;
    let mut at = number(archive, end + 16, 4)?;
    if n_entries == usize::from(u16::MAX) || at == u32::MAX as usize {
        return Err(damaged("uses ZIP64, which is not supported"));
    }
    let mut entries = BTreeMap::new();
    for _ in 0..n_entries {
        if !archive.get(at..).is_some_and(|rest| rest.starts_with(DIRECTORY_ENTRY)) {
            return Err(damaged("has a damaged directory"));
        }
        let (name_len, extra_len) = (number(archive, at + 28, 2)?, number(archive, at + 30, 2)?);
        let comment_len = number(archive, at + 32, 2)?;
        let name = slice(archive, at + ENTRY_LEN, name_len)?;
        let name = String::from_utf8_lossy(name).into_owned();
        if is_wanted(&name) {
            let entry = DirectoryEntry {
                flags: number(archive, at + 8, 2)?,
                method: number(archive, at + 10, 2)?,
                checksum: number(archive, at + 16, 4)?,
                packed_len: number(archive, at + 20, 4)?,
                len: number(archive, at + 24, 4)?,
                start: number(archive, at + 42, 4)?,
            };
            entries.insert(name, entry);
        }
        at += ENTRY_LEN + name_len + extra_len + comment_len;
    }
    Ok(entries)
}

impl DirectoryEntry {
    /// Returns the compression of the file, or an error if the file is not supported.
    fn packing(&self) -> io::Result<Packing> {
        if self.flags & ENCRYPTED != 0 {
            return Err(damaged("contains an encrypted file, which is not supported"));
        }
        if [self.packed_len, self.len, self.start].contains(&(u32::MAX as usize)) {
            return Err(damaged("contains a file in ZIP64, which is not supported"));
        }
        match self.method {
            0 => Ok(Packing::Stored),
            8 => Ok(Packing::Deflate),
            93 => Ok(Packing::Zstandard),
            _ => Err(damaged("is compressed in a way that is not supported")),
        }
    }

    /// Decompresses the file.
    fn read(&self, archive: &[u8], packing: Packing) -> io::Result<Vec<u8>> {
        let (name_len, extra_len) =
            (number(archive, self.start + 26, 2)?, number(archive, self.start + 28, 2)?);
        let head = self.start + HEADER_LEN + name_len + extra_len;
        let stream = unpacked_member(slice(archive, head, self.packed_len)?, packing);
        let mut bytes = Vec::new();
        stream.take(self.len as u64 + 1).read_to_end(&mut bytes)?;
        let mut checksum = Crc::new();
        checksum.update(&bytes);
        if bytes.len() != self.len || checksum.sum() as usize != self.checksum {
            return Err(damaged("contains a damaged file"));
        }
        Ok(bytes)
    }
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

    /// A file with its name, its method, its compressed bytes and its content.
    type PackedFile<'a> = (&'a str, usize, Vec<u8>, &'a [u8]);

    /// Writes an archive.
    fn archive(files: &[PackedFile<'_>]) -> Vec<u8> {
        let u16 = |n: usize| u16::try_from(n).unwrap().to_le_bytes();
        let u32 = |n: usize| u32::try_from(n).unwrap().to_le_bytes();
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for (name, method, packed, content) in files {
            let start = out.len();
            let mut checksum = Crc::new();
            checksum.update(content);
            let checksum = checksum.sum().to_le_bytes();
            let fields = [&u16(20)[..], &u16(0), &u16(*method), &[0; 4], &checksum].concat();
            let lens = [&u32(packed.len())[..], &u32(content.len())].concat();
            let fields = [&fields[..], &lens, &u16(name.len()), &u16(0)].concat();
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
            // Only the last file of a name is read.
            ("a.json", 99, b"{}".to_vec(), b"{}"),
            ("b/c.json", 8, deflated(b"[1]"), b"[1]"),
            ("d.json", 93, compress_to_vec(&b"[2]"[..], CompressionLevel::Fastest), b"[2]"),
            ("e.bin", 99, vec![1], b"1"),
            ("a.json", 0, b"{\"n\":1}".to_vec(), b"{\"n\":1}"),
        ])
    }

    /// Returns the error for an archive.
    fn error(archive: &[u8]) -> String {
        files_in(archive, |_| true, 100).unwrap_err().to_string()
    }

    #[test]
    fn rejects_files_that_overlap_or_do_not_match_the_directory() {
        let text = b"[1, 1, 1, 1]";
        let packed = deflated(text);
        let cut = packed[..packed.len() - 1].to_vec();
        for (method, packed, content) in
            [(8, cut, &text[..]), (0, b"[1".to_vec(), text), (0, b"[2]".to_vec(), b"[1]")]
        {
            let whole = archive(&[("a.json", method, packed, content)]);
            assert!(files_in(&whole, |_| true, 100).is_err(), "{method}");
        }
        // The header of a member in the directory: flags at 8, its length at 20, its start at 42.
        let long = vec![b' '; 40];
        let whole = archive(&[("a", 0, long.clone(), &long), ("b", 0, long.clone(), &long)]);
        let entry = whole.windows(4).position(|bytes| bytes == DIRECTORY_ENTRY).unwrap();
        let changed = |at: usize, bytes: &[u8]| {
            let mut changed = whole.clone();
            changed[entry + at..entry + at + bytes.len()].copy_from_slice(bytes);
            changed
        };
        assert!(files_in(&whole, |_| true, 100).is_ok());
        assert!(error(&changed(8, &[1])).contains("encrypted"));
        assert!(error(&changed(42, &[0xff; 4])).contains("ZIP64"));
        let n_bytes = u32::try_from(whole.len()).unwrap().to_le_bytes();
        assert!(error(&changed(20, &n_bytes)).contains("is truncated"));
        let second = entry + ENTRY_LEN + 1;
        let n_bytes = u32::try_from(whole.len() - 39).unwrap().to_le_bytes();
        let mut overlapping = whole.clone();
        overlapping[second + 20..second + 24].copy_from_slice(&n_bytes);
        assert!(error(&overlapping).contains("overlap"));
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
