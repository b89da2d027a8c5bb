//! Tokens of images, documents and audio by the providers' published rules.
//!
//! Payloads are never tokenized: the model receives pixels or sound, not base64. If a rule needs data that is not
//! recorded (pixels, pages, seconds), a documented assumption is used. Such counts are always marked ≈.

use super::image_rules::ImageRule;
use crate::session::{Body, MediaKind, ModelVendor, Session};

/// The provider whose rules apply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Provider {
    /// Its tool calls are framed as Anthropic's.
    pub(super) frames_calls: bool,
    /// The rule of images; `None` if it is unknown.
    images: Option<&'static ImageRule>,
    /// The rule belongs to a model that the session names.
    is_models: bool,
}

/// An image of unknown size: a screenshot at the usual limit of Anthropic and `OpenAI`.
// Chosen: most images in sessions of agents are screenshots, which providers shrink to about this many tokens
// (`assets/image_rules.toml`). Icons would have less.
const IMAGE: u32 = 1500;
/// For Anthropic's models, a page has 1,500 to 3,000 tokens of text and an image of it.
/// <https://platform.claude.com/docs/en/build-with-claude/pdf-support>
const PAGE: u64 = 2000;
/// Assumed bytes of a PDF per page of mixed text and images.
// Chosen between pages of text (a few kilobytes) and scanned ones (hundreds): half doubles the tokens of every PDF.
const PAGE_BYTES: u64 = 60_000;
/// Maximum number of pages of a request (same source).
const MAX_PAGES: u64 = 600;
/// `OpenAI` counts a token per 100 ms. <https://platform.openai.com/docs/guides/realtime-costs>
const AUDIO_PER_SECOND: u64 = 10;
/// Assumed duration of audio of unknown length.
// Chosen: a voice message. Half or double of it halves or doubles the count, which is marked as an estimate.
const AUDIO_SECONDS: u64 = 60;

impl Provider {
    /// A provider of which nothing is known.
    #[cfg(test)]
    pub(super) const UNKNOWN: Self = Self { frames_calls: false, images: None, is_models: false };

    /// Determines the provider from the session's models, or else from its default vendor (default: Anthropic).
    pub(super) fn of(session: &Session) -> Self {
        let rules = || session.models.iter().filter_map(|name| ImageRule::of(name));
        let names_claude = || {
            let mut models = session.models.iter();
            models.any(|name| name.to_ascii_lowercase().contains("claude"))
        };
        let vendors = match session.default_vendor {
            Some(ModelVendor::OpenAi) => "gpt-4o",
            _ => "claude",
        };
        if session.models.is_empty() {
            return Self {
                frames_calls: vendors == "claude",
                images: ImageRule::of(vendors),
                is_models: false,
            };
        }
        Self {
            frames_calls: names_claude(),
            // Most of the calls of a session have the last model.
            images: rules().next_back(),
            is_models: rules().count() == session.models.len(),
        }
    }

    /// Returns the rule of images. The rules of most other providers are similar to that of Anthropic.
    fn image_rule(self) -> Option<&'static ImageRule> {
        self.images.or_else(|| ImageRule::of("claude"))
    }

    /// Returns whether the count of a part is exact by a published rule. True for parts without media.
    pub(super) fn is_exact(self, body: &Body) -> bool {
        let Body::Media { media, pixels, .. } = body else {
            return true;
        };
        let rule = self.images.filter(|_| self.is_models);
        *media == MediaKind::Image && pixels.is_some() && rule.is_some_and(ImageRule::is_published)
    }

    /// Returns the tokens of a media part, and 0 for any other.
    pub(super) fn tokens(self, body: &Body) -> u32 {
        let Body::Media { media, mime, bytes, pixels, detail, .. } = body else {
            return 0;
        };
        let tokens = match media {
            MediaKind::Image => {
                let pixels = pixels.filter(|(width, height)| *width > 0 && *height > 0);
                let rule = self.image_rule().zip(pixels);
                return rule
                    .map_or(IMAGE, |(rule, (width, height))| rule.tokens(width, height, *detail));
            }
            // Text documents are read as text.
            MediaKind::Document if mime.starts_with("text/") => bytes.div_ceil(4),
            MediaKind::Document => PAGE * bytes.div_ceil(PAGE_BYTES).clamp(1, MAX_PAGES),
            MediaKind::Audio if *bytes == 0 => AUDIO_PER_SECOND * AUDIO_SECONDS,
            MediaKind::Audio => AUDIO_PER_SECOND * bytes.div_ceil(audio_bytes_per_second(mime)),
        };
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }
}

/// Returns 48,000 for uncompressed audio (16-bit mono at 24 kHz, the format of `OpenAI`'s audio API), otherwise 16,000
/// (128 kbit/s, a usual rate of MP3).
fn audio_bytes_per_second(mime: &str) -> u64 {
    if mime.contains("wav") || mime.contains("pcm") { 48_000 } else { 16_000 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::ImageDetail;

    #[test]
    fn media_of_unknown_size_have_a_token_count() {
        let provider =
            Provider { frames_calls: false, images: ImageRule::of("gpt-4o"), is_models: true };
        let part = |media, mime: &str, bytes, pixels| Body::Media {
            media,
            mime: mime.into(),
            bytes,
            pixels,
            detail: ImageDetail::Auto,
            within: None,
        };
        let of = |media, mime: &str, bytes| provider.tokens(&part(media, mime, bytes, None));
        assert_eq!(of(MediaKind::Image, "image/png", u64::MAX), IMAGE);
        assert_eq!(of(MediaKind::Document, "application/pdf", u64::MAX), 1_200_000);
        assert_eq!(of(MediaKind::Document, "application/pdf", 0), 2000);
        assert_eq!(of(MediaKind::Audio, "audio/wav", 480_000), 100);
        let exact = |pixels| provider.is_exact(&part(MediaKind::Image, "image/png", 1, pixels));
        assert!(exact(Some((900, 700))) && !exact(None));
        assert_eq!(provider.tokens(&part(MediaKind::Image, "", 1, Some((0, 9)))), IMAGE);
    }
}
