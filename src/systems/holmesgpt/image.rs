//! Tokens of an image: by OpenAI's rule, or by Anthropic's for Anthropic models.

use crate::chat::{Block, BlockBody, Image};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::{ImageType, blob_size, image_type};
use serde_json::Value;

/// Tokens of an image without detail, and the base of one with detail.
const BASE: u64 = 85;
/// Size of an image in an unknown format.
const UNKNOWN_FORMAT: (u32, u32) = (300, 300);
/// Size of an unreadable image, for Anthropic's rule.
const UNREADABLE: (u32, u32) = (768, 768);
/// Tokens of an image without an address, for Anthropic's rule.
const WITHOUT_ADDRESS: u64 = 1600;
/// Maximum side length after Anthropic's resizing.
const MAX_SIDE: u32 = 1568;

/// Returns whether a block is an image in OpenAI's format.
pub(super) fn is_image(block: &Block) -> bool {
    matches!(&block.body, BlockBody::Image(image) if image.json["type"] == "image_url")
}

/// Returns whether a model's name is treated as Anthropic's.
pub(super) fn is_anthropic(model: &str) -> bool {
    let lower = model.to_lowercase();
    ["anthropic", "claude", "opus", "sonnet", "haiku"]
        .iter()
        .any(|name| lower.contains(name))
}

/// Returns the tokens by Anthropic's rule: the area after resizing, divided by 750.
pub(super) fn anthropic_tokens(image: &Image) -> u64 {
    let size = match (image.pixels, address(image)) {
        (Some(pixels), _) => pixels,
        (None, "") => return WITHOUT_ADDRESS,
        (None, address) => data(address)
            .and_then(|bytes| dimensions(&bytes))
            .unwrap_or(UNREADABLE),
    };
    let (mut width, mut height) = (u64::from(size.0), u64::from(size.1));
    let longer = width.max(height);
    if longer > u64::from(MAX_SIDE) {
        let scale = f64::from(MAX_SIDE) / longer as f64;
        width = (width as f64 * scale) as u64;
        height = (height as f64 * scale) as u64;
    }
    (width * height / 750).max(1)
}

/// Returns the tokens by OpenAI's rule: a base, plus tiles for high detail. An image at a remote address, which the
/// shipped code would fetch, counts as one in an unknown format.
pub(super) fn openai_tokens(image: &Image) -> u64 {
    if image.json["image_url"]["detail"] != "high" {
        return BASE;
    }
    let read = || data(address(image)).and_then(|bytes| dimensions(&bytes));
    let size = image.pixels.or_else(read).unwrap_or(UNKNOWN_FORMAT);
    let (width, height) = shrunk(u64::from(size.0), u64::from(size.1));
    BASE + 2 * BASE * width.div_ceil(512) * height.div_ceil(512)
}

/// Resizes to a short side of 768 and a long side of at most 2000.
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
    if width <= height {
        (short, long)
    } else {
        (long, short)
    }
}

/// Returns the reason why an image cannot be counted by OpenAI's rule.
pub(super) fn refusal(image: &Image) -> Option<String> {
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
            let detail = fields
                .get("detail")
                .map_or("auto", |d| d.as_str().unwrap_or(""));
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

fn address(image: &Image) -> &str {
    let value = &image.json["image_url"];
    value["url"].as_str().or(value.as_str()).unwrap_or_default()
}

/// Returns the bytes of a `data:` address.
fn data(address: &str) -> Option<Vec<u8>> {
    let (_, encoded) = address.strip_prefix("data:")?.split_once(',')?;
    decode(encoded)
}

/// `base64.b64decode`: skips invalid characters, but requires the padding.
pub(super) fn decode(encoded: &str) -> Option<Vec<u8>> {
    let is_known = |b: &u8| b.is_ascii_alphanumeric() || [b'+', b'/', b'='].contains(b);
    let clean: Vec<u8> = encoded.bytes().filter(is_known).collect();
    STANDARD.decode(clean).ok()
}

/// Returns width and height from the header; the default size for formats other than these four.
fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    let known = [
        ImageType::Png,
        ImageType::Gif,
        ImageType::Jpeg,
        ImageType::Webp,
    ];
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
    use serde_json::json;
    use std::sync::Arc;

    fn image(json: Value, pixels: Option<(u32, u32)>) -> Image {
        Image {
            json: Arc::new(json),
            pixels,
        }
    }

    fn sized(width: u32, height: u32, detail: &str) -> Image {
        let json = json!({"type": "image_url", "image_url": {"url": "x", "detail": detail}});
        image(json, Some((width, height)))
    }

    #[test]
    fn high_detail_is_counted_in_tiles() {
        assert_eq!(openai_tokens(&sized(1000, 800, "auto")), 85);
        assert_eq!(openai_tokens(&sized(500, 500, "high")), 85 + 170);
        assert_eq!(openai_tokens(&sized(1000, 1000, "high")), 85 + 170 * 4);
        assert_eq!(openai_tokens(&sized(4000, 1000, "high")), 85 + 170 * 4);
    }

    #[test]
    fn anthropic_shrinks_and_falls_back() {
        assert_eq!(anthropic_tokens(&sized(1000, 800, "auto")), 1066);
        assert_eq!(anthropic_tokens(&sized(3136, 784, "auto")), 819);
        let remote =
            json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
        assert_eq!(anthropic_tokens(&image(remote, None)), 786);
        assert_eq!(
            anthropic_tokens(&image(json!({"type": "image_url"}), None)),
            1600
        );
        let unknown =
            json!({"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}});
        assert_eq!(anthropic_tokens(&image(unknown, None)), 120);
        let broken = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,A"}});
        assert_eq!(anthropic_tokens(&image(broken, None)), 786);
    }
}
