//! The table `failures`.

use crate::exec::tables::column::{ContentHash, Name};
use crate::exec::tables::schema::row;

row! {
    /// A file, or a conversation of a file, without rows in the other tables.
    FailureRow in "failures" {
        /// SHA-256 of the file's content; null if it cannot be read.
        content_sha256: Option<ContentHash>,
        /// Path of the file, relative to the given folder.
        path: Name,
        /// Number of the conversation in the file, from 1; null for the whole file.
        conversation: Option<usize>,
        /// `read`, `count` or `compute`.
        stage: Name,
        /// Why it failed, without text of the file.
        reason: Name,
    }
}
