//! Where the lines of a file stand.

use crate::session::{FileBytes, Span};
use memchr::memchr;

/// No session has more lines: each is kept as more than the few bytes that it may take in a file.
const MOST_LINES: usize = 5_000_000;

/// Where the text starts: behind a byte order mark, if there is one.
pub(in crate::formats) fn text_start(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    }
}

/// A line that is not blank, trimmed.
pub(super) struct Line<'a> {
    pub(super) number: usize,
    /// Where it stands in the file.
    pub(super) span: Span,
    pub(super) text: &'a [u8],
    /// The file ends in it, without a line's end.
    pub(super) is_open: bool,
}

impl Line<'_> {
    /// Where in its text something stands that stands there in the file.
    pub(super) fn place_of(&self, span: &Span) -> Span {
        span.start - self.span.start..span.end - self.span.start
    }
}

/// The lines of a text that begins at a byte of its file, before which there are so many.
pub(super) fn lines(
    text: &[u8],
    start: usize,
    lines_before: usize,
) -> impl Iterator<Item = Line<'_>> {
    let first = if start == 0 { text_start(text) } else { 0 };
    let (mut next, mut number) = (first, lines_before);
    std::iter::from_fn(move || {
        while next < text.len() {
            let rest = &text[next..];
            let end = memchr(b'\n', rest);
            let line = &rest[..end.unwrap_or(rest.len())];
            let at = start + next + line.len() - line.trim_ascii_start().len();
            next += line.len() + 1;
            number += 1;
            let line = line.trim_ascii();
            if !line.is_empty() {
                return Some(Line {
                    number,
                    span: at..at + line.len(),
                    text: line,
                    is_open: end.is_none(),
                });
            }
        }
        None
    })
}

/// Whether there are more lines than any session has, however little stands in them.
pub(in crate::formats) fn is_crowded(bytes: &FileBytes) -> bool {
    bytes.len() > MOST_LINES && bytes.line_ends(&(0..bytes.len())) >= MOST_LINES
}

/// What is said of such a file.
pub(in crate::formats) fn crowded() -> String {
    let most = MOST_LINES / 1_000_000;
    format!("it has more than {most} million lines, which no session has")
}
