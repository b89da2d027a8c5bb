//! A thin strip below the plot: the cumulative tokens of the messages added at each call.

use super::scene::Scene;
use crate::app::messages::cumulative::Heat;
use crate::app::theme::Palette;
use crate::app::wording;
use egui::{Align2, Color32, CursorIcon, Id, Mesh, Pos2, Rect, Sense, TextStyle, Ui, pos2};

/// Maximum and minimum width of a mark.
const MARK: [f32; 2] = [1.5, 8.0];

/// Draws the strip with marks at these calls. Returns the clicked call.
pub(super) fn show(ui: &Ui, id: Id, scene: &Scene<'_>, hot: &[usize]) -> Option<usize> {
    let (strip, heat) = (scene.areas.heat, scene.input.heat);
    if heat.is_empty() {
        return None;
    }
    let painter = ui.painter().with_clip_rect(strip.intersect(ui.clip_rect()));
    painter.rect_filled(strip, 0.0, scene.palette.raised);
    painter.add(marks(scene, heat, hot));
    let font = TextStyle::Small.resolve(ui.style());
    let at = pos2(strip.right() + 8.0, strip.center().y);
    let weak = scene.palette.weak;
    ui.painter()
        .text(at, Align2::LEFT_CENTER, "resent", font, weak);
    // Larger than the painted strip, so that it is easy to hit.
    let response = ui.interact(
        strip.expand2(egui::vec2(0.0, 2.0)),
        id.with("heat"),
        Sense::CLICK,
    );
    response.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::Canvas, true, "cumulative tokens by call")
    });
    let step = response.hover_pos().map(|at| hottest_near(scene, heat, at));
    let is_clicked = response.clicked();
    if let Some(step) = step {
        response
            .on_hover_cursor(CursorIcon::PointingHand)
            .on_hover_text_at_pointer(said(heat, step));
        return is_clicked.then_some(step);
    }
    None
}

/// Draws a bar per call. All bars share one mesh, which is fast.
fn marks(scene: &Scene<'_>, heat: &[Heat], hot: &[usize]) -> Mesh {
    let strip = scene.areas.heat;
    let [least, most] = MARK;
    let mut mesh = Mesh::default();
    for step in hot {
        let x = scene.x(*step);
        let width = (scene.x(step + 1) - x).clamp(least, most);
        let center = pos2(x, strip.center().y);
        let bar = Rect::from_center_size(center, egui::vec2(width, strip.height()));
        mesh.add_colored_rect(bar, color(scene.palette, heat[*step]));
    }
    mesh
}

/// Returns the color of the main kind, stronger for more cumulative tokens.
fn color(palette: &Palette, heat: Heat) -> Color32 {
    let strength = 0.12 + 0.88 * heat.share.0.sqrt() as f32;
    palette
        .raised
        .lerp_to_gamma(palette.kind(heat.kind), strength)
}

/// Returns the call with the most cumulative tokens within a few pixels.
fn hottest_near(scene: &Scene<'_>, heat: &[Heat], at: Pos2) -> usize {
    let step = |by: f32| scene.step_at(pos2(at.x + by, at.y));
    let (first, last) = (step(-2.0), step(2.0).min(heat.len().saturating_sub(1)));
    let near = first.min(last)..=last;
    near.max_by(|a, b| heat[*a].share.0.total_cmp(&heat[*b].share.0))
        .unwrap_or(last)
}

fn said(heat: &[Heat], step: usize) -> String {
    let heat = heat[step];
    format!(
        "Messages added at call {}: {} cumulative tokens (tokens × calls that sent them). Largest share: messages of kind “{}”.",
        wording::number(step),
        wording::short(heat.retained),
        wording::kind(heat.kind)
    )
}
