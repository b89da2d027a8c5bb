//! The bytes of a file. They are kept as long as the session, because records are displayed and written again.
//!
//! Large files are compressed in memory. Session files are repetitive and only a few of their bytes are read again. The
//! compressed bytes preserve the file as it was read, even if it changes on disk.

use super::message::Span;
use super::packed::{Packed, Packer};
use super::pieces::{LineRange, Pieces, line_ends};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The bytes of a file. Clones share them.
#[derive(Clone)]
pub struct FileBytes(Storage);

#[derive(Clone)]
enum Storage {
    Plain(Arc<Vec<u8>>),
    Packed(Arc<Packed>),
}

/// Minimum bytes of a file that is compressed.
// Chosen (docs/decisions/0018): most sessions are smaller and gain nothing that anyone notices. At half, more files pay
// the time of compressing; at double, several open sessions of 30 MB each stay uncompressed.
const MIN_COMPRESSED: usize = 16 << 20;

impl FileBytes {
    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::Plain(bytes) => bytes.len(),
            Storage::Packed(packed) => packed.len(),
        }
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the bytes are compressed, so that [`Self::whole`] is expensive.
    pub fn is_packed(&self) -> bool {
        matches!(self.0, Storage::Packed(_))
    }

    /// Appends a line to bytes that are not compressed. Returns the place of its text.
    pub fn append(&mut self, line: &[u8]) -> Span {
        if self.is_packed() {
            *self = Self(Storage::Plain(self.whole()));
        }
        let start = self.len();
        if let Storage::Plain(bytes) = &mut self.0 {
            let bytes = Arc::make_mut(bytes);
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        start..start + line.len()
    }

    /// Compresses the bytes if there are many.
    pub fn pack(&mut self) {
        if self.len() >= MIN_COMPRESSED
            && let Storage::Plain(bytes) = &self.0
        {
            let mut packer = Packer::default();
            bytes.chunks(MIN_COMPRESSED).for_each(|bytes| packer.push(bytes));
            *self = packer.finish();
        }
    }

    /// Returns all bytes. Compressed bytes are decompressed while the result is alive; further calls meanwhile are
    /// free.
    pub fn whole(&self) -> Arc<Vec<u8>> {
        match &self.0 {
            Storage::Plain(bytes) => Arc::clone(bytes),
            Storage::Packed(packed) => packed.whole(),
        }
    }

    /// Counts the line endings in a span.
    pub fn line_ends(&self, span: &Span) -> usize {
        match &self.0 {
            Storage::Plain(bytes) => line_ends(&bytes[span.clone()]),
            Storage::Packed(packed) => packed.line_ends(span),
        }
    }

    /// Returns whether there is only white space.
    pub fn is_blank(&self) -> bool {
        match &self.0 {
            Storage::Plain(bytes) => bytes.trim_ascii_start().is_empty(),
            Storage::Packed(packed) => packed.is_blank(),
        }
    }

    /// Returns whether `other` is a prefix of this file or equal to it.
    pub fn starts_with(&self, other: &Self) -> bool {
        if self.len() < other.len() {
            return false;
        }
        let same = match (&self.0, &other.0) {
            (Storage::Packed(own), Storage::Packed(other)) => own.common_prefix(other),
            _ => 0,
        };
        let rest = other.line_ranges().into_iter().map(|range| range.span);
        rest.filter(|span| span.end > same)
            .map(|span| span.start.max(same)..span.end)
            .all(|span| self.piece(&span) == other.piece(&span))
    }
}

impl Pieces for FileBytes {
    fn piece(&self, span: &Span) -> Cow<'_, [u8]> {
        match &self.0 {
            Storage::Plain(bytes) => bytes[..].piece(span),
            Storage::Packed(packed) => Cow::Owned(packed.piece(span)),
        }
    }

    fn line_ranges(&self) -> Vec<LineRange> {
        match &self.0 {
            Storage::Plain(bytes) => bytes[..].line_ranges(),
            Storage::Packed(packed) => packed.line_ranges(),
        }
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Storage::Plain(Arc::new(bytes)))
    }
}

impl fmt::Debug for FileBytes {
    /// Formats only the number of bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let storage = if self.is_packed() { "packed" } else { "plain" };
        write!(f, "FileBytes({} {storage})", self.len())
    }
}

impl Packer {
    /// Compresses the remaining bytes and returns all of them.
    pub fn finish(self) -> FileBytes {
        FileBytes(Storage::Packed(Arc::new(self.into_packed())))
    }
}
