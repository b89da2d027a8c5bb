//! A picture as a list of shapes, drawn as SVG or by the window's painter.

/// A picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Width in points.
    pub width: f32,
    /// Height in points.
    pub height: f32,
    /// Description for screen readers.
    pub description: String,
    /// Shapes, from back to front. Coordinates are points from the upper left corner.
    pub shapes: Vec<Shape>,
}

/// A shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A line through points.
    Line {
        /// The points, in order.
        points: Vec<[f32; 2]>,
        /// Its color.
        ink: Ink,
        /// Width in points.
        width: f32,
        /// Alternating lengths of dashes and gaps in points; empty for a solid line.
        dashes: &'static [f32],
    },
    /// Strokes of one color.
    Strokes {
        /// Start and end of each.
        strokes: Vec<[[f32; 2]; 2]>,
        /// Their color.
        ink: Ink,
        /// Width in points.
        width: f32,
    },
    /// A line of text.
    Text {
        /// Position of its anchor, vertically centered.
        at: [f32; 2],
        /// The text, without line breaks and bidirectional controls.
        text: String,
        /// Its color.
        ink: Ink,
        /// Part of the text at `at`.
        anchor: Anchor,
        /// Size in points.
        size: f32,
    },
}

/// Part of a text that is placed at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A color by its purpose. The renderer chooses the light or dark variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ink {
    /// Background.
    Ground,
    /// Ordinary text.
    Text,
    /// Labels.
    Weak,
    /// Separators.
    Hairline,
    /// Emphasis.
    Accent,
    /// Warnings.
    Warn,
    /// Errors and rejections.
    Bad,
    /// The recorded run.
    Recorded,
    /// The lane at this position, modulo [`LANES`].
    Lane(usize),
}

/// Number of colors for lanes. More could not be distinguished, also by people who see fewer colors. Further lanes
/// repeat them with their names.
pub const LANES: usize = 6;

impl Ink {
    /// All colors.
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

    /// Returns red, green and blue for the dark and the light theme. A test checks that they equal the window's colors.
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

    /// Returns the name used in style sheets.
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
