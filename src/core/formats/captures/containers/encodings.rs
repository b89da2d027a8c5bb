//! Content encodings of HTTP bodies.

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;
use std::borrow::Cow;
use std::io::Read;

/// Maximum size of a decoded body in bytes.
// Chosen: larger than any answer, and small enough that a file of such bodies is read one after the other.
const MAX_DECODED: u64 = 256 << 20;

/// Decodes a body. Returns the name of an encoding that is not supported, or of one whose data is damaged.
pub(super) fn decoded<'a>(body: &'a [u8], encoding: &str) -> Result<Cow<'a, [u8]>, String> {
    let encoding = encoding.trim().to_ascii_lowercase();
    let found = match &*encoding {
        "" | "identity" => Some(Cow::Borrowed(body)),
        "gzip" | "x-gzip" => all(MultiGzDecoder::new(body)),
        "deflate" => all(ZlibDecoder::new(body)),
        "zstd" => StreamingDecoder::new(body).ok().and_then(all),
        _ => None,
    };
    found.ok_or(encoding)
}

/// Reads as much as a body may have. The end of an interrupted answer may be missing.
fn all<'a>(reader: impl Read) -> Option<Cow<'a, [u8]>> {
    let mut decoded = Vec::new();
    let read = reader.take(MAX_DECODED).read_to_end(&mut decoded);
    (read.is_ok() || !decoded.is_empty()).then_some(Cow::Owned(decoded))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    #[test]
    fn decodes_gzip_also_if_its_end_is_missing() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"data: {}\n\n").unwrap();
        let body = encoder.finish().unwrap();
        assert_eq!(decoded(&body, "gzip").unwrap(), &b"data: {}\n\n"[..]);
        assert_eq!(decoded(&body[..body.len() - 4], "GZIP").unwrap(), &b"data: {}\n\n"[..]);
        assert_eq!(decoded(b"{}", "").unwrap(), &b"{}"[..]);
        assert_eq!(decoded(b"{}", "gzip"), Err("gzip".to_owned()));
        assert_eq!(decoded(b"{}", "br"), Err("br".to_owned()));
    }
}
