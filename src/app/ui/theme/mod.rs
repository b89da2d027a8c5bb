//! All colors, sizes and text styles of the window, dark and light. No other code names a color.
//!
//! Kinds are muted, lanes are bright, and red, amber and green only express judgement. Meaningful text has a contrast
//! of at least 4.5:1 with each possible surface (checked by a test below).

pub mod fonts;
mod style;

use crate::app::state::model::tone::Tone;
use crate::app::state::shell_command::ThemeChoice;
use crate::session::Kind;
use egui::{Color32, Context, Stroke, TextStyle, Theme, Ui, Vec2, vec2};

/// Number of distinct lane colors.
pub const LANES: usize = 6;

/// Distances on a 4-point grid.
pub mod space {
    /// Between related items.
    pub const XS: f32 = 4.0;
    /// Between neighbors.
    pub const S: f32 = 8.0;
    /// Between groups.
    pub const M: f32 = 12.0;
    /// A panel's inner margin.
    pub const L: f32 = 16.0;
    /// Between sections.
    pub const XL: f32 = 24.0;
    /// Height of a row of a table.
    pub const ROW: f32 = 24.0;
    /// Height of a button, a field or a chip.
    pub const CONTROL: f32 = 28.0;
    /// Corner radius of controls.
    pub const RADIUS: u8 = 6;
    /// Corner radius of small marks, such as bars.
    pub const RADIUS_SMALL: u8 = 3;
}

/// Point size of ordinary text.
pub const TEXT: f32 = 13.0;
/// Point size of labels, axes and help texts.
pub const SMALL: f32 = 11.0;
/// Point size of the title of an empty window.
pub const TITLE: f32 = 22.0;

/// Returns the style of values: ordinary size, semibold.
pub fn strong() -> TextStyle {
    TextStyle::Name("strong".into())
}

/// Returns the style of section heads and badges: small, semibold.
pub fn small_strong() -> TextStyle {
    TextStyle::Name("small strong".into())
}

/// The colors of one theme.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette {
    /// Whether this is the dark palette.
    pub is_dark: bool,
    /// Behind plots and between panels.
    pub background: Color32,
    /// Panels and bars.
    pub panel: Color32,
    /// Controls, selected cards, popups.
    pub raised: Color32,
    /// A control under the pointer.
    pub hover: Color32,
    /// Separators.
    pub hairline: Color32,
    /// Outlines of controls under the pointer and of hollow marks.
    pub outline: Color32,
    /// Ordinary text.
    pub text: Color32,
    /// Labels, help texts and axes.
    pub weak: Color32,
    /// Decoration without meaning.
    pub faint: Color32,
    /// Interactive items: links, handles, the primary button.
    pub accent: Color32,
    /// A row or text that is selected.
    pub selection: Color32,
    /// Text on a fill of `accent`, `warn` or `bad`.
    pub on_fill: Color32,
    /// Judgement: needs attention.
    pub warn: Color32,
    /// Judgement: wrong, lost, rejected.
    pub bad: Color32,
    /// Judgement: fine.
    pub ok: Color32,
    /// The recorded lane.
    pub recorded: Color32,
    kinds: [Color32; Kind::ALL.len()],
    lanes: [Color32; LANES],
}

/// Share of a kind's color in its area.
const AREA_MIX: f32 = 0.62;

impl Palette {
    /// Returns the color of a tone.
    pub fn tone(&self, tone: Tone) -> Color32 {
        match tone {
            Tone::Plain => self.text,
            Tone::Weak => self.weak,
            Tone::Ok => self.ok,
            Tone::Warn => self.warn,
            Tone::Bad => self.bad,
            Tone::Accent => self.accent,
        }
    }

    /// Returns the color of a kind for swatches, bars and dots.
    pub fn kind(&self, kind: Kind) -> Color32 {
        self.kinds[kind.index()]
    }

    /// Returns the color of a kind for a large area: calmer and opaque.
    pub fn kind_area(&self, kind: Kind) -> Color32 {
        self.background.lerp_to_gamma(self.kind(kind), AREA_MIX)
    }

    /// Returns the color of the lane at this position; colors repeat after the last.
    pub fn lane(&self, lane: usize) -> Color32 {
        self.lanes[lane % LANES]
    }

    /// Returns the color of a lane, or of the recorded one.
    pub fn lane_or_recorded(&self, lane: Option<usize>) -> Color32 {
        lane.map_or(self.recorded, |lane| self.lane(lane))
    }

    /// Returns the color of a compared session: the last one of the lanes.
    pub fn compared(&self) -> Color32 {
        self.lanes[LANES - 1]
    }

    /// Returns the stroke of a hairline.
    pub fn line(&self) -> Stroke {
        Stroke::new(1.0, self.hairline)
    }

    /// Returns the backgrounds of a removed line and of its changed words.
    pub fn removed(&self) -> [Color32; 2] {
        self.grounds(self.bad)
    }

    /// Returns the backgrounds of an added line and of its changed words.
    pub fn added(&self) -> [Color32; 2] {
        self.grounds(self.ok)
    }

    fn grounds(&self, color: Color32) -> [Color32; 2] {
        [0.12, 0.32].map(|share| self.panel.lerp_to_gamma(color, share))
    }

    /// Returns a faint version of a color to tint its background.
    pub fn tint(&self, color: Color32) -> Color32 {
        color.gamma_multiply(0.03)
    }
}

/// Returns the palette of the theme of `ui`.
pub fn palette(ui: &Ui) -> &'static Palette {
    of(ui.visuals().dark_mode)
}

/// Returns the dark or the light palette.
pub fn of(is_dark: bool) -> &'static Palette {
    if is_dark { &DARK } else { &LIGHT }
}

/// Installs fonts and both themes. Call it before the first frame: a text style may only name installed fonts.
pub fn apply(ctx: &Context) {
    fonts::install(ctx);
    for (theme, palette) in [(Theme::Dark, &DARK), (Theme::Light, &LIGHT)] {
        ctx.set_style_of(theme, style::of(palette));
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that names colors")]
const fn hex(rgb: u32) -> Color32 {
    Color32::from_rgb((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
}

static DARK: Palette = Palette {
    is_dark: true,
    background: hex(0x0f_1317),
    panel: hex(0x15_1a20),
    raised: hex(0x1b_2229),
    hover: hex(0x24_2d36),
    hairline: hex(0x26_2e37),
    outline: hex(0x5b_6672),
    text: hex(0xd9_e0e7),
    weak: hex(0x8f_9ba8),
    faint: hex(0x5b_6672),
    accent: hex(0x4f_b3ff),
    selection: hex(0x1d_3344),
    on_fill: hex(0x0f_1317),
    warn: hex(0xf0_b429),
    bad: hex(0xff_5d5d),
    ok: hex(0x59_c98f),
    recorded: hex(0xd9_e0e7),
    kinds: [
        hex(0x6b_7785),
        hex(0x52_5fb8),
        hex(0x56_b4e9),
        hex(0x25_8a68),
        hex(0x96_86d4),
        hex(0xd9_a441),
        hex(0xc0_623a),
        hex(0xc7_7ba6),
        hex(0xd8_cc63),
        hex(0x9a_a5b1),
    ],
    lanes: [
        hex(0xff_7a6b),
        hex(0x5c_c8ff),
        hex(0xc7_9bff),
        hex(0x6f_e3c4),
        hex(0xff_9fd0),
        hex(0xa3_e635),
    ],
};

static LIGHT: Palette = Palette {
    is_dark: false,
    background: hex(0xf3_f5f7),
    panel: hex(0xff_ffff),
    raised: hex(0xee_f1f4),
    hover: hex(0xe3_e8ed),
    hairline: hex(0xd8_dee4),
    outline: hex(0x8f_99a4),
    text: hex(0x1d_242b),
    weak: hex(0x56_616c),
    faint: hex(0x98_a2ad),
    accent: hex(0x0a_68b0),
    selection: hex(0xd7_e8f5),
    on_fill: hex(0xff_ffff),
    warn: hex(0x8a_5a00),
    bad: hex(0xc4_2a2a),
    ok: hex(0x14_764a),
    recorded: hex(0x1d_242b),
    kinds: [
        hex(0x6b_7785),
        hex(0x52_5fb8),
        hex(0x56_b4e9),
        hex(0x25_8a68),
        hex(0x96_86d4),
        hex(0xd9_a441),
        hex(0xc0_623a),
        hex(0xc7_7ba6),
        hex(0xb9_a91d),
        hex(0x8a_95a1),
    ],
    lanes: [
        hex(0xc2_3824),
        hex(0x08_71ab),
        hex(0x7c_4fd0),
        hex(0x0b_7a6c),
        hex(0xb3_337f),
        hex(0x44_7000),
    ],
};

/// Returns the outline of the focused control.
pub fn focus_ring(ctx: &Context) -> Stroke {
    Stroke::new(1.5, of(ctx.theme() == Theme::Dark).accent)
}

/// Returns the padding around the text of a chip.
pub(crate) fn chip_padding() -> Vec2 {
    vec2(space::S, space::XS)
}

impl ThemeChoice {
    /// Returns the choice as the window library takes it.
    pub(crate) fn preference(self) -> egui::ThemePreference {
        match self {
            Self::Dark => egui::ThemePreference::Dark,
            Self::Light => egui::ThemePreference::Light,
            Self::System => egui::ThemePreference::System,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(color: Color32) -> f32 {
        let linear = |c: u8| {
            let c = f32::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    fn contrast(a: Color32, b: Color32) -> f32 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn meaningful_text_contrasts_with_every_surface() {
        for p in [&DARK, &LIGHT] {
            let mut tones = vec![p.text, p.weak, p.accent, p.warn, p.bad, p.ok, p.recorded];
            tones.extend(p.lanes);
            for tone in tones {
                for surface in [p.background, p.panel, p.raised] {
                    let c = contrast(tone, surface);
                    assert!(c >= 4.5, "{tone:?} on {surface:?}: {c:.2}");
                }
            }
            for fill in [p.accent, p.warn, p.bad] {
                assert!(contrast(p.on_fill, fill) >= 4.5, "text on {fill:?}");
            }
            for surface in p.removed().into_iter().chain(p.added()) {
                assert!(contrast(p.text, surface) >= 4.5, "text on {surface:?}");
            }
            for surface in [p.selection, p.hover] {
                assert!(contrast(p.text, surface) >= 4.5);
                assert!(contrast(p.weak, surface) >= 4.5, "weak on {surface:?}");
            }
        }
    }

    #[test]
    fn neighboring_kinds_differ_in_lightness_and_not_only_in_hue() {
        for p in [&DARK, &LIGHT] {
            for pair in Kind::ALL.windows(2) {
                let c = contrast(p.kind_area(pair[0]), p.kind_area(pair[1]));
                assert!(c >= 1.12, "{pair:?}: {c:.2}");
            }
        }
    }

    #[test]
    fn every_kind_and_every_lane_has_its_own_color() {
        for p in [&DARK, &LIGHT] {
            let mut all: Vec<_> = p.kinds.iter().chain(&p.lanes).map(Color32::to_array).collect();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), Kind::ALL.len() + LANES);
        }
    }
}
