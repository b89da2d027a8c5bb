//! Splits a file into lines.

use crate::formats::byte_order_mark::text_start;
use crate::session::{FileBytes, Span};
use memchr::memchr;

/// Maximum number of lines. In memory each takes far more than the few bytes that it may have in a file.
// Chosen: five times the largest session of docs/performance.md, a million messages in 0.96 GB. Double would allow
// files that need the whole memory of a usual machine.
const MAX_LINES: usize = 5_000_000;

/// A non-blank line, trimmed.
pub(super) struct NumberedLine<'a> {
    pub(super) number: usize,
    /// Byte range in the file.
    pub(super) span: Span,
    pub(super) text: &'a [u8],
    /// The file ends with this line, without a line break.
    pub(super) is_open: bool,
}

impl NumberedLine<'_> {
    /// Converts a byte range in the file to one in the line's text.
    pub(super) fn place_of(&self, span: &Span) -> Span {
        span.start - self.span.start..span.end - self.span.start
    }
}

/// Iterates over the lines of a text that begins at byte `start` of its file, after `lines_before` lines.
pub(super) fn numbered_lines(
    text: &[u8],
    start: usize,
    lines_before: usize,
) -> impl Iterator<Item = NumberedLine<'_>> {
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
                return Some(NumberedLine {
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

/// Returns whether the file has too many lines.
pub(crate) fn has_too_many_lines(bytes: &FileBytes) -> bool {
    bytes.len() > MAX_LINES && bytes.line_ends(&(0..bytes.len())) >= MAX_LINES
}

/// Returns the message for a file with too many lines.
pub(crate) fn too_many_lines() -> String {
    let most = MAX_LINES / 1_000_000;
    format!("it has more than {most} million lines, more than any session")
}
