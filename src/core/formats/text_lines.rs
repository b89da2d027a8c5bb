//! Lines of a text file, for formats in Markdown.

use super::byte_order_mark::text_start;
use super::notes::Notes;
use crate::session::Span;
use std::borrow::Cow;

/// A line of a text file.
pub(super) struct TextLine<'a> {
    /// Text without the trimmed end. Bytes that are not UTF-8 are replaced.
    pub(super) text: Cow<'a, str>,
    /// Byte range in the file, including the line ending.
    pub(super) span: Span,
}

/// Iterates over the lines of a file. `trim` removes at least the line ending.
pub(super) fn text_lines<'a>(
    bytes: &'a [u8],
    trim: fn(&[u8]) -> &[u8],
    notes: &mut Notes,
) -> impl Iterator<Item = TextLine<'a>> {
    let mut start = text_start(bytes);
    let pieces = bytes[start..].split_inclusive(|b| *b == b'\n');
    pieces.map(move |piece| {
        let span = start..start + piece.len();
        let text = String::from_utf8_lossy(trim(piece));
        if matches!(text, Cow::Owned(_)) {
            notes.once(start, "some bytes are not UTF-8");
        }
        start = span.end;
        TextLine { text, span }
    })
}

/// Removes the line ending.
pub(super) fn without_line_ending(line: &[u8]) -> &[u8] {
    let is_content = |b: &u8| !matches!(b, b'\n' | b'\r');
    let len = line.iter().rposition(is_content).map_or(0, |at| at + 1);
    &line[..len]
}
