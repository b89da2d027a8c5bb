//! Bytes that are read in pieces: by span, or line by line on all cores.

use super::message::Span;
use memchr::{memchr, memchr_iter};
use rayon::prelude::*;
use std::borrow::Cow;

/// A range of whole lines, processed on one core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// Byte span in the file.
    pub span: Span,
    /// Number of lines.
    pub n_lines: usize,
    /// Number of lines before it.
    pub lines_before: usize,
}

/// Bytes that can be read in pieces.
pub trait Pieces: Sync {
    /// Returns the bytes of a span, which must be in range. Decompresses only the blocks that contain it.
    fn piece(&self, span: &Span) -> Cow<'_, [u8]>;

    /// Returns all lines in order, in ranges.
    fn line_ranges(&self) -> Vec<LineRange>;
}

/// Minimum bytes of a range of uncompressed lines.
// Chosen: parsing a megabyte takes milliseconds, far longer than passing it to another core. Smaller ranges gain
// nothing; larger ones leave cores idle for files of a few megabytes.
const RANGE_BYTES: usize = 1 << 20;

impl Pieces for [u8] {
    fn piece(&self, span: &Span) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self[span.clone()])
    }

    fn line_ranges(&self) -> Vec<LineRange> {
        let mut spans = Vec::new();
        let mut start = 0;
        while start < self.len() {
            let rest = self.get(start + RANGE_BYTES..).unwrap_or_default();
            let end = memchr(b'\n', rest).map_or(self.len(), |n| start + RANGE_BYTES + n + 1);
            spans.push(start..end);
            start = end;
        }
        let n_lines = |span: &Span| {
            let text = &self[span.clone()];
            line_ends(text) + usize::from(!text.ends_with(b"\n"))
        };
        let n_lines: Vec<usize> = spans.par_iter().map(n_lines).collect();
        numbered(spans.into_iter().zip(n_lines))
    }
}

/// Counts the line endings in a text.
pub(super) fn line_ends(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count()
}

/// Numbers line ranges with known spans and line counts.
pub(super) fn numbered(lines: impl IntoIterator<Item = (Span, usize)>) -> Vec<LineRange> {
    let mut before = 0;
    let range = |(span, n_lines)| {
        before += n_lines;
        LineRange { span, n_lines, lines_before: before - n_lines }
    };
    lines.into_iter().map(range).collect()
}
