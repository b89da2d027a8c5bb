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

/// Maximum length of a name that contains an id of the session. File systems allow 255 bytes, encrypted home folders
/// (eCryptfs) 143, and pointers to the file are in the context.
const MAX_NAME_BYTES: usize = 120;

/// Returns a file name of limited length: a longer one ends with its hash, so that different names stay different. Ids
/// are untrusted input and can have any length.
pub fn short_name(name: String) -> String {
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    // FNV-1a, see http://www.isthe.com/chongo/tech/comp/fnv/
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let ending = ending.filter(|ending| ending.len() <= 5);
    let ending = ending.map_or_else(String::new, |ending| format!(".{ending}"));
    let head = name.floor_char_boundary(MAX_NAME_BYTES - ending.len() - 17);
    format!("{}-{hash:016x}{ending}", &name[..head])
}

impl NewFile {
    /// Creates a file with a text.
    pub fn text(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), content: FileContent::Text(text.into()), appends: false }
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
