//! Files that a policy writes next to the conversation, and their location.
//!
//! The engine writes no files. It returns their contents, and an export writes them.

use std::sync::Arc;

/// A file that a named action writes.
#[derive(Clone, Debug, PartialEq)]
pub struct NewFile {
    /// Path relative to the folder of files, with `/` as the separator.
    pub name: String,
    /// The content.
    pub content: FileContent,
    /// Whether it is appended to the file that an earlier event wrote under the same name.
    pub appends: bool,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum FileContent {
    /// A text.
    Text(Arc<str>),
    /// Payload of a part of the session (an image), by its index. Only the session file contains it.
    Part(u32),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

/// The location of a run's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// The location that the policy defines: nothing is written.
    #[default]
    AsSet,
    /// This folder, which pointers name.
    Folder(Arc<str>),
    /// None: files cannot be written.
    Missing,
}

impl NewFile {
    /// Creates a file with a text.
    pub fn text(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            content: FileContent::Text(text.into()),
            appends: false,
        }
    }

    /// Returns its size in bytes, if known without the session file.
    pub fn n_bytes(&self) -> Option<usize> {
        match &self.content {
            FileContent::Text(text) => Some(text.len()),
            FileContent::Bytes(bytes) => Some(bytes.len()),
            FileContent::Part(_) => None,
        }
    }
}
