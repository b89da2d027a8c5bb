//! Tokens of an image by OpenAI's rule.

use crate::chat::Image;
use crate::json::Value;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::{ImageType, blob_size, image_type};

/// Tokens of an image without detail, and the base of one with detail.
// The numbers of this file are those of litellm 1.89.0, `litellm_core_utils/token_counter.py` and `constants.py`.
const BASE: u64 = 85;
/// Size of an image in an unknown format.
const UNKNOWN_FORMAT: (u32, u32) = (300, 300);

/// Returns the tokens: a base, plus tiles for high detail. An image at a remote address, which litellm would fetch, counts
/// as one in an unknown format.
pub(super) fn tokens(image: &Image) -> u64 {
    if image.json["image_url"]["detail"] != "high" {
        return BASE;
    }
    let read = || data(address(image)).and_then(|bytes| dimensions(&bytes));
    let size = image.pixels.or_else(read).unwrap_or(UNKNOWN_FORMAT);
    let (width, height) = shrunk(u64::from(size.0), u64::from(size.1));
    BASE + 2 * BASE * width.div_ceil(512) * height.div_ceil(512)
}

/// Resizes to a short side of 768 and a long side of at most 2000, as litellm does. `OpenAI` itself allows 2048.
fn shrunk(width: u64, height: u64) -> (u64, u64) {
    let (longer, shorter) = (width.max(height), width.min(height));
    if longer <= 768 || shorter == 0 {
        return (width, height);
    }
    let ratio = longer as f64 / shorter as f64;
    let mut short = 768;
    let mut long = (768.0 * ratio) as u64;
    if long > 2000 {
        long = 2000;
        short = (2000.0 / ratio) as u64;
    }
    if width <= height { (short, long) } else { (long, short) }
}

/// Returns the reason why an image cannot be counted by OpenAI's rule.
pub(crate) fn refusal(image: &Image) -> Option<String> {
    let Some(value) = image.json.get("image_url") else {
        // An image of a session has no payload, and can be counted.
        return None;
    };
    match value {
        Value::String(address) if address.trim().is_empty() => {
            Some("Empty image_url string is not valid.".to_owned())
        }
        Value::String(_) => None,
        Value::Object(fields) => {
            let detail = fields.get("detail").map_or("auto", |d| d.as_str().unwrap_or(""));
            if !["low", "high", "auto"].contains(&detail) {
                return Some(format!(
                    "Invalid detail value: {detail}. Expected 'low', 'high', or 'auto'."
                ));
            }
            address(image)
                .is_empty()
                .then(|| "Missing required key 'url' in image_url dict.".to_owned())
        }
        _ => Some("Invalid image_url type. Expected str or dict with 'url' field.".to_owned()),
    }
}

/// Returns the address of an image; empty if it has none.
pub(crate) fn address(image: &Image) -> &str {
    let value = &image.json["image_url"];
    value["url"].as_str().or(value.as_str()).unwrap_or_default()
}

/// Returns the bytes of a `data:` address.
pub(crate) fn data(address: &str) -> Option<Vec<u8>> {
    let (_, encoded) = address.strip_prefix("data:")?.split_once(',')?;
    decode(encoded)
}

/// Decodes as Python's `base64.b64decode`: skips invalid characters, but requires the padding.
pub(crate) fn decode(encoded: &str) -> Option<Vec<u8>> {
    let is_known = |b: &u8| b.is_ascii_alphanumeric() || [b'+', b'/', b'='].contains(b);
    let clean: Vec<u8> = encoded.bytes().filter(is_known).collect();
    STANDARD.decode(clean).ok()
}

/// Returns width and height from the header, or the size of an unknown format if it is not PNG, GIF, JPEG or WebP. `None`
/// if the header is invalid.
pub(crate) fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    let known = [ImageType::Png, ImageType::Gif, ImageType::Jpeg, ImageType::Webp];
    if !image_type(bytes).is_ok_and(|format| known.contains(&format)) {
        return Some(UNKNOWN_FORMAT);
    }
    let found = blob_size(bytes).ok()?;
    let width = u32::try_from(found.width).ok()?;
    Some((width, u32::try_from(found.height).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json;
    use std::sync::Arc;

    fn sized(width: u32, height: u32, detail: &str) -> Image {
        let json = json!({"type": "image_url", "image_url": {"url": "x", "detail": detail}});
        Image { json: Arc::new(json), pixels: Some((width, height)) }
    }

    #[test]
    fn high_detail_is_counted_in_tiles() {
        assert_eq!(tokens(&sized(1000, 800, "auto")), 85);
        assert_eq!(tokens(&sized(500, 500, "high")), 85 + 170);
        assert_eq!(tokens(&sized(1000, 1000, "high")), 85 + 170 * 4);
        assert_eq!(tokens(&sized(4000, 1000, "high")), 85 + 170 * 4);
    }
}
