//! Scales the window down if it is smaller than its panels require, so that nothing overlaps.

use egui::{Context, Vec2, vec2};

/// Minimum size of the panels, in points.
const MIN_SIZE: Vec2 = vec2(800.0, 560.0);
/// Minimum scale.
const MIN_SCALE: f32 = 0.5;

/// The scale of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::app) struct Fit {
    /// The selected scale.
    chosen: f32,
    /// The effective scale.
    drawn: f32,
}

impl Default for Fit {
    fn default() -> Self {
        Self {
            chosen: 1.0,
            drawn: 1.0,
        }
    }
}

impl Fit {
    /// Sets the scale of the next frame: the selected one, or the largest that fits.
    pub(in crate::app) fn apply(&mut self, ctx: &Context) {
        let now = ctx.zoom_factor();
        if now != self.drawn {
            self.chosen = now;
        }
        let window = ctx.content_rect().size() * now;
        let room = (window / MIN_SIZE).min_elem().max(MIN_SCALE);
        self.drawn = self.chosen.min(room);
        if self.drawn != now {
            ctx.set_zoom_factor(self.drawn);
        }
    }
}
