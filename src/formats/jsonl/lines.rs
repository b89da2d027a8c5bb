//! Where the lines of a file stand.

use crate::session::Span;
use memchr::{memchr, memchr_iter};
use rayon::prelude::*;

/// No session has more lines: each is kept as more than the few bytes that it may take in a file.
const MOST_LINES: usize = 5_000_000;
/// Lines that begin within so many bytes are found and read on one core.
pub(super) const PIECE: usize = 1 << 20;

/// Where the text starts: behind a byte order mark, if there is one.
pub(in crate::formats) fn text_start(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    }
}

/// Whole lines that stand near each other.
pub(super) struct Piece {
    pub(super) span: Span,
    pub(super) n_lines: usize,
    pub(super) lines_before: usize,
}

/// All lines, in pieces for one core each.
pub(super) fn pieces(bytes: &[u8]) -> Vec<Piece> {
    let mut spans = Vec::new();
    let mut start = text_start(bytes);
    while start < bytes.len() {
        let rest = bytes.get(start + PIECE..).unwrap_or_default();
        let end = memchr(b'\n', rest).map_or(bytes.len(), |n| start + PIECE + n + 1);
        spans.push(start..end);
        start = end;
    }
    let n_lines = |span: &Span| {
        let text = &bytes[span.clone()];
        memchr_iter(b'\n', text).count() + usize::from(!text.ends_with(b"\n"))
    };
    let n_lines: Vec<usize> = spans.par_iter().map(n_lines).collect();
    let mut lines_before = 0;
    let piece = |(span, n_lines)| {
        lines_before += n_lines;
        Piece {
            span,
            n_lines,
            lines_before: lines_before - n_lines,
        }
    };
    spans.into_iter().zip(n_lines).map(piece).collect()
}

/// A line that is not blank, trimmed.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) span: Span,
    /// The file ends in it, without a line's end.
    pub(super) is_open: bool,
}

/// The lines of a piece before which there are so many.
pub(super) fn lines(bytes: &[u8], piece: Span, lines_before: usize) -> impl Iterator<Item = Line> {
    let bytes = &bytes[..piece.end];
    let (mut next, mut number) = (piece.start, lines_before);
    std::iter::from_fn(move || {
        while next < bytes.len() {
            let rest = &bytes[next..];
            let end = memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            let start = next + line.len() - line.trim_ascii_start().len();
            let span = start..start + line.trim_ascii().len();
            next += line.len() + 1;
            number += 1;
            if !line.trim_ascii().is_empty() {
                return Some(Line {
                    number,
                    span,
                    is_open: end.is_none(),
                });
            }
        }
        None
    })
}

/// Whether there are more lines than any session has, however little stands in them.
pub(in crate::formats) fn is_crowded(bytes: &[u8]) -> bool {
    let ends = |piece: &[u8]| memchr_iter(b'\n', piece).count();
    bytes.len() > MOST_LINES && bytes.par_chunks(PIECE).map(ends).sum::<usize>() >= MOST_LINES
}

/// What is said of such a file.
pub(in crate::formats) fn crowded() -> String {
    let most = MOST_LINES / 1_000_000;
    format!("it has more than {most} million lines, which no session has")
}
