//! Kinds of archives, and their entries one after another.

use crate::exec::files::{ZIP_START, each_file, unpacked};
use crate::exec::load::is_archived_session;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tar::{Archive, Entry, PaxExtensions};

/// Size of a header of tar.
const TAR_HEADER: u64 = 512;
/// Maximum number of entries of an archive, also of those that are not written. Each takes at least a header, so that reading
/// this many takes about a second.
const MAX_ENTRIES: usize = 1_000_000;
/// Maximum size of an extended header: the longest path of Linux has 4 KiB, and other fields are as short.
const MAX_EXTENSION: u64 = 1 << 20;

/// Kind of an archive, by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArchiveKind {
    /// ZIP.
    Zip,
    /// tar, also compressed with gzip or Zstandard.
    Tar,
}

/// A file of an archive.
pub(super) struct ArchivedFile<'a> {
    /// The name as written in the archive, which may be hostile.
    pub(super) name: String,
    /// Length, if the archive has it before the content.
    pub(super) len: Option<u64>,
    /// Modification time, if recorded with a time zone.
    pub(super) modified: Option<SystemTime>,
    /// The content.
    pub(super) stream: &'a mut dyn Read,
}

/// An entry that is not passed as a file.
pub(super) struct SpecialEntry;

/// Returns the kind of an archive of several files; `None` for other files and for an archive that is one session.
pub(super) fn kind_of(path: &Path) -> Option<ArchiveKind> {
    let mut start = [0; 4];
    File::open(path).ok()?.read_exact(&mut start).ok()?;
    if start == ZIP_START {
        return (!is_archived_session(path)).then_some(ArchiveKind::Zip);
    }
    let mut header = Vec::new();
    let unpacked = unpacked(File::open(path).ok()?).ok()?;
    unpacked.bytes.take(TAR_HEADER).read_to_end(&mut header).ok()?;
    // POSIX and GNU tar write it.
    (header.get(257..262)? == b"ustar").then_some(ArchiveKind::Tar)
}

/// Passes the files of a ZIP archive whose names `is_wanted` accepts to a function. They may have up to `most` bytes
/// together.
pub(super) fn zip_files(
    archive: File,
    is_wanted: impl Fn(&str) -> bool,
    most: u64,
    mut visit: impl FnMut(ArchivedFile<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut archive = io::BufReader::new(archive);
    each_file(&mut archive, is_wanted, most, |name, stream| {
        visit(ArchivedFile { name: name.to_owned(), len: None, modified: None, stream })
    })
}

/// Passes the files of a tar archive to a function, and entries that are neither files nor folders. The decompressed archive
/// may have up to `most` bytes.
pub(super) fn tar_files(
    archive: impl Read,
    most: u64,
    mut visit: impl FnMut(Result<ArchivedFile<'_>, SpecialEntry>) -> io::Result<()>,
) -> io::Result<()> {
    let stream = BoundedStream { stream: unpacked(archive)?.bytes, left: most };
    let mut archive = Archive::new(stream);
    // Long names are read here, since the library puts no bound on them.
    let mut long_name = None;
    for (nth, entry) in archive.entries()?.raw(true).enumerate() {
        if nth >= MAX_ENTRIES {
            return Err(io::Error::other("it has more than a million entries"));
        }
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() {
            let name = extension(&mut entry)?;
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            long_name = Some(String::from_utf8_lossy(name).into_owned());
        } else if kind.is_pax_local_extensions() {
            long_name = extended_name(&extension(&mut entry)?)?.or(long_name);
        } else if kind.is_file() || kind.is_contiguous() {
            let own_name = || String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let name = long_name.take().unwrap_or_else(own_name);
            let modified = entry.header().mtime().ok().map(Duration::from_secs);
            visit(Ok(ArchivedFile {
                name,
                len: Some(entry.header().entry_size()?),
                modified: modified.and_then(|time| UNIX_EPOCH.checked_add(time)),
                stream: &mut entry,
            }))?;
        } else if !(kind.is_gnu_longlink() || kind.is_pax_global_extensions()) {
            long_name = None;
            if !kind.is_dir() {
                visit(Err(SpecialEntry))?;
            }
        }
    }
    // The end of the compressed stream has its checksum.
    io::copy(&mut archive.into_inner(), &mut io::sink())?;
    Ok(())
}

/// Reads an extended header.
fn extension(entry: &mut Entry<'_, impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.take(MAX_EXTENSION + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_EXTENSION {
        return Err(io::Error::other("it has an extended header that is too large"));
    }
    Ok(bytes)
}

/// Returns the name in an extended header of POSIX.
fn extended_name(header: &[u8]) -> io::Result<Option<String>> {
    let mut name = None;
    for field in PaxExtensions::new(header) {
        let field = field?;
        match field.key_bytes() {
            b"path" => name = Some(String::from_utf8_lossy(field.value_bytes()).into_owned()),
            // Written for files of 8 GiB and more, whose length does not fit into a header.
            b"size" => return Err(io::Error::other("it has a file of more than 8 GiB")),
            _ => {}
        }
    }
    Ok(name)
}

/// A stream that fails beyond a number of bytes.
struct BoundedStream<R> {
    stream: R,
    left: u64,
}

impl<R: Read> Read for BoundedStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.read(buffer)?;
        let left = self.left.checked_sub(n as u64);
        self.left = left.ok_or_else(|| io::Error::other("it is too large"))?;
        Ok(n)
    }
}
