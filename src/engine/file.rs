//! Files that a policy writes beside the conversation, and where they go.
//!
//! The engine writes none: it says what would be written, and an export writes that.

use std::sync::Arc;

/// A file that a named action writes.
#[derive(Clone, Debug, PartialEq)]
pub struct NewFile {
    /// Its path below the folder of files, with `/` between folders.
    pub name: String,
    /// What it holds.
    pub content: FileContent,
    /// It is added to what an earlier event wrote under the same name.
    pub appends: bool,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum FileContent {
    /// A text.
    Text(Arc<str>),
    /// The payload of a part of the session (an image), by its index: only the session's file holds it.
    Part(u32),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

/// Where a run's files go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// Where the policy itself says: nothing is really written.
    #[default]
    AsSet,
    /// Into this folder, which pointers name.
    Folder(Arc<str>),
    /// Nowhere: it cannot be written.
    Missing,
}

impl NewFile {
    /// Bytes of it, where they are known without the session's file.
    pub fn n_bytes(&self) -> Option<usize> {
        match &self.content {
            FileContent::Text(text) => Some(text.len()),
            FileContent::Bytes(bytes) => Some(bytes.len()),
            FileContent::Part(_) => None,
        }
    }
}
