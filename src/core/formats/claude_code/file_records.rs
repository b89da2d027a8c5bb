//! The records of a file, from which its conversations are read.

use super::entry::{ClaudeEntry, Version};
use super::requests::Requests;
use crate::formats::Input;

/// The records of a file.
#[derive(Clone, Copy)]
pub(super) struct FileRecords<'a> {
    pub input: &'a Input,
    pub entries: &'a [ClaudeEntry],
    /// First version that recorded what it sent, if any did.
    pub since: Option<Version>,
    /// Recorded requests, if there are any.
    pub requests: Option<&'a Requests<'a>>,
}
