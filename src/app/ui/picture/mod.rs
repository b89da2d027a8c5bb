//! Renders the window without display, GPU or window system: for `--screenshot`, the README and tests.

mod drawing;
mod rasterizer;

pub use drawing::save_drawing;

use crate::exec;
use egui::{
    ClippedPrimitive, Context, Event, FullOutput, Pos2, RawInput, Rect, Theme, Ui, Vec2, ViewportId,
};
use image::RgbaImage;
use rasterizer::Rasterizer;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A window that is not shown, and its last frame.
pub struct OffscreenWindow {
    ctx: Context,
    rasterizer: Rasterizer,
    size: Vec2,
    pixels_per_point: f32,
    seconds: f64,
    last: Option<FullOutput>,
}

impl OffscreenWindow {
    /// Creates a window of this size in points, with fonts and themes installed.
    pub fn new(size: Vec2, pixels_per_point: f32, theme: Theme) -> Self {
        let ctx = Context::default();
        crate::app::ui::theme::apply(&ctx);
        ctx.set_theme(theme);
        Self {
            ctx,
            rasterizer: Rasterizer::default(),
            size,
            pixels_per_point,
            seconds: 0.0,
            last: None,
        }
    }

    /// Returns the context, for setup before the first frame.
    pub fn context(&self) -> &Context {
        &self.ctx
    }

    /// Runs one frame. Advances time by 0.1 s, so that animations end.
    pub fn frame(&mut self, events: Vec<Event>, ui: &mut dyn FnMut(&mut Ui)) {
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size / self.ctx.zoom_factor())),
            time: Some(self.seconds),
            focused: true,
            events,
            ..RawInput::default()
        };
        if let Some(viewport) = input.viewports.get_mut(&ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(self.pixels_per_point);
        }
        self.seconds += 0.1;
        let mut output = self.ctx.run_ui(input, |root| ui(root));
        self.rasterizer.update_textures(&mut output.textures_delta);
        self.last = Some(output);
    }

    /// Returns the triangles of the last frame; empty before the first.
    pub fn meshes(&self) -> Vec<ClippedPrimitive> {
        let shapes = |output: &FullOutput| {
            self.ctx.tessellate(output.shapes.clone(), output.pixels_per_point)
        };
        self.last.as_ref().map(shapes).unwrap_or_default()
    }

    /// Returns the last frame as an image; empty before the first.
    pub fn image(&self) -> RgbaImage {
        let Some(output) = &self.last else {
            return RgbaImage::new(0, 0);
        };
        let meshes = self.meshes();
        let background = self.ctx.global_style().visuals.panel_fill;
        let size = self.size * self.pixels_per_point / output.pixels_per_point;
        self.rasterizer.paint(&meshes, size, output.pixels_per_point, background)
    }
}

/// Runs `ui` for some frames, so that the layout settles, and returns the last one. `size` is in points.
pub fn render_to_image(
    size: Vec2,
    pixels_per_point: f32,
    theme: Theme,
    frames: usize,
    ui: &mut dyn FnMut(&mut Ui),
) -> RgbaImage {
    let mut stage = OffscreenWindow::new(size, pixels_per_point, theme);
    for _ in 0..frames.max(1) {
        stage.frame(Vec::new(), ui);
    }
    stage.image()
}

/// Writes an image as PNG. Replaces an existing PNG, but never one of the `opened` files.
///
/// # Errors
///
/// Returns a one-line message that says what to do; nothing was written.
pub fn save_png(image: &RgbaImage, path: &Path, opened: &[PathBuf]) -> Result<(), String> {
    exec::write_picture(path, &png(image)?, opened)
}

fn png(image: &RgbaImage) -> Result<Vec<u8>, String> {
    let mut png = Cursor::new(Vec::new());
    image
        .write_to(&mut png, image::ImageFormat::Png)
        .map_err(|error| format!("cannot encode the picture as PNG: {error}"))?;
    Ok(png.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::ui::theme;

    fn sample(ui: &mut Ui) {
        let palette = theme::palette(ui);
        ui.painter().rect_filled(ui.max_rect(), 0.0, palette.background);
        ui.label("Peak 126k");
    }

    #[test]
    fn equal_frames_give_equal_pixels() {
        let render = || render_to_image(Vec2::new(120.0, 40.0), 2.0, Theme::Dark, 3, &mut sample);
        let first = render();
        assert_eq!(first.dimensions(), (240, 80));
        assert!(first == render());
    }

    #[test]
    fn text_leaves_marks_on_the_background() {
        let image = render_to_image(Vec2::new(120.0, 40.0), 1.0, Theme::Light, 2, &mut sample);
        let background = theme::of(false).background.to_array();
        let inked = image.pixels().filter(|pixel| pixel.0 != background).count();
        assert!((40..2000).contains(&inked), "{inked} pixels differ from the background");
    }
}
