//! Files of a ZIP archive, also in ZIP64: stored, deflated, or compressed with Zstandard.

use super::unpack::{Packing, unpacked_member};
use flate2::Crc;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};

/// First bytes of an archive with at least one file.
pub(crate) const START: &[u8] = b"PK\x03\x04";
const DIRECTORY_ENTRY: &[u8] = b"PK\x01\x02";
const DIRECTORY_END: &[u8] = b"PK\x05\x06";
/// Length of the end of the directory without its comment.
const END_LEN: usize = 22;
/// Pointer to the end of the directory in ZIP64, directly before [`DIRECTORY_END`].
const LOCATOR_64: &[u8] = b"PK\x06\x07";
const LOCATOR_64_LEN: usize = 20;
const DIRECTORY_END_64: &[u8] = b"PK\x06\x06";
/// Length of the end of the directory in ZIP64 without the writer's own data.
const END_64_LEN: u64 = 56;
/// Kind of the extra field with the long numbers of an entry.
const LONG_NUMBERS: usize = 1;
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
    packed_len: u64,
    len: u64,
    /// Position of its header.
    start: u64,
}

/// Maximum number of files of an archive, the same as of tar.
const MAX_ENTRIES: u64 = 1_000_000;
/// Maximum size of the directory of an archive, in bytes: an entry has about 100 with the name.
const MAX_DIRECTORY: u64 = 256 << 20;
/// System of the archive's writer: Unix, whose entries have the mode of the file.
const UNIX: usize = 3;
/// Kind of a file in its mode, and that of a regular file.
const KIND: usize = 0o170_000;
const REGULAR: usize = 0o100_000;

/// Reads the files of an archive whose names `is_wanted` accepts, by name. They may have up to `most` bytes together.
///
/// # Errors
/// Returns an error if the archive is damaged, too large, or written in a way that is not supported.
pub(crate) fn files_in(
    archive: &[u8],
    is_wanted: impl Fn(&str) -> bool,
    most: u64,
) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    each_file(&mut Cursor::new(archive), is_wanted, most, |name, stream| {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        files.insert(name.to_owned(), bytes);
        Ok(())
    })?;
    Ok(files)
}

/// Returns the names of the files of an archive.
///
/// # Errors
/// Returns an error if the directory is damaged or written in a way that is not supported.
pub(crate) fn names_in(mut archive: impl Read + Seek) -> io::Result<Vec<String>> {
    Ok(directory(&mut archive, |_| true)?.into_keys().collect())
}

/// Passes the regular files of an archive whose names `is_wanted` accepts to a function, by name. They may have up to `most`
/// bytes together. Only one file at a time is decompressed.
///
/// # Errors
/// Returns an error if the archive is damaged, too large, or written in a way that is not supported, and those of `visit`.
pub(crate) fn each_file(
    archive: &mut (impl Read + Seek),
    is_wanted: impl Fn(&str) -> bool,
    most: u64,
    mut visit: impl FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let (mut left, mut left_packed) = (most, archive.seek(SeekFrom::End(0))?);
    for (name, entry) in directory(archive, is_wanted)? {
        let packing = entry.packing()?;
        let rest = left_packed.checked_sub(entry.packed_len);
        left_packed = rest.ok_or_else(|| damaged("contains files that overlap"))?;
        let rest = left.checked_sub(entry.len);
        left = rest.ok_or_else(|| damaged("is too large"))?;
        visit(&name, &mut entry.open(archive, packing)?)?;
    }
    Ok(())
}

/// Reads the directory of an archive. If it lists a name several times, as one that was extended does, the last file counts.
fn directory(
    archive: &mut (impl Read + Seek),
    is_wanted: impl Fn(&str) -> bool,
) -> io::Result<BTreeMap<String, DirectoryEntry>> {
    let DirectoryPlace { n_entries, start, end } = place(archive)?;
    let n_bytes = end.checked_sub(start).filter(|n_bytes| *n_bytes <= MAX_DIRECTORY);
    let n_bytes = n_bytes.filter(|_| n_entries <= MAX_ENTRIES);
    let n_bytes = n_bytes.ok_or_else(|| damaged("has a damaged directory"))?;
    let directory = read_at(archive, start, n_bytes)?;
    let (mut entries, mut at) = (BTreeMap::new(), 0);
    for _ in 0..n_entries {
        if !directory.get(at..).is_some_and(|rest| rest.starts_with(DIRECTORY_ENTRY)) {
            return Err(damaged("has a damaged directory"));
        }
        let number = |offset, len| number(&directory, at + offset, len);
        let (name_len, extra_len, comment_len) = (number(28, 2)?, number(30, 2)?, number(32, 2)?);
        let name = slice(&directory, at + ENTRY_LEN, name_len)?;
        let name = String::from_utf8_lossy(name).into_owned();
        let is_folder = name.ends_with('/');
        let mode = number(38, 4)? >> 16;
        let is_special = number(5, 1)? == UNIX && ![0, REGULAR].contains(&(mode & KIND));
        if !is_folder && !is_special && is_wanted(&name) {
            let extra = slice(&directory, at + ENTRY_LEN + name_len, extra_len)?;
            // In the order in which the extra field has those that are too long.
            let lens = [number(24, 4)?, number(20, 4)?, number(42, 4)?];
            let [len, packed_len, start] = long_numbers(lens, extra)?;
            let entry = DirectoryEntry {
                flags: number(8, 2)?,
                method: number(10, 2)?,
                checksum: number(16, 4)?,
                packed_len,
                len,
                start,
            };
            entries.insert(name, entry);
        }
        at += ENTRY_LEN + name_len + extra_len + comment_len;
    }
    // Some programs write the lowest 16 bits of a larger number of files.
    if directory.get(at..).is_some_and(|rest| rest.starts_with(DIRECTORY_ENTRY)) {
        return Err(damaged("has more files than it says"));
    }
    Ok(entries)
}

/// Place of the directory of an archive.
struct DirectoryPlace {
    n_entries: u64,
    start: u64,
    end: u64,
}

/// Finds the directory from the end of the archive.
fn place(archive: &mut (impl Read + Seek)) -> io::Result<DirectoryPlace> {
    let len = archive.seek(SeekFrom::End(0))?;
    let most = LOCATOR_64_LEN + END_LEN + usize::from(u16::MAX);
    let tail_start = len.saturating_sub(most as u64);
    let tail = read_at(archive, tail_start, len - tail_start)?;
    let end = tail.windows(DIRECTORY_END.len()).rposition(|bytes| bytes == DIRECTORY_END);
    let end = end.ok_or_else(|| damaged("has no directory"))?;
    let n_entries = number(&tail, end + 10, 2)?;
    let start = number(&tail, end + 16, 4)?;
    let locator = end.checked_sub(LOCATOR_64_LEN);
    let locator = locator.filter(|at| tail[*at..].starts_with(LOCATOR_64));
    let Some(locator) = locator else {
        if start == u32::MAX as usize {
            return Err(damaged("has a damaged directory"));
        }
        let end = tail_start + end as u64;
        return Ok(DirectoryPlace { n_entries: n_entries as u64, start: start as u64, end });
    };
    let end = long(&tail, locator + 8)?;
    let record = read_at(archive, end, END_64_LEN)?;
    if !record.starts_with(DIRECTORY_END_64) {
        return Err(damaged("has a damaged directory"));
    }
    Ok(DirectoryPlace { n_entries: long(&record, 32)?, start: long(&record, 48)?, end })
}

/// Returns numbers of an entry of the directory: those that do not fit are in the extra field, in this order.
fn long_numbers(short: [usize; 3], extra: &[u8]) -> io::Result<[u64; 3]> {
    let is_long = |number: usize| number == u32::MAX as usize;
    let mut at = 0;
    let mut longs: &[u8] = &[];
    while short.iter().any(|short| is_long(*short)) && at + 4 <= extra.len() {
        let (kind, len) = (number(extra, at, 2)?, number(extra, at + 2, 2)?);
        if kind == LONG_NUMBERS {
            longs = slice(extra, at + 4, len)?;
            break;
        }
        at += 4 + len;
    }
    let mut all = [0; 3];
    for (long_number, short) in all.iter_mut().zip(short) {
        *long_number = short as u64;
        if is_long(short) {
            *long_number = long(longs, 0)?;
            longs = &longs[8..];
        }
    }
    Ok(all)
}

impl DirectoryEntry {
    /// Returns the compression of the file, or an error if the file is not supported.
    fn packing(&self) -> io::Result<Packing> {
        if self.flags & ENCRYPTED != 0 {
            return Err(damaged("contains an encrypted file, which is not supported"));
        }
        match self.method {
            0 => Ok(Packing::Stored),
            8 => Ok(Packing::Deflate),
            93 => Ok(Packing::Zstandard),
            _ => Err(damaged("is compressed in a way that is not supported")),
        }
    }

    /// Opens the file for decompression.
    fn open<'a>(
        &self,
        archive: &'a mut (impl Read + Seek),
        packing: Packing,
    ) -> io::Result<CheckedFile<'a>> {
        let header = read_at(archive, self.start, HEADER_LEN as u64)?;
        let rest = number(&header, 26, 2)? + number(&header, 28, 2)?;
        // A damaged position may be any number.
        let start = self.start.saturating_add((HEADER_LEN + rest) as u64);
        if archive.seek(SeekFrom::End(0))?.saturating_sub(start) < self.packed_len {
            return Err(damaged("is truncated"));
        }
        archive.seek(SeekFrom::Start(start))?;
        let packed = BufReader::with_capacity(64 << 10, archive.take(self.packed_len));
        Ok(CheckedFile {
            stream: unpacked_member(packed, self.packed_len, packing),
            found: Crc::new(),
            n: 0,
            len: self.len,
            checksum: self.checksum,
        })
    }
}

/// A file whose length and checksum are compared with the directory's.
struct CheckedFile<'a> {
    stream: Box<dyn Read + 'a>,
    found: Crc,
    n: u64,
    len: u64,
    checksum: usize,
}

impl Read for CheckedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.read(buffer)?;
        self.found.update(&buffer[..n]);
        self.n += n as u64;
        let has_ended = n == 0 && !buffer.is_empty();
        let is_whole = self.n == self.len && self.found.sum() as usize == self.checksum;
        if self.n > self.len || has_ended && !is_whole {
            return Err(damaged("contains a damaged file"));
        }
        Ok(n)
    }
}

/// Reads bytes at a position, which the archive must have.
fn read_at(archive: &mut (impl Read + Seek), start: u64, len: u64) -> io::Result<Vec<u8>> {
    archive.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    archive.take(len).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < len {
        return Err(damaged("is truncated"));
    }
    Ok(bytes)
}

/// Reads a number of `len` bytes.
fn number(bytes: &[u8], at: usize, len: usize) -> io::Result<usize> {
    let bytes = slice(bytes, at, len)?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// Reads a number of 8 bytes.
fn long(bytes: &[u8], at: usize) -> io::Result<u64> {
    let bytes = slice(bytes, at, 8)?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn slice(bytes: &[u8], at: usize, len: usize) -> io::Result<&[u8]> {
    bytes.get(at..).and_then(|rest| rest.get(..len)).ok_or_else(|| damaged("is truncated"))
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

    #[test]
    fn links_and_folders_of_unix_are_no_files() {
        let mut whole =
            archive(&[("a.json", 0, b"{}".to_vec(), b"{}"), ("b.json/", 0, Vec::new(), b"")]);
        assert_eq!(
            files_in(&whole, |_| true, 100).unwrap().into_keys().collect::<Vec<_>>(),
            ["a.json"]
        );
        let entry = whole.windows(4).position(|bytes| bytes == DIRECTORY_ENTRY).unwrap();
        whole[entry + 5] = 3;
        // Mode of a symbolic link in the upper half of the external attributes.
        whole[entry + 40..entry + 42].copy_from_slice(&0o120_777_u16.to_le_bytes());
        assert!(files_in(&whole, |_| true, 100).unwrap().is_empty());
        assert_eq!(names_in(Cursor::new(&whole)).unwrap(), Vec::<String>::new());
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
        // The long position that it announces is missing.
        assert!(error(&changed(42, &[0xff; 4])).contains("is truncated"));
        let n_bytes = u32::try_from(whole.len()).unwrap().to_le_bytes();
        assert!(error(&changed(20, &n_bytes)).contains("is truncated"));
        let second = entry + ENTRY_LEN + 1;
        let n_bytes = u32::try_from(whole.len() - 39).unwrap().to_le_bytes();
        let mut overlapping = whole.clone();
        overlapping[second + 20..second + 24].copy_from_slice(&n_bytes);
        assert!(error(&overlapping).contains("overlap"));
    }

    /// Writes the archive of a file whose numbers are all in ZIP64.
    fn long_archive(name: &str, content: &[u8]) -> Vec<u8> {
        let plain = archive(&[(name, 0, content.to_vec(), content)]);
        let directory = plain.windows(4).position(|bytes| bytes == DIRECTORY_ENTRY).unwrap();
        let end = plain.windows(4).position(|bytes| bytes == DIRECTORY_END).unwrap();
        let long = |n: usize| (n as u64).to_le_bytes();
        let mut entry = plain[directory..end].to_vec();
        for at in [20, 24, 42] {
            entry[at..at + 4].fill(0xff);
        }
        // Another extra field stands before it.
        let other = [9, 0, 2, 0, 7, 7];
        let numbers = [long(content.len()), long(content.len()), long(0)].concat();
        let extra = [&other[..], &[1, 0, 24, 0], &numbers].concat();
        entry[30..32].copy_from_slice(&u16::try_from(extra.len()).unwrap().to_le_bytes());
        entry.extend(extra);
        let end_64 = directory + entry.len();
        let mut out = [&plain[..directory], &entry].concat();
        let sizes = [long(1), long(1), long(entry.len()), long(directory)].concat();
        out.extend([DIRECTORY_END_64, &long(44), &[45, 0, 45, 0], &[0; 8], &sizes].concat());
        out.extend([LOCATOR_64, &[0; 4], &long(end_64), &[1, 0, 0, 0]].concat());
        out.extend([DIRECTORY_END, &[0; 4], &[0xff; 12], &[0; 2]].concat());
        out
    }

    #[test]
    fn reads_numbers_of_eight_bytes() {
        let whole = long_archive("a.json", b"{}");
        let files = files_in(&whole, |_| true, 100).unwrap();
        assert_eq!(files["a.json"], b"{}");
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            let _ = files_in(&changed, |_| true, 1 << 20);
            let _ = files_in(&whole[..at], |_| true, 100);
        }
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
