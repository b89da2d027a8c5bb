//! Reads a session that its program stores as a ZIP archive. [`formats::archived_document`] joins the files.

use crate::exec::files::{
    LoadError, MAX_SESSION_BYTES, ZIP_START, file_name, files_in, names_in, read_bounded,
};
use crate::formats::{self, FolderFile, Input};
use std::fs::{File, Metadata};
use std::io::{BufReader, Read as _};
use std::path::Path;

/// Reads an archive as one document. Returns `None` for any other file, and for archives without a supported session.
///
/// # Errors
/// Returns a [`LoadError`] if the archive is damaged or too large.
pub(super) fn document(path: &Path, metadata: &Metadata) -> Result<Option<Input>, LoadError> {
    if !metadata.is_file() || !is_archive(path) {
        return Ok(None);
    }
    let archive = read_bounded(path, MAX_SESSION_BYTES)?;
    let is_wanted = |name: &str| Path::new(name).extension().is_some_and(|end| end == "json");
    let files = files_in(&archive, is_wanted, MAX_SESSION_BYTES);
    let files = files.map_err(|error| LoadError::unreadable(&file_name(path), &error))?;
    drop(archive);
    let files: Vec<FolderFile> =
        files.into_iter().map(|(name, bytes)| FolderFile { name, bytes }).collect();
    Ok(formats::archived_document(&files)
        .map(|bytes| Input { name: file_name(path), bytes: bytes.into() }))
}

/// Returns whether an archive is one session, such as the log of an evaluation. The names of its files decide.
pub(crate) fn is_session(path: &Path) -> bool {
    let names = File::open(path).ok().and_then(|file| names_in(BufReader::new(file)).ok());
    let with_name = |name| FolderFile { name, bytes: b"{}".to_vec() };
    let files: Vec<FolderFile> = names.unwrap_or_default().into_iter().map(with_name).collect();
    formats::archived_document(&files).is_some()
}

fn is_archive(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == ZIP_START
}
