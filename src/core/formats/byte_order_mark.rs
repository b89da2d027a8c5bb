//! The byte order mark that some programs write at the start of a text file.

/// Returns the start of the text, after a byte order mark if there is one.
pub(crate) fn text_start(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}
