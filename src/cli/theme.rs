//! `--theme`: colors of the window and of pictures.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Light text on dark.
    Dark,
    /// Dark text on light.
    Light,
}

/// Parses the name of a theme.
pub(super) fn theme() -> impl TypedValueParser<Value = Theme> {
    PossibleValuesParser::new(["dark", "light"]).map(|name| match name.as_str() {
        "dark" => Theme::Dark,
        _ => Theme::Light,
    })
}
