//! Payloads of images, audio and documents: their kind and size, without decoding them as a whole.

use crate::session::{Body, ImageDetail, MediaKind};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Length of the prefix that is decoded to read an image's size, in base64 characters (64 KiB decoded).
// The size of a JPEG follows its metadata, whose segments (a preview, a color profile) have up to 64 KiB each.
const PREFIX_CHARS: usize = 65_536 / 3 * 4;

/// Maximum plausible edge and area in pixels. No provider accepts larger images.
// Chosen far above the 8,000 px that Anthropic accepts: it only rejects sizes read from damaged data.
const MAX_PIXELS: (usize, usize) = (100_000, 1_000_000_000);

/// Returns a media part for a base64 payload.
pub(crate) fn from_base64(mime: &str, payload: &str, within: Option<&str>) -> Body {
    let media = kind_of(mime);
    let pixels = if media == MediaKind::Image { pixels(payload) } else { None };
    Body::Media {
        media,
        mime: mime.into(),
        bytes: decoded_len(payload),
        pixels,
        detail: ImageDetail::Auto,
        within: within.map(Into::into),
    }
}

/// Returns a media part for a URL. A `data:` URL contains its payload, any other URL refers to it. `mime` is the type
/// recorded with the URL or the assumed type (`image/*`).
pub(crate) fn from_url(mime: &str, url: &str, within: Option<&str>) -> Body {
    if let Some((head, payload)) = url.strip_prefix("data:").and_then(|data| data.split_once(',')) {
        let own = head.split(';').next().unwrap_or_default();
        let mime = if own.is_empty() { mime } else { own };
        if head.ends_with(";base64") {
            return from_base64(mime, payload, within);
        }
        return reference(mime, payload.len() as u64, within);
    }
    reference(mime, 0, within)
}

/// Returns a media part whose payload is not in the file.
pub(crate) fn reference(mime: &str, bytes: u64, within: Option<&str>) -> Body {
    Body::Media {
        media: kind_of(mime),
        mime: mime.into(),
        bytes,
        pixels: None,
        detail: ImageDetail::Auto,
        within: within.map(Into::into),
    }
}

/// Returns the kind of media of a MIME type.
pub(crate) fn kind_of(mime: &str) -> MediaKind {
    match mime.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        _ => MediaKind::Document,
    }
}

/// Returns the decoded length of a payload in bytes. Line breaks and padding do not count.
fn decoded_len(payload: &str) -> u64 {
    payload.bytes().filter(|b| is_digit(*b)).count() as u64 * 3 / 4
}

/// Decodes the first `most` digits of a payload. Line breaks and padding do not count.
pub(crate) fn decode(payload: &str, most: usize) -> Option<Vec<u8>> {
    let standard = |b| match b {
        b'-' => b'+',
        b'_' => b'/',
        b => b,
    };
    let digits: Vec<u8> =
        payload.bytes().filter(|b| is_digit(*b)).take(most).map(standard).collect();
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, config);
    engine.decode(digits).ok()
}

fn pixels(payload: &str) -> Option<(u32, u32)> {
    let head = decode(payload, PREFIX_CHARS)?;
    let size = imagesize::blob_size(&head).ok()?;
    let (edge, area) = MAX_PIXELS;
    let is_possible = size.width.max(size.height) <= edge
        && size.width.min(size.height) > 0
        && size.width.saturating_mul(size.height) <= area;
    is_possible.then_some((size.width as u32, size.height as u32))
}

/// Returns whether a byte is a base64 digit, of the standard or the URL alphabet.
fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a PNG of 3 × 2 pixels.
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAA";

    #[test]
    fn reads_the_image_size_from_the_header() {
        let expected = Body::Media {
            media: MediaKind::Image,
            mime: "image/png".into(),
            bytes: 36,
            pixels: Some((3, 2)),
            detail: ImageDetail::Auto,
            within: Some("c1".into()),
        };
        assert_eq!(from_base64("image/png", PNG, Some("c1")), expected);
        let broken_up = format!("data:image/png;base64,{}\n{}=", &PNG[..20], &PNG[20..]);
        assert_eq!(from_url("image/*", &broken_up, Some("c1")), expected);
    }

    #[test]
    fn reads_no_size_from_other_payloads() {
        for (mime, payload) in [("image/png", "%%%"), ("image/png", ""), ("application/pdf", PNG)] {
            let Body::Media { pixels, .. } = from_base64(mime, payload, None) else {
                panic!("no media")
            };
            assert_eq!(pixels, None, "{mime}");
        }
    }

    #[test]
    fn rejects_implausible_image_sizes() {
        let engine = base64::engine::general_purpose::STANDARD;
        for (width, height) in [(u32::MAX, u32::MAX), (4_000_000_000, 1), (90_000, 90_000), (0, 5)]
        {
            let mut head = engine.decode(PNG).unwrap();
            head[16..20].copy_from_slice(&width.to_be_bytes());
            head[20..24].copy_from_slice(&height.to_be_bytes());
            assert_eq!(pixels(&engine.encode(head)), None, "{width} x {height}");
        }
    }

    #[test]
    fn counts_no_bytes_for_a_link() {
        let linked = from_url("image/*", "https://example.org/a.png", None);
        assert_eq!(linked, reference("image/*", 0, None));
    }
}
