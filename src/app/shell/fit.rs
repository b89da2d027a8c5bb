//! Scales the window down if it is smaller than its panels require, so that nothing overlaps.

use egui::{Context, Vec2, vec2};

/// Minimum size of the panels, in points.
const MIN_SIZE: Vec2 = vec2(800.0, 560.0);
/// Minimum and maximum scale.
pub(crate) const MIN_SCALE: f32 = 0.5;
pub(crate) const MAX_SCALE: f32 = 3.0;

/// The scale of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fit {
    /// The scale that the user chose.
    chosen: f32,
    /// The scale that the window is drawn at.
    drawn: f32,
}

impl Fit {
    /// Creates the scale of a window without content, which has the scale 1.
    pub(crate) fn new(chosen: f32) -> Self {
        Self { chosen, drawn: 1.0 }
    }

    /// Returns the scale that the user chose.
    pub(crate) fn chosen(self) -> f32 {
        self.chosen
    }

    /// Sets the scale of the next frame: the chosen one, or the largest that fits. Returns the chosen one if it was
    /// changed.
    pub(crate) fn apply(&mut self, ctx: &Context) -> Option<f32> {
        let now = ctx.zoom_factor();
        let is_changed = now != self.drawn;
        if is_changed {
            self.chosen = now.clamp(MIN_SCALE, MAX_SCALE);
        }
        let window = ctx.content_rect().size() * now;
        let largest = (window / MIN_SIZE).min_elem().max(MIN_SCALE);
        self.drawn = self.chosen.min(largest);
        if self.drawn != now {
            ctx.set_zoom_factor(self.drawn);
        }
        is_changed.then_some(self.chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Pos2, RawInput, Rect};

    /// Runs frames in a window of this size in pixels.
    fn run(ctx: &Context, fit: &mut Fit, size: Vec2) {
        for _ in 0..3 {
            let input = RawInput {
                screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size / ctx.zoom_factor())),
                ..RawInput::default()
            };
            let mut output = ctx.run_ui(input, |ui| {
                fit.apply(ui.ctx());
            });
            output.textures_delta.clear();
        }
    }

    #[test]
    fn the_chosen_scale_returns_when_the_window_is_large_enough() {
        let (ctx, mut fit) = (Context::default(), Fit::new(1.2));
        run(&ctx, &mut fit, vec2(1440.0, 900.0));
        assert_eq!(ctx.zoom_factor(), 1.2);
        run(&ctx, &mut fit, vec2(640.0, 448.0));
        assert!((ctx.zoom_factor() - 0.8).abs() < 0.001);
        assert_eq!(fit.chosen(), 1.2, "the small window does not change it");
        run(&ctx, &mut fit, vec2(1440.0, 900.0));
        assert_eq!(ctx.zoom_factor(), 1.2);
        ctx.set_zoom_factor(1.1);
        run(&ctx, &mut fit, vec2(1440.0, 900.0));
        assert_eq!(fit.chosen(), 1.1);
        for (asked, chosen) in [(0.2, MIN_SCALE), (5.0, MAX_SCALE)] {
            ctx.set_zoom_factor(asked);
            run(&ctx, &mut fit, vec2(5000.0, 4000.0));
            assert_eq!((fit.chosen(), ctx.zoom_factor()), (chosen, chosen));
        }
    }
}
