//! Tokens of an image by Anthropic's rule, for Anthropic models.

use crate::chat::{Block, BlockBody, Image};
use crate::systems::litellm::image::{address, data, dimensions};

/// Size of an unreadable image.
// The numbers of this file are those of holmesgpt 0.45.0, `core/llm.py`.
const UNREADABLE: (u32, u32) = (768, 768);
/// Tokens of an image without an address.
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
    ["anthropic", "claude", "opus", "sonnet", "haiku"].iter().any(|name| lower.contains(name))
}

/// Returns the tokens by Anthropic's rule: the area after resizing, divided by 750.
pub(super) fn anthropic_tokens(image: &Image) -> u64 {
    let size = match (image.pixels, address(image)) {
        (Some(pixels), _) => pixels,
        (None, "") => return WITHOUT_ADDRESS,
        (None, address) => data(address).and_then(|bytes| dimensions(&bytes)).unwrap_or(UNREADABLE),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Value, json};
    use std::sync::Arc;

    fn image(json: Value, pixels: Option<(u32, u32)>) -> Image {
        Image { json: Arc::new(json), pixels }
    }

    fn sized(width: u32, height: u32) -> Image {
        image(json!({"type": "image_url", "image_url": {"url": "x"}}), Some((width, height)))
    }

    #[test]
    fn anthropic_shrinks_and_falls_back() {
        assert_eq!(anthropic_tokens(&sized(1000, 800)), 1066);
        assert_eq!(anthropic_tokens(&sized(3136, 784)), 819);
        let remote =
            json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
        assert_eq!(anthropic_tokens(&image(remote, None)), 786);
        assert_eq!(anthropic_tokens(&image(json!({"type": "image_url"}), None)), 1600);
        let unknown =
            json!({"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}});
        assert_eq!(anthropic_tokens(&image(unknown, None)), 120);
        let broken = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,A"}});
        assert_eq!(anthropic_tokens(&image(broken, None)), 786);
    }
}
