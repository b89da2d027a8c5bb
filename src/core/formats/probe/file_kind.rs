//! Descriptions of files that are not JSON.

use crate::formats::tnetstring;

const UTF_16: &str = "UTF-16 text: save it as UTF-8";

/// Describes a binary file by its first bytes. Returns `None` for text.
pub(crate) fn binary(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"SQLite format 3\0", "a SQLite database"),
        (b"\x1f\x8b", "a compressed file (gzip)"),
        (b"\x28\xb5\x2f\xfd", "a compressed file (zstd)"),
        (b"\xfd7zXZ\0", "a compressed file (xz)"),
        (b"PK\x03\x04", "a compressed file (zip)"),
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"\x7fELF", "a program"),
        (b"\xff\xfe", UTF_16),
        (b"\xfe\xff", UTF_16),
    ];
    let known = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| *what);
    // Crashes leave blocks of NUL bytes in logs, but rarely at the start. A sector of 512 bytes is the smallest such
    // block.
    let start = &bytes[..bytes.len().min(512)];
    // Flows of a proxy contain answers as they were sent, usually compressed.
    known.or_else(|| match start.contains(&0) && !tnetstring::is_start(start) {
        true if is_utf16(start) => Some(UTF_16),
        true => Some("binary data"),
        false => None,
    })
}

/// Returns whether text without a byte order mark is UTF-16: in mostly English text, every second byte is NUL.
fn is_utf16(start: &[u8]) -> bool {
    let nuls = |from: usize| start.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
    let (big, little) = (nuls(0), nuls(1));
    // Four of five characters are enough, since signs and other scripts have no NUL byte. Less than two units decide
    // nothing.
    let most = start.len() / 2 * 4 / 5;
    start.len() >= 4 && (big >= most && little == 0 || little >= most && big == 0)
}

/// Describes text that is not JSON.
pub(super) fn text_kind(start: &[u8]) -> &'static str {
    const STARTS: &[(&[u8], &str)] =
        &[(b"<!DOCTYPE", "an HTML page"), (b"<html", "an HTML page"), (b"<?xml", "XML")];
    let start = start.trim_ascii_start();
    let known = STARTS.iter().find(|(begin, _)| start.starts_with(begin)).map(|(_, what)| *what);
    let block = String::from_utf8_lossy(&start[..start.len().min(4096)]);
    // The end of the block may split a character, and text may be damaged in places. A compressed or encrypted block of
    // 4 KiB has hundreds of invalid bytes, so 16 is far from both.
    let is_text = block.matches(char::REPLACEMENT_CHARACTER).count() < 16 && !start.contains(&0);
    known.unwrap_or(if is_text { "Markdown or plain text" } else { "binary data" })
}
