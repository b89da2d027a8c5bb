//! Opens a path: a file, the files of a session's folder or archive as one document, or a database.

use super::{archive, session_folder};
use crate::exec::database::{Snapshot, is_database};
use crate::exec::files::{LoadError, file_name, must_exist, read_file};
use crate::formats::Input;
use crate::progress::Progress;
use std::path::Path;

/// The content of a path, not parsed yet.
pub(super) enum FileSource {
    /// A file, or a folder's files as one document.
    Document(Input),
    /// A copy of a database.
    Database(Box<Snapshot>),
}

impl FileSource {
    /// Reads a document or copies a database.
    pub(super) fn open(path: &Path, progress: &Progress) -> Result<Self, LoadError> {
        must_exist(path)?;
        if is_database(path) {
            let snapshot = Snapshot::open(path, progress)?;
            return Ok(Self::Database(Box::new(snapshot)));
        }
        Self::document(path, progress).map(Self::Document)
    }

    /// Reads a path that is not a database.
    pub(super) fn document(path: &Path, progress: &Progress) -> Result<Input, LoadError> {
        let metadata = must_exist(path)?;
        if let Some(document) = session_folder::document(path)? {
            return Ok(document);
        }
        if let Some(document) = archive::document(path, &metadata)? {
            return Ok(document);
        }
        Ok(Input { name: file_name(path), bytes: read_file(path, &metadata, progress)? })
    }
}
