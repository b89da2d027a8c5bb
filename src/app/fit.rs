//! A window smaller than its panels need is drawn smaller, so that nothing in it lies over anything else.

use egui::{Context, Vec2, vec2};

/// Points that the panels need.
const LEAST: Vec2 = vec2(800.0, 560.0);
/// Text is never drawn smaller than this share.
const SMALLEST: f32 = 0.5;

/// How large the window is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    /// As the person chose it.
    chosen: f32,
    /// As it is.
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
    /// Draws the next frame as large as was chosen, or as the window has room for.
    pub(super) fn apply(&mut self, ctx: &Context) {
        let now = ctx.zoom_factor();
        if now != self.drawn {
            self.chosen = now;
        }
        let window = ctx.content_rect().size() * now;
        let room = (window / LEAST).min_elem().max(SMALLEST);
        self.drawn = self.chosen.min(room);
        if self.drawn != now {
            ctx.set_zoom_factor(self.drawn);
        }
    }
}
