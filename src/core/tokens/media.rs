//! Tokens of images, documents and audio by the providers' published rules.
//!
//! Payloads are never tokenized: the model receives pixels or sound, not base64. If a rule needs data that is not
//! recorded (pixels, pages, seconds), a documented assumption is used. Such counts are always marked ≈.

use crate::session::{MediaKind, ModelVendor, Session};

/// The provider whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    /// Anthropic.
    Anthropic {
        /// Whether the model accepts larger images (Opus 4.7 and later).
        is_high_resolution: bool,
    },
    /// `OpenAI`.
    OpenAi,
    /// Any other provider. The framing of its calls is not known.
    Other,
}

/// An image of unknown size: a screenshot at the usual limit of both providers.
const IMAGE: u32 = 1500;
/// For Anthropic's models, a page has 1,500 to 3,000 tokens of text and an image of it.
/// <https://platform.claude.com/docs/en/build-with-claude/pdf-support>
const PAGE: u64 = 2000;
/// Assumed bytes of a PDF per page of mixed text and images.
const PAGE_BYTES: u64 = 60_000;
/// Maximum number of pages of a request (same source).
const MAX_PAGES: u64 = 600;
/// `OpenAI` counts a token per 100 ms. <https://platform.openai.com/docs/guides/realtime-costs>
const AUDIO_PER_SECOND: u64 = 10;
/// Assumed duration of audio of unknown length.
const AUDIO_SECONDS: u64 = 60;

/// Anthropic models that accept images up to 2576 px. 4.7 was the first; later generations are assumed to keep the
/// limit.
const HIGH_RESOLUTION: &[&str] = &[
    "opus-4-7", "opus-4.7", "opus-4-8", "opus-4.8", "opus-5", "sonnet-5", "fable", "mythos",
];

impl Provider {
    /// Determines the provider from the session's models, or else from its default vendor (default: Anthropic).
    pub(super) fn of(session: &Session) -> Self {
        let names: Vec<String> = session
            .models
            .iter()
            .map(|m| m.to_ascii_lowercase())
            .collect();
        let is_claude = names.iter().any(|n| n.contains("claude"));
        let is_openai = names.iter().any(|n| is_openai_model(n));
        match (is_claude, is_openai) {
            (false, true) => return Self::OpenAi,
            (false, false) if !names.is_empty() => return Self::Other,
            (false, false) if session.default_vendor == Some(ModelVendor::OpenAi) => {
                return Self::OpenAi;
            }
            _ => {}
        }
        Self::Anthropic {
            is_high_resolution: names
                .iter()
                .any(|n| HIGH_RESOLUTION.iter().any(|h| n.contains(h))),
        }
    }
}

fn is_openai_model(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    ["gpt", "chatgpt", "codex", "o1", "o3", "o4"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Returns the tokens of a media part. `bytes` is the size of the payload, or 0 if the file only refers to it. `pixels`
/// is its size in pixels, if known.
pub(super) fn tokens(
    provider: Provider,
    media: MediaKind,
    mime: &str,
    bytes: u64,
    pixels: Option<(u32, u32)>,
) -> u32 {
    let tokens = match media {
        MediaKind::Image => {
            return pixels.map_or(IMAGE, |(width, height)| image(provider, width, height));
        }
        // Text documents are read as text.
        MediaKind::Document if mime.starts_with("text/") => bytes.div_ceil(4),
        MediaKind::Document => PAGE * bytes.div_ceil(PAGE_BYTES).clamp(1, MAX_PAGES),
        MediaKind::Audio if bytes == 0 => AUDIO_PER_SECOND * AUDIO_SECONDS,
        MediaKind::Audio => AUDIO_PER_SECOND * bytes.div_ceil(audio_bytes_per_second(mime)),
    };
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

/// Returns 48,000 for uncompressed audio (16-bit mono at 24 kHz), otherwise 16,000 (128 kbit/s).
fn audio_bytes_per_second(mime: &str) -> u64 {
    if mime.contains("wav") || mime.contains("pcm") {
        48_000
    } else {
        16_000
    }
}

fn image(provider: Provider, width: u32, height: u32) -> u32 {
    if width == 0 || height == 0 {
        return IMAGE;
    }
    let (width, height) = (f64::from(width), f64::from(height));
    match provider {
        Provider::Anthropic {
            is_high_resolution: true,
        } => anthropic_image(width, height, 2576.0, 4784.0),
        // The rules of most other providers are similar.
        Provider::Anthropic {
            is_high_resolution: false,
        }
        | Provider::Other => anthropic_image(width, height, 1568.0, 1568.0),
        Provider::OpenAi => openai_image(width, height),
    }
}

/// Returns one token per started square of 28 pixels, after scaling the image down to the maximum edge and the maximum
/// tokens. The older rule, width x height / 750, is within 5 % of it.
/// <https://platform.claude.com/docs/en/build-with-claude/vision>
fn anthropic_image(width: f64, height: f64, max_edge: f64, max_tokens: f64) -> u32 {
    const SQUARE: f64 = 28.0;
    let by_edge = max_edge / width.max(height);
    let by_tokens = (max_tokens * SQUARE * SQUARE / (width * height)).sqrt();
    let scale = by_edge.min(by_tokens).min(1.0);
    let squares = (width * scale / SQUARE).ceil() * (height * scale / SQUARE).ceil();
    squares.min(max_tokens) as u32
}

/// Returns 85 tokens plus 170 per started tile of 512 pixels, after scaling the image down to 2048 pixels on the long
/// edge and 768 on the short one. This is the rule of GPT-4o and GPT-4.1. Later models differ by about 20 %.
/// <https://platform.openai.com/docs/guides/images-vision>
fn openai_image(width: f64, height: f64) -> u32 {
    const TILE: f64 = 512.0;
    let scale = (2048.0 / width.max(height))
        .min(768.0 / width.min(height))
        .min(1.0);
    // Subtracts an epsilon so that rounding does not turn 768 px into 769.
    let tiles = |edge: f64| (edge * scale / TILE - 1e-6).ceil().max(1.0);
    85 + 170 * (tiles(width) * tiles(height)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_tokens_match_the_published_examples() {
        // Both examples are from OpenAI's documentation.
        assert_eq!(image(Provider::OpenAi, 1024, 1024), 765);
        assert_eq!(image(Provider::OpenAi, 2048, 4096), 1105);
        let standard = Provider::Anthropic {
            is_high_resolution: false,
        };
        assert_eq!(image(standard, 1000, 1000), 36 * 36);
        assert_eq!(image(standard, 200, 200), 64);
        let screenshot = image(standard, 3840, 2160);
        assert!((1450..=1568).contains(&screenshot), "{screenshot}");
        assert!(
            image(
                Provider::Anthropic {
                    is_high_resolution: true
                },
                3840,
                2160
            ) > 2 * screenshot
        );
    }

    #[test]
    fn extreme_sizes_have_a_token_count() {
        for provider in [
            Provider::OpenAi,
            Provider::Anthropic {
                is_high_resolution: false,
            },
        ] {
            for pixels in [(0, 0), (1, 1), (1, u32::MAX), (u32::MAX, u32::MAX)] {
                assert!(
                    (1..=1568).contains(&image(provider, pixels.0, pixels.1)),
                    "{provider:?} {pixels:?}"
                );
            }
        }
        let provider = Provider::OpenAi;
        assert_eq!(
            tokens(provider, MediaKind::Image, "image/png", u64::MAX, None),
            IMAGE
        );
        assert_eq!(
            tokens(
                provider,
                MediaKind::Document,
                "application/pdf",
                u64::MAX,
                None
            ),
            1_200_000
        );
        assert_eq!(
            tokens(provider, MediaKind::Document, "application/pdf", 0, None),
            2000
        );
        assert_eq!(
            tokens(provider, MediaKind::Audio, "audio/wav", 480_000, None),
            100
        );
    }
}
