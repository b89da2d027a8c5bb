//! A picture as a list of shapes: what is drawn, not with what. SVG and the window's painter both draw it.

/// A picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// In points.
    pub width: f32,
    /// In points.
    pub height: f32,
    /// What it shows, in a sentence, for those who cannot see it.
    pub says: String,
    /// What to draw, the hindmost first. Coordinates are points from the upper left corner.
    pub shapes: Vec<Shape>,
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A line through points.
    Line {
        /// In order.
        points: Vec<[f32; 2]>,
        /// Its color.
        ink: Ink,
        /// In points.
        width: f32,
        /// Lengths of strokes and gaps in points, in turn; empty for an unbroken line.
        dashes: &'static [f32],
    },
    /// Strokes of one color.
    Strokes {
        /// From where to where.
        strokes: Vec<[[f32; 2]; 2]>,
        /// Their color.
        ink: Ink,
        /// In points.
        width: f32,
    },
    /// A line of text.
    Text {
        /// Where it stands: at its anchor, halfway up.
        at: [f32; 2],
        /// What it says; no line breaks, nothing that reorders.
        text: String,
        /// Its color.
        ink: Ink,
        /// Which end of it is at `at`.
        anchor: Anchor,
        /// Size in points.
        size: f32,
    },
}

/// Which end of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A color by what it is for; light and dark are chosen where it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ink {
    /// Behind everything.
    Ground,
    /// Ordinary text.
    Text,
    /// Labels.
    Weak,
    /// Separators.
    Hairline,
    /// What sets something off.
    Accent,
    /// Judgement: needs attention.
    Warn,
    /// Judgement: wrong, rejected.
    Bad,
    /// What really happened.
    Recorded,
    /// The lane at this position; positions beyond the last begin again.
    Lane(usize),
}

/// How many lanes have a color of their own.
pub const LANES: usize = 6;

impl Ink {
    /// Every ink.
    pub const ALL: [Self; 14] = [
        Self::Ground,
        Self::Text,
        Self::Weak,
        Self::Hairline,
        Self::Accent,
        Self::Warn,
        Self::Bad,
        Self::Recorded,
        Self::Lane(0),
        Self::Lane(1),
        Self::Lane(2),
        Self::Lane(3),
        Self::Lane(4),
        Self::Lane(5),
    ];

    /// Red, green and blue on a dark ground and on a light one: the window's own colors (a test of the window's theme
    /// holds them to that).
    pub fn colors(self) -> [u32; 2] {
        match self {
            Self::Ground => [0x0f_1317, 0xf3_f5f7],
            Self::Text | Self::Recorded => [0xd9_e0e7, 0x1d_242b],
            Self::Weak => [0x8f_9ba8, 0x56_616c],
            Self::Hairline => [0x26_2e37, 0xd8_dee4],
            Self::Accent => [0x4f_b3ff, 0x0a_68b0],
            Self::Warn => [0xf0_b429, 0x8a_5a00],
            Self::Bad => [0xff_5d5d, 0xc4_2a2a],
            Self::Lane(lane) => match lane % LANES {
                0 => [0xff_7a6b, 0xc2_3824],
                1 => [0x5c_c8ff, 0x08_71ab],
                2 => [0xc7_9bff, 0x7c_4fd0],
                3 => [0x6f_e3c4, 0x0b_7a6c],
                4 => [0xff_9fd0, 0xb3_337f],
                _ => [0xa3_e635, 0x44_7000],
            },
        }
    }

    /// A name for style sheets.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ground => "ground",
            Self::Text => "text",
            Self::Weak => "weak",
            Self::Hairline => "hairline",
            Self::Accent => "accent",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Recorded => "recorded",
            Self::Lane(lane) => match lane % LANES {
                0 => "lane0",
                1 => "lane1",
                2 => "lane2",
                3 => "lane3",
                4 => "lane4",
                _ => "lane5",
            },
        }
    }
}
