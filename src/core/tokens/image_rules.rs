//! Tokens of images by the rules of `assets/image_rules.toml`, with the source of each.

use crate::session::{ImageDetail, begins_with_key, model_key};
use serde::Deserialize;
use std::sync::LazyLock;

/// A rule and the models to which it applies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImageRule {
    models: Vec<String>,
    rule: RuleShape,
    /// Tokens of an image apart from its tiles.
    #[serde(default)]
    base: u32,
    /// Tokens of a tile, a crop or a whole image.
    #[serde(default)]
    tile: u32,
    /// Largest edge of an image that is one crop.
    #[serde(default)]
    small: f64,
    /// Edge of a patch.
    #[serde(default)]
    patch: f64,
    /// Tokens of a patch.
    #[serde(default)]
    factor: f64,
    /// Largest edge of an image; unlimited if absent.
    edge: Option<f64>,
    /// Maximum number of patches.
    #[serde(default)]
    budget: f64,
    /// Limits of the detail `original`.
    original: Option<ImageLimits>,
    /// Tokens at a low detail, if it differs.
    low: Option<u32>,
    /// Whether the provider publishes the rule for these models.
    published: bool,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "read")]
    _read: toml::value::Datetime,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RuleShape {
    Tiles,
    Patches,
    Crops,
    Fixed,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImageLimits {
    edge: f64,
    budget: f64,
}

/// Tolerance for rounding: 768.0000001 px are not a further tile.
// Far above the error of a few operations on doubles (about 1e-13 for edges of a thousand pixels), far below a pixel.
const EPSILON: f64 = 1e-6;

static RULES: LazyLock<Vec<ImageRule>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Table {
        image_rule: Vec<ImageRule>,
    }
    let text = include_str!("../assets/image_rules.toml");
    let mut table: Table = toml::from_str(text).expect("the bundled table is read by a test");
    for rule in &mut table.image_rule {
        for model in &mut rule.models {
            *model = model_key(model);
        }
    }
    table.image_rule
});

impl ImageRule {
    /// Returns the rule of a model: that with the longest matching name.
    pub(super) fn of(model: &str) -> Option<&'static Self> {
        let key = model_key(model);
        let rules = RULES.iter().flat_map(|rule| rule.models.iter().map(move |name| (name, rule)));
        let matching = rules.filter(|(name, _)| begins_with_key(&key, name));
        matching.max_by_key(|(name, _)| name.len()).map(|(_, rule)| rule)
    }

    /// Returns whether counts by this rule are exact.
    pub(super) fn is_published(&self) -> bool {
        self.published
    }

    /// Returns the tokens of an image; its edges are at least 1.
    pub(super) fn tokens(&self, width: u32, height: u32, detail: ImageDetail) -> u32 {
        let (width, height) = (f64::from(width), f64::from(height));
        let is_low = detail == ImageDetail::Low;
        match self.rule {
            RuleShape::Tiles if is_low => self.base,
            RuleShape::Tiles => self.tiles(width, height),
            RuleShape::Patches => self.patches(width, height, detail),
            RuleShape::Crops => self.crops(width, height),
            RuleShape::Fixed if is_low => self.low.unwrap_or(self.tile),
            RuleShape::Fixed => self.tile,
        }
    }

    fn tiles(&self, width: f64, height: f64) -> u32 {
        // 512, 2048 and 768 px as in the guide of OpenAI that the table names as the source of these rows.
        const TILE: f64 = 512.0;
        let scale = (2048.0 / width.max(height)).min(768.0 / width.min(height)).min(1.0);
        let tiles = |edge: f64| (edge * scale / TILE - EPSILON).ceil().max(1.0);
        self.base + self.tile * (tiles(width) * tiles(height)) as u32
    }

    fn patches(&self, width: f64, height: f64, detail: ImageDetail) -> u32 {
        let own = ImageLimits { edge: self.edge.unwrap_or(f64::INFINITY), budget: self.budget };
        let original = self.original.filter(|_| detail == ImageDetail::Original);
        let limits = original.unwrap_or(own);
        let fit = (limits.edge / width.max(height)).min(1.0);
        let (width, height) = (width * fit, height * fit);
        let needed = |scale: f64| {
            let patches = |edge: f64| (edge * scale / self.patch - EPSILON).ceil().max(1.0);
            patches(width) * patches(height)
        };
        let scale = if needed(1.0) > limits.budget {
            self.shrink(width, height, limits.budget)
        } else {
            1.0
        };
        (needed(scale).min(limits.budget) * self.factor - EPSILON).ceil() as u32
    }

    /// Returns the scale at which an image needs at most `budget` patches. The area is made to fit first. Started
    /// patches at the edges could still exceed the budget, so the edge that loses less is then shrunk to a whole number
    /// of patches.
    fn shrink(&self, width: f64, height: f64, budget: f64) -> f64 {
        let scale = (budget * self.patch * self.patch / (width * height)).sqrt();
        let whole = |edge: f64| {
            let patches = edge * scale / self.patch;
            (patches + EPSILON).floor().max(1.0) / patches
        };
        scale * whole(width).min(whole(height)).min(1.0)
    }

    /// Counts crops, whose edge is two thirds of the short side, from 256 to 768 px.
    fn crops(&self, width: f64, height: f64) -> u32 {
        if width.max(height) <= self.small {
            return self.tile;
        }
        let edge = (width.min(height) / 1.5).floor().clamp(256.0, 768.0);
        let crops = (width / edge).ceil() * (height / edge).ceil();
        self.tile.saturating_mul(crops as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(model: &str, width: u32, height: u32, detail: ImageDetail) -> u32 {
        ImageRule::of(model).map_or(0, |rule| rule.tokens(width, height, detail))
    }

    #[test]
    fn image_tokens_match_the_published_examples() {
        let auto = |model, width, height| tokens(model, width, height, ImageDetail::Auto);
        // Examples of OpenAI's guide.
        assert_eq!(auto("gpt-4o", 1024, 1024), 765);
        assert_eq!(auto("gpt-4o", 2048, 4096), 1105);
        assert_eq!(tokens("gpt-4o", 4096, 8192, ImageDetail::Low), 85);
        assert_eq!(auto("gpt-4.1-mini", 1024, 1024), 1_659);
        assert_eq!(auto("gpt-4.1-mini", 1800, 2400), 2_353);
        // Gemini's guide has 960x540: crops of 360 px, 3 by 2.
        assert_eq!(auto("gemini-2.5-pro", 960, 540), 6 * 258);
        assert_eq!(auto("gemini-2.5-flash", 384, 384), 258);
        assert_eq!(auto("claude-sonnet-4-5", 1000, 1000), 36 * 36);
        assert_eq!(auto("claude-sonnet-4-5", 200, 200), 64);
        let screenshot = auto("claude-sonnet-4-5", 3840, 2160);
        assert!((1450..=1568).contains(&screenshot), "{screenshot}");
        assert!(auto("claude-opus-4.7", 3840, 2160) > 2 * screenshot);
    }

    #[test]
    fn each_model_has_its_own_rule() {
        let of = |model| tokens(model, 900, 700, ImageDetail::Auto);
        for (model, expected) in [
            ("gpt-4o-2024-08-06", 765),
            ("openai/gpt-4o-mini", 25_501),
            ("gpt-5-2025-08-07", 630),
            ("o3", 675),
            ("gpt-4.1-mini", 1_034),
            ("o4-mini", 1_098),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 825),
            ("mistral-large", 0),
        ] {
            assert_eq!(of(model), expected, "{model}");
        }
        assert!(ImageRule::of("gpt-4o").is_some_and(ImageRule::is_published));
        assert!(ImageRule::of("gpt-9").is_some_and(|rule| !rule.is_published()));
    }

    #[test]
    fn extreme_sizes_have_a_token_count() {
        for rule in RULES.iter() {
            for (width, height) in [(1, 1), (1, u32::MAX), (u32::MAX, u32::MAX)] {
                for detail in [ImageDetail::Auto, ImageDetail::Low, ImageDetail::Original] {
                    assert!(rule.tokens(width, height, detail) > 0, "{rule:?}");
                }
            }
        }
    }
}
