//! What the window is started with.

use crate::app::latest::Where;
use crate::engine::Policy;
use crate::units::Tokens;
use egui::{ThemePreference, Vec2, vec2};
use std::path::PathBuf;

/// What the window is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files to open; the first is shown, the others become recent files.
    pub paths: Vec<PathBuf>,
    /// Size of the window or the picture, in points.
    pub size: Vec2,
    /// Pixels per point of a picture.
    pub pixels_per_point: f32,
    /// Dark, light or as the system; none takes the one used last.
    pub theme: Option<ThemePreference>,
    /// Neither read nor write the program's own state.
    pub no_state: bool,
    /// A context window set by hand.
    pub window: Option<Tokens>,
    /// Room for the answer by hand.
    pub output_reserve: Option<Tokens>,
    /// The lanes to compare; the generic strategies if empty.
    pub policies: Vec<Policy>,
    /// Name of the counter, if not the default.
    pub counter: Option<&'static str>,
    /// Where loading and replaying happen.
    pub work: Where,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            size: vec2(1440.0, 900.0),
            pixels_per_point: 1.0,
            theme: None,
            no_state: false,
            window: None,
            output_reserve: None,
            policies: Vec::new(),
            counter: None,
            work: Where::AsNeeded,
        }
    }
}
